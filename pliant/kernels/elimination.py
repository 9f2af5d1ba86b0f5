"""Symbolic factorization: elimination tree, column counts, row structures.

Loops are written out here and in `supernodes`: sorting and slices of NumPy take seconds to compile. Vertices are groups
of matrix rows with identical patterns; ``pointers, neighbours`` is their graph as CSR arrays without loops, ``order[k]``
the vertex eliminated k-th, and all trees and columns are numbered in elimination order.
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
def sort(a, n):
    """Sort the first n entries of a, ascending, in place: heapsort."""
    for end in range(n, 1, -1):  # the largest of the first ``end`` entries goes to their end
        first = end // 2 - 1 if end == n else 0
        for root in range(first, -1, -1):
            value, hole = a[root], root
            while True:
                child = 2 * hole + 1
                if child >= end:
                    break
                if child + 1 < end and a[child + 1] > a[child]:
                    child += 1
                if a[child] <= value:
                    break
                a[hole] = a[child]
                hole = child
            a[hole] = value
        a[0], a[end - 1] = a[end - 1], a[0]


@numba.njit(cache=True)
def row_structure(pointers, neighbours, order, first):
    """Row groups of every supernode: its own columns, then what its entries and its children bring, sorted."""
    count = len(first) - 1
    n = len(order)
    inverse = _inverse(order)
    owner = np.empty(n, dtype=np.int64)
    for s in range(count):
        for k in range(first[s], first[s + 1]):
            owner[k] = s
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
            for r in range(start[s]):
                longer[r] = rows[r]
            rows = longer
        sort(scratch, below)
        for k in range(end - begin):
            rows[start[s] + k] = begin + k
        for k in range(below):
            rows[start[s] + end - begin + k] = scratch[k]
        start[s + 1] = total
        if below > 0:
            up = owner[rows[start[s] + end - begin]]
            sibling[s] = head[up]
            head[up] = s
    return start, rows[: start[count]].copy()
