"""Aggregates of a graph and the patterns of smoothed aggregation: all that multigrid knows from the pattern alone."""

import numba
import numpy as np

kernel = numba.njit(cache=True, error_model="numpy", nogil=True)


@kernel
def node_pattern(indptr, indices, node, count):
    """Block pattern (pointers, columns) of a CSR matrix whose row r belongs to node[r]; nodes ascend with the rows."""
    pointers = np.zeros(count + 1, np.int64)
    columns = np.empty(len(indices), np.int32)
    mark = np.full(count, -1, np.int64)
    size, row, rows = 0, 0, len(indptr) - 1
    for i in range(count):
        begin = size
        mark[i] = i
        columns[size] = i
        size += 1
        while row < rows and node[row] == i:
            for p in range(indptr[row], indptr[row + 1]):
                j = node[indices[p]]
                if mark[j] != i:
                    mark[j] = i
                    columns[size] = j
                    size += 1
            row += 1
        columns[begin:size].sort()
        pointers[i + 1] = size
    return pointers, columns[:size].copy()


@kernel
def strong(pointers, columns, size, jump):
    """The pattern without the pairs of which one vertex has more than ``jump`` times the size of the other."""
    out, kept, count = np.zeros(len(pointers), np.int64), np.empty_like(columns), 0
    for i in range(len(pointers) - 1):
        for p in range(pointers[i], pointers[i + 1]):
            j = columns[p]
            if i == j or max(size[i], size[j]) <= jump * min(size[i], size[j]):
                kept[count] = j
                count += 1
        out[i + 1] = count
    return out, kept[:count].copy()


@kernel
def aggregates(pointers, columns):
    """The aggregate of every vertex (n,), and how many there are. [Vanek1996, Alg. 5.1]

    Vertices whose neighbours are all free become roots and take them; the rest join the aggregate that most of their
    neighbours are in; what no aggregate touches makes one of its own.
    """
    n = len(pointers) - 1
    owner = np.full(n, -1, np.int32)
    count = 0
    for i in range(n):
        if pointers[i + 1] - pointers[i] == 1:
            continue  # alone: later
        free = True
        for p in range(pointers[i], pointers[i + 1]):
            free = free and owner[columns[p]] < 0
        if free:
            for p in range(pointers[i], pointers[i + 1]):
                owner[columns[p]] = count
            count += 1
    first = owner.copy()
    votes = np.zeros(count + 1, np.int32)
    for i in range(n):
        if first[i] >= 0:
            continue
        best = -1
        for p in range(pointers[i], pointers[i + 1]):
            a = first[columns[p]]
            if a >= 0:
                votes[a] += 1
                if best < 0 or votes[a] > votes[best] or (votes[a] == votes[best] and a < best):
                    best = a
        for p in range(pointers[i], pointers[i + 1]):
            if first[columns[p]] >= 0:
                votes[first[columns[p]]] = 0
        owner[i] = best
    for i in range(n):
        if owner[i] < 0:
            for p in range(pointers[i], pointers[i + 1]):
                if owner[columns[p]] < 0:
                    owner[columns[p]] = count
            count += 1
    return owner, count


@kernel
def mapped_pattern(pointers, columns, other_pointers, other_columns, count):
    """The pattern of A B for patterns A (n, m) and B (m, count), columns ascending."""
    n = len(pointers) - 1
    out = np.zeros(n + 1, np.int64)
    mark = np.full(count, -1, np.int64)
    for i in range(n):
        size = 0
        for p in range(pointers[i], pointers[i + 1]):
            j = columns[p]
            for s in range(other_pointers[j], other_pointers[j + 1]):
                if mark[other_columns[s]] != i:
                    mark[other_columns[s]] = i
                    size += 1
        out[i + 1] = out[i] + size
    found = np.empty(out[n], np.int32)
    mark[:] = -1
    for i in range(n):
        k = out[i]
        for p in range(pointers[i], pointers[i + 1]):
            j = columns[p]
            for s in range(other_pointers[j], other_pointers[j + 1]):
                c = other_columns[s]
                if mark[c] != i:
                    mark[c] = i
                    found[k] = c
                    k += 1
        found[out[i] : k].sort()
    return out, found


@kernel
def transposed(pointers, columns, count):
    """(pointers, rows, places) of the transposed pattern: the places are those of the entries in the original."""
    out = np.zeros(count + 1, np.int64)
    for c in columns:
        out[c + 1] += 1
    out = np.cumsum(out)
    fill = out[:-1].copy()
    rows, places = np.empty(len(columns), np.int32), np.empty(len(columns), np.int64)
    for i in range(len(pointers) - 1):
        for p in range(pointers[i], pointers[i + 1]):
            k = fill[columns[p]]
            rows[k], places[k] = i, p
            fill[columns[p]] += 1
    return out, rows, places


@kernel
def width(pointers, columns):
    """The largest number of vertices at one distance from an end of the graph; over all its components."""
    n = len(pointers) - 1
    mark, distance, queue = np.zeros(n, np.int8), np.zeros(n, np.int32), np.empty(n, np.int32)
    largest = 0
    for seed in range(n):
        if mark[seed] >= 2:
            continue
        start = seed
        for sweep in (1, 2):  # the vertex farthest from any is an end
            head, tail, level, size = 0, 1, 0, 0
            queue[0], mark[start], distance[start] = start, sweep, 0
            while head < tail:
                i = queue[head]
                head += 1
                if distance[i] != level:
                    level, size = distance[i], 0
                size += 1
                if sweep == 2:
                    largest = max(largest, size)
                for p in range(pointers[i], pointers[i + 1]):
                    j = columns[p]
                    if mark[j] < sweep:
                        mark[j], distance[j], queue[tail] = sweep, distance[i] + 1, j
                        tail += 1
            start = queue[tail - 1]
    return largest
