"""Gradients of a run: derivatives of a loss with respect to parameters of the scene, by the discrete adjoint.

The run is recorded as it is (`simulate` takes the steps, with certificates and policies); then its tape is read
backwards: one transposed solve per stage, whatever the number of parameters. The derivative is that of the discrete
motion, exact for the method and the step size, not an approximation of the continuous one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pliant.adjoint.losses import Loss
from pliant.adjoint.parameters import Wrt
from pliant.adjoint.problem import Keep, Problem
from pliant.arrays import Array
from pliant.errors import require_flag
from pliant.scene import Scene

WIDTH = 4e-3  # of the parameters, for the first difference of whole runs; wider ones reach across kinks of contact
LEVELS, ENOUGH = 8, 1e-9  # at most so many differences, or until they agree


@dataclass(frozen=True, eq=False)
class Check:
    """A directional derivative computed in three ways: adjoint, tangent, and central differences of whole runs.

    ``uncertainty`` is the error of the differences, estimated from their extrapolation.
    """

    adjoint: float
    tangent: float
    difference: float
    uncertainty: float

    @property
    def error(self) -> float:
        """The adjoint against differences, relative."""
        return abs(self.adjoint - self.difference) / max(abs(self.difference), 1e-300)

    def __str__(self) -> str:
        ways = f"adjoint {self.adjoint:.10g}, tangent {self.tangent:.10g}, differences {self.difference:.10g}"
        return f"{ways} +- {self.uncertainty:.1g}"


@dataclass(frozen=True, eq=False)
class Gradient:
    """The loss of a run and its derivatives, by the names in ``wrt`` and in the shapes of the parameters.

    ``residual`` is the worst relative residual of the adjoint solves; ``indefinite`` counts matrices that were not
    positive definite, so that the motion was at or beyond a bifurcation of its stage.
    """

    value: float
    wrt: dict[str, Array]
    residual: float
    solves: int
    indefinite: int
    check: Check | None = None

    def __getitem__(self, name: str) -> Array:
        return self.wrt[name]

    @property
    def flat(self) -> Array:
        """All derivatives in one array, in the order of ``wrt``."""
        return np.concatenate([np.ravel(g) for g in self.wrt.values()])


def gradient(
    scene: Scene, loss: Loss, wrt: Sequence[Wrt], *, keep: Keep = "all", check: bool = False, seed: int = 0
) -> Gradient:
    """The loss of running ``scene`` and its derivatives with respect to the parameters named in ``wrt``.

    Names are paths into the scene (``bodies.bar.material.E``, ``gravity``, ``forces.0.value``), ``bodies.bar.mesh.X``
    for a rest shape, ``initial.q`` and ``initial.v`` for the initial state; `Regions` shares values between elements.
    ``keep="all"`` stores every stage, "few" about 3 n^(1/3) states of n steps, and repeats steps from there, to the
    same bytes. ``check`` compares with the tangent and with finite differences of whole runs along a random direction.
    """
    require_flag(check, "gradient.check")
    problem = Problem(scene, wrt)
    found = _gradient(problem, loss, keep)
    return replace(found, check=_checked(problem, loss, found, seed)) if check else found


def tangent(scene: Scene, loss: Loss, wrt: Sequence[Wrt], direction: Array) -> tuple[float, float]:
    """The loss and its derivative along one direction of all parameters, by one forward pass."""
    return Problem(scene, wrt).tangent(loss, np.asarray(direction, dtype=np.float64))


def objective(scene: Scene, loss: Loss, wrt: Sequence[Wrt]) -> tuple[Callable[[Array], tuple[float, Array]], Array]:
    """f(x) -> (loss, gradient) over the flat values of the parameters, and their values in the scene.

    ``scipy.optimize.minimize(f, x0, jac=True)`` takes them as they are.
    """
    problem = Problem(scene, wrt)

    def f(x: Array) -> tuple[float, Array]:
        value, slope, _ = problem.changed(np.asarray(x, dtype=np.float64)).adjoint(loss, "all")
        return value, slope

    return f, problem.parameters.values


def _gradient(problem: Problem, loss: Loss, keep: Keep) -> Gradient:
    value, flat, algebra = problem.adjoint(loss, keep)
    parts = zip(problem.parameters.parts, problem.parameters.slices, strict=True)
    wrt = {p.name: flat[s].reshape(p.value.shape) for p, s in parts}
    return Gradient(value, wrt, algebra.residual, algebra.solves, algebra.indefinite)


def _checked(problem: Problem, loss: Loss, found: Gradient, seed: int) -> Check:
    """Along a random direction, each parameter in its own size, with the signs of the gradient: of parts that cancel
    each other nothing may be left but the round-off of the differences.
    """
    parameters, random = problem.parameters, np.random.default_rng(seed)
    sizes = [np.full(p.value.size, max(float(np.abs(p.value).max()), 1e-3)) for p in parameters.parts]
    part = random.uniform(-1.0, 1.0, parameters.size) * np.concatenate(sizes)
    direction = np.where(found.flat == 0.0, part, np.copysign(part, found.flat))
    _, slope = problem.tangent(loss, direction)
    along = lambda x: problem.changed(parameters.values + x * direction).value(loss)
    return Check(float(found.flat @ direction), slope, *_derivative(along))


def _derivative(f: Callable[[float], float]) -> tuple[float, float]:
    """f'(0) from central differences of halved widths, extrapolated, and how far the last two of them are apart.

    Wide differences are wrong by curvature, narrow ones by round-off: of all extrapolations the one that agrees best
    with those that it was made of is taken. [Ridders1982]
    """
    width, best, apart, last = WIDTH, np.nan, np.inf, list[float]()
    for _ in range(LEVELS):
        row = [(f(width) - f(-width)) / (2.0 * width)]
        for k, coarse in enumerate(last):
            row.append(row[k] + (row[k] - coarse) / (4.0 ** (k + 1) - 1.0))
            off = max(abs(row[k + 1] - row[k]), abs(row[k + 1] - coarse))
            if off < apart:
                best, apart = row[k + 1], off
        if apart <= ENOUGH * abs(best):
            break
        width, last = 0.5 * width, row
    return best, apart
