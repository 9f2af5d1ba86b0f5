"""Turning a stiffness matrix into that of its quasistatic part without touching its pattern [Weidner2022, Eq. 4.21], and
how far a displacement strains the edges of a mesh.
"""

from math import sqrt

from numba import njit


@njit(cache=True, error_model="numpy")
def adjust(indptr, indices, K, dynamic, A, columns):
    """From the values K of a symmetric negative CSR matrix: A <- -K with only the diagonal left in dynamic rows and
    columns, and columns (n, n_d) <- K's dynamic columns with that diagonal in the dynamic rows; it comes in as zeros.
    """
    for e in range(len(K)):
        A[e] = -K[e]
    for k in range(len(dynamic)):
        j = dynamic[k]
        for e in range(indptr[j], indptr[j + 1]):
            i = indices[e]
            columns[i, k] = K[e]  # K is symmetric: its columns are its rows
            A[e] = 0.0
            low, high = indptr[i], indptr[i + 1] - 1
            while low < high:  # the place of (i, j)
                middle = (low + high) // 2
                if indices[middle] < j:
                    low = middle + 1
                else:
                    high = middle
            A[low] = 0.0
    for k in range(len(dynamic)):
        j = dynamic[k]
        pivot = 1.0
        for e in range(indptr[j], indptr[j + 1]):
            if indices[e] == j:
                pivot = -K[e] if K[e] < 0.0 else 1.0
                A[e] = pivot
        for other in range(len(dynamic)):
            columns[j, other] = 0.0
        columns[j, k] = pivot


@njit(cache=True, error_model="numpy")
def largest_strain(edges, length, moves):
    """The largest |u_a - u_b| / length over edges (e, 2) for displacements ``moves (n, d)``; edges have a length > 0."""
    most = 0.0
    for e in range(len(edges)):
        a, b = edges[e, 0], edges[e, 1]
        change = 0.0
        for k in range(moves.shape[1]):
            difference = moves[a, k] - moves[b, k]
            change += difference * difference
        most = max(most, change / (length[e] * length[e]))
    return sqrt(most)


@njit(cache=True, error_model="numpy")
def largest_change(edges, length, q, there):
    """The largest ||x_a - x_b| before - after| / length over edges (e, 2) between positions q and ``there (n, d)``."""
    most = 0.0
    for e in range(len(edges)):
        a, b = edges[e, 0], edges[e, 1]
        before = after = 0.0
        for k in range(q.shape[1]):
            old, new = q[a, k] - q[b, k], there[a, k] - there[b, k]
            before += old * old
            after += new * new
        most = max(most, abs(sqrt(after) - sqrt(before)) / length[e])
    return most
