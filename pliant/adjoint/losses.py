"""Losses: sums over the steps of a run of numbers that depend on the state, with their derivatives.

A custom loss is an object with ``at(k, state, system) -> (value, d value/dq, d value/dv)``; k counts from 0, the
initial state, to the last step. Derivatives that vanish may be None.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import SceneError
from pliant.state import State
from pliant.systems.base import System
from pliant.systems.elastodynamics import Elastodynamics

Slopes = tuple[float, Array | None, Array | None]


class Loss(Protocol):
    """One term per step."""

    def at(self, k: int, state: State, system: System) -> Slopes: ...


@runtime_checkable
class Physical(Protocol):
    """A loss that also depends on what the system is made of, as an energy does, and not on its motion alone."""

    def feels(self, path: str) -> bool:
        """Whether it changes with the parameter of that path where the motion stays."""
        ...


def _spread(system: Any, q: Array, points: IntArray, push: Array) -> Array:
    """The slope over coordinates of what has the slope ``push (k, 3)`` over some points."""
    whole = np.zeros((len(system.positions(q)), 3))
    np.add.at(whole, points, push)
    return np.asarray(system.point_jacobian(q).T @ whole.ravel())


@dataclass(frozen=True, eq=False)
class PointTrajectory:
    """1/2 weight times the sum over steps of |x_i - x*_i|^2 for some points, given their positions after every step.

    ``places (steps + 1, k, 3)`` [m]: rows that are not finite are ignored, as gaps in measurements.
    """

    points: IntArray
    places: Array
    weight: float = 1.0

    def at(self, k: int, state: State, system: System) -> Slopes:
        points = np.atleast_1d(self.points)
        if k >= len(self.places):
            return 0.0, None, None
        miss = system.positions(state.q)[points] - self.places[k].reshape(len(points), 3)
        miss = np.where(np.isfinite(miss), miss, 0.0)
        return 0.5 * self.weight * float((miss**2).sum()), _spread(system, state.q, points, self.weight * miss), None


@dataclass(frozen=True, eq=False)
class PointWeights:
    """sum over steps of w_i . x_i for some points, ``weights (steps + 1, k, 3)``: its gradient is a pullback."""

    points: IntArray
    weights: Array

    def at(self, k: int, state: State, system: System) -> Slopes:
        value = float((system.positions(state.q)[self.points] * self.weights[k]).sum())
        return value, _spread(system, state.q, self.points, self.weights[k]), None


@dataclass(frozen=True, eq=False)
class EndShape:
    """1/2 sum |x_i - x*_i|^2 at the last step, ``x (n, 3)`` [m] of ``points``, or of all of them."""

    x: Array
    steps: int
    points: IntArray | None = None

    def at(self, k: int, state: State, system: System) -> Slopes:
        if k != self.steps:
            return 0.0, None, None
        at = system.positions(state.q)
        points = np.arange(len(at)) if self.points is None else np.atleast_1d(self.points)
        miss = at[points] - np.asarray(self.x).reshape(len(points), 3)
        return 0.5 * float((miss**2).sum()), _spread(system, state.q, points, miss), None


@dataclass(frozen=True)
class EndEnergy:
    """Kinetic plus potential energy [J] of the last step."""

    steps: int

    def feels(self, path: str) -> bool:
        return not path.startswith("initial.")

    def at(self, k: int, state: State, system: System) -> Slopes:
        if k != self.steps:
            return 0.0, None, None
        W = system.potential(state.q, state.t)
        if W is None or not system.symmetric:
            remedy = "leave out damping and friction, or give a loss of your own"
            raise SceneError("forces act that have no potential", where="EndEnergy", remedy=remedy)
        p = system.inertia(state.q, state.v)
        return 0.5 * float(state.v @ p) + W, -system.force(state.q, np.zeros_like(state.v), state.t), p


@dataclass(frozen=True, eq=False)
class ContactForce:
    """1/2 weight sum over steps of |F - F*|^2, F the sum of the normal forces [N] of obstacles on deformable bodies.

    ``wanted (steps + 1, 3)`` [N]: rows that are not finite are left out. Forces of bodies on each other cancel.
    """

    wanted: Array
    weight: float = 1.0

    def feels(self, path: str) -> bool:
        return path.startswith(("contact.", "obstacles.")) or path.endswith(".mesh.X")

    def force(self, state: State, system: System) -> tuple[Array, list[Any]]:
        """F (3,) at a state, and the energies it comes from."""
        if not isinstance(system, Elastodynamics) or system.contact is None:
            remedy = "give deformable bodies alone a PenaltyContact or a BarrierContact"
            raise SceneError("there are no contacts of deformable bodies", where="ContactForce", remedy=remedy)
        terms = list(system.contact.at(state, state.t).energies)
        pull = sum((e.gradient(state.q) for e in terms), np.zeros_like(state.q))
        return -pull.reshape(-1, 3).sum(axis=0), terms

    def at(self, k: int, state: State, system: System) -> Slopes:
        if k >= len(self.wanted) or not np.isfinite(self.wanted[k]).all():
            return 0.0, None, None
        F, terms = self.force(state, system)
        miss = F - self.wanted[k]
        along = np.tile(self.weight * miss, len(state.q) // 3)
        slope = sum((e.hessian(state.q) @ along for e in terms), np.zeros_like(state.q))
        return 0.5 * self.weight * float(miss @ miss), -slope, None


@dataclass(frozen=True, eq=False)
class CustomLoss:
    """A loss from a function ``value(k, q, v)`` that returns (number, d/dq or None, d/dv or None)."""

    function: Callable[[int, Array, Array], Slopes]

    def at(self, k: int, state: State, system: System) -> Slopes:
        found = self.function(k, state.q, state.v)
        if not (isinstance(found, tuple) and len(found) == 3):
            remedy = "return (value, d value/dq or None, d value/dv or None)"
            raise SceneError(f"a loss returned {type(found).__name__}", where="loss", remedy=remedy)
        return found


def checked(found: Any, state: State) -> Slopes:
    """What a loss returned, if it can be used."""
    good = isinstance(found, tuple) and len(found) == 3 and np.isfinite(float(found[0]))
    shapes = [np.shape(s) == state.q.shape for s in found[1:] if s is not None] if good else [False]
    if not all(shapes):
        remedy = f"return (value, d value/dq, d value/dv) with slopes of shape {state.q.shape}, or None"
        raise SceneError("a loss returned no derivative that fits", where="loss", remedy=remedy)
    return found  # type: ignore[no-any-return]
