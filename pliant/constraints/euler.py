"""Euler's method under constraints phi(x) = 0 at velocity level, hard or compliant.

    M v = M v_n + h f + J^T mu,     J v + compliance/h^2 mu = -gamma phi/h,     x = x_n + h v

gamma = 1 asks for the linearised phi = 0 at the end of the step, gamma = 0 lets the constraint drift. ``implicit`` puts
M - h D - h^2 K in the place of M, ``geometric`` adds the stiffness of the constraint forces of the last step, which
keeps chains under high tension quiet, and ``project`` moves the positions back onto phi = 0 afterwards.
[Ledwon2024, sec. 3.3.4, corrected]
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.constraints.functions import Displacement, curvature, jacobian, phi
from pliant.constraints.kept import Kept, KeptLengths
from pliant.constraints.rows import Scheme, constrained_velocities
from pliant.errors import SceneError
from pliant.linear.threads import one_thread
from pliant.state import Counts, SolveReport, State, Step
from pliant.systems.base import System
from pliant.systems.elastodynamics import Elastodynamics
from pliant.velocity_step import change_of_momentum

PROJECTIONS = 20  # Newton iterations at most; two or three do
CLOSED = 1e-12  # of the system's size: a constraint this close is met


@dataclass(frozen=True, eq=False)
class ConstrainedEuler:
    """Euler steps with holonomic constraints: ``function`` = 0, or `KeptLengths` or `KeptVolumes` of the meshes.

    ``compliance`` (number or (m,)) is the inverse stiffness [m/N]; 0: hard. ``damping`` [N s/m] acts on the
    displacements, f = -J^T (phi/compliance + damping dphi/dt).
    """

    function: Displacement | Kept = KeptLengths()
    compliance: float | Array = 0.0
    damping: float = 0.0
    gamma: float = 1.0
    scheme: Scheme = "schur"
    implicit: bool = True
    geometric: bool = False
    project: bool = False
    order: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not isinstance(self.function, Kept) and self.function.unilateral:
            raise SceneError(
                f"{type(self.function).__name__} only push: equality rows would also pull",
                where="ConstrainedEuler.function",
                remedy="use a Penalty, or contact with inequality rows",
            )

    @one_thread()
    def step(self, system: Elastodynamics, state: State, h: float, memory: Any = None) -> Step:
        """``memory`` is the constraint force lam (m,) [N] of the last step."""
        if isinstance(self.function, Kept):
            return replace(self, function=self.function.of(system)).step(system, state, h, memory)
        q, v, t = state.q, state.v, state.t
        free, n = system.free, len(system.positions(q))
        shape = (n, len(q) // n)
        A = system.mass(q)
        if self.implicit:
            A = system.tangent(q, v, t + h, (1.0, h, h * h))
            b = change_of_momentum(system, A, q, v, t + h, h) + A @ v
        else:
            b = A @ v + h * system.force(q, v, t + h)
        if self.geometric and memory is not None:
            A = A - h * h * curvature(self._function, q.reshape(shape), memory)
        J = jacobian(self._function, q.reshape(shape))
        scripted = (system.prescribe(q, t + h) - q) / h
        scripted[free] = 0.0
        b, c, E = (b - A @ scripted)[free], *self._rows(q.reshape(shape), h)
        J_free = sp.csr_matrix(J[:, free])
        active = np.diff(J_free.indptr) > 0
        v_free, mu = constrained_velocities(
            sp.csr_matrix(A[free][:, free]),
            b,
            J_free[active],
            (c - J @ scripted)[active],
            E[active],
            scheme=self.scheme,
        )
        v = scripted.copy()
        v[free] = v_free
        q = system.prescribe(q + h * v, t + h)
        if self.project:
            q = self._onto(system, q, shape)
            v = (q - state.q) / h
        lam = np.zeros(len(c))
        lam[active] = mu / h
        return Step(State(q, v, t + h), lam, (self._report(q, shape),))

    @property
    def _function(self) -> Displacement:
        assert not isinstance(self.function, Kept)  # made by `step`
        return self.function

    def _rows(self, x: Array, h: float) -> tuple[Array, Array]:
        """Right-hand side and diagonal of the constraint rows, with damping of the displacement."""
        found = phi(self._function, x)
        alpha = np.broadcast_to(np.asarray(self.compliance, dtype=np.float64), len(found))
        if not (alpha >= 0.0).all():
            raise SceneError(
                f"compliance {alpha.min():g} m/N", where="ConstrainedEuler", remedy="it cannot be negative"
            )
        damped = 1.0 + alpha * self.damping / h
        return -np.where(alpha > 0.0, 1.0 / damped, self.gamma) * found / h, alpha / (h * h * damped)

    def _onto(self, system: System, q: Array, shape: tuple[int, ...]) -> Array:
        """Positions moved along M^-1 J^T onto phi = 0, rows with compliance left alone."""
        free = system.free
        inverse = sp.csr_matrix(sp.diags_array(system.mass(q).diagonal()[free]))
        hard = np.broadcast_to(np.asarray(self.compliance) == 0.0, len(self._function.nodes))
        for _ in range(PROJECTIONS):
            found = phi(self._function, q.reshape(shape))[hard]
            if np.abs(found).max(initial=0.0) <= CLOSED * system.scale:
                break
            J = sp.csr_matrix(jacobian(self._function, q.reshape(shape))[hard][:, free])
            dq, _ = constrained_velocities(inverse, np.zeros(len(free)), J, -found, np.zeros(len(found)))
            q = q.copy()
            q[free] += dq
        return q

    def _report(self, q: Array, shape: tuple[int, ...]) -> SolveReport:
        """The residual is the largest violation of a hard constraint [m]."""
        hard = np.broadcast_to(np.asarray(self.compliance) == 0.0, len(self._function.nodes))
        violation = float(np.abs(phi(self._function, q.reshape(shape))[hard]).max(initial=0.0))
        finite = bool(np.isfinite(q).all())
        message = "" if finite else "positions are not finite"
        return SolveReport(finite, 1, violation, None, Counts(1, 1, 1, 1, 1), message=message, certified=False)
