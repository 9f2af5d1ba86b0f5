"""Explicit steps as long as they are stable: h omega_max < 2, with the stiffest frequency from a power iteration.

Symplectic methods keep the energy because all their steps are alike: a step that follows an error estimate would lose
that. So the number of equal substeps of a frame changes only where the limit has moved: it must hold at both ends of
the frame, and is kept while it is not more than twice as fine as need be. The energy jumps a little at each change, and
does not drift in between. (Reversible controls of every step [Hairer1993] would ask for smooth measures of it, which
contact does not have.)
"""

from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pliant.arrays import Array
from pliant.state import Control, State, Step
from pliant.systems.base import System

LIMIT = 2.0  # of h omega
SAFETY = 0.8  # of it: the power iteration comes from below
ROUNDS = 12  # of the iteration; it goes on from the vector of the last frame
RETRIES = 3  # with more substeps, where the limit has moved during the frame


@runtime_checkable
class Substepping(Protocol):
    """An explicit integrator that keeps the energy with ``substeps`` equal ones, as long as they are stable."""

    substeps: int
    symplectic: bool


@dataclass(frozen=True, eq=False)
class Limit:
    """How many substeps the last frame had, and the stiffest direction found."""

    substeps: int
    direction: Array


def limited_step(integrator: Any, system: System, state: State, h: float, memory: Limit | None, h_max: float) -> Step:
    """A frame in as many equal substeps as stability asks for, and no longer than ``h_max`` [s]."""
    x = memory.direction if memory is not None and len(memory.direction) == len(system.free) else None
    omega, x = stiffest(system, state, x)
    count = memory.substeps if memory is not None else 0
    rejected = 0
    while True:
        needed = max(1, ceil(h * omega / (SAFETY * LIMIT)), ceil(h / h_max * (1.0 - 1e-9)))
        count = count if needed <= count <= 2 * needed else needed
        step = replace(integrator, substeps=count).step(system, state, h)
        finite = bool(np.isfinite(step.state.q).all())
        omega, x = stiffest(system, step.state, x) if finite else (2.0 * omega, x)
        if (finite and h * omega <= SAFETY * LIMIT * count * 1.05) or rejected == RETRIES:
            break
        rejected += 1
    control = Control(h / count, None, count, rejected * count)
    return replace(step, memory=Limit(count, x), control=control)


def stiffest(system: System, state: State, x: Array | None) -> tuple[float, Array]:
    """The largest frequency of M^-1 K [rad/s] by power iteration from ``x``, and its direction."""
    free, q, v, t = system.free, state.q, state.v, state.t
    K = -system.restrict(system.stiffness(q, v, t))
    root = 1.0 / np.sqrt(system.weights(q)[free])
    if x is None:
        x = np.random.default_rng(0).standard_normal(len(free))
    value = 0.0
    for _ in range(ROUNDS if len(free) else 0):
        y = root * (K @ (root * x))
        size = float(np.linalg.norm(y))
        if size == 0.0:
            break
        value, x = size / float(np.linalg.norm(x)), y / size
    return float(np.sqrt(value)), x
