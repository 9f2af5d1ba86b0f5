"""Fill-reducing orderings of a symmetric pattern.

Rows with the same pattern (the three coordinates of a node, the six of a rigid body) are one vertex of the graph that
is ordered: a ninth of the edges, a better ordering, and dense blocks from the start.
"""

from collections.abc import Mapping

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from pliant.arrays import IntArray
from pliant.kernels import elimination


def groups(indptr: np.ndarray, indices: np.ndarray) -> IntArray:
    """Offsets (g+1,) of the maximal runs of consecutive rows with identical patterns."""
    return np.flatnonzero(elimination.pattern_starts(indptr, indices))


def group_graph(indptr: np.ndarray, indices: np.ndarray, offset: IntArray) -> tuple[IntArray, IntArray]:
    """The graph of the groups as CSR arrays (pointers, neighbours), without loops."""
    N = len(indptr) - 1
    member = np.repeat(np.arange(len(offset) - 1), np.diff(offset))
    first = sp.csr_matrix((np.ones(len(indices), dtype=np.int8), indices, indptr), shape=(N, N))[offset[:-1]]
    rows = np.repeat(np.arange(len(offset) - 1), np.diff(first.indptr))
    columns = member[first.indices]
    edges = rows != columns
    count = len(offset) - 1
    graph = sp.csr_matrix((np.ones(edges.sum()), (rows[edges], columns[edges])), shape=(count, count))
    graph.sort_indices()
    return graph.indptr.astype(np.int64), graph.indices.astype(np.int64)


def fill_reducing(
    pointers: IntArray, neighbours: IntArray, weights: IntArray, options: Mapping[str, int] | None = None
) -> IntArray:
    """``order`` (g,): order[k] is the vertex eliminated k-th; nested dissection, or minimum degree without METIS.

    ``options`` are those of METIS; none of them is better than its defaults (`pliant bench scale/factor`).
    """
    count = len(pointers) - 1
    if len(neighbours) == 0:
        return np.arange(count)
    try:
        import pymetis
    except ImportError:
        return minimum_degree(pointers, neighbours)
    graph = pymetis.CSRAdjacency(pointers.astype(np.int32), neighbours.astype(np.int32))
    chosen = pymetis.Options(**(options or {}))
    order, _ = pymetis.nested_dissection(graph, vweights=weights.astype(np.int32), options=chosen)
    return np.asarray(order, dtype=np.int64)


def minimum_degree(pointers: IntArray, neighbours: IntArray) -> IntArray:
    """SuperLU's multiple minimum degree ordering, read off a factor of the graph's Laplacian plus one."""
    count = len(pointers) - 1
    graph = sp.csc_matrix((-np.ones(len(neighbours)), neighbours, pointers), shape=(count, count))
    graph = sp.csc_matrix(graph + sp.diags_array(np.diff(pointers) + 1.0))
    lu = splu(graph, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return np.argsort(lu.perm_c)
