"""solvers/filters: what to do with indefinite element blocks as Poisson's ratio approaches 1/2.

A bar is compressed quasistatically by a quarter, in ten steps and in one, where all of the change of volume is in the
last row of elements at first: the case for which absolute values were proposed. Negative eigenvalues of the element
Hessians are set to zero in every iteration (clamped, the papers' ND), replaced by their absolute values [Chen2024],
clamped only where the last step did what the exact quadratic model said and replaced otherwise (trust region
[Chen2024b]), or left as they are where the whole matrix can be factored (on demand), with either filter where it
cannot. No factor is used twice. Iterations and factorizations alone are compared: the absolute values are found by
dense eigensolvers. About a minute on one core.
"""

from dataclasses import dataclass, field
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

LENGTH = 0.3
STEPS = (10, 1)
RATIOS = (0.4, 0.49, 0.499)
CLOSE = 0.01  # to 1: a ratio that earns trust


class AbsoluteStage(Stage):
    """A quasistatic stage whose projected Jacobian has the absolute values of the eigenvalues of element blocks."""

    def _jacobian(self, q: Array, v: Array, psd: bool, coupled: bool, a: Array | None = None) -> sp.csr_matrix:
        if not psd:
            return super()._jacobian(q, v, psd, coupled, a)
        A = absolute_hessian(elastic(self), self.system.X, q)  # type: ignore[attr-defined]
        return sp.csr_matrix(A[self.system.free][:, self.system.free])


@dataclass(frozen=True, eq=False)
class TrustingStage(AbsoluteStage):
    """The same, but clamped where (W(q) - W(p)) / (g.s + s.H s/2) of the last step s = q - p, with the exact H at p, is
    within 1 % of 1; before the first step it counts as 0. [Chen2024b]
    """

    path: list[Array] = field(default_factory=list)

    def _jacobian(self, q: Array, v: Array, psd: bool, coupled: bool, a: Array | None = None) -> sp.csr_matrix:
        before = self.path[-1] if self.path else q
        self.path.append(q.copy())
        if abs(ratio(elastic(self), before, q) - 1.0) < CLOSE:
            return Stage._jacobian(self, q, v, psd, coupled, a)
        return super()._jacobian(q, v, psd, coupled, a)


METHODS: dict[str, tuple[Any, type[Stage]]] = {
    "clamped": ("always", Stage),
    "absolute values": ("always", AbsoluteStage),
    "trust region": ("always", TrustingStage),
    "on demand, clamped": ("on_demand", Stage),
    "on demand, absolute values": ("on_demand", AbsoluteStage),
}


def elastic(stage: Stage) -> Elastic:
    """The only energy of the bar."""
    (energy,) = (e for e in stage.system.energy_terms if isinstance(e, Elastic))  # type: ignore[attr-defined]
    return energy


def ratio(energy: Elastic, p: Array, q: Array) -> float:
    """The decrease of the energy from p to q over that of its quadratic model at p; 0 where nothing moved."""
    s = q - p
    model = float(energy.gradient(p) @ s + 0.5 * s @ (energy.hessian(p) @ s))
    return (energy.value(q) - energy.value(p)) / model if model else 0.0


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


def compressed(nu: float, cells: tuple[int, int, int], steps: int) -> Scene:
    """A bar without weight, one end held, the other pushed by a quarter of its length."""
    mesh = bar(size=(LENGTH, 0.1, 0.1), cells=cells)
    push = Keyframes((0.0, 1.0), ((0, 0, 0), (-0.25 * LENGTH, 0, 0)))
    pins = (
        Pin(mesh.where(lambda X: X[:, 0] < 1e-9)),
        Pin(mesh.where(lambda X: X[:, 0] > LENGTH - 1e-9), push),
    )
    return Scene([Solid(mesh, StableNeoHookean(2e4, nu), pins=pins)], h=1.0 / steps, gravity=(0, 0, 0))


def walked(scene: Scene, project: Any, kind: type[Stage]) -> dict[str, Any]:
    """All steps with one method."""
    system = scene.system()
    state, memory = scene.initial(system), None
    solver, steps = Newton(project=project, chords=0, max_iterations=500), scene.steps
    iterations = factorizations = failed = 0
    for k in range(steps):
        t = (k + 1) / steps
        frame = system.prescribe(state.q + state.v / steps, t)
        stage = kind(system, 1.0, state.q, state.q, t, frame, start=state, inertia=0.0)
        found = solver.solve(stage, frame[system.free], memory)
        q = stage.embed(found.z)
        state, memory = State(q, (q - state.q) * steps, t), found.memory
        iterations += found.report.iterations
        factorizations += found.report.counts.factorizations
        failed += not found.report.converged
    return {
        "iterations": iterations / steps,
        "factorizations": factorizations / steps,
        "failed": f"{failed}/{steps}",
    }


def run(*, quick: bool = False) -> Table:
    cells = (6, 2, 2) if quick else (12, 4, 4)
    cases = [(steps, nu) for steps in STEPS for nu in RATIOS]
    rows: list[dict[str, Any]] = []
    for steps, nu in cases:
        scene = compressed(nu, cells, steps)
        rows += [{"steps": steps, "nu": nu, "blocks": name} | walked(scene, *how) for name, how in METHODS.items()]
    count = {(row["steps"], row["nu"], row["blocks"]): row["factorizations"] for row in rows}
    claims = []
    *filters, exact = list(METHODS)[:4]
    for case in cases:
        others = ", ".join(f"{name} {count[*case, name]:.1f}" for name in filters)
        fewest = count[*case, exact] <= min(count[*case, name] for name in filters)
        shown = f"{count[*case, exact]:.1f} factorizations a step, {others}"
        claims.append(Claim(f"on demand needs the fewest, steps = {case[0]}, nu = {case[1]}", "-", shown, fewest))
    failed = sum(not row["failed"].startswith("0/") for row in rows)
    claims.append(Claim("every method converged in every step", "-", f"{failed} methods did not", failed == 0))
    return Table("solvers/filters", "Indefinite element blocks", rows, claims)
