"""Scenes with many bodies for the O(n) solver: chain, bridge, tree, umbrella (units cm, g, s)."""

import numpy as np

from pliant.articulated.bodies import at, cuboid
from pliant.articulated.forces import ArticulatedForce, Cable, JointSpring, PointSprings
from pliant.articulated.joints import Fixed, Revolute, Universal
from pliant.articulated.linear import MatrixFree
from pliant.articulated.se3 import frame, rotation
from pliant.articulated.tree import Link
from pliant.integrators.linearly_implicit import LinearlyImplicit
from pliant.scene import Scene
from pliant.scenes.redmax.scene import X, Y, Z, chain, scene


def long_chain(n: int = 1000) -> Scene:
    """n hinged bars, gently curled."""
    return scene(
        chain(n), q=np.full(n, 0.3 / n), integrator=LinearlyImplicit(matrix=MatrixFree()), h=1e-3, duration=0.1
    )


def bridge(n: int = 100, cables: int = 30, stiffness: float = 1e6) -> Scene:
    """A deck of n hinged bars hung by cables from two fixed towers."""
    deck = [
        Link(
            Revolute(Y),
            cuboid((2, 6, 0.5), 1.0, at(1, 0, 0)),
            f"deck{i - 1}" if i else None,
            at(2 if i else 0, 0, 0),
            f"deck{i}",
        )
        for i in range(n)
    ]
    length = 2.0 * n
    towers = [
        Link(Fixed(), cuboid((1, 6, 40), 1.0), None, at(x, 0, 20), f"tower{k}")
        for k, x in enumerate((0.25 * length, 0.75 * length))
    ]
    hung = np.unique(np.linspace(0, n - 1, min(cables, n)).round().astype(int))
    top = np.array([0.0, 0.0, 20.0])
    ropes = [Cable(((f"tower{int(i >= n // 2)}", top), (f"deck{i}", np.zeros(3))), stiffness) for i in hung]
    return scene([*towers, *deck], forces=ropes, integrator=LinearlyImplicit(matrix=MatrixFree()), h=5e-3, duration=0.5)


def tree(levels: int = 6, stiffness: float = 1e4) -> Scene:
    """A binary tree of bars with springs between neighbouring branches: 3 (2^levels) - 3 coordinates."""
    links = [Link(Universal(), cuboid((1, 1, 10), 1.0, at(0, 0, 5)), None, np.eye(4), "0")]
    rows: list[list[str]] = [["0"]]
    for level in range(1, levels):
        row = []
        size = 10.0 * 0.8**level
        for parent in rows[-1]:
            for k, lean in enumerate((-0.5, 0.5)):
                turned = frame(rotation(X if level % 2 else Y, lean), np.array([0, 0, 10.0 * 0.8 ** (level - 1)]))
                joint = Universal() if k else Revolute(Z)
                name = f"{parent}.{k}"
                links.append(Link(joint, cuboid((1, 1, size), 1.0, at(0, 0, 0.5 * size)), parent, turned, name))
                row.append(name)
        rows.append(row)
    first = [a for row in rows[1:] for a in row[:-1]]
    second = [b for row in rows[1:] for b in row[1:]]
    zeros = np.zeros((len(first), 3))
    forces: list[ArticulatedForce] = [PointSprings(first, zeros, second, zeros, stiffness)]
    forces += [JointSpring(link.name, 1e5, 1e3) for link in links]
    return scene(links, forces=forces, integrator=LinearlyImplicit(matrix=MatrixFree()), h=5e-3, duration=0.5)


def umbrella(bodies_per_rib: int = 8, ribs: int = 8, stiffness: float = 1e3) -> Scene:
    """Ribs of hinged bars around a fixed pole, with springs between neighbouring ribs."""
    links = [Link(Fixed(), cuboid((1, 1, 40), 1.0), None, np.eye(4), "pole")]
    size = 40.0 / bodies_per_rib
    for r in range(ribs):
        around = frame(rotation(Z, 2 * np.pi * r / ribs), np.array([0, 0, 20.0]))
        for k in range(bodies_per_rib):
            parent, where = (f"rib{r}.{k - 1}", at(size, 0, 0)) if k else ("pole", around)
            links.append(
                Link(Revolute(Y), cuboid((size, 0.5, 0.5), 1.0, at(0.5 * size, 0, 0)), parent, where, f"rib{r}.{k}")
            )
    pairs = [(f"rib{r}.{k}", f"rib{(r + 1) % ribs}.{k}") for r in range(ribs) for k in range(bodies_per_rib)]
    zeros = np.zeros((len(pairs), 3))
    springs = PointSprings([a for a, _ in pairs], zeros, [b for _, b in pairs], zeros, stiffness / bodies_per_rib)
    return scene(links, forces=[springs], integrator=LinearlyImplicit(matrix=MatrixFree()), h=1e-3, duration=0.1)
