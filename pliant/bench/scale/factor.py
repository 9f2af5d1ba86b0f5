"""scale/factor: what a sparse factor costs: orderings and their fill, single and double precision, refinement.

The matrix is that of a step of a bar, M + h^2 K. An ordering is judged by the entries of L and the operations that it
leads to; the one in use is nested dissection of the graph of nodes, whose three rows stay together. Sizes that are not
factored here are ordered: that tells the memory that a factor would take.
"""

from collections.abc import Callable
from functools import partial
from time import process_time
from typing import Any

import numpy as np

from pliant.arrays import IntArray
from pliant.bench.scale.multigrid import matrix, rest
from pliant.bench.table import Claim, Plot, Table
from pliant.kernels import elimination
from pliant.kernels.bind import entry
from pliant.linear import Cholesky, RefinedCholesky
from pliant.linear.ordering import fill_reducing, group_graph, groups, minimum_degree
from pliant.linear.threads import one_thread

SIZES = (7, 14, 22)  # 6,174, 49,392 and 191,664 tetrahedra
ORDERED = (30, 38)  # 486,000 and 987,696
FEW = 20_000  # nodes up to which the other orderings are tried
OPTIONS: dict[str, dict[str, int]] = {  # of METIS; its defaults are nseps = 1, niter = 10, ufactor = 200
    "best of 10 separators": {"nseps": 10},
    "20 passes of refinement": {"niter": 20},
    "halves within 3 %": {"ufactor": 30},
    "halves within 40 %": {"ufactor": 400},
    "components apart": {"ccorder": 1},
}


def counted(work: Callable[[], Any]) -> tuple[Any, float]:
    """What a call gives, and its CPU seconds."""
    begun = process_time()
    found = work()
    return found, process_time() - begun


def fill(pointers: IntArray, neighbours: IntArray, order: IntArray, weight: IntArray) -> tuple[float, float]:
    """Millions of entries of L and of operations for an order of groups of rows; no supernodes, no zeros."""
    order = order[entry(elimination.postorder)(elimination.etree(pointers, neighbours, order))]
    parent = elimination.etree(pointers, neighbours, order)
    _, height = elimination.column_counts(pointers, neighbours, order, parent, weight)
    w, h = weight[order].astype(float), height.astype(float)  # rows of a group, and of its columns from the diagonal on
    return float(np.sum(w * h - w * (w - 1) / 2)) / 1e6, float(np.sum(w * h * h)) / 1e6


def ordered(A: Any, tets: int, name: str, offset: IntArray, choose: Callable[..., IntArray]) -> dict[str, Any]:
    """The row of one ordering; MB are those of L in double precision."""
    pointers, neighbours = group_graph(A.indptr, A.indices, offset)
    weight = np.diff(offset)
    order, seconds = counted(partial(choose, pointers, neighbours, weight))
    entries, operations = fill(pointers, neighbours, order, weight)
    return {
        "tets": tets, "what": name, "CPU s": seconds, "entries M": entries, "operations M": operations,
        "MB": 8 * entries,
    }  # fmt: skip


def orderings(A: Any, tets: int) -> list[dict[str, Any]]:
    """Fill of nested dissection over nodes and over single rows, with other options, and of minimum degree."""
    nodes = groups(A.indptr, A.indices)
    rows = [ordered(A, tets, "nested dissection, nodes", nodes, fill_reducing)]
    if A.shape[0] <= 3 * FEW:
        rows.append(ordered(A, tets, "nested dissection, rows", np.arange(A.shape[0] + 1), fill_reducing))
        rows.append(ordered(A, tets, "minimum degree, nodes", nodes, lambda p, n, w: minimum_degree(p, n)))
        for name, options in OPTIONS.items():
            rows.append(ordered(A, tets, f"nodes, {name}", nodes, partial(fill_reducing, options=options)))
    return rows


def factors(A: Any, tets: int, repeats: int) -> list[dict[str, Any]]:
    """Numeric factorization and one solve: double, single, single with refinement."""
    b = A @ np.random.default_rng(0).normal(size=A.shape[0])
    rows, memory = [], None  # of the analysis in single precision, for both that use it
    for name, choice in (("double", Cholesky()), ("single", Cholesky("single")), ("refined", RefinedCholesky())):
        factor: Any = choice.factor(A, memory)
        memory = factor.memory if name != "double" else None
        factoring = min(counted(partial(choice.factor, A, factor.memory))[1] for _ in range(repeats))
        factor = choice.factor(A, factor.memory)
        factor.solve(b)
        x, solving = counted(partial(factor.solve, b))
        engine = factor.memory.engine
        rows.append({
            "tets": tets, "what": f"factor, {name}", "CPU s": factoring, "entries M": engine.nnz / 1e6,
            "operations M": engine.megaflops, "MB": engine.L.nbytes / 1e6, "solve ms": 1e3 * solving,
            "residual": float(np.linalg.norm(b - A @ x) / np.linalg.norm(b)),
        })  # fmt: skip
    return rows


@one_thread()
def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    sizes = [18 * c**3 for c in ((7,) if quick else SIZES)]
    for c in (7,) if quick else (*SIZES, *ORDERED):
        A, _ = matrix(c, 1e6, 0.4, rest)
        rows += orderings(A, 18 * c**3)
        rows += factors(A, 18 * c**3, 1 if quick else 3) if 18 * c**3 in sizes else []
    found = {(r["tets"], r["what"]): r for r in rows}
    compared = sizes[0] if quick else 18 * SIZES[1] ** 3
    nodes = found[compared, "nested dissection, nodes"]
    others = [r for r in rows if r["tets"] == compared and "factor" not in r["what"] and r is not nodes]
    top = {name: found[sizes[-1], f"factor, {name}"] for name in ("double", "single", "refined")}
    share = nodes["operations M"] / min(r["operations M"] for r in others)
    worst = max(r["residual"] for r in rows if r["what"] == "factor, refined")
    gain = (top["double"]["CPU s"] + 1e-3 * top["double"]["solve ms"]) / (
        top["refined"]["CPU s"] + 1e-3 * top["refined"]["solve ms"]
    )
    halved = top["refined"]["MB"] / top["double"]["MB"]
    claims = [
        Claim(
            "operations by the ordering of nodes, over the best other one", "<= 1.05 x", f"{share:.2f} x", share <= 1.05
        ),
        Claim("a refined solve is as exact as one in double", "1e-10", f"{worst:.1e}", worst <= 1e-10),
        Claim("factor and solve, refined against double", ">= 1.3 x faster", f"{gain:.2f} x", gain >= 1.3),
        Claim("its memory", "<= 0.5 x", f"{halved:.2f} x", halved <= 0.5),
    ]
    notes = [
        "M + h^2 K of a bar, E = 1 MPa, nu = 0.4, h = 10 ms, blocks projected. CPU seconds on one thread: of the "
        "ordering alone, or of a numeric factorization of a pattern seen before (the least of three). Entries and "
        "operations of orderings are those of L without zeros, of factors with the zeros inside their supernodes. "
        "MB: of the panels; of orderings 8 bytes for every entry, which a factor in single precision takes half of. "
        "METIS chooses halves within 20 % and the best of one separator by default."
    ]
    return Table(
        "scale/factor", "Orderings and precisions of a factor", rows, claims, notes, plot=Plot("what", "CPU s", "tets")
    )
