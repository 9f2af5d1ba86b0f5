"""The scenes of the QLB paper and of the Ldot chapter: BAR and ARMA. [QLB2021, Table 1; Weidner2022, Table 5.2]"""

from typing import Any

import numpy as np

from pliant.bodies import Green, Solid
from pliant.integrators import BDF2
from pliant.maps.motions import Keyframes, Shake
from pliant.maps.pins import Pin
from pliant.materials import AnisotropicStVK, Corotational, StableNeoHookean, StVK
from pliant.mesh import Mesh, figure, paper_bar
from pliant.scene import Scene
from pliant.solvers import QLB

MATERIALS: dict[str, Any] = {"snh": StableNeoHookean, "stvk": StVK, "corotational": Corotational}
LENGTH = 0.3  # of BAR [m]


def bar_script(compression: float = 0.25) -> Keyframes:
    """The moving end of BAR, 5 s: compress, stretch to +50 %, back, bend 90 degrees, unbend, twist 180 degrees.

    The papers give no numbers. Compressed by 40 %, the bar folds: elements turn inside out, a crease stays to the end,
    and the few steps in which it snaps decide every comparison. Compressed by a quarter it stays a bar.
    """
    times = [0.0, 1.0, 2.0, 2.75]
    moves: list[tuple[float, ...]] = [(0, 0, 0), (-compression * LENGTH, 0, 0), (0.5 * LENGTH, 0, 0), (0, 0, 0)]
    turns: list[tuple[float, ...]] = [(0, 0, 0)] * 4
    for start, angles in ((2.75, np.linspace(0, np.pi / 2, 9)[1:]), (3.5, np.linspace(np.pi / 2, 0, 9)[1:])):
        for k, a in enumerate(angles, 1):  # the end of a circular arc of the bar's length
            times.append(start + 0.75 * k / 8)
            reach, rise = (LENGTH * np.sin(a) / a, LENGTH * (1 - np.cos(a)) / a) if a > 0 else (LENGTH, 0.0)
            moves.append((reach - LENGTH, 0, rise))
            turns.append((0, -a, 0))
    times.append(5.0)
    moves.append((0, 0, 0))
    turns.append((np.pi, 0, 0))
    return Keyframes(tuple(times), tuple(moves), tuple(turns), pivot=(LENGTH, 0.05, 0.05))


def bar(
    *,
    E: float | tuple[float, float] = 2e4,
    layers: int = 5,
    nu: float = 0.49,
    fibre: float = 0.0,
    fibre_direction: tuple[float, float, float] = (1.0, 0.0, 0.0),
    damping: float = 5e-3,
    compression: float = 0.25,
    integrator: Any = None,
    h: float = 5e-2,
    mesh: Mesh | None = None,
) -> Scene:
    """BAR: 0.3 x 0.1 x 0.1 m, 10,125 vertices, 51,744 tetrahedra; one end clamped, the other driven by `bar_script`.

    A pair ``E`` alternates in ``layers`` along the bar, the first of it at the clamp; ``fibre`` [Pa] adds fibres, along
    it unless ``fibre_direction`` says otherwise; ``compression`` is the part of its length by which it is shortened
    first.
    """
    mesh = mesh if mesh is not None else paper_bar("BAR")
    X = mesh.X[mesh.T].mean(axis=1)
    young = E if not isinstance(E, tuple) else np.where((X[:, 0] / LENGTH * layers).astype(int) % 2 == 0, *E)
    material: Any = StableNeoHookean(E=young, nu=nu)
    if fibre:
        material = material + AnisotropicStVK(direction=np.array(fibre_direction), E=fibre)
    pins = (
        Pin(mesh.where(lambda X: X[:, 0] < 1e-9)),
        Pin(mesh.where(lambda X: X[:, 0] > LENGTH - 1e-9), bar_script(compression)),
    )
    body = Solid(mesh, material, pins=pins, damping=Green(damping) if damping else None)
    integrator = integrator or BDF2(QLB())
    return Scene([body], integrator, h, duration=5.0, on_failure="substep", name="bar")  # it buckles under compression


def arma(
    *,
    material: str = "snh",
    E: float = 1e7,
    nu: float = 0.49,
    damping: float = 0.0,
    integrator: Any = None,
    h: float = 1e-2,
    shake: float = 0.01,
    mesh: Mesh | None = None,
) -> Scene:
    """ARMA: a four-limbed figure of 1.37 kg, its feet clamped to a base shaken by ``shake`` [m] at 3 Hz, for 1 s.

    The paper shows the motion and gives no numbers. Its figure has 25,317 vertices; ours has 5,200 unless `armadillo`,
    with 25,000, is given.
    """
    mesh = mesh if mesh is not None else armadillo(31)
    chosen = MATERIALS[material](E=E, nu=nu)
    low = mesh.X[:, 2].min()
    height = np.ptp(mesh.X[:, 2])
    feet = Pin(mesh.where(lambda X: X[:, 2] < low + 0.05 * height), Shake((shake, 0.0, 0.0), 3.0))
    density = 1.37 / float(mesh.measures().sum())
    body = Solid(mesh, chosen, density=density, pins=feet, damping=Green(damping) if damping else None)
    return Scene([body], integrator=integrator or BDF2(QLB()), h=h, duration=1.0, name="arma")


def armadillo(cells: float = 56, height: float = 0.25) -> Mesh:
    """Our own four-limbed figure in place of the armadillo, with about as many vertices as the paper's."""
    mesh = figure(cells=cells)
    return Mesh(mesh.X * height / np.ptp(mesh.X[:, 2]), mesh.T)
