"""Runs as functions of their parameters: x(p), and the vector-Jacobian product for reverse-mode differentiation.

`Trajectory` is plain NumPy; `torch_motion` and `jax_motion` make it a function of PyTorch (a `torch.autograd.Function`)
or JAX (a `custom_vjp`), so that a run can be part of a larger computation.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.adjoint.losses import PointWeights
from pliant.adjoint.operations import Algebra
from pliant.adjoint.parameters import Wrt
from pliant.adjoint.problem import Problem
from pliant.adjoint.tape import Tape
from pliant.arrays import Array, IntArray
from pliant.errors import MissingDependency, SceneError
from pliant.scene import Scene
from pliant.state import State


class Trajectory:
    """The positions x (steps + 1, k, 3) [m] of points of a scene (None: all) as a function of parameters p (size,).

    ``values`` are the parameters of the scene as given. The steps of the last run are kept for its pullback.
    """

    def __init__(self, scene: Scene, wrt: Sequence[Wrt], points: IntArray | None = None) -> None:
        self._problem = Problem(scene, wrt)
        count = len(self._problem.system.positions(self._problem.begin.q))
        self.points = np.arange(count) if points is None else np.atleast_1d(np.asarray(points))
        if self.points.dtype.kind not in "iu" or not ((self.points >= 0) & (self.points < count)).all():
            raise SceneError(f"points are {points!r}", where="Trajectory.points", remedy=f"use 0 to {count - 1}")
        self.values = self._problem.parameters.values
        self.shape = scene.steps + 1, len(self.points), 3
        self._last: tuple[bytes, Problem, list[tuple[Tape, int, State]]] | None = None

    def __call__(self, p: Array) -> Array:
        """The places for other values of the parameters."""
        _, problem, steps = self._run(p)
        states = [problem.begin, *(state for _, _, state in steps)]
        return np.stack([problem.system.positions(state.q)[self.points] for state in states])

    def pullback(self, p: Array, weights: Array) -> Array:
        """(dx/dp)^T weights (size,), for weights of the shape of x."""
        _, problem, steps = self._run(p)
        given = np.asarray(weights, dtype=np.float64).reshape(self.shape)
        return problem.swept(PointWeights(self.points, given), [list(steps)])[1]

    def _run(self, p: Array) -> tuple[bytes, Problem, list[tuple[Tape, int, State]]]:
        values = np.asarray(p, dtype=np.float64).reshape(self.values.shape)
        if self._last is None or self._last[0] != values.tobytes():
            problem = self._problem.changed(values)
            self._last = values.tobytes(), problem, list(problem.tapes(problem.whole, Algebra()))
        return self._last


def torch_motion(motion: Trajectory) -> Callable[[Any], Any]:
    """x(p) for tensors: float64 places on the CPU, with p's gradient by the adjoint."""
    try:
        import torch
    except ImportError as error:
        raise MissingDependency(
            "torch is not installed", where="torch_motion", remedy="pip install pliant[torch]"
        ) from error

    class Differentiated(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, p: Any) -> Any:
            ctx.save_for_backward(p)
            return torch.from_numpy(motion(p.detach().cpu().double().numpy()))

        @staticmethod
        def backward(ctx: Any, weights: Any) -> Any:
            (p,) = ctx.saved_tensors
            slope = motion.pullback(p.detach().cpu().double().numpy(), weights.cpu().double().numpy())
            return torch.from_numpy(slope).to(p).reshape(p.shape)

    return Differentiated.apply  # type: ignore[no-any-return]


def jax_motion(motion: Trajectory) -> Callable[[Any], Any]:
    """x(p) for arrays of JAX, also under ``jit``: in float64 if JAX is configured for it (``jax_enable_x64``)."""
    try:
        import jax
    except ImportError as error:
        raise MissingDependency("jax is not installed", where="jax_motion", remedy="pip install pliant[jax]") from error

    def called(f: Callable[..., Array], shape: tuple[int, ...], *args: Any) -> Any:
        out = jax.ShapeDtypeStruct(shape, jax.numpy.result_type(float))
        return jax.pure_callback(lambda *a: f(*map(np.asarray, a)).astype(out.dtype).reshape(shape), out, *args)

    @jax.custom_vjp
    def run(p: Any) -> Any:
        return called(motion, motion.shape, p)

    run.defvjp(lambda p: (run(p), p), lambda p, weights: (called(motion.pullback, p.shape, p, weights),))
    return run  # type: ignore[no-any-return]
