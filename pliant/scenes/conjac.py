"""The scenes of ConJac. [ConJac2020, Table 1; Weidner2022, Table 4.1]

The papers give the bars' vertex and element counts and "5-15 cm"; ours are 0.15 m long, BARCUT 0.1 m, with cubic cells.
DRAGON, BUNNY and ARMADILLO are our own bodies of about the published sizes; grips that let go are forces that end.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.bodies import Solid
from pliant.contact.obstacles import Plane
from pliant.events import PlaneCut
from pliant.integrators import AdaptiveConJac, ConJac
from pliant.loads import Tug
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import AnisotropicStVK, StableNeoHookean
from pliant.mesh import Mesh, figure, long_eared, paper_bar, serpent
from pliant.mesh.measures import edge_lengths
from pliant.scene import Scene
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.placement import spread

LENGTH = 0.15  # of the bars [m]
DRAGON, BUNNY = 0.3, 0.1  # length and height [m]
NONE = np.zeros(0, dtype=np.int64)


def nearest(mesh: Mesh, points: Sequence[Sequence[float]]) -> IntArray:
    """The vertices nearest to some points, each once."""
    return np.unique([nearest_of(mesh.X, np.asarray(p)) for p in points])


def nearest_of(X: Array, point: Array) -> int:
    """The row of X (n, 3) nearest to a point (3,)."""
    return int(np.argmin(((X - point) ** 2).sum(axis=1)))


def dragon(integrator: Any = None, *, h: float = 5e-3, mesh: Mesh | None = None, pull: float = 1.0) -> Scene:
    """DRAGON: a winding body on held legs; jaws pulled apart and tail pulled sideways for 0.25 s, then let go; 1 s.

    ``pull`` scales the tugs. Without weight: our body is more slender than the paper's, and would hang, not swing.
    """
    mesh = mesh if mesh is not None else serpent(length=DRAGON)
    X, size = mesh.X, np.ptp(mesh.X[:, 0])
    head, tail = X[:, 0].max(), X[:, 0].min()
    tip = X[:, 0] > head - 0.06 * size
    middle = X[tip, 2].mean()
    F = pull * 4e3 * size**2 / 9.0  # [N]: stresses of about a tenth of E at any size
    tugs = (
        Tug(np.flatnonzero(tip & (X[:, 2] > middle)), (0.01 * F, 0.0, 0.02 * F), 0.0, 0.2, 0.25),
        Tug(np.flatnonzero(tip & (X[:, 2] <= middle)), (0.01 * F, 0.0, -0.02 * F), 0.0, 0.2, 0.25),
        Tug(mesh.where(lambda X: X[:, 0] < tail + 0.05 * size), (-0.02 * F, 0.01 * F, 0.0), 0.0, 0.2, 0.25),
    )
    body = Solid(mesh, StableNeoHookean(3e4, 0.49), pins=Pin(mesh.where(lambda X: X[:, 2] < 0.07 * size)))
    scene = Scene([body], h=h, duration=1.0, gravity=(0.0, 0.0, 0.0), forces=tugs, name="dragon")
    chosen = integrator if integrator is not None else ConJac(dragon_nodes(scene, 6), gamma=0.2)
    return replace(scene, integrator=chosen)


def dragon_nodes(scene: Scene, count: int) -> IntArray:
    """Dynamic nodes for DRAGON: first the middle of each jaw and of the tail where they are pulled, as the authors
    placed theirs by hand, then spread over the body. [ConJac2020, sec. 5.1]
    """
    X = scene.bodies[0].mesh.X
    pulled = [t.vertices for t in scene.forces if isinstance(t, Tug)]
    grips = [int(v[nearest_of(X[v], X[v].mean(axis=0))]) for v in pulled]
    return spread(scene.system(), count, by_hand=grips[:count])


def twist_nodes(mesh: Mesh, count: int) -> IntArray:
    """1, 2 or 4 nodes on the axis of TWIST, or 8, 16, 32 at the corners of 2, 4, 8 slices. [ConJac2020, Fig. 4]"""
    low, high = mesh.bounds
    slices = count if count < 8 else count // 4
    x = low[0] + (high[0] - low[0]) * (np.arange(slices) + 1) / (slices + 1)
    if count < 8:
        return nearest(mesh, [(a, *(0.5 * (low + high))[1:]) for a in x])
    return nearest(mesh, [(a, b, c) for a in x for b in (low[1], high[1]) for c in (low[2], high[2])])


def twist(count: int = 8, *, integrator: Any = None, mesh: Mesh | None = None) -> Scene:
    """TWIST: one end held, the other compressed, stretched, bent and twisted, one after the other in 4 s."""
    mesh = mesh if mesh is not None else paper_bar("TWIST")
    low, high = mesh.bounds
    L = float(high[0] - low[0])
    moves = [(0, 0, 0), (-0.2 * L, 0, 0), (0, 0, 0), (0.3 * L, 0, 0), (0, 0, 0), (-0.1 * L, 0, 0.3 * L), (0, 0, 0)]
    turns = [(0, 0, 0)] * 5 + [(0, -0.8, 0), (0, 0, 0)]
    times = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5)
    pivot = (float(high[0]), *(float(a) for a in 0.5 * (low + high)[1:]))
    script = Keyframes(times, (*moves, (0, 0, 0)), (*turns, (np.pi, 0, 0)), pivot)
    pins = (
        Pin(mesh.where(lambda X: X[:, 0] < low[0] + 1e-9)),
        Pin(mesh.where(lambda X: X[:, 0] > high[0] - 1e-9), script),
    )
    body = Solid(mesh, StableNeoHookean(1e4, 0.40), pins=pins)
    chosen = integrator if integrator is not None else ConJac(twist_nodes(mesh, count))
    return Scene([body], integrator=chosen, h=5e-3, duration=4.0, name="twist")


def upright(mesh: Mesh) -> Mesh:
    """A bar along x turned to stand along z."""
    turned = mesh.transformed(rotate=[[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    return turned.transformed(translate=-turned.bounds.mean(axis=0) * (1.0, 1.0, 0.0))


def hetero(integrator: Any = None, *, mesh: Mesh | None = None) -> Scene:
    """HETERO: a standing bar of stiff (100 kPa) and soft (10 kPa) layers in turn, compressed by its weight."""
    mesh = upright(mesh if mesh is not None else paper_bar("HETERO"))
    layer = np.minimum((mesh.X[mesh.T].mean(axis=1)[:, 2] / LENGTH * 5).astype(np.int64), 4)
    material = StableNeoHookean(np.where(layer % 2 == 0, 1e5, 1e4), 0.40)
    body = Solid(Mesh(mesh.X, mesh.T, layer), material, pins=Pin(mesh.where(lambda X: X[:, 2] < 1e-9)))
    chosen = integrator if integrator is not None else ConJac(nearest(mesh, [(0, 0, LENGTH)]))
    return Scene([body], integrator=chosen, h=5e-3, duration=2.0, name="hetero")


FIBRES: dict[str, Callable[[Array], Array]] = {
    "vertical": lambda X: np.tile([0.0, 0.0, 1.0], (len(X), 1)),
    "horizontal": lambda X: np.tile([1.0, 0.0, 0.0], (len(X), 1)),
    "diagonal": lambda X: np.tile([1.0, 0.0, 1.0], (len(X), 1)),
    "helical": lambda X: np.column_stack([-X[:, 1], X[:, 0], np.hypot(X[:, 0], X[:, 1])]) + (0.0, 0.0, 1e-9),
}


def aniso(fibres: str = "helical", integrator: Any = None, *, E: float = 4e4, mesh: Mesh | None = None) -> Scene:
    """ANISO: a hanging bar with fibres (modulus ``E`` [Pa]) that are vertical, horizontal, diagonal or helical."""
    mesh = upright(mesh if mesh is not None else paper_bar("ANISO"))
    direction = FIBRES[fibres](mesh.X[mesh.T].mean(axis=1))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    material = StableNeoHookean(1e4, 0.40) + AnisotropicStVK(direction, E)
    body = Solid(mesh, material, pins=Pin(mesh.where(lambda X: X[:, 2] > LENGTH - 1e-9)))
    chosen = integrator if integrator is not None else ConJac(nearest(mesh, [(0, 0, 0)]))
    return Scene([body], integrator=chosen, h=5e-3, duration=2.0, name=f"aniso-{fibres}")


def barcut(integrator: Any = None, *, length: float = 0.1, mesh: Mesh | None = None) -> Scene:
    """BARCUT: a bar stretched by 20 %, cut at a third after 0.5 s and at two thirds after 1 s.

    One dynamic node on either side of the first cut: the right piece has none, the middle one falls with one. With a
    ``length`` of 0.15 m, like that of the other bars, two thirds of it hang down so far that they fold at the clamp.
    """
    mesh = mesh if mesh is not None else paper_bar("BARCUT")
    mesh = mesh.transformed(scale=length / float(np.ptp(mesh.X[:, 0])))
    low, high = mesh.bounds
    L = float(high[0] - low[0])
    center = [float(a) for a in 0.5 * (low + high)[1:]]
    stretch = Keyframes((0.0, 0.3), ((0, 0, 0), (0.2 * L, 0, 0)))
    pins = (Pin(mesh.where(lambda X: X[:, 0] < 1e-9)), Pin(mesh.where(lambda X: X[:, 0] > L - 1e-9), stretch))
    body = Solid(mesh, StableNeoHookean(1e4, 0.40), pins=pins)
    nodes = nearest(mesh, [(x * L, *center) for x in (0.3, 0.37)])
    chosen = integrator if integrator is not None else ConJac(nodes)
    cuts = [PlaneCut(t, (x * L, *center), (1, 0, 0)) for t, x in ((0.5, 1 / 3), (1.0, 2 / 3))]
    return Scene([body], integrator=chosen, h=5e-3, duration=1.5, events=cuts, name="barcut")


def bunny(
    integrator: Any = None,
    *,
    angle: float = 0.0,
    anisotropy: float = 0.1,
    stiffness: float = 1.0,
    h: float = 1e-3,
    mesh: Mesh | None = None,
) -> Scene:
    """BUNNY: a crouching animal dropped on a floor, turned by ``angle`` [rad] about y, moving sideways at 0.5 m/s.

    The paper's contact springs resist sliding by the part ``anisotropy`` of their stiffness besides friction. That is
    ``stiffness`` times Young's modulus times the mean edge, as stiff as the body itself: a step of 5 ms leads 4 mm into
    the floor, and springs ten times stiffer would throw the body back faster than it came. The nodes stand for patches:
    single vertices, as published, are dented until elements turn inside out (`pliant bench conjac/bunny`).
    """
    mesh = mesh if mesh is not None else long_eared(height=BUNNY, cells=24.3)
    c, s = float(np.cos(angle)), float(np.sin(angle))
    mesh = mesh.transformed(rotate=[[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    mesh = mesh.transformed(translate=(0.0, 0.0, 0.03 - mesh.bounds[0, 2]))
    E = 4e4  # [Pa]
    body = Solid(mesh, StableNeoHookean(E, 0.45), velocity=(0.5, 0.0, 0.0))
    k = stiffness * E * float(edge_lengths(mesh.X, mesh.T).mean())
    contact = PenaltyContact(k, mu=0.0, anisotropy=anisotropy, bodies=False, self_contact=False)
    chosen = integrator if integrator is not None else ConJac(count=8, friction=0.3, radius=0.12 * BUNNY)
    floor: Any = Plane()
    return Scene([body], integrator=chosen, h=h, duration=0.4, contact=contact, obstacles=[floor], name="bunny")


LIMBS = ("left arm", "right arm", "left leg", "right leg", "torso")


def limbs(mesh: Mesh) -> IntArray:
    """The five representatives of ARMADILLO: hands, feet, and the chest; positions are parts of the figure's height."""
    height = float(np.ptp(mesh.X[:, 2]))
    places = [(0.17, 0.31, 0.66), (0.17, -0.31, 0.66), (0.06, 0.15, 0.08), (0.06, -0.15, 0.08), (0.11, 0.0, 0.6)]
    return np.array([int(nearest(mesh, [tuple(float(a) * height for a in p)])[0]) for p in places])


def armadillo(
    threshold: float = 0.10, *, integrator: Any = None, mesh: Mesh | None = None, conjac: ConJac | None = None
) -> Scene:
    """ARMADILLO: a figure held at its center sags, then each limb is pulled for 0.2 s; nodes wake and fall asleep."""
    mesh = mesh if mesh is not None else figure()
    height = float(np.ptp(mesh.X[:, 2]))
    held = mesh.where(lambda X: np.linalg.norm(X - (0.0, 0.0, 0.48 * height), axis=1) < 0.09 * height)
    nodes = limbs(mesh)
    pulls = [(0.0, 1.8, 1.2), (0.0, -1.8, 1.2), (2.4, 0.0, 0.0), (-2.4, 0.0, 0.0)]
    tugs = []
    for k, force in enumerate(pulls):
        hand = mesh.X[nodes[k]]
        near = mesh.where(lambda X, at=hand: np.linalg.norm(X - at, axis=1) < 0.05 * height)  # type: ignore[misc]
        start = 1.5 + 1.0 * k
        tugs.append(Tug(near, force, start, start + 0.1, start + 0.2))
    body = Solid(mesh, StableNeoHookean(6e4, 0.49), pins=Pin(held))
    chosen = integrator or AdaptiveConJac(conjac or ConJac(nodes), threshold)
    return Scene([body], integrator=chosen, h=5e-3, duration=7.0, forces=tugs, name="armadillo")
