"""Penalty contact on the device: detection, normal forces and friction, with the formulas of the CPU.

`DeviceContact` makes the terms of a stage as `PenaltyModel` does. Certificates, recordings and the ledger of moving
obstacles ask for single contacts: for them terms have a mirror on the host, made when it is asked for.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from pliant.contact.pairs import ClosePairs, detected_along
from pliant.contact.pose import Passage
from pliant.contact.swept import entries
from pliant.cuda.detect import DeviceDetector
from pliant.cuda.device import arrays, to_host
from pliant.cuda.matrix import BlockRows, Coupling
from pliant.cuda.obstacles import NO_PLANES, DeviceObstacles
from pliant.cuda.pairs import PairLaws, TouchingPairs
from pliant.energies.penalty import ContactPenalty
from pliant.errors import SceneError
from pliant.forces.contact_damping import ContactDamping
from pliant.forces.friction import FrictionForce
from pliant.state import State
from pliant.systems.base import Weights
from pliant.systems.contact import LiveForce, Terms
from pliant.systems.lagged import LaggedTerms, rounds_of
from pliant.systems.penalty_contact import PenaltyModel


class DeviceContact:
    """`PenaltyModel` on the device."""

    def __init__(self, host: PenaltyModel, rows: BlockRows) -> None:
        if host.choice.anisotropy is not None:
            what, remedy = "anchored springs (anisotropy) are for the CPU only", 'leave anisotropy out, or device="cpu"'
            raise SceneError(what, where='device="cuda"', remedy=remedy)
        self.host, self.setting = host, host.setting
        self.obstacles = DeviceObstacles(host, rows)
        self.laws = PairLaws(host, rows)
        self._detector = None if host.detector is None else DeviceDetector(host.detector)
        self._moment: tuple[Any, float, Terms] | None = None  # energies, works and certificates ask in turn

    def at(self, start: State, t: float, c: float = 0.0) -> Terms:
        """What acts in a stage from ``start`` to t; as `PenaltyModel.at`."""
        if start.t != t or c:
            return self._terms(start, t, c)
        if self._moment is None or self._moment[0] is not start.q or self._moment[1] != t:
            self._moment = start.q, t, self._terms(start, t, 0.0)
        return self._moment[2]

    def live(self) -> tuple[LiveForce, ...]:
        """Its forces outside of any stage, for the ledger."""
        return tuple(LiveForce(self, name, 0) for name in self.host.force_names)  # type: ignore[arg-type]

    def _terms(self, start: State, t: float, c: float) -> Terms:
        host, setting = self.host, self.setting
        passages = setting.passages(start.t, t)
        dx, touching = (t - start.t) * start.v, None
        if self._detector is not None:
            x, way, slack = start.q.reshape(-1, 3), dx.reshape(-1, 3), setting.gravity * (t - start.t) ** 2
            limits = {"slack": slack, "thickness": host.thickest, "margin": host.margin}
            pairs = detected_along(self._detector, x, way, **limits)
            touching = TouchingPairs(self.laws, pairs, self._detector) if len(pairs) else None
        if (start.t != t or c) and not passages and touching is None:
            return Terms((), ())  # all step long
        meeting = Meeting(self, passages, touching, (start, dx) if start.t != t else None)
        before = meeting
        if any(obstacle.motion is not None for obstacle in setting.obstacles):  # they have not moved yet
            before = Meeting(self, [way.outset for way in passages], touching, None)
        energy = DevicePenalty(meeting)
        damping = (DeviceDamping(meeting),) if host.choice.damping else ()
        if not host.mu.largest:
            return Terms((energy,), damping)  # type: ignore[arg-type]
        if not host.choice.lagged:
            return Terms((energy,), (DeviceFriction(meeting, None, 0.0), *damping))  # type: ignore[arg-type]

        def friction(load: "NormalLoad", x: Any) -> "DeviceFriction":
            return DeviceFriction(meeting, load, c)

        rounds = rounds_of(host.choice.friction_solves)
        find = lambda energies, x: energies[0].meeting.load(x)
        lagged = LaggedTerms([energy], friction, damping, rounds, find, lambda load: load.push)
        return lagged.starting(start, t, [DevicePenalty(before)])


class NormalLoad(NamedTuple):
    """What presses in a ``meeting`` at x: of obstacles their table and normal forces, of pairs the load of friction.

    ``push (3n,)`` are the normal forces on all vertices.
    """

    meeting: "Meeting"
    x: Any
    obstacles: tuple[Any, Any] | None
    pairs: Any
    push: Any


class Meeting:
    """Who may touch in a stage: vertices and obstacles on their ``passages``, and ``pairs``.

    ``fast`` are the state and the displacements (3n,) of vertices that may pass through thin obstacles.
    """

    def __init__(
        self,
        contact: DeviceContact,
        passages: Sequence[Passage],
        pairs: TouchingPairs | None,
        fast: tuple[State, Any] | None,
    ) -> None:
        self.contact, self.pairs, self._passages, self._fast = contact, pairs, passages, fast
        self.obstacles = contact.obstacles if passages else None
        self._ways = None if self.obstacles is None else self.obstacles.ways(passages)
        self._planes = arrays().zeros(NO_PLANES)
        if self.obstacles is not None and fast is not None:
            self._planes = self.obstacles.planes(fast[0].q, fast[1], self._ways)

    def table(self, x: Any) -> Any:
        """Gaps, normals and the rest of vertices and obstacles."""
        assert self.obstacles is not None
        return self.obstacles.table(x, self._ways, self._planes)

    def penalty(self, x: Any) -> tuple[Any, Any]:
        """Energy [J] and its push on all vertices, flat (3n,) [N]."""
        stored, push = arrays().zeros(()), arrays().zeros_like(x)
        if self.pairs is not None:
            energy, parts = self.pairs.penalty(x)
            stored, push = energy.sum(), self.pairs.summed(parts)
        if self.obstacles is not None:
            own = self.obstacles.penalty(self.table(x))
            stored = stored + own.energy.sum()
            own.add_push(push)
        return stored, push

    def load(self, x: Any) -> NormalLoad:
        """What presses at x."""
        obstacles = pairs = None
        if self.obstacles is not None:
            table = self.table(x)
            obstacles = table, self.obstacles.loads(table)
        if self.pairs is not None:
            pairs = self.pairs.loads(x)[0]
        return NormalLoad(self, x, obstacles, pairs, self.penalty(x)[1])

    @cached_property
    def mirror(self) -> ContactPenalty:
        """The same springs on the host."""
        swept = frozen = None
        host = self.contact.host
        if self._fast is not None:
            state, dx = self._fast
            x, way = (to_host(a).reshape(-1, 3) for a in (state.q, dx))
            swept = entries(host.setting, self._passages, x, way, host.margin)
        if self.pairs is not None:
            found = self.pairs.pairs
            frozen = ClosePairs(to_host(found.nodes).T.copy(), to_host(found.side), to_host(found.body))
        return host.penalty(self._passages, swept, frozen)


class DevicePenalty:
    """The springs of a `Meeting` as an energy of flat device positions."""

    name = "contact"

    def __init__(self, meeting: Meeting) -> None:
        self.meeting = meeting

    def value(self, x: Any) -> float:
        return float(self.meeting.penalty(x)[0])

    def gradient(self, x: Any) -> Any:
        return -self.meeting.penalty(x)[1]

    def add_tangent(self, x: Any, v: Any, weights: Weights, psd: bool, values: Any, blocks: Any) -> None:
        """The Hessian, times its weight, onto the blocks of single vertices and of pairs."""
        meeting, weight = self.meeting, weights[2]
        if meeting.pairs is not None:
            meeting.pairs.penalty_blocks(x, psd, weight, blocks)
        if meeting.obstacles is not None:
            meeting.obstacles.penalty(meeting.table(x), psd).add_block(weight, values)

    @property
    def mirror(self) -> ContactPenalty:
        return self.meeting.mirror


class DeviceFriction:
    """`FrictionForce` in a `Meeting`, with the normal forces of a ``load``, or else those of the moment."""

    name, normal = "friction", False

    def __init__(self, meeting: Meeting, load: NormalLoad | None, c: float) -> None:
        self.meeting, self._load, self._c = meeting, load, c
        self.lagged = load is not None

    def _at(self, x: Any) -> NormalLoad:
        return self.meeting.load(x) if self._load is None else self._load

    def _evaluated(self, x: Any, v: Any) -> tuple[Any, Any]:
        """Dissipation [W] and force (3n,) [N]."""
        load, meeting = self._at(x), self.meeting
        lost, force = arrays().zeros(()), arrays().zeros_like(x)
        if meeting.pairs is not None:
            energy, parts = meeting.pairs.friction(x, v, load.pairs, self._c)
            lost, force = energy.sum(), meeting.pairs.summed(parts)
        if meeting.obstacles is not None and load.obstacles is not None:
            own = meeting.obstacles.friction(*load.obstacles, v)
            lost = lost + own.energy.sum()
            own.add_push(force)
        return lost, force

    def force(self, x: Any, v: Any, t: float) -> Any:
        return self._evaluated(x, v)[1]

    def dissipation(self, x: Any, v: Any) -> float:
        return float(self._evaluated(x, v)[0])

    def add_tangent(self, x: Any, v: Any, weights: Weights, psd: bool, values: Any, blocks: Any) -> None:
        """-df/dv and, where nothing is projected, what turning directions make of -df/dx, times their weights."""
        load, meeting, weight = self._at(x), self.meeting, weights[1]
        if meeting.pairs is not None:
            meeting.pairs.friction_blocks(x, v, load.pairs, self._c, weight, blocks)
            if self.lagged and not psd:
                meeting.pairs.friction_turning(x, v, load.pairs, self._c, -weights[2], blocks)
        if meeting.obstacles is not None and load.obstacles is not None:
            meeting.obstacles.friction(*load.obstacles, v).add_block(weight, values)

    @property
    def mirror(self) -> FrictionForce:
        """The same friction on the host."""
        host = self.meeting.contact.host
        law = (host.mu, host.law, host.setting.n)
        if self._load is None:
            return FrictionForce(self.meeting.mirror.loads, *law)
        x = to_host(self._load.x)
        found = self._load.meeting.mirror.loads(x)
        return FrictionForce(lambda _: found, *law, lagged=x, c=self._c)


class DeviceDamping:
    """`ContactDamping` in a `Meeting`."""

    name, normal, lagged = "contact damping", True, False

    def __init__(self, meeting: Meeting) -> None:
        self.meeting = meeting

    def force(self, x: Any, v: Any, t: float) -> Any:
        meeting, force = self.meeting, arrays().zeros_like(x)
        if meeting.pairs is not None:
            force = meeting.pairs.summed(meeting.pairs.damping(x, v))
        if meeting.obstacles is not None:
            meeting.obstacles.damping(meeting.table(x), v).add_push(force)
        return force

    def add_tangent(self, x: Any, v: Any, weights: Weights, psd: bool, values: Any, blocks: Any) -> None:
        """-df/dv and, where nothing is projected, what the changing load makes of -df/dx, times their weights."""
        meeting, own = self.meeting, (weights[1], 0.0 if psd else weights[2])
        if meeting.pairs is not None:
            meeting.pairs.damping_blocks(x, v, own, blocks)
        if meeting.obstacles is not None:
            meeting.obstacles.damping(meeting.table(x), v, own).add_block(1.0, values)

    @property
    def mirror(self) -> ContactDamping:
        """The same dampers on the host."""
        host = self.meeting.contact.host
        return ContactDamping(self.meeting.mirror, host.k_d, 0.5 * host.smoothing * host.k)


DeviceTouch = DevicePenalty | DeviceFriction | DeviceDamping


def add_touching(
    terms: Sequence[DeviceTouch], q: Any, v: Any, weights: Weights, psd: bool, values: Any
) -> Coupling | None:
    """The tangents of contact ``terms``, the springs first; what lies outside the pattern is returned."""
    if not terms:
        return None
    pairs = terms[0].meeting.pairs
    blocks = None if pairs is None else arrays().empty((144, pairs.count))
    for term in terms:
        term.add_tangent(q, v, weights, psd, values, blocks)
    return None if pairs is None else pairs.coupled(blocks, values)


def mirrored(terms: Terms) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The energies and forces of device ``terms`` as they are on the host."""
    energies, forces = terms.energies, terms.forces
    return tuple(e.mirror for e in energies), tuple(f.mirror for f in forces)  # type: ignore[attr-defined]
