"""scale/multigrid: iterations of conjugate gradients with multigrid over sizes, stiffness and states of a bar.

Beside it block-Jacobi conjugate gradients, a Cholesky factor up to 50,000 tetrahedra, and pyamg's smoothed aggregation
with the same rigid motions where it is installed. The right-hand side is random: every mode is in it.
"""

from collections.abc import Callable
from importlib import import_module
from time import process_time
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import Solid
from pliant.linear import PCG, Cholesky, Multigrid
from pliant.linear.base import Places
from pliant.linear.threads import one_thread
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene

H, SIZE = 0.01, (0.3, 0.1, 0.1)
TOLERANCE, MOST = 1e-6, 30  # the claim


def rest(X: Array) -> Array:
    return X


def twisted(X: Array) -> Array:
    """Turned once around its axis from end to end."""
    y, z, a = X[:, 1] - 0.05, X[:, 2] - 0.05, 2.0 * np.pi * X[:, 0] / SIZE[0]
    return np.stack([X[:, 0], 0.05 + np.cos(a) * y - np.sin(a) * z, 0.05 + np.sin(a) * y + np.cos(a) * z], axis=1)


def compressed(X: Array) -> Array:
    """To 60 % of its length."""
    return X * [0.6, 1.0, 1.0]


def matrix(c: int, E: Any, nu: float, shape: Callable[[Array], Array]) -> tuple[sp.csr_matrix, Places]:
    """M + h^2 K of a bar of 3c x c x c cells held at one end, blocks projected, and the places of its rows.

    ``E`` is a modulus, or "1:10000" for layers of a soft material between stiff ones.
    """
    mesh = bar(size=SIZE, cells=(3 * c, c, c))
    if E == "1:10000":
        soft = np.floor(mesh.X[mesh.T].mean(axis=1)[:, 0] / 0.05) % 2 == 0
        E = np.where(soft, 1e4, 1e8)
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    system = Scene([Solid(mesh, StableNeoHookean(E=E, nu=nu), density=1000, pins=pins)], h=H, duration=H).system()
    x = shape(mesh.X)
    A = system.restrict(system.tangent(x.ravel(), np.zeros(x.size), 0.0, (1.0, 0.0, H * H), psd=True))
    return A, Places(system.free, x)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    begun = process_time()
    found = work()
    return found, process_time() - begun


def row(name: str, c: int, E: Any, nu: float, shape: Callable[[Array], Array], direct: bool) -> dict[str, Any]:
    """Iterations and CPU seconds on one matrix."""
    A, places = matrix(c, E, nu, shape)
    b = np.random.default_rng(0).normal(size=A.shape[0])
    multigrid = PCG(TOLERANCE, preconditioner=Multigrid()).placed(places)
    memory = multigrid.factor(A).memory
    made, setup = timed(lambda: multigrid.factor(A, memory))
    _, solve = timed(lambda: made.solve(b))
    plain = PCG(TOLERANCE, max_iterations=10_000).factor(A)
    _, seconds = timed(lambda: plain.solve(b))
    out = {
        "tets": 18 * c**3, "E": E, "nu": nu, "state": name, "iterations": made.inner, "set-up s": setup,
        "solve s": solve, "residual": made.residual, "PCG iterations": plain.inner, "PCG s": seconds,
    }  # fmt: skip
    if direct:
        kept = Cholesky().factor(A)
        out["Cholesky s"] = timed(lambda: Cholesky().factor(A, kept.memory).solve(b))[1]
    return out | peer(A, places, b)


def peer(A: sp.csr_matrix, places: Places, b: Array) -> dict[str, Any]:
    """The same by pyamg, where it is installed."""
    try:
        pyamg = import_module("pyamg")
    except ImportError:
        return {}
    x, axis = places.x[places.rows // 3], places.rows % 3
    modes = np.zeros((len(b), 6))
    modes[np.arange(len(b)), axis] = 1.0
    for k in range(3):
        modes[:, 3 + k] = np.cross(np.eye(3)[k], x)[np.arange(len(b)), axis]
    made, setup = timed(lambda: pyamg.smoothed_aggregation_solver(A.tobsr((3, 3)), B=modes))
    residuals: list[float] = []
    _, solve = timed(lambda: made.solve(b, tol=TOLERANCE, accel="cg", residuals=residuals))
    return {"pyamg iterations": len(residuals) - 1, "pyamg s": setup + solve}


@one_thread()
def run(*, quick: bool = False) -> Table:
    small, middle, large = (4, 5, 7) if quick else (7, 14, 22)
    rows = [row("rest", c, E, 0.4, rest, c <= 14) for c in (small, middle, large) for E in (1e4, 1e6, 1e8)]
    for name, shape in (("twisted", twisted), ("compressed", compressed)):
        rows += [row(name, middle, E, 0.4, shape, True) for E in (1e4, 1e8)]
    rows += [row("rest", middle, 1e6, nu, rest, True) for nu in (0.3, 0.45, 0.49)]
    rows += [row(name, middle, "1:10000", 0.4, shape, True) for name, shape in (("rest", rest), ("twisted", twisted))]
    most = max(r["iterations"] for r in rows if r["nu"] == 0.4)
    at_rest = [r for r in rows if r["state"] == "rest" and r["nu"] == 0.4 and r["E"] == 1e6]
    growth = at_rest[-1]["iterations"] / at_rest[0]["iterations"]
    size = at_rest[-1]["tets"] / at_rest[0]["tets"]
    soft = max(r["iterations"] for r in rows if r["nu"] == 0.49)
    worst = max(r["residual"] for r in rows)
    saved = min(r["PCG iterations"] / r["iterations"] for r in rows)
    claims = [
        Claim("iterations to 1e-6 at nu = 0.4: all sizes, moduli, states", f"<= {MOST}", f"{most}", most <= MOST),
        Claim("they hardly grow with the mesh", "<= 2 x", f"{growth:.2f} x over {size:.0f} x the size", growth <= 2.0),
        Claim("nu = 0.49", "bounded", f"{soft}", soft <= 3 * MOST),
        Claim("every solve reached the tolerance", "1e-6", f"{worst:.1e}", worst <= 1.01 * TOLERANCE),
        Claim("fewer than block Jacobi takes, everywhere", "fewer", f"{saved:.1f} x", saved > 1.0),
    ]
    notes = [
        "M + h^2 K, h = 10 ms, blocks projected; CPU seconds of all threads; the set-up is that of a pattern seen "
        "before. 1:10000: layers of E = 1e4 and 1e8."
    ]
    plot = Plot("tets", "iterations", "state", "x")
    return Table("scale/multigrid", "Multigrid over sizes, stiffness and states", rows, claims, notes, plot=plot)
