"""Numbered RedMax scenes that show one kind of joint or body each (units cm, g, s)."""

import numpy as np

from pliant.articulated.bodies import at, composite, cuboid, cylinder
from pliant.articulated.joints import (
    Composite,
    Free2D,
    Free3D,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    SplineCurve,
    SplineSurface,
    Translational,
    Universal,
)
from pliant.articulated.se3 import frame, rotation
from pliant.articulated.tree import Link
from pliant.scene import Scene
from pliant.scenes.redmax.scene import X, Y, Z, bar, hinge, scene

PI = np.pi
DOWN = (1, 1, 10)  # a bar hanging along -z
LOW = (0, 0, -5)


def scene_2() -> Scene:
    """A mobile: a bar, a cross bar, two hanging bars."""
    links = [
        hinge(X, DOWN, LOW, None, (0, 0, 15)),
        hinge(Z, (1, 20, 1), (0, 0, 0), 0, (0, 0, -10)),
        hinge(X, DOWN, LOW, 1, (0, -10, 0)),
        hinge(Y, DOWN, LOW, 1, (0, 10, 0)),
    ]
    return scene(links, q=(0, 0, PI / 4, PI / 4))


def scene_3() -> Scene:
    """Two ball joints."""
    links = [bar(Spherical(), DOWN, LOW), bar(Spherical(), DOWN, LOW, 0, (0, 0, -10))]
    return scene(links, q=(PI / 8, 0, 0, PI / 8, 0, 0), v=(0, 0, 2, 0, 0, 0), duration=3.0)


def scene_14() -> Scene:
    """Three universal joints."""
    links = [bar(Universal(), DOWN, LOW, i - 1 if i else None, (0, 0, -10 if i else 0)) for i in range(3)]
    return scene(links, q=(PI / 8, 0, 0, PI / 8, PI / 8, 0))


def _branches() -> list[Link]:
    return [hinge(Y, DOWN, LOW, 0, (-5, 0, 0)), hinge(X, DOWN, LOW, 0, (0, -5, 0))]


def scene_16() -> Scene:
    """Two pendulums on a plate that slides in its plane."""
    return scene([bar(Planar(), (10, 10, 1)), *_branches()], q=(0, 0, PI / 2, PI / 4))


def scene_17() -> Scene:
    """The same on a plate that translates freely, without gravity."""
    links = [bar(Translational(), (10, 10, 1)), *_branches()]
    return scene(links, v=(0, 0, 0, 2, 1), gravity=(0, 0, 0))


def scene_18() -> Scene:
    """A thrown cube."""
    return scene([bar(Free3D(), (1, 1, 1))], v=(0, 0, 3, 0.2, 0.4, 0.6), gravity=(0, 0, -1), duration=7.0)


def scene_19() -> Scene:
    """A composite joint: turn about x, then slide along x."""
    joint = Composite(Revolute(X), Prismatic(X))
    return scene([bar(joint, DOWN, (0, 0, 5))], q=(0.1, 0), v=(0, 1), h=0.02)


def scene_21() -> Scene:
    """A bar that slides along a closed spline curve."""
    # The energies of the reference come out when rotations below 1e-9 rad are left out (by 0.018 not otherwise, RK45).
    stations = ((PI, (-10, 0, 0)), (PI / 2, (0, 0, -2)), (0, (10, 0, 0)), (-PI / 2, (0, 0, 2)))
    frames = np.stack([frame(rotation(Y, turn), np.array(p, dtype=float)) for turn, p in stations])
    links = [
        hinge(Y, DOWN, LOW),
        bar(SplineCurve(frames, negligible=1e-9), (10, 1, 1), (5, 0, 0), 0, (0, 0, -10)),
        hinge(Y, (10, 1, 1), (5, 0, 0), 1, (10, 0, 0)),
    ]
    return scene(links, q=(0, 0, 15 * PI / 16), h=5e-3)


def scene_22() -> Scene:
    """A bar that slides on a spline surface."""
    s = np.arange(4) / 3.0
    x, y = np.meshgrid(-15 + 30 * s, -15 + 30 * s, indexing="ij")
    turn = np.broadcast_to((PI / 4 * (2 * s - 1))[:, None], (4, 4))
    controls = np.stack([x, y, 0.05 * (x * x + y * y), turn, turn, np.zeros((4, 4))], axis=-1)
    links = [
        hinge(X, DOWN, LOW),
        bar(SplineSurface(controls), DOWN, LOW, 0, (0, 0, -14)),
        hinge(Y, DOWN, LOW, 1, (0, 0, -10)),
    ]
    return scene(links, q=(PI / 8, 0.5, 0.5, PI / 4))


def scene_25() -> Scene:
    """A composite body: a bar with a cylinder across its end."""
    barrel = cylinder(1.0, 10.0, 1.0, frame(rotation(Y, PI / 2), np.array([5.0, 0.0, -10.0])))
    return scene([Link(Revolute(Y), composite([cuboid(DOWN, 1.0, at(*LOW)), barrel]))])


def scene_26() -> Scene:
    """Two boxes (a mesh in the reference)."""
    sides, center = (1, 2, 3), (0.5, 0, -1.5)
    return scene([hinge(Y, sides, center), hinge(Y, sides, center, 0, (0, 0, -3))], duration=1.0)


def scene_35() -> Scene:
    """Planar free flight of two bars."""
    links = [bar(Free2D(), (10, 1, 1)), hinge(Z, (10, 1, 1), (5, 0, 0), 0, (5, 0, 0))]
    return scene(links, v=(0, 0, 1, -1), gravity=(0, -1, 0), duration=10.0)
