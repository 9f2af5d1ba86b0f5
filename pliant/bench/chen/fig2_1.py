"""chen/fig2_1: condition of the matrices of backward Euler and of the midpoint rule, by stiffness. [Chen2019, Fig. 2.1]

An armadillo of neo-Hookean material that swings under gravity: A = M + h^2 K and M + h^2/4 K after a few steps.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, onenormest, splu

from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import Solid
from pliant.integrators import LinearlyImplicit
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.scene import Scene
from pliant.scenes.chen_coarse import UPRIGHT
from pliant.scenes.chen_meshes import thesis_mesh

H = 0.01


def conditions(E: float, steps: int) -> tuple[float, float]:
    """1-norm estimates of both matrices."""
    found = thesis_mesh("armadillo_coarse")
    mesh, up = found.mesh, UPRIGHT[found.own][0]
    low, high = mesh.bounds[:, up]
    pins = Pin(mesh.where(lambda X: X[:, up] < low + 0.05 * (high - low)))
    scene = Scene([Solid(mesh, StableNeoHookean(E, 0.45), pins=pins)], LinearlyImplicit(), h=H)
    system = scene.system()
    state = scene.initial(system)
    for _ in range(steps):
        state = scene.integrator.step(system, state, H).state
    tangent = lambda c: system.restrict(system.tangent(state.q, state.v, state.t, (1.0, c, c * c), psd=True))
    return condition(tangent(H)), condition(tangent(0.5 * H))


def condition(A: sp.csr_matrix) -> float:
    """|A|_1 |A^-1|_1, the second estimated."""
    factor = splu(sp.csc_matrix(A))
    inverse = LinearOperator(A.shape, matvec=factor.solve, rmatvec=factor.solve, dtype=np.float64)
    return float(sp.linalg.norm(A, 1) * onenormest(inverse))


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    for E in (1e4, 1e6, 1e8) if quick else (1e4, 1e5, 1e6, 1e7, 1e8):
        be, im = conditions(E, 2 if quick else 10)
        rows += [{"E [Pa]": E, "matrix": name, "condition": float(f"{c:.4g}")} for name, c in (("BE", be), ("IM", im))]
    claims = []
    for name in ("BE", "IM"):
        c = [r["condition"] for r in rows if r["matrix"] == name]
        rising = all(b > 1.5 * a for a, b in zip(c, c[1:], strict=False))
        claims.append(
            Claim(f"{name}: worse the stiffer", "increases rapidly", ", ".join(f"{x:.2g}" for x in c), rising)
        )
    both = [r["condition"] for r in rows]
    ahead = all(be > im for be, im in zip(both[::2], both[1::2], strict=True))
    claims.append(Claim("BE worse than IM at every stiffness", "its stage is twice as long", "see rows", ahead))
    return Table("chen/fig2_1", "Condition of the system matrix, h = 0.01 s", rows, claims,
                 [thesis_mesh("armadillo_coarse").note], plot=Plot("E [Pa]", "condition", "matrix", "xy"))  # fmt: skip
