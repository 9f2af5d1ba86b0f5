# mypy: ignore-errors
"""Assembly of Eulerian-on-Lagrangian matrices: element blocks of the world, pulled back through u = xdot - F Xdot.

Unknowns: 3 per vertex, then 2 per EOL vertex (``number[v]`` >= 0). Row of unknown r of vertex i holds, sorted, the 3
columns of each vertex in reach of i and then the 2 columns of each EOL vertex among them.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def reach(faces, hinges, n):
    """Vertices that share a face or a hinge with each vertex, itself included: CSR (first, list), lists sorted."""
    count = np.zeros(n + 1, dtype=np.int64)
    for e in range(len(faces)):
        for k in range(3):
            count[faces[e, k] + 1] += 3
    for e in range(len(hinges)):
        count[hinges[e, 2] + 1] += 1
        count[hinges[e, 3] + 1] += 1
    first = np.cumsum(count)
    place = first[:-1].copy()
    found = np.empty(first[n], dtype=np.int64)
    for e in range(len(faces)):
        for k in range(3):
            v = faces[e, k]
            for j in range(3):
                found[place[v]] = faces[e, j]
                place[v] += 1
    for e in range(len(hinges)):
        for k in (2, 3):  # only the two tips do not share a face
            v = hinges[e, k]
            found[place[v]] = hinges[e, 5 - k]
            place[v] += 1
    start = np.zeros(n + 1, dtype=np.int64)
    total = 0
    for v in range(n):
        row = np.sort(found[first[v] : first[v + 1]])
        last = -1
        for i in range(len(row)):
            if row[i] != last:
                last = row[i]
                found[total] = last
                total += 1
        start[v + 1] = total
    return start, found[:total].copy()


@njit(cache=True)
def pattern(start, near, number, eol):
    """CSR (indptr, indices) of the unknowns."""
    n, ne = len(start) - 1, len(eol)
    indptr = np.zeros(3 * n + 2 * ne + 1, dtype=np.int32)
    for r in range(3 * n + 2 * ne):
        i = r // 3 if r < 3 * n else eol[(r - 3 * n) // 2]
        width = 0
        for p in range(start[i], start[i + 1]):
            width += 5 if number[near[p]] >= 0 else 3
        indptr[r + 1] = indptr[r] + width
    indices = np.empty(indptr[-1], dtype=np.int32)
    for r in range(3 * n + 2 * ne):
        i = r // 3 if r < 3 * n else eol[(r - 3 * n) // 2]
        s = indptr[r]
        for p in range(start[i], start[i + 1]):
            for a in range(3):
                indices[s] = 3 * near[p] + a
                s += 1
        for p in range(start[i], start[i + 1]):
            if number[near[p]] >= 0:
                for a in range(2):
                    indices[s] = 3 * n + 2 * number[near[p]] + a
                    s += 1
    return indptr, indices


@njit(cache=True)
def place(start, near, number, i, j):
    """Offsets of the columns of xdot_j and Xdot_j in the rows of vertex i."""
    width = 3 * (start[i + 1] - start[i])
    for p in range(start[i], start[i + 1]):
        if near[p] == j:
            return 3 * (p - start[i]), width
        if number[near[p]] >= 0:
            width += 2
    return -1, -1


@njit(cache=True, error_model="numpy")
def add_block(data, indptr, graph, i, j, B, F):
    """Add the world block B (3, 3) of the vertices i, j with the pull-back by F (3, 2) to the values."""
    start, near, number = graph
    n = len(start) - 1
    x, X = place(start, near, number, i, j)
    for a in range(3):
        r = indptr[3 * i + a]
        for b in range(3):
            data[r + x + b] += B[a, b]
        if number[j] >= 0:
            for b in range(2):
                data[r + X + b] -= B[a, 0] * F[0, b] + B[a, 1] * F[1, b] + B[a, 2] * F[2, b]
    if number[i] >= 0:
        for a in range(2):
            r = indptr[3 * n + 2 * number[i] + a]
            t0 = F[0, a] * B[0, 0] + F[1, a] * B[1, 0] + F[2, a] * B[2, 0]
            t1 = F[0, a] * B[0, 1] + F[1, a] * B[1, 1] + F[2, a] * B[2, 1]
            t2 = F[0, a] * B[0, 2] + F[1, a] * B[1, 2] + F[2, a] * B[2, 2]
            data[r + x] -= t0
            data[r + x + 1] -= t1
            data[r + x + 2] -= t2
            if number[j] >= 0:
                for b in range(2):
                    data[r + X + b] += t0 * F[0, b] + t1 * F[1, b] + t2 * F[2, b]


@njit(cache=True, error_model="numpy")
def add_dense(data, indptr, graph, elements, H, F):
    """Element matrices H (m, 3k, 3k) of ``elements (m, k)`` with F (m, 3, 2)."""
    k = elements.shape[1]
    for e in range(len(elements)):
        for p in range(k):
            for q in range(k):
                B = H[e, 3 * p : 3 * p + 3, 3 * q : 3 * q + 3]
                add_block(data, indptr, graph, elements[e, p], elements[e, q], B, F[e])


@njit(cache=True, error_model="numpy")
def add_isotropic(data, indptr, graph, elements, W, F):
    """Element matrices W (m, k, k) times the identity (inertia)."""
    k = elements.shape[1]
    start, near, number = graph
    B = np.zeros((3, 3))
    for e in range(len(elements)):
        for p in range(k):
            for q in range(k):
                i, j = elements[e, p], elements[e, q]
                if number[i] < 0 and number[j] < 0:
                    x, X = place(start, near, number, i, j)
                    for a in range(3):
                        data[indptr[3 * i + a] + x + a] += W[e, p, q]
                else:
                    B[0, 0] = B[1, 1] = B[2, 2] = W[e, p, q]
                    add_block(data, indptr, graph, i, j, B, F[e])


@njit(cache=True, error_model="numpy")
def add_vector(out, number, elements, f, F):
    """Element vectors f (m, k, 3) of the world, pulled back, added to out (3n + 2e,)."""
    n = len(number)
    for e in range(len(elements)):
        for p in range(elements.shape[1]):
            i = elements[e, p]
            for a in range(3):
                out[3 * i + a] += f[e, p, a]
            if number[i] >= 0:
                for a in range(2):
                    t = f[e, p, 0] * F[e, 0, a] + f[e, p, 1] * F[e, 1, a] + f[e, p, 2] * F[e, 2, a]
                    out[3 * n + 2 * number[i] + a] -= t


@njit(cache=True, error_model="numpy")
def cotangent(X, apex, p, q):
    """Cotangent of the material angle p-apex-q."""
    u0, u1, w0, w1 = X[p, 0] - X[apex, 0], X[p, 1] - X[apex, 1], X[q, 0] - X[apex, 0], X[q, 1] - X[apex, 1]
    return (u0 * w0 + u1 * w1) / abs(u0 * w1 - u1 * w0)


@njit(cache=True, error_model="numpy")
def hinge_maps(X, F, hinges, sides, number):
    """How the bend kappa = sum k_i x_i of a hinge follows the material: kappa' = sum k_i xdot_i - H_i Xdot_i.

    H (m, 4, 3, 2) takes each half of the stencil with the F of its own face ``sides (m, 2)``: cloth that slides over a
    crease keeps its bend. The mean of both F would not, and would push the material toward the wider face.
    """
    H = np.zeros((len(hinges), 4, 3, 2))
    for e in range(len(hinges)):
        v0, v1 = hinges[e, 0], hinges[e, 1]
        if number[v0] < 0 and number[v1] < 0 and number[hinges[e, 2]] < 0 and number[hinges[e, 3]] < 0:
            continue
        for s in range(2):
            tip, f = hinges[e, 2 + s], sides[e, s]
            c0, c1 = cotangent(X, v0, v1, tip), cotangent(X, v1, v0, tip)
            for a in range(3):
                for b in range(2):
                    H[e, 0, a, b] += c1 * F[f, a, b]
                    H[e, 1, a, b] += c0 * F[f, a, b]
                    H[e, 2 + s, a, b] = -(c0 + c1) * F[f, a, b]
    return H


@njit(cache=True, error_model="numpy")
def add_hinges(data, indptr, graph, hinges, w, k, H):
    """Matrices w kappa'^T kappa' of hinges (m, 4) with stencils k (m, 4) and maps H (m, 4, 3, 2)."""
    start, near, number = graph
    n = len(start) - 1
    for e in range(len(hinges)):
        for p in range(4):
            for q in range(4):
                i, j = hinges[e, p], hinges[e, q]
                x, X = place(start, near, number, i, j)
                for a in range(3):
                    r = indptr[3 * i + a]
                    data[r + x + a] += w[e] * k[e, p] * k[e, q]
                    if number[j] >= 0:
                        for b in range(2):
                            data[r + X + b] -= w[e] * k[e, p] * H[e, q, a, b]
                if number[i] < 0:
                    continue
                for a in range(2):
                    r = indptr[3 * n + 2 * number[i] + a]
                    for b in range(3):
                        data[r + x + b] -= w[e] * H[e, p, b, a] * k[e, q]
                    if number[j] >= 0:
                        for b in range(2):
                            for c in range(3):
                                data[r + X + b] += w[e] * H[e, p, c, a] * H[e, q, c, b]


@njit(cache=True, error_model="numpy")
def add_hinge_forces(out, number, hinges, f, k, H):
    """Forces -kappa'^T f of hinges with f = w kappa (m, 3), added to out (3n + 2e,)."""
    n = len(number)
    for e in range(len(hinges)):
        for p in range(4):
            i = hinges[e, p]
            for a in range(3):
                out[3 * i + a] -= k[e, p] * f[e, a]
            if number[i] >= 0:
                for a in range(2):
                    out[3 * n + 2 * number[i] + a] += (
                        H[e, p, 0, a] * f[e, 0] + H[e, p, 1, a] * f[e, 1] + H[e, p, 2, a] * f[e, 2]
                    )
