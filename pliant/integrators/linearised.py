"""The linearised equations of motion over the free coordinates, as exponential and additive methods read them.

    M vdot = f - K dq - D dv,    K = -df/dq, D = -df/dv  (positive semidefinite when projected)

The signs are turned here, once: [Chen2019] writes the positive stiffness K = +d2W/dq2, systems have K = df/dq.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.integrators.explicit import scripted_velocity
from pliant.state import State
from pliant.systems.base import System
from pliant.systems.stepped import Exact


@dataclass(frozen=True, eq=False)
class Linearised:
    """Force and matrices at q_n. All arrays are over the free coordinates, except ``scripted (N,)``.

    ``ramp`` = -K w [N/s] is the rate of change of the force because the prescribed coordinates move with velocity w.
    """

    M: sp.csr_matrix
    K: sp.csr_matrix
    D: sp.csr_matrix
    f: Array
    v: Array
    ramp: Array
    scripted: Array  # velocities of all coordinates, prescribed ones on their way to t + h

    @property
    def damped(self) -> bool:
        return self.D.nnz > 0


def linearise(system: System, state: State, h: float, *, at: float, psd: bool) -> Linearised:
    """The system at ``state`` with forces of time ``at`` [s] and scripts moving to their places at t + h."""
    q, free = state.q, system.free
    v = scripted_velocity(system, state, h)
    if isinstance(system, Exact) and not psd:
        stiffness = -system.exact_stiffness(q, v, at)
    else:
        stiffness = -system.stiffness(q, v, at, psd=psd)
    damping = system.damping(q, v, at)
    D = -system.restrict(damping) if damping.nnz else sp.csr_matrix((len(free), len(free)))
    D.eliminate_zeros()  # mass damping has the pattern of K
    moving = v.copy()
    moving[free] = 0.0
    ramp = -(stiffness @ moving)[free] if moving.any() else np.zeros(len(free))
    return Linearised(
        system.restrict(system.mass(q)), system.restrict(stiffness), D, system.force(q, v, at)[free], v[free], ramp, v
    )


def advanced(system: System, state: State, h: float, dq: Array, dv: Array, scripted: Array) -> State:
    """The state after the free coordinates changed by dq and dv; prescribed ones are where their script says."""
    q, v = state.q.copy(), scripted.copy()
    q[system.free] += dq
    v[system.free] += dv
    return State(system.prescribe(q, state.t + h), v, state.t + h)
