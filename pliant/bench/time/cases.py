"""Motions to choose steps for: smooth ones, stiff ones, and ones with an impact or a snap; small, so that a reference
can be had from an explicit method of order 8 (DOP853) on the same forces."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

from pliant.arrays import Array
from pliant.bodies import Rayleigh, Solid, SpringNet
from pliant.loads import Tug
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, bar, rectangle, spring_net
from pliant.scene import Scene
from pliant.scenes.contact import bouncing_ball
from pliant.state import State
from pliant.systems.penalty_contact import PenaltyContact


@dataclass(frozen=True)
class MotionCase:
    """A motion of ``duration`` [s], shown in ``frames``; ``scene`` makes it."""

    name: str
    scene: Callable[[], Scene]
    duration: float
    frames: int


def oscillator() -> Scene:
    """Two masses on a spring of 50 N/m at 20 rad/s, stretched: linear, as they swing along it."""
    net = Mesh(np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0]]), np.array([[0, 1]]))
    body = SpringNet(net, k=50.0, mass=0.125, pins=Pin(np.array([0])), positions=net.X * [1.2, 1.0, 1.0])
    return Scene([body], gravity=(0.0, 0.0, 0.0), name="oscillator")


def swinging_bar(E: float = 1e5) -> Scene:
    """BAR, coarse: clamped at x = 0, let go under gravity."""
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(6, 2, 2))
    clamp = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Solid(mesh, StableNeoHookean(E=E, nu=0.4), pins=clamp)], name="bar")


def stiff_bar() -> Scene:
    return swinging_bar(1e7)


def ball() -> Scene:
    """A ball falls by 2 cm on a soft floor and leaps."""
    return bouncing_ball(cells=3, E=2e5, height=0.02, contact=PenaltyContact(mu=0.0, k=3e3, smoothing=5e-3))


def arch() -> Scene:
    """A shallow arch, clamped at both ends, is pushed down in its middle until it snaps through."""
    flat = rectangle(size=(0.4, 0.004), cells=(24, 1))
    X = flat.X.copy()
    X[:, 1] += 0.06 * (1.0 - (2.0 * X[:, 0] / 0.4 - 1.0) ** 2)
    mesh = Mesh(X, flat.T)
    ends = Pin(mesh.where(lambda X: (X[:, 0] < 1e-9) | (X[:, 0] > 0.4 - 1e-9)))
    top = mesh.where(lambda X: abs(X[:, 0] - 0.2) < 1e-6)
    body = Solid(mesh, StableNeoHookean(E=1e6, nu=0.3), pins=ends, damping=Rayleigh(alpha=4.0, beta=5e-4))
    return Scene([body], forces=[Tug(top, (0.0, -80.0), 0.0, 0.4, 10.0)], gravity=(0.0, 0.0), name="arch")


def drape() -> Scene:
    """A cloth of springs, held at two corners, falls from the horizontal and swings to and fro."""
    net = spring_net(8, 8)
    held = Pin(np.array([0, 7]))
    return Scene([SpringNet(net, k=200.0, mass=0.2, pins=held, damping=Rayleigh(alpha=0.5, beta=2e-3))], name="drape")


CASES = (
    MotionCase("linear oscillator", oscillator, 0.25, 10),
    MotionCase("BAR swing", swinging_bar, 0.2, 10),
    MotionCase("BAR at E = 1e7", stiff_bar, 0.05, 10),
    MotionCase("bouncing ball", ball, 0.15, 10),
    MotionCase("snapping arch", arch, 0.6, 30),
    MotionCase("cloth drape", drape, 0.25, 10),
)


def slopes(system: Any, start: State) -> Callable[[float, Array], Array]:
    """d(q, v)/dt of the free coordinates, as explicit methods of SciPy want it."""
    n, free = len(start.q), system.free

    def slope(t: float, y: Array) -> Array:
        q, v = system.prescribe(start.q, t).copy(), np.zeros(n)
        q[free], v[free] = y[: len(free)], y[len(free) :]
        return np.concatenate([v[free], system.acceleration(q, v, t)[free]])

    return slope


def reference(scene: Scene, duration: float, frames: int, tolerance: float = 1e-11) -> Array:
    """Coordinates (frames, N) at equal times by DOP853, frame by frame and from corner to corner of loads."""
    system = scene.system()
    start = scene.initial(system)
    free, slope = system.free, slopes(system, start)
    times = [duration * k / frames for k in range(1, frames + 1)]
    y, out = np.concatenate([start.q[free], start.v[free]]), []
    corners = sorted({0.0, *times, *(t for t in scene.stops() if t < duration)})
    for a, b in zip(corners[:-1], corners[1:], strict=True):
        y = solve_ivp(slope, (a, b), y, "DOP853", rtol=tolerance, atol=0.1 * tolerance).y[:, -1]
        if b in times:
            q = system.prescribe(start.q, b).copy()
            q[free] = y[: len(free)]
            out.append(q)
    return np.array(out)


def exact_step(system: Any, state: State, h: float) -> State:
    """Where a state goes in h seconds."""
    free = system.free
    y = np.concatenate([state.q[free], state.v[free]])
    times = state.t, state.t + h
    y = solve_ivp(slopes(system, state), times, y, "DOP853", rtol=1e-12, atol=1e-14).y[:, -1]
    q, v = system.prescribe(state.q, times[1]).copy(), state.v.copy()
    q[free], v[free] = y[: len(free)], y[len(free) :]
    return State(q, v, times[1])


@dataclass(frozen=True, eq=False)
class Followed:
    """A run of a case: coordinates (frames, N), accepted and rejected steps, the sum of all estimated errors [m]."""

    q: Array
    accepted: int
    rejected: int
    estimate: float | None


def followed(case: MotionCase, integrator: Any) -> Followed:
    """The case with an integrator that chooses its steps."""
    scene = case.scene()
    system = scene.system()
    state, memory = scene.initial(system), None
    chosen = integrator.landing(scene.stops())
    out, controls = [], []
    for _ in range(case.frames):
        step = chosen.step(system, state, case.duration / case.frames, memory)
        if not all(r.converged for r in step.reports):
            raise RuntimeError(step.reports[-1].message)
        state, memory = step.state, step.memory
        out.append(state.q)
        controls.append(step.control)
    return Followed(
        np.array(out),
        sum(c.accepted for c in controls),
        sum(c.rejected for c in controls),
        sum(c.estimate for c in controls),
    )


def error(q: Array, exact: Array, d: int) -> float:
    """The largest over all frames of the root mean square distance [m]."""
    apart = ((q - exact) ** 2).reshape(len(q), -1, d).sum(axis=2).mean(axis=1)
    return float(np.sqrt(apart.max()))
