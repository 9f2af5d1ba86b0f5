"""Turning a stiffness matrix into that of its quasistatic part without touching its pattern. [Weidner2022, Eq. 4.21]"""

from numba import njit


@njit(cache=True, error_model="numpy")
def adjust(indptr, indices, K, dynamic, pivot, A, columns):
    """From the values K of a symmetric CSR matrix: A <- -K with the dynamic rows and columns of pivot * I, and
    columns (n, n_d) <- K's dynamic columns with pivot * I in the dynamic rows. ``columns`` comes in as zeros.
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
        for l in range(len(dynamic)):
            columns[j, l] = 0.0
        columns[j, k] = pivot
        for e in range(indptr[j], indptr[j + 1]):
            if indices[e] == j:
                A[e] = pivot
