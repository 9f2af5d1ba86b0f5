"""Runs whose topology changes: frames of different size, and a restart into the changed system."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from pliant.record import Interrupted, Output, load, record, resume
from pliant.state import SolveReport, State, Step


class Row:
    """Points in a row that fall and multiply; its topology is their number."""

    def __init__(self, n: int) -> None:
        self.n, self.free = n, np.arange(n)

    def positions(self, q):
        return np.column_stack([np.arange(self.n), np.zeros(self.n), q])

    def cells(self):
        return [np.column_stack([np.arange(self.n - 1), np.arange(1, self.n)])]

    def momenta(self, q, v):
        return np.array([0.0, 0.0, v.sum()]), np.array([0.0, -v @ np.arange(self.n), 0.0])

    def energies(self, q, v, t):
        return {"kinetic": 0.5 * float(v @ v), "gravity": 9.81 * float(q.sum())}

    def topology(self):
        return self.n


@dataclass(frozen=True)
class Multiply:
    order: int = 1

    def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step:
        grown = Row(system.n + 1) if memory is None or memory % 3 == 0 else None
        v = state.v - 9.81 * h
        q = state.q + h * v
        if grown is not None:
            q, v = np.append(q, 0.0), np.append(v, 0.0)
        report = SolveReport(True, 0, 0.0, 0.0)
        return Step(State(q, v, state.t + h), (memory or 0) + 1, (report,), grown)


@dataclass(frozen=True)
class Rows:
    name: str = "rows"
    h: float = 0.01
    steps: int = 12
    on_failure: str = "raise"
    on_energy_gain: str = "ignore"
    isolated: bool = False
    integrator: Any = field(default_factory=Multiply)

    def system(self):
        return Row(3)

    def initial(self, system):
        return State(np.zeros(3), np.zeros(3))

    def after(self, happened):
        return self

    def due(self, t):
        return 0

    def restored(self, mesh):
        return Row(mesh)


def test_frames_follow_the_topology_and_a_restart_finds_it(tmp_path):
    whole = record(Rows(), tmp_path / "whole")
    sizes = [len(frame.points) for frame in whole.frames]
    assert sizes[0] == 3 and sizes[-1] > 5 and sorted(sizes) == sizes
    assert [whole.frames.topology(k).cells for k in range(len(sizes))] == [n - 1 for n in sizes]

    def stop(step):
        if step.index == 8:
            raise Interrupted

    with pytest.raises(Interrupted):
        record(Rows(), tmp_path / "half", output=Output(checkpoint_every=5), watch=stop)
    assert load(tmp_path / "half").checkpoint.topology.mesh == 5
    half = resume(tmp_path / "half", Rows())
    assert half.checkpoint.state.q.tobytes() == whole.checkpoint.state.q.tobytes()
    for a, b in zip(half.frames, whole.frames, strict=True):
        assert a.points.tobytes() == b.points.tobytes()
