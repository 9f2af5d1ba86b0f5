"""Signed distances g(y) and unit normals n = grad g of obstacles, as formulas (see `pliant.contact.vectors`).

y is a point in the obstacle's own frame, p are its parameters. The Hessian of a distance is a symmetric matrix
(00 01 02 11 12 22).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy import maximum, minimum, where

from pliant.arrays import Array
from pliant.contact.vectors import Vector, components, cross, dot, length, minus, scaled, stacked

Parameters = tuple[float, ...]


@dataclass(frozen=True)
class DistanceFormula:
    """The distance of one obstacle: ``distance(y, p)`` gives g and n, ``bend(y, p)`` its Hessian; None: it is zero."""

    distance: Callable[[Any, Any], tuple[Any, Vector]]
    bend: Callable[[Any, Any], tuple[Any, ...]] | None
    parameters: Parameters

    def distances(self, x: Array) -> tuple[Array, Array]:
        """g (p,) [m] and n (p, 3) at points (p, 3)."""
        g, n = self.distance(components(x), self.parameters)
        return g, stacked(n, (len(x),))

    def curvatures(self, x: Array) -> Array | None:
        """The Hessians (p, 3, 3) [1/m] at points (p, 3)."""
        if self.bend is None:
            return None
        H = self.bend(components(x), self.parameters)
        return np.stack([H[k] for k in (0, 1, 2, 1, 3, 4, 2, 4, 5)], axis=-1).reshape(-1, 3, 3)


@runtime_checkable
class Analytic(Protocol):
    """An obstacle with a formula."""

    @property
    def formula(self) -> DistanceFormula: ...


def distance(obstacle: Analytic, x: Array) -> tuple[Array, Array]:
    """`Obstacle.distance` of an obstacle with a formula."""
    return obstacle.formula.distances(x)


def curvature(obstacle: Analytic, x: Array) -> Array | None:
    """`Obstacle.curvature` of an obstacle with a formula."""
    return obstacle.formula.curvatures(x)


def radial(y: Vector) -> tuple[Any, Vector]:
    """Length and direction; the zero vector points up, so that nothing is ever undefined."""
    r = length(y)
    zero = r == 0.0
    s = 1.0 / where(zero, 1.0, r)
    return maximum(r, 1e-300), (s * y[0], s * y[1], where(zero, 1.0, s * y[2]))


def across(n: Vector, r: Any) -> tuple[Any, ...]:
    """(I - n n^T) / r"""
    s = 1.0 / r
    return (
        s * (1.0 - n[0] * n[0]),
        -s * n[0] * n[1],
        -s * n[0] * n[2],
        s * (1.0 - n[1] * n[1]),
        -s * n[1] * n[2],
        s * (1.0 - n[2] * n[2]),
    )


def plane(y: Vector, p: Any) -> tuple[Any, Vector]:
    """p: a point, the normal."""
    n = (p[3], p[4], p[5])
    return dot(minus(y, p), n), n


def sphere(y: Vector, p: Any) -> tuple[Any, Vector]:
    """p: center, radius."""
    r, n = radial(minus(y, p))
    return r - p[3], n


def sphere_bend(y: Vector, p: Any) -> tuple[Any, ...]:
    r, n = radial(minus(y, p))
    return across(n, r)


def bowl(y: Vector, p: Any) -> tuple[Any, Vector]:
    """p: center, radius."""
    d = minus(y, p)
    r, n = radial((d[0], d[1], minimum(d[2], 0.0)))
    return p[3] - r, (-n[0], -n[1], -n[2])


def bowl_bend(y: Vector, p: Any) -> tuple[Any, ...]:
    """That of a ball from within; the wall above does not bend along its height."""
    d = minus(y, p)
    r, n = radial((d[0], d[1], minimum(d[2], 0.0)))
    H = across(n, r)
    return -H[0], -H[1], -H[2], -H[3], -H[4], where(d[2] > 0.0, 0.0, -H[5])


def box(y: Vector, p: Any) -> tuple[Any, Vector]:
    """p: center, half of the edges, the three axes."""
    d, a, b, c = minus(y, p), (p[6], p[7], p[8]), (p[9], p[10], p[11]), (p[12], p[13], p[14])
    u, v, w = dot(d, a), dot(d, b), dot(d, c)
    q = (abs(u) - p[3], abs(v) - p[4], abs(w) - p[5])
    far, n = radial((maximum(q[0], 0.0), maximum(q[1], 0.0), maximum(q[2], 0.0)))
    most = maximum(maximum(q[0], q[1]), q[2])
    inside = most < 0.0
    first = where(q[0] >= most, 1.0, 0.0)
    second = where(q[1] >= most, 1.0 - first, 0.0)
    i = where(u < 0.0, -1.0, 1.0) * where(inside, first, n[0])
    j = where(v < 0.0, -1.0, 1.0) * where(inside, second, n[1])
    k = where(w < 0.0, -1.0, 1.0) * where(inside, 1.0 - first - second, n[2])
    return where(inside, most, far), (
        i * a[0] + j * b[0] + k * c[0],
        i * a[1] + j * b[1] + k * c[1],
        i * a[2] + j * b[2] + k * c[2],
    )


def cylinder_parts(y: Vector, p: Any) -> tuple[Any, Any, Vector, Any]:
    """How far beyond the side and the caps y is, the radial unit vector, the place along the axis."""
    d, a = minus(y, p), (p[3], p[4], p[5])
    s = dot(d, a)
    rho, e = radial(minus(d, scaled(s, a)))
    return rho - p[6], abs(s) - p[7], e, s


def cylinder(y: Vector, p: Any) -> tuple[Any, Vector]:
    """p: center, axis, radius, half the length."""
    side, cap, e, s = cylinder_parts(y, p)
    u, w = maximum(side, 0.0), maximum(cap, 0.0)
    far = length((u, w, 0.0 * w))
    inside = far == 0.0
    scale = where(inside, 1.0, far)
    by_side = where(side >= cap, 1.0, 0.0)
    outward, along = where(inside, by_side, u / scale), where(inside, 1.0 - by_side, w / scale)
    along = along * where(s < 0.0, -1.0, 1.0)
    return where(inside, maximum(side, cap), far), (
        outward * e[0] + along * p[3],
        outward * e[1] + along * p[4],
        outward * e[2] + along * p[5],
    )


def cylinder_bend(y: Vector, p: Any) -> tuple[Any, ...]:
    """Around the axis, where the side is nearest; the third direction is e x a."""
    side, cap, e, _ = cylinder_parts(y, p)
    o = cross(e, (p[3], p[4], p[5]))
    s = where(side >= cap, 1.0, 0.0) / (side + p[6])
    return s * o[0] * o[0], s * o[0] * o[1], s * o[0] * o[2], s * o[1] * o[1], s * o[1] * o[2], s * o[2] * o[2]
