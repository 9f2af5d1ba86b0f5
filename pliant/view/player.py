"""A scene that is run step by step, may be changed while it runs, and pulled at by hand."""

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.checkpoint import Checkpoint, Topology
from pliant.export.clip import Picture, Skin, own_skin
from pliant.record.channels import frame_of, known_channels, topology_of
from pliant.scene_file import load_scene
from pliant.scene_file.build import adjusted
from pliant.simulate import TimeStep, beginning, simulate
from pliant.state import State
from pliant.systems.observed import Gripped, PartlyEulerian, Pullable

REMEMBERED = 400  # steps in the curves
GRIP = 3.0  # Hz: a hand holds the whole body like a spring on which it swings so fast

Hold = int | Array  # a vertex, or a point of the material (2,) where meshes change
Hand = tuple[Hold, Array, float]  # what is held, where it is pulled to (3,) [m], spring [N/m]


class Player:
    """One live run: its scene, where it is, and the last rows of its ledger as ``history``: (t, energy, iterations).

    The hand is a spring of the system itself, so that solvers, ledger and certificates know it; what moving it did is
    in ``worked`` [J].
    """

    state: State
    _memory: Any
    _changed: Topology | None  # events that have happened, meshes that have changed
    _steps: Iterator[TimeStep]

    def __init__(self, source: Any, settings: Sequence[str] = ()) -> None:
        """``source`` names a scene, or is one."""
        self._source, self._settings = source, list(settings)
        self.scene = _patient(source, self._settings)
        self.reset()

    def reset(self) -> None:
        """Back to the beginning."""
        self._system, point = beginning(self.scene)
        self._held: Any = self._system
        self._hand: Hand | None = None
        self.worked, self._skin_of = 0.0, None
        self.last: TimeStep | None = None
        self.history: deque[tuple[float, float, int]] = deque(maxlen=REMEMBERED)
        self._begin(point)
        self._first = self.points
        self.history.append((self.state.t, self._energy(), 0))

    def change(self, settings: Sequence[str]) -> None:
        """Go on from the present state with other settings; an error leaves everything as it is."""
        if list(settings) == self._settings:
            return
        scene = _patient(self._source, settings)
        system, point = beginning(scene, Checkpoint(0, self.state, None, self._changed))
        self._settings, self.scene, self._system = list(settings), scene, system
        self._held = system if self._hand is None else system.pulled(*self._hand)
        self._begin(point)

    @property
    def holdable(self) -> bool:
        """Whether a hand can pull at this kind of system."""
        return isinstance(self._system, Pullable)

    @property
    def grip(self) -> float:
        """A spring [N/m] that is noticed but not violent: the mass of everything times (2 pi GRIP)^2."""
        return float(self._system.total_mass) * (2.0 * np.pi * GRIP) ** 2

    def hold(self, vertex: int) -> Hold:
        """What a hand takes hold of at a vertex."""
        system = self._system
        return system.material_point(self.state.q, vertex) if isinstance(system, PartlyEulerian) else vertex

    def pull(self, hand: Hand | None) -> None:
        """Hold something with a spring from now on, or let go."""
        before = self._energy()
        self._hand = hand
        self._held = self._system if hand is None else self._system.pulled(*hand)
        self.worked += self._energy() - before
        self._begin(Checkpoint(self._index, self.state, self._memory, self._changed))

    @property
    def hand(self) -> Array | None:
        """The two ends (2, 3) of the hand's spring [m]; None when nothing is held."""
        if self._hand is None:
            return None
        where, target, _ = self._hand
        held = self._held.grip_point(self.state.q) if isinstance(self._held, Gripped) else self.points[where]
        return None if held is None else np.stack([held, target])

    def take(self) -> None:
        """One time step."""
        step = next(self._steps, None)
        if step is None:  # the end of the scene: go on from here
            self._begin(Checkpoint(0, self.state, self._memory, self._changed))
            step = next(self._steps)
        self._index, self.state, self._memory, self.last = step.index, step.state, step.memory, step
        self._changed = step.topology
        if step.system is not self._held:
            self._system = self._held = step.system  # the topology has changed
            if isinstance(step.system, Gripped):
                self._system = step.system.let_go()
            else:
                self._hand = None  # it held a vertex of a mesh that is no more
        self.history.append((step.state.t, step.ledger.total, step.report.iterations))

    # ------------------------------------------------------------------------------------------------ what is seen

    @property
    def points(self) -> Array:
        return np.asarray(self._system.positions(self.state.q))

    @property
    def system(self) -> Any:
        return self._system

    def picture(self, channels: tuple[str, ...] = ()) -> Picture:
        """The present surface with channels on it."""
        frame = frame_of(self._held, self.state, self._blocks(), [name for name in channels if name != "displacement"])
        return self.skin.picture(frame, self._first, channels)

    @property
    def skin(self) -> Skin:
        self._blocks()
        return self._skin

    def channels(self) -> list[str]:
        """The channels that this kind of system has, each once; displacements are from the first state seen."""
        return list(dict.fromkeys([*known_channels(self._system, self.state), "displacement"]))

    def _blocks(self) -> Any:
        if self._skin_of is not self._system:
            self._skin_of, x = self._system, self.points
            topology, self._cells = topology_of(self._system, x)
            self._skin = own_skin(topology, len(x))
            if len(self._first) != len(x):
                self._first = x
        return self._cells

    # ------------------------------------------------------------------------------------------------ the run

    def _begin(self, point: Checkpoint) -> None:
        self._index, self.state, self._memory, self._changed = point.step, point.state, point.memory, point.topology
        self._steps = simulate(self.scene, start=point, system=self._held)

    def _energy(self) -> float:
        return sum(self._held.energies(self.state.q, self.state.v, self.state.t).values())


def _patient(source: Any, settings: Sequence[str]) -> Any:
    """The scene with smaller steps where a step fails: hands pull harder than authors of scenes foresee."""
    scene = load_scene(source, settings).scene if isinstance(source, str | Path) else source
    return adjusted(scene, {"on_failure": "substep"}, str(scene.name)) if scene.on_failure == "raise" else scene
