"""Kernels of contact between vertices and triangles, one thread per pair; see `pairs`. Templates.

A pair has four nodes (4, c), a vertex and its triangle. What it contributes to them are parts (12, c), and blocks
(144, c): the 16 blocks of its nodes, row by row. The load (LOAD, c) of friction has mu f_n, the weights of the
triangle, and the parts over the frame and the rest of the two directions (`pliant.contact.slip`).
"""

from numba import cuda, float64
from numpy import maximum

from pliant.contact.formulas import (
    attached,
    couples,
    plane_frame,
    second_derivatives,
    slip_rate,
    tangent_pair,
    turned,
    turning,
)
from pliant.contact.laws import damper, rounded, spring, stick_reach
from pliant.contact.vectors import cross, dot, length, minus, scaled
from pliant.cuda._matrix_kernels import SLICE
from pliant.cuda._obstacle_kernels import at

LIMIT, FOOT, DIRECTION, LOAD = 0, 1, 4, 16


@cuda.jit(device=True)
def corners(x, nodes, p):
    return at(x, nodes[0, p]), at(x, nodes[1, p]), at(x, nodes[2, p]), at(x, nodes[3, p])


@cuda.jit(device=True)
def softest(stiffness, nodes, w, p):
    """The stiffness of the softer side; a corner without weight does not count."""
    k = stiffness[nodes[0, p]]
    for r in range(3):
        other = stiffness[nodes[r + 1, p]]
        if w[r] != 0.0 and other < k:
            k = other
    return k


@cuda.jit(device=True)
def weighted(a, b, c, d, w):
    """a - w_0 b - w_1 c - w_2 d"""
    return (
        a[0] - w[0] * b[0] - w[1] * c[0] - w[2] * d[0],
        a[1] - w[0] * b[1] - w[1] * c[1] - w[2] * d[1],
        a[2] - w[0] * b[2] - w[1] * c[2] - w[2] * d[2],
    )


def gap_pass(x, nodes, side, apart, gap):
    """gap (c,): beyond the thickness ``apart``."""
    p = cuda.grid(1)
    if p < side.shape[0]:
        v, a, b, c = corners(x, nodes, p)
        _, _, _, g = plane_frame(v, a, b, c, side[p])
        gap[p] = g - apart[p]


def penalty_pass(x, nodes, side, apart, stiffness, smoothing, energy, parts):
    """Energy (c,) and push (12, c) [N]."""
    p = cuda.grid(1)
    if p < side.shape[0]:
        v, a, b, c = corners(x, nodes, p)
        n, w, _, g = plane_frame(v, a, b, c, side[p])
        energy[p], f, _ = spring(g - apart[p], softest(stiffness, nodes, w, p), smoothing)
        share_out(scaled(f, n), w, p, parts)


@cuda.jit(device=True)
def share_out(f, w, p, parts):
    """A force on the vertex, shared out to the triangle with the opposite sign."""
    for u in range(3):
        parts[u, p] = f[u]
        for r in range(3):
            parts[3 * r + 3 + u, p] = -w[r] * f[u]


def penalty_blocks(x, nodes, side, apart, stiffness, smoothing, psd, weight, blocks):
    """blocks = weight times the Hessian."""
    p = cuda.grid(1)
    if p < side.shape[0]:
        v, a, b, c = corners(x, nodes, p)
        n, w, slopes, g = plane_frame(v, a, b, c, side[p])
        _, f, stiff = spring(g - apart[p], softest(stiffness, nodes, w, p), smoothing)
        for r in range(4):
            w_r = 1.0 if r == 0 else -w[r - 1]
            for s in range(4):
                w_s = 1.0 if s == 0 else -w[s - 1]
                for u in range(3):
                    for q in range(3):
                        blocks[9 * (4 * r + s) + 3 * u + q, p] = weight * stiff * w_r * w_s * n[u] * n[q]
                if not psd and f > 0.0:
                    t_r = (0.0, 0.0, 0.0) if r == 0 else scaled(-1.0, slopes[r - 1])
                    t_s = (0.0, 0.0, 0.0) if s == 0 else scaled(-1.0, slopes[s - 1])
                    H = turning(w_r, t_r, w_s, t_s, n, g)
                    for q in range(9):
                        blocks[9 * (4 * r + s) + q, p] -= weight * f * H[q]


def load_pass(x, nodes, side, apart, stiffness, smoothing, mu, load, normal):
    """The load of friction, and the normal forces (c,) [N]."""
    p = cuda.grid(1)
    if p < side.shape[0]:
        v, a, b, c = corners(x, nodes, p)
        n, w, _, g = plane_frame(v, a, b, c, side[p])
        _, f, _ = spring(g - apart[p], softest(stiffness, nodes, w, p), smoothing)
        normal[p] = f
        load[LIMIT, p] = mu[p] * f
        e1, e2 = minus(b, a), minus(c, a)
        m = cross(e1, e2)
        t1, t2 = tangent_pair(n)
        a1, still1 = attached(t1, e1, e2, m)
        a2, still2 = attached(t2, e1, e2, m)
        for u in range(3):
            load[FOOT + u, p] = w[u]
            load[DIRECTION + u, p], load[DIRECTION + 3 + u, p] = a1[u], still1[u]
            load[DIRECTION + 6 + u, p], load[DIRECTION + 9 + u, p] = a2[u], still2[u]


@cuda.jit(device=True)
def three(load, o, p):
    return load[o, p], load[o + 1, p], load[o + 2, p]


@cuda.jit(device=True)
def spread(t, g1, g2, w, B, k):
    """Row k of B (2 x 12): dU_k/dx of the four nodes."""
    for u in range(3):
        B[12 * k + u] = t[u]
        B[12 * k + 3 + u] = -w[0] * t[u] - g1[u] - g2[u]
        B[12 * k + 6 + u] = -w[1] * t[u] + g1[u]
        B[12 * k + 9 + u] = -w[2] * t[u] + g2[u]


def slipping(x, v, nodes, load, duration, p, B):
    """The slip (u_1, u_2) over a stage of some duration, and B = dU/dx."""
    w = three(load, FOOT, p)
    q0, q1, q2, q3 = corners(x, nodes, p)
    v0, v1, v2, v3 = corners(v, nodes, p)
    e1, e2 = minus(q2, q1), minus(q3, q1)
    d1, d2 = minus(v2, v1), minus(v3, v1)
    m, was = cross(e1, e2), minus(e1, scaled(duration, d1))
    u, y = weighted(v0, v1, v2, v3, w), weighted(q0, q1, q2, q3, w)
    back = minus(y, scaled(duration, u))
    a1, still1 = three(load, DIRECTION, p), three(load, DIRECTION + 3, p)
    a2, still2 = three(load, DIRECTION + 6, p), three(load, DIRECTION + 9, p)
    g1, g2 = couples(a1, e1, e2, y)
    spread(turned(still1, a1, e1, e2, m), g1, g2, w, B, 0)
    g1, g2 = couples(a2, e1, e2, y)
    spread(turned(still2, a2, e1, e2, m), g1, g2, w, B, 1)
    edges, speeds = (e1, e2, m), (d1, d2)
    return slip_rate(still1, a1, edges, speeds, was, u, back), slip_rate(still2, a2, edges, speeds, was, u, back)


def friction_pass(x, v, nodes, load, stick, creep, duration, energy, parts):
    """Dissipation (c,) [W] and force (12, c)."""
    p = cuda.grid(1)
    if p < energy.shape[0]:
        B = cuda.local.array(24, float64)
        u1, u2 = slipping(x, v, nodes, load, duration, p, B)
        limit = load[LIMIT, p]
        reach = stick_reach(limit, stick[nodes[0, p]], creep)
        rate, _, energy[p] = rounded(limit, length((u1, u2, 0.0)), reach)
        for q in range(12):
            parts[q, p] = -rate * (u1 * B[q] + u2 * B[12 + q])


def friction_blocks(x, v, nodes, load, stick, creep, duration, weight, blocks):
    """blocks += weight times -df/dv."""
    p = cuda.grid(1)
    if p < nodes.shape[1]:
        B = cuda.local.array(24, float64)
        u1, u2 = slipping(x, v, nodes, load, duration, p, B)
        s, limit = length((u1, u2, 0.0)), load[LIMIT, p]
        if limit > 0.0:
            rate, slope, _ = rounded(limit, s, stick_reach(limit, stick[nodes[0, p]], creep))
            big, less = maximum(s, 1e-300), rate - slope
            t1, t2 = u1 / big, u2 / big
            D11, D12, D22 = rate - less * t1 * t1, -less * t1 * t2, rate - less * t2 * t2
            for i in range(12):
                left1, left2 = D11 * B[i] + D12 * B[12 + i], D12 * B[i] + D22 * B[12 + i]
                for j in range(12):
                    entry = 9 * (4 * (i // 3) + j // 3) + 3 * (i % 3) + j % 3
                    blocks[entry, p] += weight * (left1 * B[j] + left2 * B[12 + j])


def friction_turning(x, v, nodes, load, stick, creep, duration, weight, blocks):
    """blocks += weight times the part of df/dx that comes from directions that turn."""
    p = cuda.grid(1)
    if p < nodes.shape[1]:
        B = cuda.local.array(24, float64)
        u1, u2 = slipping(x, v, nodes, load, duration, p, B)
        limit = load[LIMIT, p]
        if limit > 0.0:
            rate, _, _ = rounded(limit, length((u1, u2, 0.0)), stick_reach(limit, stick[nodes[0, p]], creep))
            w, a1, a2 = three(load, FOOT, p), three(load, DIRECTION, p), three(load, DIRECTION + 6, p)
            f1, f2 = -rate * u1, -rate * u2
            a = f1 * a1[0] + f2 * a2[0], f1 * a1[1] + f2 * a2[1], f1 * a1[2] + f2 * a2[2]
            q0, q1, q2, q3 = corners(x, nodes, p)
            y = weighted(q0, q1, q2, q3, w)
            Hy1, Hy2, H12 = second_derivatives(a, minus(q2, q1), minus(q3, q1), y)
            for i in range(12):
                r, k = i // 3, i % 3
                y_r, e1_r, e2_r = part(w, r)
                for j in range(12):
                    s, l = j // 3, j % 3
                    y_s, e1_s, e2_s = part(w, s)
                    here, there = 3 * k + l, 3 * l + k
                    value = y_r * e1_s * Hy1[here] + e1_r * y_s * Hy1[there]
                    value += y_r * e2_s * Hy2[here] + e2_r * y_s * Hy2[there]
                    value += e1_r * e2_s * H12[here] + e2_r * e1_s * H12[there]
                    blocks[9 * (4 * r + s) + here, p] += weight * value


@cuda.jit(device=True)
def part(w, r):
    """How y, e_1 and e_2 change with node r."""
    if r == 0:
        return 1.0, 0.0, 0.0
    return -w[r - 1], (-1.0 if r == 1 else (1.0 if r == 2 else 0.0)), (-1.0 if r == 1 else (1.0 if r == 3 else 0.0))


def damping_pass(x, v, nodes, side, apart, stiffness, smoothing, damping, full, parts):
    """Force (12, c) of the dampers along the normals."""
    p = cuda.grid(1)
    if p < side.shape[0]:
        n, w, f, _, _ = damped(x, v, nodes, side, apart, stiffness, smoothing, damping, full, p)
        share_out(scaled(f, n), w, p, parts)


def damping_blocks(x, v, nodes, side, apart, stiffness, smoothing, damping, full, by_speed, by_load, blocks):
    """blocks += -df/dv and, from the changing load, -df/dx, times their weights."""
    p = cuda.grid(1)
    if p < side.shape[0]:
        n, w, _, k, stiff = damped(x, v, nodes, side, apart, stiffness, smoothing, damping, full, p)
        slope = by_speed * k + by_load * stiff
        for i in range(12):
            left = n[i % 3] if i < 3 else -w[i // 3 - 1] * n[i % 3]
            for j in range(12):
                right = n[j % 3] if j < 3 else -w[j // 3 - 1] * n[j % 3]
                entry = 9 * (4 * (i // 3) + j // 3) + 3 * (i % 3) + j % 3
                blocks[entry, p] += slope * left * right


def damped(x, v, nodes, side, apart, stiffness, smoothing, damping, full, p):
    """Normal, weights, force along the normal of a damper, -df/dspeed and -df/dgap."""
    q0, q1, q2, q3 = corners(x, nodes, p)
    n, w, _, g = plane_frame(q0, q1, q2, q3, side[p])
    _, f_n, stiff = spring(g - apart[p], softest(stiffness, nodes, w, p), smoothing)
    v0, v1, v2, v3 = corners(v, nodes, p)
    first = nodes[0, p]
    f, k, loaded = damper(dot(weighted(v0, v1, v2, v3, w), n), f_n, damping[first], full[first])
    return n, w, f, k, stiff * loaded


@cuda.jit
def add_own_blocks(ptr, off, blocks, place, values):
    """values += the diagonal blocks of the pairs of every node, in their order; off = 4 pair + r."""
    i = cuda.grid(1)
    if i < ptr.shape[0] - 1:
        for k in range(ptr[i], ptr[i + 1]):
            p, r = off[k] // 4, off[k] % 4
            for c in range(9):
                values[place[i] + c * SLICE] += blocks[45 * r + c, p]


@cuda.jit
def sum_parts(ptr, off, parts, out):
    """out (3n,): the parts of every node, in the order of the pairs."""
    i = cuda.grid(1)
    if i < ptr.shape[0] - 1:
        a = b = c = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            p, r = off[k] // 4, off[k] % 4
            a += parts[3 * r, p]
            b += parts[3 * r + 1, p]
            c += parts[3 * r + 2, p]
        out[3 * i], out[3 * i + 1], out[3 * i + 2] = a, b, c
