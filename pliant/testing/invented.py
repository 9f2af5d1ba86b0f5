"""Scenes drawn at random, of few elements and few steps: any kind of body, method, contact and size, some spoiled.

What is drawn is what a user might write, also by mistake: a scene may be refused, and its steps may fail.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import pliant as pl
from pliant.articulated import Link, at, cuboid
from pliant.articulated.joints import Revolute
from pliant.mesh import Mesh, bar, sheet

STEPS = 4
SOFT = (pl.StableNeoHookean, pl.StableNeoHookeanLog, pl.StVK, pl.Corotational, pl.NeoHookean, pl.Linear)
STAGED = (pl.BDF1, pl.BDF2, pl.SDIRK2, pl.TRBDF2, pl.ImplicitMidpoint)
STAGELESS = (pl.LinearlyImplicit, pl.RK4, pl.SymplecticEuler, pl.Verlet, pl.ExplicitEuler)
OTHERS = (pl.Quasistatic, pl.ERE, pl.EXPRB32, pl.SIERE, pl.EnergyMomentum, pl.Additive, pl.XPBD, pl.ConJac)
SOLVERS = (pl.Newton, pl.ND, pl.QLB, pl.QLF, pl.HybridL1, pl.NewtonPCG, pl.LBFGS)
ODD: Sequence[Any] = (
    float("nan"), float("inf"), -1.0, 0, 1e300, 1e-300, 2**70, None, True, "1 kg", "", [], (1.0, 2.0), [[1, 2], [3]],
    1 + 1j, {}, pl.BDF1,
)  # fmt: skip


class Dice:
    """Random numbers of a seed; ``value`` passes on what it is given, but for one that it may spoil."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self._spoiled = int(self.rng.integers(1, 20)) if self.rng.random() < 0.1 else 0
        self._asked = 0

    @classmethod
    def honest(cls, seed: int) -> "Dice":
        """Dice that spoil nothing."""
        dice = cls(seed)
        dice._spoiled = 0
        return dice

    def value(self, given: Any) -> Any:
        self._asked += 1
        return given if self._asked != self._spoiled else self.one(ODD)

    def one(self, choices: Sequence[Any]) -> Any:
        return choices[int(self.rng.integers(len(choices)))]

    def happens(self, chance: float) -> bool:
        return bool(self.rng.random() < chance)

    def power(self, low: float, high: float) -> float:
        """10^x with x between two numbers."""
        return float(10.0 ** self.rng.uniform(low, high))

    def vector(self, size: float) -> tuple[float, ...]:
        return tuple(float(c) for c in self.rng.normal(size=3) * size)


def invented(seed: int, *, budget: float | None = 3.0) -> pl.Scene:
    """The scene of a seed; raises a `PliantError` where it is spoiled, or does not fit together."""
    dice = Dice(seed)
    size = dice.power(-2.5, 1.5) if dice.happens(0.5) else 0.1
    h = dice.power(-6.0, -1.0) if dice.happens(0.5) else dice.power(-3.0, -2.0)
    contact, obstacles = _contact(dice, size)
    kinds = [dice.one(KINDS) for _ in range(dice.one((1, 1, 1, 2, 3)))]
    bodies = [make(dice, size, np.array([2.0 * size * k, 0.0, 0.0])) for k, make in enumerate(kinds)]
    integrator = _integrator(dice, all(make in MESHES for make in kinds), contact)
    return pl.Scene(
        bodies=[_held(body) for body in bodies] if isinstance(integrator, pl.Quasistatic) else bodies,
        contact=contact,
        obstacles=obstacles,
        integrator=integrator,
        gravity=dice.value(dice.one(((0.0, 0.0, -9.81), (0.0, 0.0, 0.0), (1.0, -2.0, 3.0)))),
        h=dice.value(h),
        duration=dice.value(STEPS * h),
        on_failure=dice.one(("raise", "raise", "warn", "substep")),
        on_energy_gain=dice.one(("ignore", "ignore", "warn", "raise")),
        budget=budget,
    )


def _integrator(dice: Dice, meshes: bool, contact: Any) -> Any:
    if isinstance(contact, pl.RowContact):
        return pl.LinearlyImplicit()
    if isinstance(contact, pl.BarrierContact):
        return dice.one((pl.BDF1, pl.BDF1, pl.BDF2, pl.SDIRK2))()
    kind = dice.one((STAGED, STAGED, STAGELESS, OTHERS) if meshes else (STAGED, STAGED, STAGELESS))
    method = dice.one(kind)
    if method in STAGED and dice.happens(0.4):
        return method(solver=dice.value(dice.one(SOLVERS)()))
    return method()


def _contact(dice: Dice, size: float) -> tuple[Any, list[Any]]:
    if dice.happens(0.5):
        return None, []
    mu = dice.value(dice.one((0.0, 0.3, 1.0)))
    contact = dice.one((pl.PenaltyContact, pl.PenaltyContact, pl.BarrierContact, pl.RowContact, pl.ProjectedContact))
    floor = pl.Plane(point=(0.0, 0.0, -size * dice.one((0.95, 1.0, 3.0))))
    ball = pl.Sphere(center=(0.0, 0.0, -2.5 * size), radius=dice.value(size))
    return contact(mu=mu), [dice.one((floor, floor, ball))]


def lump(rng: np.random.Generator, size: float) -> Mesh:
    """One to six tetrahedra of a cube, turned at random, within ``size`` of the origin."""
    side = size
    cube = bar(size=(side, side, side), cells=(1, 1, 1))
    T = cube.T[: int(rng.integers(1, len(cube.T) + 1))]
    used = np.unique(T)
    X = cube.X[used] - cube.X[used].mean(axis=0)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    Q[:, 0] *= np.sign(np.linalg.det(Q))
    return Mesh(X @ Q.T, np.searchsorted(used, T))


def _moved(mesh: Mesh, by: np.ndarray) -> Mesh:
    return Mesh(mesh.X + by, mesh.T)


def _common(dice: Dice, mesh: Mesh, size: float) -> dict[str, Any]:
    """Pins, damping and velocity."""
    options: dict[str, Any] = {"velocity": dice.value(dice.vector(dice.one((0.0, 0.1, 10.0)) * size))}
    if dice.happens(0.3):
        motion = pl.Shake((0.0, 0.05 * size, 0.0), 3.0) if dice.happens(0.3) else None
        options["pins"] = pl.Pin(dice.value([0, len(mesh.X) - 1]), motion)
    if dice.happens(0.2):
        options["damping"] = dice.one((pl.Rayleigh(alpha=1.0), pl.Rayleigh(beta=1e-3), pl.Green(1e-3)))
    return options


def _held(body: Any) -> Any:
    """A body that can neither move nor turn as a whole: without an equilibrium every scene would be refused."""
    return replace(body, pins=pl.Pin(np.arange(3), body.pins[0].motion if body.pins else None))


def _solid(dice: Dice, size: float, by: np.ndarray) -> Any:
    mesh = _moved(lump(dice.rng, size), by)
    E, nu = dice.power(1.0, 11.0) if dice.happens(0.5) else dice.power(3.0, 6.0), dice.one((0.0, 0.3, 0.45))
    material = dice.one(SOFT)(E=dice.value(E), nu=dice.value(nu))
    return pl.Solid(mesh, material, density=dice.value(dice.power(1.0, 4.0)), **_common(dice, mesh, size))


def _springs(dice: Dice, size: float, by: np.ndarray) -> Any:
    mesh = lump(dice.rng, size)
    edges = np.unique(
        np.sort(mesh.T[:, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]].reshape(-1, 2), axis=1), axis=0
    )
    net = Mesh(mesh.X + by, edges)
    k, mass = dice.value(dice.power(0.0, 5.0)), dice.value(dice.power(-3.0, 1.0))
    options = {name: given for name, given in _common(dice, net, size).items() if not isinstance(given, pl.Green)}
    return pl.SpringNet(net, k=k, mass=mass, **options)


def _membrane(dice: Dice, size: float, by: np.ndarray) -> Any:
    mesh = _moved(sheet(size=(size, size), cells=(1, dice.one((1, 2)))), by - 0.5 * size)
    material = dice.one(SOFT)(E=dice.value(dice.power(3.0, 7.0)), nu=0.3)
    return pl.Membrane(mesh, material, dice.value(0.01 * size), **_common(dice, mesh, size))


def _cloth(dice: Dice, size: float, by: np.ndarray) -> Any:
    mesh = _moved(sheet(size=(size, size), cells=(1, dice.one((1, 2)))), by - 0.5 * size)
    return pl.Cloth(mesh, thickness=dice.value(0.01 * size), **_common(dice, mesh, size))


def _rigid(dice: Dice, size: float, by: np.ndarray) -> Any:
    mesh = _moved(lump(dice.rng, size), by)
    density, velocity = dice.value(dice.power(1.0, 4.0)), dice.vector(dice.one((0.0, 1.0)) * size)
    return pl.Rigid(mesh, density=density, velocity=velocity, spin=dice.value(dice.vector(dice.one((0.0, 5.0)))))


def _arm(dice: Dice, size: float, by: np.ndarray) -> Any:
    links = [
        Link(
            Revolute(dice.value(dice.vector(1.0))),
            cuboid((size, 0.2 * size, 0.2 * size), dice.value(dice.power(1.0, 4.0)), at(0.5 * size, 0.0, 0.0)),
            k - 1 if k else None,
            at(*(by if k == 0 else (size, 0.0, 0.0))),
        )
        for k in range(dice.one((1, 2)))
    ]
    return pl.Articulated(links, v=[dice.value(float(dice.rng.normal())) for _ in links])


Maker = Callable[[Dice, float, np.ndarray], Any]
MESHES: tuple[Maker, ...] = (_solid, _springs, _membrane, _cloth)
KINDS: tuple[Maker, ...] = (_solid, _solid, _solid, _springs, _membrane, _cloth, _rigid, _arm)
