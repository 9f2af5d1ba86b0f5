"""Between the CPU and a device: systems, states and memories of integrators, there and back."""

from collections.abc import Callable
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from pliant.abilities import able
from pliant.checkpoint import Checkpoint, Passing
from pliant.errors import SceneError
from pliant.integrators import XPBD, ExplicitEuler, SymplecticEuler, Verlet
from pliant.integrators.base import Staged
from pliant.solvers.ldot import Ldot
from pliant.solvers.newton import Newton
from pliant.solvers.projective import PD
from pliant.state import State
from pliant.systems.base import System
from pliant.systems.stepped import Remote

SOLVERS = (Newton, Ldot, PD)
WITHOUT_SOLVER = (ExplicitEuler, SymplecticEuler, Verlet, XPBD)


def placed(device: str, integrator: Any, system: System, point: Checkpoint) -> tuple[Any, Checkpoint]:
    """A system and a point of a run on ``device``, "cpu" or "cuda"; refuses methods that cannot step there."""
    if device == "cpu":
        return system, point
    from pliant.cuda.device import to_device
    from pliant.cuda.system import on_device

    solves = isinstance(integrator, Staged) and isinstance(integrator.solver, SOLVERS)
    if not solves and not isinstance(integrator, WITHOUT_SOLVER):
        solver = f" with {type(integrator.solver).__name__}" if isinstance(integrator, Staged) else ""
        what = f"{type(integrator).__name__}{solver} does not run on the device"
        remedy = (
            "use BDF1, BDF2, SDIRK2, TRBDF2, ImplicitMidpoint or Quasistatic with Newton, NewtonLP, HybridLP or PD, "
            "or Verlet or XPBD"
        )
        raise SceneError(what, where='device="cuda"', remedy=remedy)
    state = State(to_device(point.state.q), to_device(point.state.v), point.state.t)
    return on_device(system), replace(point, state=state, memory=moved(point.memory, to_device))


def fetched(system: System, point: Checkpoint) -> Checkpoint:
    """The point of a run of ``system`` with its arrays in the memory of the CPU."""
    if not able(system, Remote):
        return point
    return replace(point, state=system.fetched(point.state), memory=moved(point.memory, system.fetch))


def moved(memory: Any, move: Callable[[Any], Any]) -> Any:
    """A memory with every array in it moved; what is not saved either (`Passing`) is left out."""
    if isinstance(memory, np.ndarray) or type(memory).__module__.startswith("cupy"):
        return move(memory)
    if isinstance(memory, Passing):
        return None
    if is_dataclass(memory) and not isinstance(memory, type):
        other = copy(memory)
        for f in fields(memory):
            object.__setattr__(other, f.name, moved(getattr(memory, f.name), move))
        return other
    if isinstance(memory, dict):
        return {key: moved(value, move) for key, value in memory.items()}
    if isinstance(memory, tuple | list):
        return type(memory)(moved(value, move) for value in memory)
    return memory
