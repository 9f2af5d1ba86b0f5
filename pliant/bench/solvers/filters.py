"""solvers/filters: what to do with indefinite element blocks as Poisson's ratio approaches 1/2.

A bar is compressed quasistatically in ten steps. Negative eigenvalues of the element Hessians are set to zero in every
iteration (clamped, the papers' ND), replaced by their absolute values [Chen2024], or left as they are where the
whole matrix can be factored (on demand), with either filter where it cannot. Iterations and factorizations alone are
compared: the absolute values are found by dense eigensolvers. Less than a minute on one core.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.energies.elastic import Elastic
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.solvers import Newton
from pliant.stage import Stage
from pliant.state import State

LENGTH, STEPS = 0.3, 10
RATIOS = (0.4, 0.49, 0.499)
METHODS = {
    "clamped": ("always", False),
    "absolute values": ("always", True),
    "on demand, clamped": ("on_demand", False),
    "on demand, absolute values": ("on_demand", True),
}


class AbsoluteStage(Stage):
    """A quasistatic stage whose projected Jacobian has the absolute values of the eigenvalues of element blocks."""

    def _jacobian(self, q: Array, v: Array, psd: bool, coupled: bool, a: Array | None = None) -> sp.csr_matrix:
        if not psd:
            return super()._jacobian(q, v, psd, coupled, a)
        (energy,) = (e for e in self.system.energy_terms if isinstance(e, Elastic))  # type: ignore[attr-defined]
        A = absolute_hessian(energy, self.system.X, q)  # type: ignore[attr-defined]
        return sp.csr_matrix(A[self.system.free][:, self.system.free])


def absolute_hessian(energy: Elastic, X: Array, q: Array) -> sp.csr_matrix:
    """Sum of |H_e| over the elements, H_e found on a mesh X (n, 3) of elements that share no vertices."""
    T = energy.elements.nodes
    corners = np.arange(T.size).reshape(T.shape)
    apart = Elastic(X[T.ravel()], corners, energy.material)
    H = sp.bsr_matrix(apart.hessian(q.reshape(-1, 3)[T.ravel()].ravel()), blocksize=(12, 12))
    lam, Q = np.linalg.eigh(H.data)
    blocks = np.einsum("eij,ej,ekj->eik", Q, np.abs(lam), Q)
    dofs = (3 * T[:, :, None] + np.arange(3)).reshape(len(T), 12)
    rows, columns = np.repeat(dofs, 12, axis=1).ravel(), np.tile(dofs, (1, 12)).ravel()
    return sp.csr_matrix((blocks.ravel(), (rows, columns)), shape=(len(q), len(q)))


def compressed(nu: float, cells: tuple[int, int, int]) -> Scene:
    """A bar without weight, one end held, the other pushed by a quarter of its length."""
    mesh = bar(size=(LENGTH, 0.1, 0.1), cells=cells)
    push = Keyframes((0.0, 1.0), ((0, 0, 0), (-0.25 * LENGTH, 0, 0)))
    pins = (
        Pin(mesh.where(lambda X: X[:, 0] < 1e-9)),
        Pin(mesh.where(lambda X: X[:, 0] > LENGTH - 1e-9), push),
    )
    return Scene([Solid(mesh, StableNeoHookean(2e4, nu), pins=pins)], h=1.0 / STEPS, gravity=(0, 0, 0))


def walked(scene: Scene, project: Any, absolute: bool) -> dict[str, Any]:
    """All steps with one method."""
    system = scene.system()
    state, memory = scene.initial(system), None
    solver, kind = Newton(project=project, max_iterations=500), AbsoluteStage if absolute else Stage
    iterations = factorizations = failed = 0
    for k in range(STEPS):
        t = (k + 1) / STEPS
        frame = system.prescribe(state.q + state.v / STEPS, t)
        stage = kind(system, 1.0, state.q, state.q, t, frame, start=state, inertia=0.0)
        found = solver.solve(stage, frame[system.free], memory)
        q = stage.embed(found.z)
        state, memory = State(q, (q - state.q) * STEPS, t), found.memory
        iterations += found.report.iterations
        factorizations += found.report.counts.factorizations
        failed += not found.report.converged
    return {"iterations": iterations / STEPS, "factorizations": factorizations / STEPS, "failed": f"{failed}/{STEPS}"}


def run(*, quick: bool = False) -> Table:
    cells = (6, 2, 2) if quick else (12, 4, 4)
    rows: list[dict[str, Any]] = []
    for nu in RATIOS:
        scene = compressed(nu, cells)
        rows += [{"nu": nu, "blocks": name} | walked(scene, *how) for name, how in METHODS.items()]
    count = {(row["nu"], row["blocks"]): row["factorizations"] for row in rows}
    claims = []
    for nu in RATIOS:
        clamped, absolute, exact = (count[nu, name] for name in list(METHODS)[:3])
        shown = f"{exact:.1f} factorizations a step, clamped {clamped:.1f}, absolute values {absolute:.1f}"
        claims.append(Claim(f"on demand needs the fewest at nu = {nu}", "-", shown, exact <= min(clamped, absolute)))
    failed = sum(not row["failed"].startswith("0/") for row in rows)
    claims.append(Claim("every method converged in every step", "-", f"{failed} methods did not", failed == 0))
    return Table("solvers/filters", "Indefinite element blocks", rows, claims)
