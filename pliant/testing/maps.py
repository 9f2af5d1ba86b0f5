"""Checks of maps and motions: Jacobians, curvature, poses, twists; and of obstacles, which are distances."""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.maps.motions import RigidMotion
from pliant.testing.differences import agree, derivative


def check_point_map(points: Any, q: Array, *, eps: float = 1e-6, tolerance: float = 1e-6) -> None:
    """x(q) with J = dx/dq and d(J^T g)/dq for fixed forces g on the points."""
    name = type(points).__name__
    x, J = points.lift(q), points.jacobian(q)
    agree(f"{name}: Jacobian", J, derivative(points.lift, q, eps), tolerance, floor=1e-9)
    g = np.random.default_rng(4).normal(size=len(x))
    slope = derivative(lambda y: points.jacobian(y).T @ g, q, eps)
    agree(f"{name}: curvature", points.curvature(q, g), slope, tolerance, floor=1e-3)


def check_map(mapping: Any, q: Array, v: Array, t: float, *, eps: float = 1e-6, tolerance: float = 1e-6) -> None:
    """x = lift(q, t): it keeps what it has lifted, and velocities J u move free coordinates as the lift does."""
    name = type(mapping).__name__
    x = mapping.lift(q, t)
    agree(f"{name}: lifting twice", mapping.lift(x, t), x, 1e-14)
    J = mapping.jacobian(q)
    moved = derivative(lambda u: mapping.lift(q + J @ u, t), np.zeros(J.shape[1]), eps)
    agree(f"{name}: Jacobian", J, moved, tolerance)
    bias = mapping.bias(q, v)
    agree(f"{name}: the bias is no free motion", J.T @ bias, np.zeros(J.shape[1]), 1e-14, floor=1.0)


def check_motion(motion: Any, X: Array, t: float, *, eps: float = 1e-6, tolerance: float = 1e-6) -> None:
    """A motion of points X (p, 3); a rigid one keeps distances, and its pose and twist are those of the points.

    Choose a time in the middle of a phase: motions may have kinks.
    """
    name = type(motion).__name__
    kept = X.copy()
    x = motion.positions(X, t)
    assert x.shape == X.shape and np.isfinite(x).all(), f"{name}: positions {x.shape} for points {X.shape}"
    assert np.array_equal(X, kept), f"{name} changes the points it is given"
    if not isinstance(motion, RigidMotion):
        return
    apart = lambda y: np.linalg.norm(y[:, None] - y[None], axis=2)
    agree(f"{name}: distances", apart(x), apart(X), 1e-12)
    agree(f"{name}: pose", motion.pose(t).world(X), x, 1e-12)
    agree(f"{name}: pose and back", motion.pose(t).local(x), X, 1e-12)
    rate = (motion.positions(X, t + eps) - motion.positions(X, t - eps)) / (2.0 * eps)
    agree(f"{name}: twist", motion.twist(t).of(x), rate, tolerance, floor=1e-6)


def check_obstacle(obstacle: Any, x: Array, *, bends: bool = True, eps: float = 1e-6, tolerance: float = 1e-5) -> None:
    """An obstacle near points x (p, 3) of its own frame: n = grad g is a unit vector, the curvature its derivative.

    ``bends=False`` where it leaves the curvature over edges out, as its `curvature` says. Its surface, where it has
    one, lies where the distance is 0; its inner points lie inside.
    """
    name = f"{type(obstacle).__name__} {obstacle.name!r}"
    g, n = obstacle.distance(x)
    agree(f"{name}: length of the normals", np.linalg.norm(n, axis=1), np.ones(len(x)), 1e-9)
    bend = obstacle.curvature(x)
    bend = np.zeros((len(x), 3, 3)) if bend is None else bend
    for axis in range(3):
        e = eps * np.eye(3)[axis]
        (ahead, n_ahead), (behind, n_behind) = obstacle.distance(x + e), obstacle.distance(x - e)
        agree(f"{name}: normal, component {axis}", n[:, axis], (ahead - behind) / (2 * eps), tolerance, floor=1.0)
        turned = (n_ahead - n_behind) / (2 * eps)
        if bends:
            agree(f"{name}: curvature, component {axis}", bend[:, :, axis], turned, tolerance, floor=1.0)
    X, _ = obstacle.surface()
    if len(X):
        size = float(np.ptp(X, axis=0).max())
        off = float(np.abs(obstacle.distance(X)[0]).max())
        assert off <= 1e-9 * max(size, 1.0), f"{name}: a vertex of its surface is {off:.3g} m off it"
    inner = obstacle.inner_points()
    assert not len(inner) or (obstacle.distance(inner)[0] < 0.0).all(), f"{name}: inner points lie outside"
