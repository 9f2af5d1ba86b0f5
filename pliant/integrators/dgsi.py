"""DGSI: discontinuous elements implicit, the glue between them explicit. [Chen2019, Eq. 5.11, corrected]

With a lumped mass the matrix is block diagonal, one small block per element: the solve is parallel and has no fill.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.energies.base import Energy
from pliant.energies.dg import BZ, IP
from pliant.integrators.additive import additive_step, say_unsplit
from pliant.linear.base import LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.threads import one_thread
from pliant.state import State, Step
from pliant.systems.elastodynamics import Elastodynamics


@dataclass(frozen=True)
class DGSI:
    """Discontinuous elements implicit, the coupling between them explicit [Chen2019, Eq. 5.11, corrected].

    Every energy except the coupling of elements (`BZ`, `IP`) is implicit; the coupling needs h^2 lam_max(M^-1 K_glue) <
    4.
    """

    linear: LinearSolver = field(default_factory=Cholesky)
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = Elastodynamics

    @one_thread()
    def step(self, system: Elastodynamics, state: State, h: float, memory: Any = None) -> Step:
        say_unsplit(system, memory, BZ | IP, "DGSI", "glue between elements")
        return additive_step(system, state, h, memory, split=without_glue, linear=self.linear)


def without_glue(energy: Energy, x: Array) -> sp.csr_matrix | None:
    return None if isinstance(energy, BZ | IP) else energy.hessian(x, psd=True)
