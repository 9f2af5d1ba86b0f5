"""Kernels of detection with the CPU's own functions: points in a hashed grid, elements that look for them. Templates.

See `detect`. Arrays of positions are (n, 3).
"""

from math import sqrt

from numba import cuda

from pliant.contact._closest import (
    _above,
    _at,
    _box,
    _cell,
    _closest,
    _corners,
    _cross,
    _dot,
    _from,
    _hash,
    _in_tet,
    _minus,
    _nearest,
    _within,
)

meets = None  # bound: what an element looks for


def hash_pass(x, vertices, scale, mask, key):
    """The bucket of every vertex that can touch."""
    j = cuda.grid(1)
    if j < vertices.shape[0]:
        a, b, c = _cell(_at(x, vertices[j]), scale)
        key[j] = _hash(a, b, c, mask)


def owner_pass(start, kin, owner):
    """Whose points are in a bucket; -1: of several, -2: none."""
    b = cuda.grid(1)
    if b < owner.shape[0]:
        who = -2
        for s in range(start[b], start[b + 1]):
            who = kin[s] if who == -2 or who == kin[s] else -1
        owner[b] = who


def normal_pass(x, F, N):
    """Area normals of the triangles."""
    f = cuda.grid(1)
    if f < F.shape[0]:
        a, b, c = _corners(x, F, f)
        N[f, 0], N[f, 1], N[f, 2] = _cross(_minus(b, a), _minus(c, a))


def vertex_pass(N, ptr, off, own):
    """Their sums at the vertices, in the order of the triangles."""
    i = cuda.grid(1)
    if i < own.shape[0]:
        a = b = c = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            f = off[k]
            a += N[f, 0]
            b += N[f, 1]
            c += N[f, 2]
        own[i, 0], own[i, 1], own[i, 2] = a, b, c


def in_tet(x, T, e, i, N, own, solids, reach):
    """Whether vertex i is inside tet e."""
    a, b, c, d = _at(x, T[e, 0]), _at(x, T[e, 1]), _at(x, T[e, 2]), _at(x, T[e, 3])
    inside, _ = _in_tet(_at(x, i), a, b, c, d)
    return inside


def above(x, F, f, i, N, own, solids, reach):
    """Whether vertex i is straight above triangle f."""
    a, b, c = _corners(x, F, f)
    there, _, _ = _above(_at(x, i), _at(own, i), a, b, c, _at(N, f), f < solids, reach)
    return there


def looked_at(x, elements, shunned, kin, s, e, i, low, high):
    """Whether vertex i in slot s is in the box of element e, and neither of its body nor one of its corners."""
    if kin[s] == shunned[e] or not _within(_at(x, i), low, high):
        return False
    own = False
    for r in range(elements.shape[1]):
        own |= elements[e, r] == i
    return not own


def box_pass(
    x, elements, shunned, vertex, kin, start, owner, scale, mask, N, own, solids, reach, fill, first, found
):  # fmt: skip
    """For every element the vertices that it ``meets``: how many, into ``first``; with ``fill``, from there on, who.

    The order is that of the CPU's search: by element, cell, and slot.
    """
    e = cuda.grid(1)
    if e < elements.shape[0]:
        count = 0
        low, high = _box(x, elements[e], reach)
        wide = _minus(high, low)
        cells = (wide[0] * scale + 1.0) * (wide[1] * scale + 1.0) * (wide[2] * scale + 1.0)
        if not cells <= vertex.shape[0]:  # fewer points than cells, as where a body has exploded
            for s in range(vertex.shape[0]):
                i = vertex[s]
                here = looked_at(x, elements, shunned, kin, s, e, i, low, high)
                if here and meets(x, elements, e, i, N, own, solids, reach):
                    if fill:
                        found[0, first[e] + count], found[1, first[e] + count] = i, e
                    count += 1
        else:
            i0, j0, k0 = _cell(low, scale)
            i1, j1, k1 = _cell(high, scale)
            for a in range(i0, i1 + 1):
                for b in range(j0, j1 + 1):
                    for c in range(k0, k1 + 1):
                        bucket = _hash(a, b, c, mask)
                        if owner[bucket] != shunned[e] and owner[bucket] != -2:
                            for s in range(start[bucket], start[bucket + 1]):
                                i = vertex[s]
                                if looked_at(x, elements, shunned, kin, s, e, i, low, high):
                                    u, v, w = _cell(_at(x, i), scale)
                                    here = u == a and v == b and w == c  # another cell of the bucket has its turn
                                    if here and meets(x, elements, e, i, N, own, solids, reach):
                                        if fill:
                                            found[0, first[e] + count], found[1, first[e] + count] = i, e
                                        count += 1
        if not fill:
            first[e] = count


def exit_pass(x, X, T, F, start, flat, N, own, vertex, tet, triangle):
    """The triangle through which a vertex inside a tet should leave: nearest to its place in the rest shape."""
    h = cuda.grid(1)
    if h < vertex.shape[0]:
        i, e = vertex[h], tet[h]
        a, b, c, d = _at(x, T[e, 0]), _at(x, T[e, 1]), _at(x, T[e, 2]), _at(x, T[e, 3])
        _, w = _in_tet(_at(x, i), a, b, c, d)
        a, b, c, d = _at(X, T[e, 0]), _at(X, T[e, 1]), _at(X, T[e, 2]), _at(X, T[e, 3])
        p = (
            w[0] * a[0] + w[1] * b[0] + w[2] * c[0] + w[3] * d[0],
            w[0] * a[1] + w[1] * b[1] + w[2] * c[1] + w[3] * d[1],
            w[0] * a[2] + w[1] * b[2] + w[2] * c[2] + w[3] * d[2],
        )
        best, _, _, _ = _nearest(p, X, F, flat, start[e], start[e + 1], True, N, _at(own, i))
        triangle[h] = best


def side_pass(x, F, N, own, solids, reach, vertex, triangle, apart, side):
    """How far vertices are from the triangles they are above, squared, and on which side: 1 where N points."""
    h = cuda.grid(1)
    if h < vertex.shape[0]:
        i, f = vertex[h], triangle[h]
        a, b, c = _corners(x, F, f)
        n = _at(N, f)
        _, _, d = _above(_at(x, i), _at(own, i), a, b, c, n, f < solids, reach)
        apart[h] = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        side[h] = -1.0 if d[0] * n[0] + d[1] * n[1] + d[2] * n[2] < 0.0 else 1.0


def apart_pass(X, nodes, own, apart):
    """How far vertices stay from their triangles: in ``own`` bodies no further than they are in the rest shape."""
    h = cuda.grid(1)
    if h < apart.shape[0] and own[h]:
        p, a, b, c = _at(X, nodes[0, h]), _at(X, nodes[1, h]), _at(X, nodes[2, h]), _at(X, nodes[3, h])
        w, _ = _closest(p, a, b, c)
        d = _from(p, a, b, c, w)
        apart[h] = min(apart[h], sqrt(_dot(d, d)))
