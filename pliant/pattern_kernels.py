"""Loops over the arrays of CSR matrices, compiled: what the functions of these names in `pliant.pattern` do."""

import numpy as np
from numba import njit


@njit(cache=True)
def slots(indptr, indices, other_indptr, other_indices):
    out = np.full(len(other_indices), -1, dtype=np.int64)
    for i in range(len(other_indptr) - 1):
        k = indptr[i]
        end = indptr[i + 1]
        for p in range(other_indptr[i], other_indptr[i + 1]):
            while k < end and indices[k] < other_indices[p]:
                k += 1
            if k < end and indices[k] == other_indices[p]:
                out[p] = k
    return out


@njit(cache=True)
def sizes(indptr, indices, data, x):
    out = np.zeros(len(indptr) - 1)
    for i in range(len(out)):
        for p in range(indptr[i], indptr[i + 1]):
            out[i] += abs(data[p] * x[indices[p]])
    return out


@njit(cache=True)
def times(indptr, indices, data, x):
    out = np.zeros(len(indptr) - 1, data.dtype)
    for i in range(len(out)):
        total = out[i]
        for p in range(indptr[i], indptr[i + 1]):
            total += data[p] * x[indices[p]]
        out[i] = total
    return out


@njit(cache=True)
def transposed_times(indptr, indices, data, y, n):
    out = np.zeros(n, data.dtype)
    for i in range(len(indptr) - 1):
        for p in range(indptr[i], indptr[i + 1]):
            out[indices[p]] += data[p] * y[i]
    return out


@njit(cache=True)
def added(pa, ia, a, pb, ib, b, weight):
    n = len(pa) - 1
    indptr = np.zeros(n + 1, np.int32)
    indices = np.empty(len(ia) + len(ib), np.int32)
    data = np.empty(len(ia) + len(ib))
    k = 0
    for i in range(n):
        p, q = pa[i], pb[i]
        if q == pb[i + 1]:  # most rows, where B are contacts
            for p in range(pa[i], pa[i + 1]):
                indices[k], data[k] = ia[p], a[p]
                k += 1
            indptr[i + 1] = k
            continue
        while p < pa[i + 1] or q < pb[i + 1]:
            left = q >= pb[i + 1] or (p < pa[i + 1] and ia[p] <= ib[q])
            right = p >= pa[i + 1] or (q < pb[i + 1] and ib[q] <= ia[p])
            indices[k] = ia[p] if left else ib[q]
            data[k] = (a[p] if left else 0.0) + (weight * b[q] if right else 0.0)
            p, q, k = p + left, q + right, k + 1
        indptr[i + 1] = k
    return indptr, indices[:k].copy(), data[:k].copy()


@njit(cache=True)
def summed(rows, columns, blocks, n):
    begin = np.zeros(n + 1, np.int64)
    for k in range(len(rows)):
        begin[rows[k] + 1] += 1
    begin = np.cumsum(begin)
    order, place = np.empty(len(rows), np.int64), begin[:-1].copy()
    for k in range(len(rows)):
        order[place[rows[k]]] = k
        place[rows[k]] += 1
    indptr, count = np.zeros(3 * n + 1, np.int32), 0
    indices, data = np.empty(9 * len(rows), np.int32), np.empty(9 * len(rows))
    total, mark, found = np.empty((n, 3, 3)), np.full(n, -1), np.empty(n, np.int32)
    for i in range(n):
        different = 0
        for e in order[begin[i] : begin[i + 1]]:
            j = columns[e]
            if mark[j] != i:
                mark[j], total[j], found[different] = i, 0.0, j
                different += 1
            for a in range(3):
                for b in range(3):
                    total[j, a, b] += blocks[e, a, b]
        sort(found, different)
        for a in range(3):
            for j in found[:different]:
                for b in range(3):
                    indices[count], data[count] = 3 * j + b, total[j, a, b]
                    count += 1
            indptr[3 * i + a + 1] = count
    return data[:count].copy(), indices[:count].copy(), indptr


@njit(cache=True)
def sort(numbers, count):
    """Sort the first ``count`` of the numbers in place: mostly few, for which calling a sort takes longer."""
    if count > 64:
        numbers[:count] = np.sort(numbers[:count])
        return
    for k in range(1, count):
        number, p = numbers[k], k
        while p > 0 and numbers[p - 1] > number:
            numbers[p] = numbers[p - 1]
            p -= 1
        numbers[p] = number


@njit(cache=True)
def whole_product(pa, ia, va, pb, ib, vb, n):
    """For calls from Python: `product` is part of another kernel (see `pliant.kernels.bind.entry`)."""
    return product(pa, ia, va, pb, ib, vb, n)


@njit(cache=True)
def pulled_back(pj, ij, vj, pa, ia, va, n):
    """CSR arrays of J^T (A J). Rows of J that A has no entries for are never looked at."""
    first = np.zeros(n + 1, np.int64)  # J^T over the rows that A has
    for i in range(len(pj) - 1):
        if pa[i + 1] > pa[i]:
            for e in range(pj[i], pj[i + 1]):
                first[ij[e] + 1] += 1
    first = np.cumsum(first)
    rows, values, fill = np.empty(first[n], np.int32), np.empty(first[n]), first[:-1].copy()
    for i in range(len(pj) - 1):
        if pa[i + 1] > pa[i]:
            for e in range(pj[i], pj[i + 1]):
                rows[fill[ij[e]]], values[fill[ij[e]]] = i, vj[e]
                fill[ij[e]] += 1
    data, indices, indptr = product(pa, ia, va, pj, ij, vj, n)
    return product(first, rows, values, indptr, indices, data, n)


@njit(cache=True)
def product(pa, ia, va, pb, ib, vb, n):
    """CSR arrays (data, indices, indptr) of A B with n columns."""
    indptr = np.zeros(len(pa), np.int32)
    indices, data = np.empty(1024, np.int32), np.empty(1024)
    total, mark, found, count = np.empty(n), np.full(n, -1), np.empty(n, np.int32), 0
    for i in range(len(pa) - 1):
        size = 0
        for e in range(pa[i], pa[i + 1]):
            for f in range(pb[ia[e]], pb[ia[e] + 1]):
                j = ib[f]
                if mark[j] != i:
                    mark[j], total[j], found[size] = i, 0.0, j
                    size += 1
                total[j] += va[e] * vb[f]
        if count + size > len(data):
            more = 2 * (count + size) - len(data)
            indices, data = np.append(indices, np.empty(more, np.int32)), np.append(data, np.empty(more))
        sort(found, size)
        for j in found[:size]:
            indices[count], data[count] = j, total[j]
            count += 1
        indptr[i + 1] = count
    return data[:count].copy(), indices[:count].copy(), indptr


@njit(cache=True)
def taken(indptr, indices, data, rows, number):
    size = 0
    for r in range(len(rows)):
        size += indptr[rows[r] + 1] - indptr[rows[r]]
    new_indptr = np.zeros(len(rows) + 1, np.int32)
    new_indices, new_data = np.empty(size, np.int32), np.empty(size, data.dtype)
    k = 0
    for r in range(len(rows)):
        for p in range(indptr[rows[r]], indptr[rows[r] + 1]):
            j = number[indices[p]]
            if j >= 0:
                new_indices[k], new_data[k] = j, data[p]
                k += 1
        new_indptr[r + 1] = k
    return new_data[:k].copy(), new_indices[:k].copy(), new_indptr
