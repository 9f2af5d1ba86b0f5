"""Round-off of a stage: how small its residual can become, and how far from the root that leaves the positions.

Positions are stored to eps |z|, so every sum of the linearised residual carries an error of up to

    rho_i = eps sum_j |A_ij| |z_j|,

whatever is added up in it: inertia, stresses, springs, barriers. A residual below it is that of the exact root of a
problem whose data differ by no more than rounding (the componentwise backward error of [Oettli1964]); iterating on is
to roll dice. What it means in metres is another matter: A^-1 r. A stiff body at rest has a residual of
c^2 E eps / (density L^2) sizes, far above any tolerance, and positions that are right to the last bits.

How many bits is measured: moved by a few units in the last place, z' = z + d, the residual changes by A d and by the
difference of two samples of its round-off, which A^-1 turns into metres.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.errors import NotPositiveDefinite
from pliant.linear.cholesky import Cholesky
from pliant.linear.lu import LU
from pliant.pattern import sizes
from pliant.solvers.base import NoMatrix, Shiftable, StageLike

EPS = float(np.finfo(np.float64).eps)
SUMS = 2.0  # times rho: residuals that fall no more were measured between 0.05 and 0.4 of it
SAMPLES = 3  # of the round-off
SAFETY = 6.0  # on the error found from them: Student's t of three samples is above it once in a hundred times


@dataclass(frozen=True)
class RoundedOff:
    """An iterate whose residual is round-off: the ``floor`` of the norm there, and the ``error`` left in z."""

    floor: float
    error: float  # norm of z - root, sqrt(kg) m


def floor_of(stage: StageLike, A: sp.csr_matrix, z: Array) -> float:
    """The norm that the residual has from round-off alone, with A = dr/dz at z."""
    return SUMS * EPS * (stage.norm(sizes(A, z)) + stage.pull)


def blur_of(stage: StageLike, z: Array) -> float:
    """How exact the merit is at z: what it adds up is of the size of |z|^T |A| |z|, though elements at rest cancel all
    of it.
    """
    try:
        return EPS * float(abs(z) @ sizes(stage.jacobian(z), z))
    except NoMatrix:
        return 0.0


def error_of(stage: StageLike, A: sp.csr_matrix, solve: Callable[[Array], Array], z: Array, r: Array) -> float:
    """The error of z, as a norm, where r(z) is round-off: A^-1 r, samples of A^-1 round-off, the spacing of numbers."""
    signs = np.random.default_rng(0)
    size = lambda x: float(np.sqrt(stage.weights @ x**2))
    noise = 0.0
    for _ in range(SAMPLES):
        moved = z * (1.0 + 4.0 * EPS * np.asarray(signs.choice([-1.0, 1.0], len(z)), like=z))
        noise += size(solve(stage.residual(moved) - r - A @ (moved - z))) ** 2
    return SAFETY * (size(solve(r)) + float(np.sqrt(noise / SAMPLES)) + EPS * size(z))


def at_floor(stage: StageLike, z: Array, norm: float) -> bool:
    """Whether a residual of norm ``norm`` at z is nothing but round-off."""
    return bool(np.isfinite(norm)) and norm <= floor_of(stage, stage.jacobian(z), z)


def _solver(stage: StageLike, A: Any) -> Callable[[Array], Array]:
    """b -> A^-1 b"""
    if isinstance(A, Shiftable):
        return A.solver()
    return (Cholesky() if stage.symmetric and stage.definite else LU()).factor(A).solve


def settled(stage: StageLike, z: Array, r: Array) -> RoundedOff | None:
    """What round-off allows to say about z with the residual r; None where r is more than that."""
    norm = stage.norm(r)
    if not np.isfinite(norm):
        return None
    try:
        A = stage.jacobian(z)
        floor = floor_of(stage, A, z)
        if norm > floor:
            return None
        solve = _solver(stage, A)
    except (NotPositiveDefinite, NoMatrix):
        return None
    return RoundedOff(floor, error_of(stage, A, solve, z, r))
