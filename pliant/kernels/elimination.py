"""Symbolic factorization: elimination tree, column counts, supernodes, row structures, update maps.

Vertices are groups of matrix rows with identical patterns; ``pointers, neighbours`` is their graph as CSR arrays without
loops, ``order[k]`` the vertex eliminated k-th, and all trees and columns are numbered in elimination order.
"""

import numba
import numpy as np


@numba.njit(cache=True)
def pattern_starts(indptr, indices):
    """Flags (N+1,): 1 where a row's pattern differs from the row before; the end counts as a start."""
    N = len(indptr) - 1
    starts = np.zeros(N + 1, dtype=np.uint8)
    starts[0] = starts[N] = 1
    for row in range(1, N):
        a, b, c = indptr[row - 1], indptr[row], indptr[row + 1]
        same = c - b == b - a
        k = 0
        while same and k < c - b:
            same = indices[a + k] == indices[b + k]
            k += 1
        starts[row] = not same
    return starts


@numba.njit(cache=True)
def _inverse(order):
    inverse = np.empty_like(order)
    for k in range(len(order)):
        inverse[order[k]] = k
    return inverse


@numba.njit(cache=True)
def etree(pointers, neighbours, order):
    """Parents in the elimination tree (-1 at roots), in elimination order; Liu's algorithm with path compression."""
    n = len(order)
    inverse = _inverse(order)
    parent = np.full(n, -1, dtype=np.int64)
    ancestor = np.full(n, -1, dtype=np.int64)
    for k in range(n):
        for e in range(pointers[order[k]], pointers[order[k] + 1]):
            i = inverse[neighbours[e]]
            while i != -1 and i < k:
                above = ancestor[i]
                ancestor[i] = k
                if above == -1:
                    parent[i] = k
                i = above
    return parent


@numba.njit(cache=True)
def postorder(parent):
    """A postorder of the forest, children in their given order."""
    n = len(parent)
    head = np.full(n + 1, -1, dtype=np.int64)
    sibling = np.full(n, -1, dtype=np.int64)
    for v in range(n - 1, -1, -1):
        p = parent[v] if parent[v] >= 0 else n
        sibling[v] = head[p]
        head[p] = v
    order = np.empty(n, dtype=np.int64)
    stack = np.empty(n + 1, dtype=np.int64)
    stack[0] = n
    top, k = 0, 0
    while top >= 0:
        v = stack[top]
        child = head[v]
        if child >= 0:
            head[v] = sibling[child]
            top += 1
            stack[top] = child
        else:
            top -= 1
            if v < n:
                order[k] = v
                k += 1
    return order


@numba.njit(cache=True)
def column_counts(pointers, neighbours, order, parent, weight):
    """Groups and rows in every column of L, by walking the row subtrees."""
    n = len(order)
    inverse = _inverse(order)
    count = np.ones(n, dtype=np.int64)
    height = np.empty(n, dtype=np.int64)
    seen = np.full(n, -1, dtype=np.int64)
    for k in range(n):
        height[k] = weight[order[k]]
    for k in range(n):
        seen[k] = k
        for e in range(pointers[order[k]], pointers[order[k] + 1]):
            i = inverse[neighbours[e]]
            while i < k and seen[i] != k:
                seen[i] = k
                count[i] += 1
                height[i] += weight[order[k]]
                i = parent[i]
    return count, height


@numba.njit(cache=True)
def maximal_supernodes(parent, count):
    """First columns (s+1,) of the chains of columns with nested patterns."""
    n = len(parent)
    start = np.empty(n + 1, dtype=np.int64)
    s = 0
    for k in range(n):
        if k == 0 or parent[k - 1] != k or count[k - 1] != count[k] + 1:
            start[s] = k
            s += 1
    start[s] = n
    return start[: s + 1].copy()


@numba.njit(cache=True)
def _supernode_parents(start, parent):
    count = len(start) - 1
    owner = np.empty(start[count], dtype=np.int64)
    for s in range(count):
        owner[start[s] : start[s + 1]] = s
    up = np.full(count, -1, dtype=np.int64)
    for s in range(count):
        p = parent[start[s + 1] - 1]
        if p >= 0:
            up[s] = owner[p]
    return up


@numba.njit(cache=True)
def amalgamated(start, parent, height, weight, relaxed):
    """merged[s]: the supernode that s becomes part of (itself if none), children with the fewest new zeros first."""
    count = len(start) - 1
    up = _supernode_parents(start, parent)
    width = np.zeros(count, dtype=np.float64)
    tall = np.empty(count, dtype=np.float64)
    zeros = np.zeros(count, dtype=np.float64)
    merged = np.arange(count)
    head = np.full(count, -1, dtype=np.int64)
    sibling = np.full(count, -1, dtype=np.int64)
    for s in range(count):
        tall[s] = height[start[s]]
        for k in range(start[s], start[s + 1]):
            width[s] += weight[k]
    for p in range(count):
        while True:
            best, fewest = -1, np.inf
            c = head[p]
            while c >= 0:
                new = width[c] * (width[c] + tall[p] - tall[c])
                if merged[c] == c and new < fewest:
                    best, fewest = c, new
                c = sibling[c]
            if best < 0:
                break
            wide = width[best] + width[p]
            total = wide * (wide + 1) / 2 + wide * (tall[p] - width[p])
            part = (zeros[p] + zeros[best] + fewest) / total
            level = 0
            while wide > relaxed[level, 0]:
                level += 1
            if part > relaxed[level, 1]:
                break
            merged[best] = p
            tall[p] += width[best]
            zeros[p] += zeros[best] + fewest
            width[p] = wide
        if up[p] >= 0:
            sibling[p] = head[up[p]]
            head[up[p]] = p
    return merged


@numba.njit(cache=True)
def sequence(start, merged, parent):
    """Column order with merged supernodes contiguous, and their first columns (m+1,)."""
    count = len(start) - 1
    up = _supernode_parents(start, parent)
    root = np.empty(count, dtype=np.int64)
    for s in range(count - 1, -1, -1):
        root[s] = s if merged[s] == s else root[merged[s]]
    above = np.full(count, -1, dtype=np.int64)
    for s in range(count):
        if root[s] == s and up[s] >= 0:
            above[s] = root[up[s]]
        elif root[s] != s:
            above[s] = root[s]
    post = postorder(above)
    head = np.full(count, -1, dtype=np.int64)
    following = np.full(count, -1, dtype=np.int64)
    for s in range(count - 1, -1, -1):
        following[s] = head[root[s]]
        head[root[s]] = s
    sequence = np.empty(start[count], dtype=np.int64)
    first = np.empty(count + 1, dtype=np.int64)
    k, m = 0, 0
    for t in range(count):
        if root[post[t]] != post[t]:
            continue
        first[m] = k
        m += 1
        s = head[post[t]]
        while s >= 0:
            for column in range(start[s], start[s + 1]):
                sequence[k] = column
                k += 1
            s = following[s]
    first[m] = k
    return sequence, first[: m + 1].copy()


@numba.njit(cache=True)
def row_structure(pointers, neighbours, order, first):
    """Row groups of every supernode: its own columns, then what its entries and its children bring, sorted."""
    count = len(first) - 1
    n = len(order)
    inverse = _inverse(order)
    owner = np.empty(n, dtype=np.int64)
    for s in range(count):
        owner[first[s] : first[s + 1]] = s
    seen = np.full(n, -1, dtype=np.int64)
    head = np.full(count, -1, dtype=np.int64)
    sibling = np.full(count, -1, dtype=np.int64)
    start = np.zeros(count + 1, dtype=np.int64)
    rows = np.empty(16 * n, dtype=np.int64)
    scratch = np.empty(n, dtype=np.int64)
    for s in range(count):
        begin, end = first[s], first[s + 1]
        below = 0
        for k in range(begin, end):
            for e in range(pointers[order[k]], pointers[order[k] + 1]):
                i = inverse[neighbours[e]]
                if i >= end and seen[i] != s:
                    seen[i] = s
                    scratch[below] = i
                    below += 1
        c = head[s]
        while c >= 0:
            for r in range(start[c] + first[c + 1] - first[c], start[c + 1]):
                i = rows[r]
                if i >= end and seen[i] != s:
                    seen[i] = s
                    scratch[below] = i
                    below += 1
            c = sibling[c]
        total = start[s] + end - begin + below
        if total > len(rows):
            longer = np.empty(2 * total, dtype=np.int64)
            longer[: start[s]] = rows[: start[s]]
            rows = longer
        rows[start[s] : start[s] + end - begin] = np.arange(begin, end)
        rows[start[s] + end - begin : total] = np.sort(scratch[:below])
        start[s + 1] = total
        if below > 0:
            up = owner[rows[start[s] + end - begin]]
            sibling[s] = head[up]
            head[up] = s
    return start, rows[: start[count]].copy()


@numba.njit(cache=True)
def update_maps(first, row_start, rows):
    """Every (source, target) pair of supernodes and the runs of rows that match; two passes: count, then fill."""
    count = len(first) - 1
    owner = np.empty(first[count], dtype=np.int64)
    for s in range(count):
        owner[first[s] : first[s + 1]] = s
    update_start = np.zeros(count + 1, dtype=np.int64)
    updates = np.empty((0, 3), dtype=np.int64)
    runs = np.empty((0, 3), dtype=np.int64)
    run_start = np.zeros(1, dtype=np.int64)
    for fill in range(2):
        u, r = 0, 0
        for s in range(count):
            end = row_start[s + 1]
            i = row_start[s] + first[s + 1] - first[s]
            while i < end:
                a = owner[rows[i]]
                j = i
                while j < end and rows[j] < first[a + 1]:
                    j += 1
                if fill:
                    updates[u, 0], updates[u, 1], updates[u, 2] = a, i - row_start[s], j - row_start[s]
                    run_start[u] = r
                k, t = i, row_start[a]
                while k < end:
                    while rows[t] != rows[k]:
                        t += 1
                    length = 1
                    while k + length < end and t + length < row_start[a + 1] and rows[k + length] == rows[t + length]:
                        length += 1
                    if fill:
                        runs[r, 0], runs[r, 1], runs[r, 2] = k - row_start[s], t - row_start[a], length
                    k += length
                    t += length
                    r += 1
                u += 1
                i = j
            update_start[s + 1] = u
        if not fill:
            updates = np.empty((u, 3), dtype=np.int64)
            runs = np.empty((r, 3), dtype=np.int64)
            run_start = np.zeros(u + 1, dtype=np.int64)
    run_start[len(updates)] = len(runs)
    return update_start, updates, run_start, runs
