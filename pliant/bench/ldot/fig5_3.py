"""ldot/fig5_3: the better a mesh is connected, the dearer is its factor. [Weidner2022, Fig. 5.3]

Bodies of about 4,000 vertices: tetrahedra on their own, tetrahedra that share one vertex with the next, a long animal,
a compact one, a block. The matrix is M + h^2 K of stable neo-Hookean material at rest.
"""

from time import process_time
from typing import Any

import numpy as np

from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import Solid
from pliant.linear.cholesky import Cholesky
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, bar, long_eared, serpent
from pliant.scene import Scene

H = 0.01  # s
CORNERS = 0.02 * np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def loose(n: int) -> Mesh:
    """``n`` tetrahedra on their own."""
    X = (CORNERS + 0.05 * np.arange(n)[:, None, None] * [1.0, 0.0, 0.0]).reshape(-1, 3)
    return Mesh(X=X, T=np.arange(4 * n).reshape(n, 4))


def strung(n: int) -> Mesh:
    """``n`` tetrahedra in a row, each of which shares a vertex with the next."""
    X = np.concatenate([CORNERS[:1], *(CORNERS[[1, 2, 3]] + [0.02 * k, 0.0, 0.0] for k in range(n))])
    first = np.arange(n)[:, None]
    T = np.hstack([np.where(first == 0, 0, 3 * first - 2), 3 * first + 1, 3 * first + 2, 3 * first + 3])
    return Mesh(X=X, T=T)


def bodies(quick: bool) -> dict[str, Mesh]:
    if quick:
        return {
            "tetrahedra": loose(200), "string of tetrahedra": strung(266), "long animal": serpent(cells=35),
            "compact animal": long_eared(cells=11), "block": bar((0.1, 0.1, 0.1), (8, 8, 8)),
        }  # fmt: skip
    return {
        "tetrahedra": loose(1000),
        "string of tetrahedra": strung(1333),
        "long animal": serpent(cells=60),
        "compact animal": long_eared(cells=21),
        "block": bar((0.1, 0.1, 0.1), (15, 15, 15)),
    }


def measured(name: str, mesh: Mesh, repeats: int) -> dict[str, Any]:
    system = Scene([Solid(mesh, StableNeoHookean(E=1e5, nu=0.45))]).system()
    q = system.X.ravel()
    A = system.restrict(system.tangent(q, 0 * q, 0.0, (1.0, H, H * H), psd=True))
    factor, seconds = Cholesky().factor(A), []
    for _ in range(repeats):
        start = process_time()
        factor = Cholesky().factor(A, factor.memory)
        seconds.append(process_time() - start)
    neighbours = np.diff(A.indptr).mean() / 3.0 - 1.0
    return {
        "mesh": name, "vertices": len(mesh.X), "tetrahedra": len(mesh.T), "neighbours": round(float(neighbours), 1),
        "entries of L": factor.memory.engine.nnz, "entries of L / of A": factor.memory.engine.nnz / A.nnz,
        "factorization [ms]": 1e3 * min(seconds),
    }  # fmt: skip


def run(*, quick: bool = False) -> Table:
    rows = [measured(name, mesh, 3 if quick else 10) for name, mesh in bodies(quick).items()]
    rising = lambda column: bool(np.all(np.diff([row[column] / row["vertices"] for row in rows]) > 0.0))
    shown = lambda column: " < ".join(f"{row[column] / row['vertices']:.3g}" for row in rows)
    claims = [
        Claim("entries of L per vertex, from loose to block", "rising", shown("entries of L"), rising("entries of L")),
        Claim("time per vertex [ms]", "rising", shown("factorization [ms]"), rising("factorization [ms]")),
    ]
    note = "the source draws its bars without numbers; animals are stand-ins for its dragon and bunny"
    plot = Plot("mesh", "factorization [ms]")
    return Table("ldot/fig5_3", "Connectivity and the factor", rows, claims, [note], plot=plot)
