"""The step advisor: what the time step of a scene resolves and damps, and what would be better.

Frequencies are those of the rest state, K u = omega^2 M u on the free coordinates. How the chosen integrator treats a
mode of frequency omega is measured: it is run on an oscillator of that frequency with the same h, and rho is its
amplification per step. The amplitude decays like exp(-zeta omega t) with zeta = -ln(rho) / (h omega). For backward
Euler this is known in closed form, zeta = ln(1 + theta^2) / (2 theta) with theta = h omega. [Chen2019, sec. 6.1]
"""

from dataclasses import dataclass
from math import inf, log, nan, pi, sqrt
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.bodies import bodies_of
from pliant.deformable import OfMaterial
from pliant.energies.attachment import AttachmentEnergy
from pliant.errors import PliantError, SceneError
from pliant.integrators import BDF2, SDIRK2, TRBDF2, ImplicitMidpoint
from pliant.integrators.base import Wrapping, fits
from pliant.linear.automatic import Automatic, estimate
from pliant.linear.cholesky import Cholesky
from pliant.linear.modes import highest, lowest
from pliant.linear.refined import RefinedCholesky
from pliant.materials.base import Isotropic, lame, summands
from pliant.mesh.measures import edge_lengths
from pliant.state import State
from pliant.systems.base import Composed
from pliant.systems.elastodynamics import Elastodynamics

GROWTH = 1e-7  # per step: what is called unstable
LOSS = 0.05  # part of the amplitude of the slowest mode that may be lost per period
COARSE, FINE = 12.0, 400.0  # steps per period of the slowest mode outside of which h is called coarse or fine
PART = 0.01  # of the slowest motion: the accuracy that a step is named for
MOST = 300  # modes asked for at the most; a sheet of cloth has as many slack ones as vertices


@runtime_checkable
class HavingSolver(Protocol):
    """An integrator with a nonlinear solver."""

    solver: Any


@runtime_checkable
class Factoring(Protocol):
    """A nonlinear solver with a linear one."""

    linear: Any


@dataclass(frozen=True)
class ModeAdvice:
    """One frequency [Hz]: theta = h omega, amplification per step, damping ratio, amplitude left after one period."""

    frequency: float
    theta: float
    rho: float
    zeta: float
    left: float


@dataclass(frozen=True)
class Advice:
    """The result of `advise`; ``suggestions`` are sentences with reasons. Times in s, frequencies in Hz.

    ``cfl`` is the time a pressure wave needs to cross the shortest edge (inf without elastic bodies),
    ``explicit_limit`` is 2 / omega_max, ``condition`` an estimate for the matrix M + h^2 K of an implicit step.
    ``linear`` describes the linear solver of its steps and the reasons for it; None for methods without a choice of
    linear solver.
    """

    integrator: str
    h: float
    rigid: int
    modes: tuple[ModeAdvice, ...]
    top: ModeAdvice
    cfl: float
    explicit_limit: float
    condition: float
    suggestions: tuple[str, ...]
    linear: str | None = None
    accuracy: str = ""  # what a given accuracy asks for; "" without a slowest mode


def advise(scene: Any, *, count: int = 6) -> Advice:
    """Examine a scene at rest: ``count`` elastic modes, the stiffest mode, limits, and suggestions."""
    integrator = scene.integrator
    while isinstance(integrator, Wrapping):  # one that cuts or follows modes as it goes
        integrator = integrator.integrator
    system = scene.system()
    if not fits(integrator, Elastodynamics) or not isinstance(system, Composed):
        what = f"{type(integrator).__name__} steps a system of its own kind here"
        raise SceneError(what, where="advise", remedy="ask for scenes of elastic bodies, or lower h and compare")
    K, M = _matrices(system, scene.initial(system))
    top = sqrt(max(highest(K, M), 0.0))
    if top == 0.0:
        raise SceneError("nothing is elastic in this scene", where="advise", remedy="there is no step to advise on")
    found, elastic = _lowest(K, M, count, 1e-8 * top**2)
    if integrator.order == 0:
        raise SceneError("quasistatic steps have no dynamics", where="advise", remedy="choose a dynamic integrator")
    h = float(scene.h)
    modes = tuple(_mode(integrator, h, sqrt(lam)) for lam in elastic[:count])
    last = _mode(integrator, h, top)
    slow = 2.0 * pi * modes[0].frequency if modes else 0.0
    return Advice(
        type(integrator).__name__,
        h,
        len(found) - len(elastic),
        modes,
        last,
        wave_time(scene),
        2.0 / top,
        (1.0 + (h * top) ** 2) / (1.0 + (h * slow) ** 2),
        tuple(_suggestions(integrator, h, modes, last, top)),
        linear_choice(integrator, K),
        _accuracy(scene, float(np.linalg.norm(np.ptp(system.X, axis=0))), slow) if slow else "",
    )


def linear_choice(integrator: Any, K: sp.csr_matrix) -> str | None:
    """The linear solver of a stage with the pattern of K, and the estimates that speak for or against it."""
    solver = integrator.solver if isinstance(integrator, HavingSolver) else None
    if not isinstance(solver, Factoring):
        return None
    costs, linear = estimate(K), solver.linear
    if isinstance(linear, Automatic):
        name = "multigrid" if linear.chosen(K) is linear.large else "a Cholesky factor"
        name += " in single precision, refined in double" if isinstance(linear.chosen(K), RefinedCholesky) else ""
        return f"{type(solver).__name__} uses {name} here. {costs}."
    better = " linear=Automatic() would take multigrid." if costs.large and isinstance(linear, Cholesky) else ""
    return f"{type(solver).__name__} uses {type(linear).__name__} as requested. {costs}.{better}"


def _accuracy(scene: Any, size: float, omega: float) -> str:
    """The step and the tolerance for `PART` of the slowest motion after one of its periods.

    The step is measured on an oscillator; the motion is taken to be what gravity does to a body that is let go,
    2 g / omega^2, or a hundredth of the size without gravity.
    """
    period, g = 2.0 * pi / omega, float(np.linalg.norm(scene.gravity))
    amplitude = min(2.0 * g / omega**2, size) if g else 0.01 * size
    h = period / steps_for(TRBDF2(), PART)
    return (
        f"For an error of {PART:.0%} of the slowest motion (about {1e3 * amplitude:.2g} mm) after one period use "
        f"TRBDF2 with h = {1e3 * h:.2g} ms, or Adaptive(TRBDF2(), tolerance={PART * amplitude / period:.1g})."
    )


def steps_for(integrator: Any, part: float, steps: int = 64) -> float:
    """Steps per period with which an oscillator is off by ``part`` of its amplitude after one period, by the order."""
    theta = 2.0 * pi / steps
    spring = AttachmentEnergy(1, np.array([0]), np.zeros((1, 3)), theta**2)  # unit mass, h = 1
    system = Elastodynamics(np.zeros((1, 3)), np.ones(1), [spring])
    state, memory = State(np.array([1.0, 0.0, 0.0]), np.zeros(3)), None
    for _ in range(steps):
        step = integrator.step(system, state, 1.0, memory)
        state, memory = step.state, step.memory
    wrong = float(np.hypot(state.q[0] - 1.0, state.v[0] / theta))
    return float(steps * (wrong / part) ** (1.0 / integrator.order))


def _lowest(K: sp.csr_matrix, M: sp.csr_matrix, count: int, zero: float) -> tuple[Array, Array]:
    """The lowest eigenvalues, and of these the ones above ``zero``: ``count``, however many motions cost nothing."""
    asked = count + 6  # rigid motions of one body; cloth and ropes have many more
    while True:
        asked = min(asked, K.shape[0])
        found = lowest(K, M, asked).lam
        elastic = found[found > zero]
        if len(elastic) >= count or asked == K.shape[0] or asked > MOST:
            return found, elastic
        asked *= 2


def amplification(integrator: Any, theta: float) -> float:
    """The factor rho by which the integrator changes the amplitude of an oscillator per step, at theta = h omega.

    Two oscillations, a quarter of a period apart, are followed; rho is the spectral radius of the 2 x 2 matrix that
    takes (theta q, v) of both from step to step. For multistep methods this is the principal root: the others have
    died out before the matrix is fitted. NaN for methods that cannot step a single oscillator.
    """
    spring = AttachmentEnergy(1, np.array([0]), np.zeros((1, 3)), theta**2)  # unit mass, h = 1
    system = Elastodynamics(np.zeros((1, 3)), np.ones(1), [spring])
    state, memory = State(np.array([1.0, 0.0, 0.0]), np.array([0.0, theta, 0.0])), None
    before = after = np.eye(2)
    for _ in range(20):
        try:
            with np.errstate(all="ignore"):
                step = integrator.step(system, state, 1.0, memory)
        except PliantError:  # a method that needs more than one oscillator, such as one with modes
            return nan
        state, memory = step.state, step.memory
        now = np.array([theta * state.q[:2], state.v[:2]])
        size = float(np.abs(now).max())
        if not 1e-100 < size < 1e100:
            break
        before, after = after, now
    if size >= 1e100 or not np.isfinite(size):
        return inf
    return float(np.abs(np.linalg.eigvals(after @ np.linalg.pinv(before))).max())


def stability_limit(integrator: Any) -> float:
    """The largest theta = h omega without growth, found by bisection; inf for methods that have none."""
    grid = np.geomspace(0.1, 1e4, 26)
    grows = [amplification(integrator, float(theta)) > 1.0 + GROWTH for theta in grid]
    if not any(grows):
        return inf
    k = grows.index(True)
    low, high = (0.0, grid[0]) if k == 0 else (grid[k - 1], grid[k])
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if amplification(integrator, middle) > 1.0 + GROWTH else (middle, high)
    return float(low)


def wave_time(scene: Any) -> float:
    """The shortest edge over the speed of pressure waves sqrt((lam + 2 mu)/density), over all elastic bodies [s]."""
    times = [inf]
    for body in bodies_of(scene):
        for part in summands(body.material) if isinstance(body, OfMaterial) else ():
            if isinstance(part, Isotropic):
                mu, lam = lame(part.E, part.nu)
                speed = np.sqrt((lam + 2.0 * mu) / np.asarray(body.density))
                times.append(float(np.min(edge_lengths(body.mesh.X, body.mesh.T).min(axis=1) / speed)))
    return min(times)


def _matrices(system: Any, state: State) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Stiffness (positive semidefinite) and mass on the free coordinates, at rest."""
    at_rest: Array = system.X.ravel() if isinstance(system, Composed) else state.q
    K = -system.stiffness(at_rest, np.zeros_like(state.v), state.t, psd=True)[system.free][:, system.free]
    M = system.mass(at_rest)[system.free][:, system.free]
    return sp.csr_matrix(0.5 * (K + K.T)), sp.csr_matrix(M)  # symmetric to the last bit, so that its pattern is too


def _mode(integrator: Any, h: float, omega: float) -> ModeAdvice:
    theta = h * omega
    rho = amplification(integrator, theta)
    if np.isnan(rho):
        return ModeAdvice(omega / (2.0 * pi), theta, nan, nan, nan)
    zeta = inf if rho == 0.0 else -log(rho) / theta if np.isfinite(rho) else -inf
    left = rho ** (2.0 * pi / theta) if rho <= 1.0 or theta > 1e-3 else inf
    return ModeAdvice(omega / (2.0 * pi), theta, rho, zeta, float(min(left, inf)))


def _suggestions(integrator: Any, h: float, modes: tuple[ModeAdvice, ...], top: ModeAdvice, omega: float) -> list[str]:
    name = type(integrator).__name__
    if top.rho > 1.0 + GROWTH:
        limit = stability_limit(integrator) / omega
        return [
            f"{name} is unstable at h = {h:.3g} s: the stiffest mode ({top.frequency:.3g} Hz) grows "
            f"{top.rho:.3g} times per step. Use h <= {0.9 * limit:.2g} s, or BDF2, which has no limit."
        ]
    if np.isnan(top.rho):
        return [f"{name} cannot be measured on a single oscillator: the table has no damping for it."]
    if not modes:
        return ["The slowest zero-energy modes at rest (rigid or slack): choose h by the motion you want to see."]
    slow = modes[0]
    period = 1.0 / slow.frequency
    out = []
    if period / h < COARSE:
        out.append(
            f"The slowest mode ({slow.frequency:.3g} Hz) has only {period / h:.3g} steps per period: its motion is not "
            f"resolved. Use h <= {period / 20:.2g} s to see it; larger steps show its equilibrium only."
        )
    elif period / h > FINE:
        out.append(
            f"The slowest mode ({slow.frequency:.3g} Hz) has {period / h:.3g} steps per period; h up to "
            f"{period / 40:.2g} s still resolves it."
        )
    if slow.left < 1.0 - LOSS:
        out.append(_less_damping(integrator, h, slow))
    if top.rho > 0.99 and top.theta > 2.0 and not out:
        out.append(
            f"{name} does not damp the stiffest mode, which turns {top.theta / (2 * pi):.2g} times per step: "
            "noise stays. BDF2 or SDIRK2 remove it."
        )
    return out or [f"{name} with h = {h:.3g} s resolves the slowest mode and is stable: nothing to change."]


def _less_damping(integrator: Any, h: float, slow: ModeAdvice) -> str:
    """A sentence about a method or step that keeps more of the slowest mode."""
    lost = f"{type(integrator).__name__} takes {1.0 - slow.left:.1%} of the amplitude of the slowest mode per period"
    omega = 2.0 * pi * slow.frequency
    for other in (BDF2(), SDIRK2(), ImplicitMidpoint()):
        if type(other) is not type(integrator) and _mode(other, h, omega).left >= 1.0 - LOSS:
            left = _mode(other, h, omega).left
            return f"{lost}; {type(other).__name__} at the same h takes {max(1.0 - left, 0.0):.1%}."
    smaller = h
    for _ in range(12):
        smaller /= 2.0
        if _mode(integrator, smaller, omega).left >= 1.0 - LOSS:
            return f"{lost}; h = {smaller:.2g} s takes less than {LOSS:.0%}."
    return f"{lost}; a much smaller h is needed."
