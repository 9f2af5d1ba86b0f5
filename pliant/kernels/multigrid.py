"""Loops of multigrid over rows of blocks. Templates: B is the size of a block (3: a node, 6: a rigid body).

Blocks are stored one after the other, columns first: entry (r, c) of block k is ``val[B*B*k + B*c + r]``; those of P and
A P, which have six columns, rows first: ``P[6*B*k + 6*r + c]``. Every row is written by one thread in a fixed order, so
the result has the same bytes for any number of threads.
A coarse unknown is the motion of an aggregate as a rigid body: the velocity of its centre, and rho times its rate of
rotation. A fine one at the offset d from the centre moves by T = [I, -[d]/rho], a body of radius rho' turns with it by
rho'/rho.
"""

import numpy as np
from numba import prange

# Bound by `hierarchy.loops`: the size of a block, and a device function from below.
B, row = 3, None

FINE, COARSE = 128, 16  # rows that share a table of columns: a coarse one has about thirty times the work
DROPPED = 1e-10  # a pivot below this part of its diagonal entry: a motion that no fine unknown takes part in


def row3(ptr, col, val, x, i):
    """Row i of A x."""
    a = b = c = val[0] * 0.0
    for k in range(ptr[i], ptr[i + 1]):
        e = np.uint64(9 * k)
        j = np.uint64(3 * col[k])
        u, v, w = x[j], x[j + np.uint64(1)], x[j + np.uint64(2)]
        a += val[e] * u + val[e + np.uint64(3)] * v + val[e + np.uint64(6)] * w
        b += val[e + np.uint64(1)] * u + val[e + np.uint64(4)] * v + val[e + np.uint64(7)] * w
        c += val[e + np.uint64(2)] * u + val[e + np.uint64(5)] * v + val[e + np.uint64(8)] * w
    return a, b, c


def row6(ptr, col, val, x, i):
    """Row i of A x."""
    a = b = c = d = e = f = val[0] * 0.0
    for k in range(ptr[i], ptr[i + 1]):
        for r in range(6):
            p = np.uint64(36 * k + 6 * r)
            u = x[np.uint64(6 * col[k] + r)]
            a += val[p] * u
            b += val[p + np.uint64(1)] * u
            c += val[p + np.uint64(2)] * u
            d += val[p + np.uint64(3)] * u
            e += val[p + np.uint64(4)] * u
            f += val[p + np.uint64(5)] * u
    return a, b, c, d, e, f


def product(ptr, col, val, x, y):
    """y = A x."""
    for i in prange(len(ptr) - 1):
        a = row(ptr, col, val, x, i)
        for r in range(B):
            y[B * i + r] = a[r]


def residual(ptr, col, val, b, x, y):
    """y = b - A x."""
    for i in prange(len(ptr) - 1):
        a = row(ptr, col, val, x, i)
        for r in range(B):
            y[B * i + r] = b[B * i + r] - a[r]


def first_step(inverse, b, d, beta, y):
    """y = d = beta D^-1 b."""
    for i in prange(len(inverse) // (B * B)):
        for r in range(B):
            total = inverse[0] * 0.0
            for c in range(B):
                total += inverse[B * B * i + B * c + r] * b[B * i + c]
            d[B * i + r] = beta * total
            y[B * i + r] = beta * total


def step(ptr, col, val, inverse, b, x, d, alpha, beta, y):
    """d <- alpha d + beta D^-1 (b - A x), y = x + d: a step of Chebyshev's iteration."""
    for i in prange(len(ptr) - 1):
        a = row(ptr, col, val, x, i)
        for r in range(B):
            total = a[0] * 0.0
            for c in range(B):
                total += inverse[B * B * i + B * c + r] * (b[B * i + c] - a[c])
            d[B * i + r] = alpha * d[B * i + r] + beta * total
            y[B * i + r] = x[B * i + r] + d[B * i + r]


def restrict(ptr, rows, places, P, x, y):
    """y = P^T x, by the rows of P^T."""
    for a in prange(len(ptr) - 1):
        b = c = d = e = f = g = x[0] * 0.0
        for k in range(ptr[a], ptr[a + 1]):
            for r in range(B):
                p = np.uint64(6 * B * places[k] + 6 * r)
                u = x[np.uint64(B * rows[k] + r)]
                b += P[p] * u
                c += P[p + np.uint64(1)] * u
                d += P[p + np.uint64(2)] * u
                e += P[p + np.uint64(3)] * u
                f += P[p + np.uint64(4)] * u
                g += P[p + np.uint64(5)] * u
        y[6 * a], y[6 * a + 1], y[6 * a + 2], y[6 * a + 3], y[6 * a + 4], y[6 * a + 5] = b, c, d, e, f, g


def prolong(ptr, col, P, xc, x):
    """x += P xc."""
    for i in prange(len(ptr) - 1):
        for r in range(B):
            total = x[0] * 0.0
            for k in range(ptr[i], ptr[i + 1]):
                for c in range(6):
                    total += P[np.uint64(6 * B * k + 6 * r + c)] * xc[np.uint64(6 * col[k] + c)]
            x[B * i + r] += total


def inverse_diagonal(ptr, col, val, inverse, bad):
    """The inverses of the diagonal blocks; bad[i] = 1 where one is not positive semidefinite.

    What the pivots call DROPPED gets zeros: that motion is left alone.
    """
    for i in prange(len(ptr) - 1):
        L, Y = np.zeros((B, B)), np.zeros((B, B))
        for k in range(ptr[i], ptr[i + 1]):
            if col[k] == i:
                for r in range(B):
                    for c in range(B):
                        L[r, c] = val[B * B * k + B * c + r]
        bad[i] = factored(L)
        for s in range(B):  # Y = L^-1 without the rows that are left out
            if L[s, s] > 0.0:
                Y[s, s] = 1.0 / L[s, s]
                for r in range(s + 1, B):
                    if L[r, r] > 0.0:
                        total = 0.0
                        for t in range(s, r):
                            total += L[r, t] * Y[t, s]
                        Y[r, s] = -total / L[r, r]
        for r in range(B):
            for c in range(B):
                total = 0.0
                for t in range(B):
                    total += Y[t, r] * Y[t, c]
                inverse[B * B * i + B * c + r] = total


def factored(L):
    """The Cholesky factor of a small matrix in place, zero columns where pivots vanish; 1 where one is negative."""
    for s in range(len(L)):
        size, pivot = L[s, s], L[s, s]
        for t in range(s):
            pivot -= L[s, t] * L[s, t]
        if not (np.isfinite(pivot) and pivot >= -DROPPED * abs(size)):
            return 1
        root = np.sqrt(pivot) if pivot > DROPPED * size else 0.0
        L[s, s] = root
        for r in range(s + 1, len(L)):
            total = L[r, s]
            for t in range(s):
                total -= L[r, t] * L[s, t]
            L[r, s] = total / root if root > 0.0 else 0.0
    return 0


def prolongator(ptr, col, val, inverse, owner, offset, radius, pp, pc, omega, P):
    """P = (I - omega D^-1 A) T: offsets (n, 3) are those of rows from the centre of their aggregate over its radius,
    ``radius (n,)`` is that of a row over that of its aggregate (of bodies only)."""
    for i in prange(len(ptr) - 1):
        first, last = pp[i], pp[i + 1]
        W = np.zeros((last - first, 6, B))  # A T, columns first
        for k in range(ptr[i], ptr[i + 1]):
            j = col[k]
            s = place(pc, first, last, owner[j]) - first
            x, y, z = offset[j, 0], offset[j, 1], offset[j, 2]
            e = B * B * k
            for r in range(B):
                a, b, c = val[e + r], val[e + B + r], val[e + 2 * B + r]
                W[s, 0, r] += a
                W[s, 1, r] += b
                W[s, 2, r] += c
                W[s, 3, r] += y * c - z * b
                W[s, 4, r] += z * a - x * c
                W[s, 5, r] += x * b - y * a
            if B == 6:
                for c in range(3):
                    for r in range(B):
                        W[s, 3 + c, r] += radius[j] * val[e + B * (3 + c) + r]
        for s in range(last - first):
            for c in range(6):
                for r in range(B):
                    total = 0.0
                    for t in range(B):
                        total += inverse[B * B * i + B * t + r] * W[s, c, t]
                    P[6 * B * (first + s) + 6 * r + c] = -omega * total
        e = 6 * B * place(pc, first, last, owner[i])
        x, y, z = offset[i, 0], offset[i, 1], offset[i, 2]
        for r in range(3):
            P[e + 7 * r] += 1.0
        P[e + 4] += z
        P[e + 5] -= y
        P[e + 6 + 3] -= z
        P[e + 6 + 5] += x
        P[e + 12 + 3] += y
        P[e + 12 + 4] -= x
        if B == 6:
            for r in range(3, 6):
                P[e + 7 * r] += radius[i]


def place(columns, first, last, c):
    """Where c is among the ascending columns[first:last]."""
    while first + 1 < last:
        middle = (first + last) // 2
        if columns[middle] <= c:
            first = middle
        else:
            last = middle
    return first


def image(ptr, col, val, pp, pc, P, ip, ic, count, AP):
    """AP = A P in the pattern (ip, ic); ``count`` columns."""
    n = len(ptr) - 1
    for chunk in prange((n + FINE - 1) // FINE):
        where = np.empty(count, np.int64)
        for i in range(FINE * chunk, min(FINE * chunk + FINE, n)):
            for s in range(ip[i], ip[i + 1]):
                where[ic[s]] = 6 * B * s
            for t in range(6 * B * ip[i], 6 * B * ip[i + 1]):
                AP[t] = 0.0
            for k in range(ptr[i], ptr[i + 1]):
                for s in range(pp[col[k]], pp[col[k] + 1]):
                    o, e, p = np.uint64(where[pc[s]]), np.uint64(B * B * k), np.uint64(6 * B * s)
                    for r in range(B):
                        for t in range(B):
                            weight = val[e + np.uint64(B * t + r)]
                            for c in range(6):
                                AP[o + np.uint64(6 * r + c)] += weight * P[p + np.uint64(6 * t + c)]


def galerkin(tp, rows, places, P, ip, ic, AP, cp, cc, C):
    """The blocks of C = P^T A P on and above the diagonal, in the pattern (cp, cc); rows first, as yet."""
    n = len(tp) - 1
    for chunk in prange((n + COARSE - 1) // COARSE):
        where = np.empty(n, np.int64)
        for a in range(COARSE * chunk, min(COARSE * chunk + COARSE, n)):
            for s in range(cp[a], cp[a + 1]):
                where[cc[s]] = 36 * s
            for t in range(36 * cp[a], 36 * cp[a + 1]):
                C[t] = 0.0
            for k in range(tp[a], tp[a + 1]):
                i, p = rows[k], 6 * B * places[k]
                for s in range(ip[i], ip[i + 1]):
                    if ic[s] < a:
                        continue
                    o, e = np.uint64(where[ic[s]]), np.uint64(6 * B * s)
                    for r in range(6):
                        for t in range(B):
                            weight = P[np.uint64(p + 6 * t + r)]
                            for c in range(6):
                                C[o + np.uint64(6 * r + c)] += weight * AP[e + np.uint64(6 * t + c)]


def mirrored(ptr, rows, places, val):
    """The blocks below the diagonal from those above; the diagonal ones made exactly symmetric.

    The pattern is symmetric: entry k of row a and entry places[k] of row rows[k] face each other.
    """
    for a in prange(len(ptr) - 1):
        for k in range(ptr[a], ptr[a + 1]):
            b, s = rows[k], places[k]
            if b > a:  # by columns the block below is what the one above is by rows
                for t in range(36):
                    val[36 * s + t] = val[36 * k + t]
            if b >= a:
                for r in range(6):
                    for c in range(r):
                        upper, lower = val[36 * k + 6 * c + r], val[36 * k + 6 * r + c]
                        val[36 * k + 6 * r + c] = upper
                        val[36 * k + 6 * c + r] = lower if b > a else upper


def filled(indptr, indices, data, node, axis, first, ptr, col, val):
    """The blocks of a CSR matrix whose row is axis[row] of node[row], rows first[i]:first[i+1] being those of node i.

    Axes that no row has get zeros, and nothing reaches them.
    """
    for i in prange(len(ptr) - 1):
        for t in range(9 * ptr[i], 9 * ptr[i + 1]):
            val[t] = 0.0
        for row in range(first[i], first[i + 1]):
            r, k = axis[row], ptr[i]
            for p in range(indptr[row], indptr[row + 1]):
                j = node[indices[p]]
                while col[k] < j:
                    k += 1
                val[9 * k + 3 * axis[indices[p]] + r] += data[p]
