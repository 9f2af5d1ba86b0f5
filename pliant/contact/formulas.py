"""The formulas of contacts, for the CPU and for a GPU alike (see `pliant.contact.vectors`).

A vertex p above the plane of a triangle abc with edges e_1, e_2:

    g = n . (x_p - x_a),   n = side e_1 x e_2 / |e_1 x e_2|,      dg = n . S dx,      dn = -sum_r b_r (n . dx_r)
    d^2 g = 2 (S dx) . dn - g |dn|^2,       S dx = dx_p - sum_r w_r dx_r

w_r are the barycentric weights of the vertex's foot in the plane and b_r their slopes within it. The gap does not
change when all turn together, so its forces have no torque. The directions in which contacts slip are explained in
`pliant.contact.slip`.
"""

from typing import Any

from numpy import maximum, minimum, sqrt, where

from pliant.contact.vectors import Vector, cross, dot, length, minus, scaled

FLAT = 1e-8  # frames with angles whose sine is smaller do not turn


def plane_frame(
    p: Vector, a: Vector, b: Vector, c: Vector, side: Any
) -> tuple[Vector, Vector, tuple[Vector, Vector, Vector], Any]:
    """Normal, weights of the foot, their slopes [1/m] and the gap of vertex p above triangle abc.

    ``side`` is 1 where e_1 x e_2 points to the vertex, else -1.
    """
    y, m = minus(p, a), cross(minus(b, a), minus(c, a))
    area2 = maximum(dot(m, m), 1e-300)
    s = 1.0 / area2
    b1, b2, b3 = scaled(s, cross(m, minus(c, b))), scaled(s, cross(m, minus(a, c))), scaled(s, cross(m, minus(b, a)))
    n = scaled(side / sqrt(area2), m)
    w2, w3 = dot(b2, y), dot(b3, y)
    return n, (1.0 - w2 - w3, w2, w3), (b1, b2, b3), dot(n, y)


def turning(w_r: Any, t_r: Vector, w_s: Any, t_s: Vector, n: Vector, g: Any) -> tuple[Any, ...]:
    """The block (r, s) of d^2 g (3x3, row by row): w_r t_s n^T + w_s n t_r^T - g (t_r . t_s) n n^T.

    ``w`` are the weights of S, ``t`` those of dn = sum_r t_r (n . dx_r).
    """
    bend = g * dot(t_r, t_s)
    return (
        w_r * t_s[0] * n[0] + w_s * t_r[0] * n[0] - bend * n[0] * n[0],
        w_r * t_s[0] * n[1] + w_s * t_r[1] * n[0] - bend * n[0] * n[1],
        w_r * t_s[0] * n[2] + w_s * t_r[2] * n[0] - bend * n[0] * n[2],
        w_r * t_s[1] * n[0] + w_s * t_r[0] * n[1] - bend * n[1] * n[0],
        w_r * t_s[1] * n[1] + w_s * t_r[1] * n[1] - bend * n[1] * n[1],
        w_r * t_s[1] * n[2] + w_s * t_r[2] * n[1] - bend * n[1] * n[2],
        w_r * t_s[2] * n[0] + w_s * t_r[0] * n[2] - bend * n[2] * n[0],
        w_r * t_s[2] * n[1] + w_s * t_r[1] * n[2] - bend * n[2] * n[1],
        w_r * t_s[2] * n[2] + w_s * t_r[2] * n[2] - bend * n[2] * n[2],
    )


def tangent_pair(n: Vector) -> tuple[Vector, Vector]:
    """Two unit vectors at right angles to the unit vector n and each other, the first to an axis, too."""
    a, b, c = abs(n[0]), abs(n[1]), abs(n[2])
    first = where(a <= minimum(b, c), 1.0, 0.0)
    second = where(b <= c, 1.0 - first, 0.0)
    t = cross(n, (first, second, 1.0 - first - second))
    t = scaled(1.0 / length(t), t)
    return t, cross(n, t)


def bends(e1: Vector, e2: Vector, m: Vector) -> Any:
    """Whether edges e_1, e_2 with m = e_1 x e_2 tell how a frame turns."""
    return length(m) > FLAT * length(e1) * length(e2)


def attached(t: Vector, e1: Vector, e2: Vector, m: Vector) -> tuple[Vector, Vector]:
    """The parts (a, b, c) of t = a e_1 + b e_2 + c m, and what stays as it is: all of t where the frame is flat."""
    turns = bends(e1, e2, m)
    s, rest = where(turns, 1.0, 0.0) / maximum(dot(m, m), 1e-300), where(turns, 0.0, 1.0)
    return (s * dot(cross(t, e2), m), s * dot(cross(e1, t), m), s * dot(t, m)), scaled(rest, t)


def turned(still: Vector, a: Vector, e1: Vector, e2: Vector, m: Vector) -> Vector:
    """The direction t with its parts a over a frame that has turned."""
    return (
        still[0] + a[0] * e1[0] + a[1] * e2[0] + a[2] * m[0],
        still[1] + a[0] * e1[1] + a[1] * e2[1] + a[2] * m[1],
        still[2] + a[0] * e1[2] + a[1] * e2[2] + a[2] * m[2],
    )


def couples(a: Vector, e1: Vector, e2: Vector, y: Vector) -> tuple[Vector, Vector]:
    """y . dt/de_1 and y . dt/de_2"""
    p, q = cross(e2, y), cross(y, e1)
    return (
        (a[0] * y[0] + a[2] * p[0], a[0] * y[1] + a[2] * p[1], a[0] * y[2] + a[2] * p[2]),
        (a[1] * y[0] + a[2] * q[0], a[1] * y[1] + a[2] * q[1], a[1] * y[2] + a[2] * q[2]),
    )


def slip_rate(still: Vector, a: Vector, edges: Any, speeds: Any, was: Vector, u: Vector, y: Vector) -> Any:
    """t . u + y . dt/dt for the relative velocity u, with ``speeds`` of the edges and y and e_1 (``was``) of before."""
    e1, e2, m = edges
    d1, d2 = speeds
    bent = cross(d1, e2), cross(was, d2)
    zero = (0.0, 0.0, 0.0)
    m_rate = (bent[0][0] + bent[1][0], bent[0][1] + bent[1][1], bent[0][2] + bent[1][2])
    return dot(turned(still, a, e1, e2, m), u) + dot(turned(zero, a, d1, d2, m_rate), y)


def tilted(s: Any, d: Any, w: Vector) -> tuple[Any, ...]:
    """The matrix s I + d [w]x, [w]x u = w x u, row by row."""
    one = s + 0.0 * w[0]
    return one, -d * w[2], d * w[1], d * w[2], one, -d * w[0], -d * w[1], d * w[0], one


def second_derivatives(a: Vector, e1: Vector, e2: Vector, y: Vector) -> tuple[Any, Any, Any]:
    """d^2 U over (y, e_1), (y, e_2) and (e_1, e_2) of U = y . (a e_1 + b e_2 + c e_1 x e_2), row by row."""
    return tilted(a[0], -a[2], e2), tilted(a[1], a[2], e1), tilted(0.0, -a[2], y)
