"""Checks of integrators: they converge as they say, are pure, go on exactly, and end where scripts say."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant import checkpoint
from pliant.attempt import attempt
from pliant.checkpoint import Checkpoint
from pliant.simulate import beginning
from pliant.state import State, Step
from pliant.systems.observed import topology_of
from pliant.testing.differences import same_bytes


def check_integrator(scene: Any, *, steps: int = 1) -> None:
    """The integrator of a scene after some steps: the next one is pure, obeys scripts, and goes on after a restart.

    Taken twice from one point it gives the same bytes, on a system built anew and with a memory that went through a
    checkpoint it gives them too, and what it was given is untouched.
    """
    name = type(scene.integrator).__name__
    system, point, _ = advance(scene, steps)
    kept = point.state.q.copy(), point.state.v.copy()
    after, a, _ = advance(scene, 1, point, system)
    _, b, _ = advance(scene, 1, point, system)
    same_bytes(f"{name}: the state it was given, q", point.state.q, kept[0])
    same_bytes(f"{name}: the state it was given, v", point.state.v, kept[1])
    same_bytes(f"{name}: q of the same step twice", a.state.q, b.state.q)
    same_bytes(f"{name}: v of the same step twice", a.state.v, b.state.v)
    q, t = a.state.q, a.state.t
    held = np.setdiff1d(np.arange(len(q)), after.free)
    same_bytes(f"{name}: scripts", q[held], after.prescribe(q, t)[held])
    fresh = scene.system()
    if topology_of(system) is None:  # where meshes change, only a recorded run knows the new one: check_recording
        _, again, _ = advance(scene, 1, through_file(point), fresh)
        same_bytes(f"{name}: q after a restart", again.state.q, a.state.q)
        same_bytes(f"{name}: v after a restart", again.state.v, a.state.v)


def advance(
    scene: Any, steps: int, point: Checkpoint | None = None, system: Any = None
) -> tuple[Any, Checkpoint, Step]:
    """The system and the point after some steps of a scene without events, and the last step; all must succeed."""
    if system is None or point is None:
        system, point = beginning(scene, point)
    step: Step | None = None
    for _ in range(steps):
        step, trouble = attempt(scene, system, point, float(scene.h))
        assert step is not None and not trouble, f"{type(scene.integrator).__name__}: {trouble}"
        system = system if step.system is None else step.system
        point = Checkpoint(point.step + 1, step.state, step.memory)
    assert step is not None
    return system, point, step


def through_file(point: Checkpoint) -> Checkpoint:
    """A checkpoint that was saved and loaded."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint.h5"
        checkpoint.save(path, point)
        return checkpoint.load(path)


def check_order(
    scene: Any, T: float, exact: State, *, counts: Sequence[int] = (80, 160), slack: float = 0.15
) -> tuple[float, list[float]]:
    """The observed order against the declared one: errors of positions at T after ``counts`` steps.

    They are relative to the way. ``exact`` is the state at T by other means: a closed form, or much smaller steps of a
    method of high order. Gives the order and the errors.
    """
    integrator, system = scene.integrator, scene.system()
    start, errors = scene.initial(system), []
    way = float(np.abs(exact.q - start.q).max())
    for n in counts:
        state, memory = start, None
        for _ in range(n):
            step = integrator.step(system, state, T / n, memory)
            assert all(r.converged for r in step.reports), [r.message for r in step.reports]
            state, memory = step.state, step.memory
        errors.append(float(np.abs(state.q - exact.q).max()) / way)
    order = float(np.log(errors[-2] / errors[-1]) / np.log(counts[-1] / counts[-2]))
    said = f"{type(integrator).__name__}: order {order:.2f}, declared {integrator.order}, errors {errors}"
    assert abs(order - integrator.order) < slack, said
    return order, errors
