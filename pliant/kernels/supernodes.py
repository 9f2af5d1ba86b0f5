"""Supernodes: columns of L with the same rows below them, stored and updated as one dense panel.

Columns are groups of matrix rows, numbered in elimination order; ``first`` (s+1,) are the first columns of the
supernodes, rows[row_start[s]:row_start[s+1]] the rows of supernode s with its own columns first.
"""

import numba
import numpy as np

from pliant.kernels.elimination import postorder, sort


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
def refined(first, row_start, rows):
    """Column order within the supernodes that keeps together the rows each descendant updates; longer runs, same fill.

    Partition refinement: the largest descendants split the columns first, and neighbouring parts are split in opposite
    directions, so that what belongs together meets across their border.
    """
    count = len(first) - 1
    head, following, position, size = _hits(first, row_start, rows)
    sequence = np.arange(first[count])
    part = np.zeros(first[count], dtype=np.int64)
    inside = np.zeros(first[count], dtype=np.bool_)
    scratch = np.empty(len(rows), dtype=np.int64)
    keys = np.empty(len(rows), dtype=np.int64)
    old, labels = np.empty_like(part), np.empty_like(part)
    for a in range(count):
        hits = 0
        u = head[a]
        while u >= 0:
            scratch[hits] = u
            hits += 1
            u = following[u]
        for k in range(hits):  # the largest first, in their own order where they are equally large
            keys[k] = (first[count] - size[scratch[k]]) * hits + k
        sort(keys, hits)
        for k in range(hits):
            t = scratch[keys[k] % hits]
            for r in range(position[t], position[t] + size[t]):
                inside[rows[r]] = True
            _split(sequence, part, inside, first[a], first[a + 1], old, labels)
            for r in range(position[t], position[t] + size[t]):
                inside[rows[r]] = False
    return sequence


@numba.njit(cache=True)
def _hits(first, row_start, rows):
    """For every supernode the linked list of the pieces of other supernodes' rows that lie in its columns."""
    count = len(first) - 1
    owner = _owners(first)
    head = np.full(count, -1, dtype=np.int64)
    following = np.empty(len(rows), dtype=np.int64)
    position = np.empty(len(rows), dtype=np.int64)
    size = np.empty(len(rows), dtype=np.int64)
    u = 0
    for s in range(count):
        i = row_start[s] + first[s + 1] - first[s]
        while i < row_start[s + 1]:
            a = owner[rows[i]]
            position[u] = i
            while i < row_start[s + 1] and rows[i] < first[a + 1]:
                i += 1
            size[u] = i - position[u]
            following[u] = head[a]
            head[a] = u
            u += 1
    return head, following, position, size


@numba.njit(cache=True)
def _split(sequence, part, inside, low, high, old, labels):
    """Split every part of low:high of an ordered partition into the columns inside and outside a set, in alternating
    order; ``old`` and ``labels`` are scratch."""
    for k in range(low, high):
        old[k], labels[k] = sequence[k], part[k]
    begin, stop, label, inside_first = low, high, -1, False
    while begin < stop:
        end, members = begin, 0
        while end < stop and labels[end] == labels[begin]:
            members += inside[old[end]]
            end += 1
        label += 1
        if members == 0 or members == end - begin:
            for k in range(begin, end):
                part[k] = label
            inside_first = members > 0
        else:
            to_inside, to_outside = (begin, begin + members) if inside_first else (end - members, begin)
            middle = begin + members if inside_first else end - members
            for k in range(begin, end):
                if inside[old[k]]:
                    sequence[to_inside] = old[k]
                    to_inside += 1
                else:
                    sequence[to_outside] = old[k]
                    to_outside += 1
                part[k] = label if k < middle else label + 1
            label += 1
            inside_first = not inside_first
        begin = end


@numba.njit(cache=True)
def _owners(first):
    """The supernode of every column."""
    owner = np.empty(first[len(first) - 1], dtype=np.int64)
    for s in range(len(first) - 1):
        for k in range(first[s], first[s + 1]):
            owner[k] = s
    return owner


@numba.njit(cache=True)
def update_maps(first, row_start, rows):
    """Every (source, target) pair of supernodes and the runs of rows that match; two passes: count, then fill."""
    count = len(first) - 1
    owner = _owners(first)
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


@numba.njit(cache=True)
def _supernode_parents(start, parent):
    count = len(start) - 1
    owner = _owners(start)
    up = np.full(count, -1, dtype=np.int64)
    for s in range(count):
        p = parent[start[s + 1] - 1]
        if p >= 0:
            up[s] = owner[p]
    return up


@numba.njit(cache=True)
def entry_positions(indptr, indices, order, place, first, row_start, rows, panel_start):
    """(entries, positions): which values of the full symmetric CSR matrix are stored, and where in the panels."""
    entries = np.empty((len(indices) + len(order)) // 2, dtype=np.int64)
    positions = np.empty_like(entries)
    local = np.empty(len(order), dtype=np.int64)
    k = 0
    for s in range(len(first) - 1):
        height = row_start[s + 1] - row_start[s]
        for i in range(height):
            local[rows[row_start[s] + i]] = i
        for c in range(first[s], first[s + 1]):
            for e in range(indptr[order[c]], indptr[order[c] + 1]):
                row = place[indices[e]]
                if row >= c:
                    entries[k] = e
                    positions[k] = panel_start[s] + (c - first[s]) * height + local[row]
                    k += 1
    return entries[:k].copy(), positions[:k].copy()
