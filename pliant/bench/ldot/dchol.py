"""ldot/dchol: the supernodal factor and its time derivative, for correctness and against the libraries.

A bar of linear elasticity, six tetrahedra per cell, three unknowns per node: 30,375 unknowns is the BAR of the papers.
Times are CPU milliseconds of one thread, the best of a few repetitions. The thesis finds that the analytic derivative
is no faster than the difference of two factors [Weidner2022, Sec. 5.4.2].
"""

from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.linear import Cholesky, dchol, dchol_blocks, dchol_dense, dchol_difference
from pliant.linear.pardiso import available as pardiso_available

SIZES = [(44, 14, 14), (57, 20, 20)]
QUICK = [(10, 5, 5), (16, 8, 8)]
SMALL = (5, 2, 2)


def run(*, quick: bool = False) -> Table:
    """Time the engines and check L, dL/dt and the extrapolated solves."""
    rows = [row for cells in (QUICK if quick else SIZES) for row in timings(cells, 3)]
    return Table(
        "ldot/dchol",
        "Cholesky factor and its derivative: supernodal against the libraries",
        rows,
        [*correctness(), *comparisons(rows)],
        notes=[
            "CPU time of one thread; derivative_ms is L and dL/dt together, two_factors_ms their difference quotient"
        ],
    )


def elastic_bar(cells: tuple[int, int, int], seed: int = 0) -> sp.csr_matrix:
    """M / h^2 + K of a bar of unit cells of linear elasticity (lam = mu = 1), stiffness varying from tet to tet."""
    X, T = _tetrahedra(cells)
    D = np.swapaxes(X[T[:, 1:]] - X[T[:, :1]], 1, 2)
    G = np.linalg.inv(D)
    G = np.concatenate([-G.sum(axis=1, keepdims=True), G], axis=1)  # (m, 4, 3): gradients of the shape functions
    stiff = np.abs(np.linalg.det(D)) / 6.0 * np.random.default_rng(seed).uniform(0.5, 1.5, len(T))
    K = np.einsum("mai,mbj->maibj", G, G) + np.einsum("maj,mbi->maibj", G, G)
    K += np.einsum("mak,mbk,ij->maibj", G, G, np.eye(3))
    K *= stiff[:, None, None, None, None]
    dof = (3 * T[:, :, None] + np.arange(3)).reshape(len(T), 12)
    every = np.arange(3 * len(X))
    rows, columns = np.append(np.repeat(dof, 12, axis=1), every), np.append(np.tile(dof, (1, 12)), every)
    values = np.append(K, np.full(len(every), 0.05))  # the mass goes in here: adding matrices would drop stored zeros
    A = sp.csr_matrix((values, (rows, columns)), shape=(len(every), len(every)))
    A.sort_indices()
    return A


def timings(cells: tuple[int, int, int], repeats: int) -> list[dict[str, Any]]:
    """One row per engine on one bar."""
    A, Adot = _pair(cells)
    engines = ["supernodal", *(["pardiso"] if pardiso_available() else []), "superlu"]
    return [_timed(A, Adot, engine, repeats) for engine in engines]


def _timed(A: sp.csr_matrix, Adot: sp.csr_matrix, engine: str, repeats: int) -> dict[str, Any]:
    N = A.shape[0]
    B = np.random.default_rng(0).normal(size=(N, 30))
    linear = Cholesky(engine)  # type: ignore[arg-type]
    analysis, analysis_ms = _best(lambda: linear.analysis(A)[0], 1)
    factor, factor_ms = _best(lambda: linear.factor(A, analysis), 1 if engine == "superlu" else repeats)
    x, solve_ms = _best(lambda: factor.solve(B[:, 0]), repeats)
    _, solve_30_ms = _best(lambda: factor.solve(B), 1 if engine == "superlu" else repeats)
    row: dict[str, Any] = {"dofs": N, "engine": engine, "nnz_L": analysis.engine.nnz, "analysis_ms": analysis_ms}
    row |= {"factor_ms": factor_ms, "solve_ms": solve_ms, "solve_30_ms": solve_30_ms}
    row |= {"residual": float(np.abs(A @ x - B[:, 0]).max()), "derivative_ms": None, "two_factors_ms": None}
    if engine == "supernodal":
        _, row["derivative_ms"] = _best(lambda: dchol(A, Adot, analysis), repeats)
        _, row["two_factors_ms"] = _best(lambda: dchol_difference(A, Adot, analysis), repeats)
    return row


def comparisons(rows: list[dict[str, Any]]) -> list[Claim]:
    """The statements about time."""
    claims = []
    for own in (row for row in rows if row["engine"] == "supernodal"):
        N = own["dofs"]
        for other in (row for row in rows if row["engine"] == "pardiso" and row["dofs"] == N):
            ratio = own["factor_ms"] / other["factor_ms"]
            name = f"supernodal factor against PARDISO, {N} unknowns"
            claims.append(Claim(name, "<= 1.3 (target)", f"{ratio:.2f}", ratio <= 1.3))
        ratio = own["derivative_ms"] / own["factor_ms"]
        name = f"L and dL/dt against L alone, {N} unknowns"
        claims.append(Claim(name, "between 2 and 4", f"{ratio:.2f}", 2.0 <= ratio <= 4.0))
        ratio = own["derivative_ms"] / own["two_factors_ms"]
        name = f"analytic derivative against two factors, {N} unknowns"
        claims.append(Claim(name, "not faster", f"{ratio:.2f}", ratio >= 1.0))
    return claims


def correctness() -> list[Claim]:
    """L and dL/dt on a small bar against dense algorithms, differences, and the two exact facts of extrapolation."""
    A, Adot = _pair(SMALL)
    rate = dchol(A, Adot)
    order, L, dL = rate.order, rate.L.toarray(), rate.Ldot.toarray()
    dense, ddense = (S.toarray()[np.ix_(order, order)] for S in (A, Adot))
    L_dense, dL_dense = dchol_dense(dense, ddense)
    _, dL_blocks = dchol_blocks(dense, ddense, np.diff(rate.layout.structure.first))
    e = 1e-5
    slope = (np.linalg.cholesky(dense + e * ddense) - np.linalg.cholesky(dense - e * ddense)) / (2 * e)
    dt = 0.1
    b = np.random.default_rng(0).normal(size=A.shape[0])
    x = rate.extrapolated(dt).solve(b)
    ahead = L + dt * dL
    excess = ahead @ ahead.T - (dense + dt * ddense) - dt**2 * dL @ dL.T
    return [
        _close("L, sparse against dense", L, L_dense, 1e-12),
        _close("dL/dt, sparse against dense", dL, dL_dense, 1e-12),
        _close("dL/dt, sparse against dense blocks", dL, dL_blocks, 1e-12),
        _close("dL/dt against central differences", dL, slope, 1e-6),
        _close("dL L^T + L dL^T = dA", dL @ L.T + L @ dL.T, ddense, 1e-12),
        _close("solve with the extrapolated factor", ahead @ (ahead.T @ x[order]), b[order], 1e-10),
        Claim("A linear in time: excess of the extrapolation", "dt^2 dL dL^T", *_verdict(np.abs(excess).max(), 1e-10)),
        _linear_in_time(),
    ]


def _linear_in_time(N: int = 300, dt: float = 0.1) -> Claim:
    """If L(t) is linear in time, dchol finds its slope and the solve at t + dt is exact (any L fits a full pattern)."""
    rng = np.random.default_rng(1)
    L, slope = (np.tril(rng.uniform(-1.0, 1.0, (N, N)), -1) / N + scale * np.eye(N) for scale in (2.0, 0.5))
    rate = dchol(sp.csr_matrix(L @ L.T), sp.csr_matrix(slope @ L.T + L @ slope.T))
    b, ahead = rng.normal(size=N), L + dt * slope
    error = max(np.abs(rate.Ldot - slope).max(), np.abs(ahead @ (ahead.T @ rate.extrapolated(dt).solve(b)) - b).max())
    return Claim("L linear in time: slope and extrapolated solve", "exact", *_verdict(error, 1e-11))


def _close(name: str, ours: Array, exact: Array, tolerance: float) -> Claim:
    return Claim(name, "equal", *_verdict(float(np.abs(ours - exact).max() / np.abs(exact).max()), tolerance))


def _verdict(error: float, tolerance: float) -> tuple[str, bool]:
    return f"{error:.1e}", bool(error <= tolerance)


def _best(call: Callable[[], Any], repeats: int) -> tuple[Any, float]:
    """The last result, and the shortest CPU time [ms]."""
    shortest, result = np.inf, None
    for _ in range(repeats):
        start = process_time()
        result = call()
        shortest = min(shortest, process_time() - start)
    return result, round(1e3 * shortest, 2)


def _pair(cells: tuple[int, int, int]) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """A and a symmetric rate of change of the same pattern."""
    A, Adot = elastic_bar(cells), elastic_bar(cells, seed=1)
    Adot.data = 0.5 * (Adot.data - A.data)
    return A, Adot


def _tetrahedra(cells: tuple[int, int, int]) -> tuple[Array, np.ndarray]:
    """Nodes (n, 3) and tetrahedra (m, 4) of a lattice of unit cubes, six around the diagonal of each."""
    nx, ny, nz = cells
    node = np.arange((nx + 1) * (ny + 1) * (nz + 1)).reshape(nx + 1, ny + 1, nz + 1)
    corner = [node[a : nx + a, b : ny + b, c : nz + c].ravel() for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    around = [1, 3, 2, 6, 4, 5, 1]
    T = np.concatenate([np.stack([corner[k] for k in (0, p, q, 7)], axis=1) for p, q in zip(around, around[1:])])
    X = np.stack(np.meshgrid(*(np.arange(c + 1.0) for c in cells), indexing="ij"), axis=-1).reshape(-1, 3)
    return X, T
