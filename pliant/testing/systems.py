"""Checks of systems: f, K, D, M(q), closures and points belong together, whatever the coordinates are."""

from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.state import State
from pliant.systems.base import System
from pliant.systems.closures import Constrained
from pliant.systems.observed import Moving
from pliant.systems.stepped import Contacting
from pliant.testing.differences import agree, dense, derivative, semidefinite, symmetric

WEIGHTS = (1.0, 0.1, 0.01)


def check_system(
    system: System, state: State, *, moving: bool = True, eps: float = 1e-6, tolerance: float = 1e-6
) -> None:
    """Everything below at one state; contacts are those found there, as for a stage.

    ``moving=False`` where forces leave a part of df/dq out of K that vanishes at rest (they say so).
    """
    fixed = system.at(state, state.t) if isinstance(system, Contacting) else system
    check_inertia(fixed, state)
    check_derivatives(fixed, state, moving=moving, eps=eps, tolerance=tolerance)
    check_potential(fixed, state, eps=eps, tolerance=10 * tolerance)
    check_tangent(fixed, state, moving=moving, eps=eps, tolerance=tolerance)
    check_acceleration(system, state)
    check_boundary(system, state)
    if isinstance(system, Moving):
        check_points(system, state.q, eps=eps, tolerance=tolerance)
    if isinstance(system, Constrained):
        check_closures(system, state, eps=eps, tolerance=tolerance)
    check_read_out(system, state)


def check_inertia(system: System, state: State) -> None:
    """M is symmetric and semidefinite, ``inertia`` its product, ``kinetic`` its energy; ``weights`` are positive."""
    q, v = state.q, state.v
    M, name = system.mass(q), type(system).__name__
    symmetric(f"{name}: mass", M)
    semidefinite(f"{name}: mass", M)
    a = np.random.default_rng(1).normal(size=len(q))
    agree(f"{name}: inertia", system.inertia(q, a), M @ a, 1e-10)
    kinetic = system.energies(q, v, state.t)["kinetic"]
    agree(f"{name}: kinetic energy", np.array([kinetic]), np.array([0.5 * v @ (M @ v)]), 1e-10)
    w = system.weights(q)
    assert w.shape == q.shape and (w > 0.0).all(), f"{name}: weights must be positive, one for each coordinate"


def check_derivatives(
    system: System, state: State, *, moving: bool = True, eps: float = 1e-6, tolerance: float = 1e-6
) -> None:
    """K = df/dq and D = df/dv; D is negative semidefinite where the system is symmetric."""
    q, v, t, name = state.q, state.v, state.t, type(system).__name__
    rounded = max(1e-2, 4.0 * np.finfo(np.float64).eps / (eps * tolerance))  # differences of forces are, a few ulps
    floor = max(rounded * float(np.abs(system.force(q, v, t)).max()), 1e-6)
    for u in (v, np.zeros_like(v)) if moving else (np.zeros_like(v),):
        slope = derivative(partial(_force, system, u, t), q, eps)
        agree(f"{name}: stiffness", system.stiffness(q, u, t), slope, tolerance, floor=floor)
    D = system.damping(q, v, t)
    slope = derivative(lambda u: system.force(q, u, t), v, eps)
    agree(f"{name}: damping", D, slope, tolerance, floor=floor)
    if system.symmetric:
        symmetric(f"{name}: stiffness", system.stiffness(q, 0 * v, t), 1e-10)
        semidefinite(f"{name}: damping", D, sign=-1.0)


def _force(system: System, v: Array, t: float, q: Array) -> Array:
    return np.asarray(system.force(q, v, t))


def check_potential(system: System, state: State, *, eps: float = 1e-6, tolerance: float = 1e-5) -> None:
    """f(q, 0) = -dW/dq where there is a potential, which is the sum of the energies in the ledger."""
    q, t, name = state.q, state.t, type(system).__name__
    still = np.zeros_like(q)
    W = system.potential(q, t)
    if W is None:
        return
    slope = derivative(lambda x: system.potential(x, t), q, eps)
    agree(f"{name}: force", system.force(q, still, t), -slope, tolerance, floor=1e-6)
    total = sum(value for key, value in system.energies(q, still, t).items() if key != "kinetic")
    agree(f"{name}: energies in the ledger", np.array([total]), np.array([W]), 1e-9, floor=1e-9)


def check_tangent(
    system: System, state: State, *, moving: bool = True, eps: float = 1e-6, tolerance: float = 1e-6
) -> None:
    """w_M M - w_D D - w_K K, with the change of the inertia where an acceleration is given; definite with psd."""
    v = state.v if moving else np.zeros_like(state.v)
    q, t, name = state.q, state.t, type(system).__name__
    w_M, w_D, w_K = WEIGHTS
    A = system.tangent(q, v, t, WEIGHTS, psd=False)
    parts = w_M * system.mass(q) - w_D * system.damping(q, v, t) - w_K * system.stiffness(q, v, t)
    agree(f"{name}: tangent", A, parts, 1e-10)
    a = np.random.default_rng(6).normal(size=len(q))
    K = system.stiffness(q, v, t) - derivative(lambda x: system.inertia(x, a), q, eps)
    exact = w_M * system.mass(q) - w_D * system.damping(q, v, t) - w_K * sp.csr_matrix(K)
    agree(f"{name}: tangent with an acceleration", system.tangent(q, v, t, WEIGHTS, psd=False, a=a), exact, tolerance)
    P = system.restrict(system.tangent(q, v, t, WEIGHTS, psd=True))
    symmetric(f"{name}: projected tangent", P, 1e-10)
    least = float(np.linalg.eigvalsh(dense(P)).min())
    assert least > 0.0, f"{name}: the projected tangent has the eigenvalue {least:.3g}"
    full = dense(system.tangent(q, v, t, WEIGHTS, psd=True))
    agree(f"{name}: restriction", P, full[np.ix_(system.free, system.free)], 1e-14)


def check_acceleration(system: System, state: State, tolerance: float = 1e-8) -> None:
    """M a = f + G^T lambda on the free coordinates, a = 0 on the others, and closures stay closed to second order."""
    q, v, t, free = state.q, state.v, state.t, system.free
    name = type(system).__name__
    a = system.acceleration(q, v, t)
    held = np.setdiff1d(np.arange(len(q)), free)
    assert not a[held].any(), f"{name}: prescribed coordinates are accelerated"
    left = (system.inertia(q, a) - system.force(q, v, t))[free]
    size = max(float(np.abs(system.force(q, v, t)[free]).max()), float(np.abs(system.inertia(q, a)).max()))
    rows = system.closures(q, v, t) if isinstance(system, Constrained) else None
    if rows is not None:
        G = dense(rows.G)[:, free]
        left = left - G.T @ np.linalg.lstsq(G.T, left, rcond=None)[0]
    agree(f"{name}: M a - f", left, np.zeros_like(left), tolerance, floor=size)


def check_boundary(system: System, state: State) -> None:
    """``prescribe`` moves prescribed coordinates only, twice is once, and where to is a function of time."""
    q, name = state.q, type(system).__name__
    held = np.setdiff1d(np.arange(len(q)), system.free)
    for t in (state.t, state.t + 0.05):
        moved = system.prescribe(q, t)
        assert np.array_equal(moved[system.free], q[system.free]), f"{name}: prescribe moves free coordinates"
        away = q.copy()
        away[held] += 1.0
        assert np.array_equal(system.prescribe(away, t)[held], moved[held]), f"{name}: scripts are functions of time"


def check_points(system: Any, q: Array, *, eps: float = 1e-6, tolerance: float = 1e-6) -> None:
    """J = dx/dq of the points and d(J^T g)/dq for fixed forces g on them; cells are made of points."""
    name = type(system).__name__
    x, J = system.positions(q), system.point_jacobian(q)
    assert x.ndim == 2 and x.shape[1] == 3, f"{name}: positions are {x.shape}, not (p, 3)"
    slope = derivative(lambda y: system.positions(y).ravel(), q, eps)
    agree(f"{name}: point_jacobian", J, slope, tolerance)
    g = np.random.default_rng(4).normal(size=x.size)
    bend = derivative(lambda y: system.point_jacobian(y).T @ g, q, eps)
    agree(f"{name}: curvature", system.curvature(q, g), bend, tolerance, floor=1e-2)
    for cells in system.cells():
        assert not len(cells) or (cells.min() >= 0 and cells.max() < len(x)), f"{name}: a cell of points that are none"


def check_closures(system: Any, state: State, *, eps: float = 1e-6, tolerance: float = 1e-6) -> None:
    """G = d(gap)/dq where positional, and `closure_tangent` for fixed multipliers, v changing by w dq."""
    q, v, t, name = state.q, state.v, state.t, type(system).__name__
    rows = system.closures(q, v, t)
    if rows is None:
        return
    gap = lambda x: system.closures(x, v, t).gap
    moved = derivative(gap, q, eps)
    where = np.asarray(rows.positional, dtype=bool)
    agree(f"{name}: rows of closures", dense(rows.G)[where], moved[where], tolerance, floor=1e-3)
    y = np.random.default_rng(8).normal(size=len(rows.gap))
    at = lambda w, x: system.closures(x, v + w * (x - q), t)
    pushed, gapping = lambda w, x: at(w, x).G.T @ y, lambda w, x: at(w, x).gap
    for w in (0.0, 3.0):
        B, gaps = system.closure_tangent(q, v, t, y, w)
        push = derivative(partial(pushed, w), q, eps)
        agree(f"{name}: closure_tangent, d(G^T y)/dq", B, push, tolerance, floor=1e-2)
        slope = derivative(partial(gapping, w), q, eps)
        agree(f"{name}: closure_tangent, d(gap)/dq", gaps, slope, tolerance, floor=1e-2)


def check_read_out(system: System, state: State) -> None:
    """Momenta are linear in v and follow the points; nothing that is asked changes the state."""
    q, v, t, name = state.q.copy(), state.v.copy(), state.t, type(system).__name__
    p, L = system.momenta(q, v)
    p2, L2 = system.momenta(q, 2.0 * v)
    agree(f"{name}: linear momentum", p2, 2.0 * p, 1e-10, floor=1e-9)
    agree(f"{name}: angular momentum", L2, 2.0 * L, 1e-10, floor=1e-9)
    system.force(q, v, t), system.tangent(q, v, t, WEIGHTS), system.energies(q, v, t)
    assert np.array_equal(q, state.q) and np.array_equal(v, state.v), f"{name} changes the state it is given"
    energies = system.energies(q, v, t)
    assert "kinetic" in energies and np.isfinite(list(energies.values())).all(), f"{name}: energies {energies}"
