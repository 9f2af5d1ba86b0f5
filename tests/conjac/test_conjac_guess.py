"""Where a ConJac step is linearised, and with which tangent."""

import numpy as np

from pliant.bodies import Solid
from pliant.integrators import ConJac
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.state import State


def cantilever():
    mesh = bar(size=(0.15, 0.05, 0.05), cells=(6, 2, 2))
    scene = Scene([Solid(mesh, StableNeoHookean(2e4, 0.4), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))])
    return scene, scene.system()


def test_projection_on_demand_takes_the_true_tangent_where_it_is_definite():
    """At rest all tangents agree; squeezed flat the true one is refused, and the projected one put in its place."""
    scene, system = cantilever()
    start = scene.initial(system)
    always, demand, never = (ConJac(count=2, project=project) for project in ("always", "on_demand", "never"))
    projected, wanted, plain = (c.step(system, start, 5e-3).state for c in (always, demand, never))
    assert np.array_equal(wanted.v, plain.v)
    assert abs(plain.v - projected.v).max() < 1e-9 * abs(projected.v).max()
    q = start.q.copy()
    q[0::3] *= 0.2
    flat = State(q, 0 * q)
    report = never.step(system, flat, 5e-3).reports[0]
    assert not report.converged and "positive" in report.message
    assert np.array_equal(demand.step(system, flat, 5e-3).state.v, always.step(system, flat, 5e-3).state.v)


def test_ahead_is_the_first_newton_step_from_the_old_velocities():
    """(M - beta h^2 K) v = M v_0 + h f - beta h^2 K v_0, all at x_0 + beta h v_0, when every node is dynamic."""
    scene, system = cantilever()
    h, beta, rng = 5e-3, 0.5, np.random.default_rng(3)
    q, v0 = scene.initial(system).q, np.zeros(system.X.size)
    v0[system.free] = rng.normal(size=len(system.free))
    there = q + beta * h * v0
    K, f = system.stiffness(there, v0, h, psd=True), system.force(there, v0, h)
    A = (system.mass(q) - beta * h**2 * K)[system.free][:, system.free].toarray()
    exact = np.linalg.solve(A, (system.mass(q) @ v0 + h * f - beta * h**2 * (K @ v0))[system.free])
    state = ConJac(np.unique(system.free // 3), ahead=True).step(system, State(q, v0), h).state
    assert abs(state.v[system.free] - exact).max() < 1e-10 * abs(exact).max()
    still = State(q, 0 * q)
    ahead, plain = (ConJac(count=2, ahead=ahead).step(system, still, h).state.q for ahead in (True, False))
    assert np.array_equal(ahead, plain)


def test_ahead_keeps_a_body_turning():
    """Of two steps that cost the same the one linearised half a step ahead loses less of a rotation."""
    mesh = bar(size=(0.15, 0.03, 0.03), cells=(6, 2, 2))
    system = Scene([Solid(mesh, StableNeoHookean(1e5, 0.4))], gravity=(0, 0, 0)).system()
    X = system.X - system.X.mean(axis=0)
    v = 20.0 * np.column_stack([-X[:, 1], X[:, 0], 0 * X[:, 0]]).ravel()
    left = []
    for ahead in (False, True):
        state, memory = State(system.X.ravel().copy(), v), None
        for _ in range(10):
            step = ConJac(count=4, ahead=ahead).step(system, state, 5e-3, memory)
            state, memory = step.state, step.memory
        left.append(float(state.v @ (system.mass(v) @ state.v) / (v @ (system.mass(v) @ v))))
    assert left[1] > 2.0 * left[0], left
