"""ledwon/properties: what the methods promise, measured: roots, orders, stiffness, momentum, drift, limits."""

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.core.orders import observed_order, problems, reference
from pliant.bench.ledwon.contest import moment
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid, SpringNet
from pliant.constraints import ConstrainedEuler, Distances
from pliant.energies.gravity import Gravity
from pliant.energies.springs import Springs
from pliant.integrators import BDF1, XPBD
from pliant.maps.pins import Pin
from pliant.materials import ARAP, StableNeoHookean
from pliant.mesh import bar, chain, spring_net
from pliant.scene import Scene
from pliant.scenes.ledwon import FRAME, hanging_cloth, stiff_chain, twisted_bar
from pliant.solvers import LBFGS, PD, SteepestDescent, Tolerance
from pliant.state import State
from pliant.systems.elastodynamics import Elastodynamics

TIGHT = Tolerance(1e-11, 1e-16)
Measured = tuple[str, str, str, bool]  # property, expected, measured, holds


def roots(quick: bool) -> list[Measured]:
    """Every minimiser ends where Newton ends."""
    now = moment(hanging_cloth(6, k=100.0), 6)
    guess = now.stage.frame[now.system.free]
    exact = now.root[now.system.free]
    out = []
    solvers: dict[str, Any] = {
        "PD": PD(m=0, tolerance=TIGHT),
        "PD + L-BFGS": PD(tolerance=TIGHT),
        "L-BFGS": LBFGS(tolerance=TIGHT),
    }
    if not quick:
        solvers["steepest descent"] = SteepestDescent(tolerance=Tolerance(1e-10, 0.0))
    for name, solver in solvers.items():
        gap = float(abs(solver.solve(now.stage, guess).z - exact).max())
        out.append((f"{name} reaches implicit Euler", "<= 1e-10 m", f"{gap:.1e} m", gap <= 1e-10))
    merits = [now.stage.merit(PD(m=0, fixed=k).solve(now.stage, guess).z) for k in range(1, 15)]
    rise = float(np.diff(merits).max())
    return [*out, ("PD decreases the objective in every iteration", "< 0", f"{rise:.1e} J s^2", rise < 0)]


def pairs(quick: bool) -> list[Measured]:
    """Secant pairs on the constant matrix."""
    now = moment(twisted_bar(cells=(6, 2, 2) if quick else (9, 3, 3), turns=1.0, material=ARAP(1e5)), 20)
    guess = now.stage.frame[now.system.free]
    counts = [PD(m=m, tolerance=Tolerance(1e-6, 0.0)).solve(now.stage, guess).report.iterations for m in (0, 1, 5, 10)]
    text = " / ".join(map(str, counts))
    return [("iterations to 1e-6 with m = 0 / 1 / 5 / 10", "m = 5: a third of m = 0", text, counts[0] >= 3 * counts[2])]


def orders(quick: bool) -> list[Measured]:
    out = []
    for name, (scene, T) in problems().items():
        order, _ = observed_order(scene, XPBD(), T, reference(scene, T), [40, 80] if quick else [80, 160])
        out.append((f"XPBD order on {name}", "1 +- 0.15", f"{order:.3f}", abs(order - 1) <= 0.15))
    return out


def hanging(links: int = 5, k: float = 200.0, m: float = 0.1) -> tuple[Elastodynamics, float]:
    """A vertical chain and its static stretch under its weight [m]."""
    mesh = chain(links)
    X = mesh.X[:, [1, 2, 0]] * [1.0, 1.0, -1.0]
    masses = np.full(links + 1, m)
    energies: list[Any] = [Springs(X, mesh.T, k), Gravity(masses, np.array([0.0, 0.0, -9.81]))]
    return Elastodynamics(X, masses, energies, pins=[Pin(np.array([0]))]), m * 9.81 / k * links * (links + 1) / 2


def stiffness(quick: bool) -> list[Measured]:
    """The stretch of a hanging chain must not depend on step and iterations; plain PBD's does."""
    system, expected = hanging()
    worst = 0.0
    for h, settings in ((FRAME, (1, 50)), (FRAME, (1, 100)), (FRAME / 2, (1, 50)), (FRAME, (10, 5))):
        state, memory = State(system.X.ravel(), np.zeros(system.X.size)), None
        for _ in range(round((3 if quick else 6) / h)):
            step = XPBD(*settings, damping=0.05).step(system, state, h, memory)
            state, memory = step.state, step.memory
        worst = max(worst, abs(-1.0 - state.q[-1] - expected) / expected)
    soft, stiff = (plain_pbd(system.X, k) for k in (5, 50))
    text = f"{soft:.3f} m against {stiff:.3f} m"
    return [
        ("XPBD: stretch for any step and iterations", "<= 5 % off", f"{worst:.1%}", worst <= 0.05),
        ("plain PBD: stretch with 5 and 50 iterations", "differs", text, soft > 2 * stiff),
    ]


def plain_pbd(X: Array, iterations: int, stiffness: float = 0.2) -> float:
    """Stretch [m] of the same chain without compliance: every projection goes a fixed part of the way."""
    h, x, v = FRAME, X.copy(), np.zeros_like(X)
    w = np.r_[0.0, np.ones(len(X) - 1)]
    rest = np.linalg.norm(np.diff(X, axis=0), axis=1)
    for _ in range(300):
        y = x + h * 0.97 * v + h * h * np.outer(w, [0.0, 0.0, -9.81])
        for _ in range(iterations):
            for i, length in enumerate(rest):
                s = y[i] - y[i + 1]
                L = float(np.linalg.norm(s))
                d = stiffness * (L - length) / (w[i] + w[i + 1]) * s / L
                y[i] -= w[i] * d
                y[i + 1] += w[i + 1] * d
        x, v = y, (y - x) / h
    return float(-1.0 - x[-1, 2])


def momentum(quick: bool) -> list[Measured]:
    """Free bodies keep their linear momentum to round-off."""
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    scenes = [Scene([SpringNet(spring_net(4, 4), 40.0, 0.05)], gravity=(0, 0, 0))]
    scenes += [Scene([Solid(mesh, StableNeoHookean(2e4, 0.4))], gravity=(0, 0, 0))]
    out = []
    choices: dict[str, Any] = {"XPBD": XPBD(5), "PD, 3 iterations": BDF1(PD(m=0, fixed=3)), "PD + L-BFGS": BDF1(PD())}
    for name, integrator in choices.items():
        worst = 0.0
        for scene in scenes:
            system = scene.system()
            rng = np.random.default_rng(0)
            state = State(system.X.ravel() + 0.01 * rng.normal(size=system.X.size), rng.normal(size=system.X.size))
            before, memory = system.nodal_mass * state.v, None
            for _ in range(10):
                step = integrator.step(system, state, 0.01, memory)
                state, memory = step.state, step.memory
            change = (system.nodal_mass * state.v - before).reshape(-1, 3).sum(axis=0)
            worst = max(worst, float(abs(change).max()))
        out.append((f"{name}: change of momentum", "<= 1e-10 kg m/s", f"{worst:.1e}", worst <= 1e-10))
    return out


def constraints(quick: bool) -> list[Measured]:
    """Hard rows do not drift, compliant rows become hard."""
    scene = stiff_chain(links=5, ratio=1.0, mass=0.1)
    mesh = scene.bodies[0].mesh
    rods, system = Distances(mesh.X, mesh.T), scene.system()
    masses = np.asarray(system.nodal_mass[::3], dtype=np.float64)
    free = Elastodynamics(mesh.X, masses, [system.energy_terms[-1]], pins=[Pin(np.array([0]))])

    def after(steps: int, **options: Any) -> tuple[Array, float]:
        state, memory, worst = State(mesh.X.ravel(), np.zeros(mesh.X.size)), None, 0.0
        for _ in range(steps):
            step = ConstrainedEuler(rods, **options).step(free, state, 0.005, memory)
            state, memory, worst = step.state, step.memory, max(worst, step.reports[0].residual)
        return state.q, worst

    steps = 60 if quick else 400
    drift = after(steps, project=True, geometric=True)[1]
    loose = after(steps, gamma=0.0)[1]
    hard = after(40)[0]
    gaps = [float(abs(after(40, compliance=a)[0] - hard).max()) for a in (1e-4, 1e-6, 1e-8)]
    text = " > ".join(f"{g:.1e}" for g in gaps)
    return [
        ("hard constraints, stabilised: largest violation", "<= 1e-8 m", f"{drift:.1e} m", drift <= 1e-8),
        ("hard constraints without stabilisation drift", "> stabilised", f"{loose:.1e} m", loose > drift),
        ("compliance 1e-4, 1e-6, 1e-8 m/N: distance to hard", "-> 0", text, gaps[0] > gaps[1] > gaps[2] < 1e-5),
    ]


def run(*, quick: bool = False) -> Table:
    parts: list[Callable[[bool], list[Measured]]] = [roots, pairs, orders, stiffness, momentum, constraints]
    found = [measured for part in parts for measured in part(quick)]
    names = ("property", "expected", "measured", "holds")
    rows = [dict(zip(names, measured, strict=True)) for measured in found]
    claims = [Claim(*measured) for measured in found]
    return Table("ledwon/properties", "Promises of XPBD, PD, descent and constraints", rows, claims)
