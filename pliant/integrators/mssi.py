"""MSSI: springs implicit along their direction, explicit across. [Chen2019, Eq. 5.8, corrected]

The material stiffness k s s^T is stiff and always positive semidefinite; the geometric stiffness, proportional to the
tension, carries the swinging motion, which linearly implicit Euler would damp away.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import scipy.sparse as sp

from pliant.arrays import Array
from pliant.energies.base import Directed, Energy
from pliant.integrators.additive import additive_step, say_unsplit
from pliant.linear.base import LinearSolver
from pliant.linear.cholesky import Cholesky
from pliant.linear.threads import one_thread
from pliant.state import State, Step
from pliant.systems.elastodynamics import Elastodynamics


def material_stiffness(energy: Energy, x: Array) -> sp.csr_matrix | None:
    """The part of the Hessian along the springs; all of it for energies that are not split."""
    return energy.material_hessian(x) if isinstance(energy, Directed) else energy.hessian(x, psd=True)


@dataclass(frozen=True)
class MSSI:
    """Springs implicit along their direction, explicit across it: transverse waves are not damped [Chen2019, ch. 5].

    One linear solve per step; the transverse motion needs h sqrt(tension / (L m)) < 2.

    ``variant="printed"`` is the source's equation with only its sign repaired: it has no damping at all, even along the
    springs, and lets them stretch.
    """

    variant: Literal["corrected", "printed"] = "corrected"
    linear: LinearSolver = field(default_factory=Cholesky)
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = Elastodynamics

    @one_thread()
    def step(self, system: Elastodynamics, state: State, h: float, memory: Any = None) -> Step:
        say_unsplit(system, memory, Directed, "MSSI", "springs")
        full = self.variant == "corrected"
        return additive_step(system, state, h, memory, split=material_stiffness, linear=self.linear, velocity_term=full)
