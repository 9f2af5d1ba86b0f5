"""Kernels of contact with obstacles, one thread per vertex that can touch; see `obstacles`. Templates.

The table (ROWS, obstacles, vertices) has the gap, the normal, the velocity of the obstacle and the Hessian of its
distance for every vertex and obstacle. Planes (PLANE, obstacles, vertices) take the place of distances where a vertex
would pass through a thin obstacle: a mark, a point, the normal, the velocity (`pliant.contact.swept`).
"""

from numba import cuda, float64
from numpy import maximum

from pliant.contact.formulas import tangent_pair
from pliant.contact.laws import damper, rounded, spring, stick_reach
from pliant.contact.swept import MOST, PRESSING, TOUCHING
from pliant.contact.vectors import dot, length, minus

GAP, NORMAL, DRIFT, BEND, ROWS = 0, 1, 4, 7, 13
MARK, POINT, ACROSS, SPEED, PLANE = 0, 1, 4, 7, 10
POSE = 15  # numbers of a pose: R by rows, origin, pivot; a way has two, and 1/dt

# Bound per kind of obstacle.
distance = bend = None
BENDS = 0


@cuda.jit(device=True)
def at(x, i):
    return x[3 * i], x[3 * i + 1], x[3 * i + 2]


@cuda.jit(device=True)
def local(x, way, k, o):
    """A point in the obstacle's own frame; o = 0: where it ends, POSE: where it comes from."""
    d0, d1, d2 = x[0] - way[k, o + 9], x[1] - way[k, o + 10], x[2] - way[k, o + 11]
    return (
        d0 * way[k, o] + d1 * way[k, o + 3] + d2 * way[k, o + 6] + way[k, o + 12],
        d0 * way[k, o + 1] + d1 * way[k, o + 4] + d2 * way[k, o + 7] + way[k, o + 13],
        d0 * way[k, o + 2] + d1 * way[k, o + 5] + d2 * way[k, o + 8] + way[k, o + 14],
    )


@cuda.jit(device=True)
def turn(n, way, k, o):
    """A direction of the obstacle's own frame, in space."""
    return (
        way[k, o] * n[0] + way[k, o + 1] * n[1] + way[k, o + 2] * n[2],
        way[k, o + 3] * n[0] + way[k, o + 4] * n[1] + way[k, o + 5] * n[2],
        way[k, o + 6] * n[0] + way[k, o + 7] * n[1] + way[k, o + 8] * n[2],
    )


@cuda.jit(device=True)
def world(y, way, k, o):
    """A point of the obstacle's own frame, in space."""
    d = turn((y[0] - way[k, o + 12], y[1] - way[k, o + 13], y[2] - way[k, o + 14]), way, k, o)
    return d[0] + way[k, o + 9], d[1] + way[k, o + 10], d[2] + way[k, o + 11]


@cuda.jit(device=True)
def drift(x, y, way, k):
    """How fast the obstacle's point moves that ends at x, y in its own frame; 1/dt is 0 where it does not move."""
    rate = way[k, 2 * POSE]
    b = world(y, way, k, POSE)
    return rate * (x[0] - b[0]), rate * (x[1] - b[1]), rate * (x[2] - b[2])


def gap_pass(x, skin, margin, parameters, way, k, planes, table):
    """The rows of obstacle k."""
    j = cuda.grid(1)
    if j < skin.shape[0]:
        p = at(x, skin[j])
        if planes.shape[0] > 1 and planes[MARK, k, j] > 0.0:
            n = planes[ACROSS, k, j], planes[ACROSS + 1, k, j], planes[ACROSS + 2, k, j]
            d = p[0] - planes[POINT, k, j], p[1] - planes[POINT + 1, k, j], p[2] - planes[POINT + 2, k, j]
            table[GAP, k, j] = dot(d, n) - margin[j]
            for a in range(3):
                table[NORMAL + a, k, j] = planes[ACROSS + a, k, j]
                table[DRIFT + a, k, j] = planes[SPEED + a, k, j]
            for a in range(6):
                table[BEND + a, k, j] = 0.0
        else:
            y = local(p, way, k, 0)
            g, own = distance(y, parameters)
            n, u = turn(own, way, k, 0), drift(p, y, way, k)
            table[GAP, k, j] = g - margin[j]
            table[NORMAL, k, j], table[NORMAL + 1, k, j], table[NORMAL + 2, k, j] = n
            table[DRIFT, k, j], table[DRIFT + 1, k, j], table[DRIFT + 2, k, j] = u
            for a in range(6):
                table[BEND + a, k, j] = 0.0
            if BENDS:
                bent(bend(y, parameters), way, k, j, table)


@cuda.jit(device=True)
def bent(H, way, k, j, table):
    """R H R^T into the table."""
    a, b, c = (
        turn((H[0], H[1], H[2]), way, k, 0),
        turn((H[1], H[3], H[4]), way, k, 0),
        turn((H[2], H[4], H[5]), way, k, 0),
    )  # the columns of R H
    r0 = turn((a[0], b[0], c[0]), way, k, 0)
    r1 = turn((a[1], b[1], c[1]), way, k, 0)
    r2 = turn((a[2], b[2], c[2]), way, k, 0)
    table[BEND, k, j], table[BEND + 1, k, j], table[BEND + 2, k, j] = r0
    table[BEND + 3, k, j], table[BEND + 4, k, j], table[BEND + 5, k, j] = r1[1], r1[2], r2[2]


def entry_pass(x, dx, skin, parameters, way, k, reach, planes):
    """The planes of vertices whose displacements dx are longer than ``reach`` and lead into obstacle k.

    `pliant.contact.swept.entries` for one vertex.
    """
    j = cuda.grid(1)
    if j < skin.shape[0]:
        planes[MARK, k, j] = 0.0
        p, d = at(x, skin[j]), at(dx, skin[j])
        begin, end = local(p, way, k, POSE), local((p[0] + d[0], p[1] + d[1], p[2] + d[2]), way, k, 0)
        along = minus(end, begin)
        size, close = length(along), TOUCHING * reach
        if size > reach:
            s = reach / size
            end = end[0] + s * along[0], end[1] + s * along[1], end[2] + s * along[2]
            g, n = distance(begin, parameters)
            if not g > 0.0:
                up = close - g
                begin = begin[0] + up * n[0], begin[1] + up * n[1], begin[2] + up * n[2]
            along = minus(end, begin)
            size, s, met = length(along), 0.0, False
            for _ in range(MOST):
                if s < 1.0 and not met:
                    here = begin[0] + s * along[0], begin[1] + s * along[1], begin[2] + s * along[2]
                    g, n = distance(here, parameters)
                    if g <= close:
                        met = True
                    else:
                        s += (g - 0.5 * close) / size
            here = begin[0] + s * along[0], begin[1] + s * along[1], begin[2] + s * along[2]
            if met and dot(minus(end, here), n) < -PRESSING * reach:
                point, across = world(here, way, k, 0), turn(n, way, k, 0)
                planes[MARK, k, j] = 1.0
                planes[POINT, k, j], planes[POINT + 1, k, j], planes[POINT + 2, k, j] = point
                planes[ACROSS, k, j], planes[ACROSS + 1, k, j], planes[ACROSS + 2, k, j] = across
                speed = drift(point, here, way, k)
                planes[SPEED, k, j], planes[SPEED + 1, k, j], planes[SPEED + 2, k, j] = speed


def penalty_pass(table, stiffness, smoothing, psd, energy, push, block):
    """Energy (v,), push (3, v) [N] and Hessian block (9, v) of every vertex, summed over the obstacles."""
    j = cuda.grid(1)
    if j < energy.shape[0]:
        B = cuda.local.array(9, float64)
        for q in range(9):
            B[q] = 0.0
        stored = a = b = c = 0.0
        for k in range(table.shape[1]):
            g = table[GAP, k, j]
            if g < 0.0:
                psi, f, stiff = spring(g, stiffness[j], smoothing)
                n = table[NORMAL, k, j], table[NORMAL + 1, k, j], table[NORMAL + 2, k, j]
                stored += psi
                a += f * n[0]
                b += f * n[1]
                c += f * n[2]
                add_outer(B, stiff, n)
                if not psd:
                    for u in range(3):
                        for v in range(3):
                            low, high = (u, v) if u < v else (v, u)
                            B[3 * u + v] -= f * table[BEND + high + (0 if low == 0 else low + 1), k, j]
        energy[j] = stored
        push[0, j], push[1, j], push[2, j] = a, b, c
        for q in range(9):
            block[q, j] = B[q]


@cuda.jit(device=True)
def add_outer(B, s, n):
    """B += s n n^T"""
    B[0] += s * n[0] * n[0]
    B[1] += s * n[0] * n[1]
    B[2] += s * n[0] * n[2]
    B[3] += s * n[1] * n[0]
    B[4] += s * n[1] * n[1]
    B[5] += s * n[1] * n[2]
    B[6] += s * n[2] * n[0]
    B[7] += s * n[2] * n[1]
    B[8] += s * n[2] * n[2]


def load_pass(table, stiffness, smoothing, load):
    """load (obstacles, v): the normal forces [N]."""
    j = cuda.grid(1)
    if j < stiffness.shape[0]:
        for k in range(table.shape[1]):
            _, f, _ = spring(table[GAP, k, j], stiffness[j], smoothing)
            load[k, j] = f


def friction_pass(table, load, mu, stick, creep, skin, v, energy, push, block):
    """Dissipation (v,) [W], force (3, v) and -df/dv (9, v) with the normal forces ``load`` and the table of theirs."""
    j = cuda.grid(1)
    if j < skin.shape[0]:
        B = cuda.local.array(9, float64)
        for q in range(9):
            B[q] = 0.0
        lost = a = b = c = 0.0
        w = at(v, skin[j])
        for k in range(table.shape[1]):
            if load[k, j] > 0.0:
                n = table[NORMAL, k, j], table[NORMAL + 1, k, j], table[NORMAL + 2, k, j]
                u = w[0] - table[DRIFT, k, j], w[1] - table[DRIFT + 1, k, j], w[2] - table[DRIFT + 2, k, j]
                t1, t2 = tangent_pair(n)
                u1, u2 = dot(t1, u), dot(t2, u)
                s, limit = length((u1, u2, 0.0)), mu[k, j] * load[k, j]
                rate, slope, work = rounded(limit, s, stick_reach(limit, stick[j], creep))
                lost += work
                a -= rate * (u1 * t1[0] + u2 * t2[0])
                b -= rate * (u1 * t1[1] + u2 * t2[1])
                c -= rate * (u1 * t1[2] + u2 * t2[2])
                big = maximum(s, 1e-300)
                e1, e2, less = u1 / big, u2 / big, rate - slope
                along = e1 * t1[0] + e2 * t2[0], e1 * t1[1] + e2 * t2[1], e1 * t1[2] + e2 * t2[2]
                add_outer(B, rate, t1)
                add_outer(B, rate, t2)
                add_outer(B, -less, along)
        energy[j] = lost
        push[0, j], push[1, j], push[2, j] = a, b, c
        for q in range(9):
            block[q, j] = B[q]


def damping_pass(table, stiffness, smoothing, damping, full, by_speed, by_load, skin, v, push, block):
    """Force (3, v) of the dampers along the normals, and -df/dv and -df/dx (9, v), times their weights."""
    j = cuda.grid(1)
    if j < skin.shape[0]:
        B = cuda.local.array(9, float64)
        for q in range(9):
            B[q] = 0.0
        a = b = c = 0.0
        w = at(v, skin[j])
        for k in range(table.shape[1]):
            if table[GAP, k, j] < 0.0:
                n = table[NORMAL, k, j], table[NORMAL + 1, k, j], table[NORMAL + 2, k, j]
                u = w[0] - table[DRIFT, k, j], w[1] - table[DRIFT + 1, k, j], w[2] - table[DRIFT + 2, k, j]
                _, f_n, stiff = spring(table[GAP, k, j], stiffness[j], smoothing)
                f, slope, loaded = damper(dot(u, n), f_n, damping[j], full[j])
                a += f * n[0]
                b += f * n[1]
                c += f * n[2]
                add_outer(B, by_speed * slope + by_load * stiff * loaded, n)
        push[0, j], push[1, j], push[2, j] = a, b, c
        for q in range(9):
            block[q, j] = B[q]
