"""Kernels of Gauss-Seidel sweeps, see `sweeps`. Templates."""

from numba import cuda

project = None  # bound per kind of constraint


def patches_of_a_colour(begin, rounds, first, x, x0, W, lam, g, scale, nodes, table):
    """One block of threads per patch: constraints of a round share no vertex, rounds come one after the other."""
    p = begin + cuda.blockIdx.x
    for r in range(first[p], first[p + 1]):
        for k in range(rounds[r] + cuda.threadIdx.x, rounds[r + 1], cuda.blockDim.x):
            project(k, x, x0, W, lam, g, scale, nodes, table)
        cuda.syncthreads()


def constraints_of_a_colour(begin, end, x, x0, W, lam, g, scale, nodes, table):
    """One thread per constraint: none of them share a vertex."""
    k = begin + cuda.grid(1)
    if k < end:
        project(k, x, x0, W, lam, g, scale, nodes, table)
