"""The velocity step of several parts together: blocks side by side, rows between their points, one programme.

    min_u  sum_i 1/2 u_i^T A_i u_i - u_i^T b_i     s.t.  rows of the parts,
                                                       sum_r w_r (J u + w)_r = -gamma gap/T + drift      attachments
                                                   n . sum_r w_r (J u + w)_r >= -gap/h, -gamma gap/T     contacts

J u + w are the velocities of all points, those of the parts one after the other. T is h, or longer where longer steps
left the gaps (`Linearisation.closing`): open contacts may close in h, penetrations are undone in T. Both sides of a row
share its weights, so what one gains in momentum the other loses.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.abilities import able
from pliant.arrays import Array, IntArray
from pliant.contact.contacts import ContactForces
from pliant.errors import SceneError
from pliant.linear.inverse import Solvable
from pliant.linear.staggered import Slip
from pliant.pattern import side_by_side
from pliant.state import State
from pliant.systems import exchange
from pliant.systems.acted import Acted, Pairs, of_contacts
from pliant.systems.coupling_rows import (
    Ties,
    Touches,
    contact_rows,
    contact_slip,
    differences,
    joined_rows,
    joined_slips,
    less_in_rows,
    rows_of_parts,
    tie_rows,
)
from pliant.systems.joined import SideBySide, sparse
from pliant.systems.shown import Shown, Watching
from pliant.systems.stepped import Stepping
from pliant.velocity_programme import VelocitySolution
from pliant.velocity_step import Block, Carrying, Linearisation, Live, Moved, Prepared

NOBODY = Shown()


@dataclass(frozen=True, eq=False)
class Together:
    """What coupled parts keep: each its own memory; impulses [N s] of attachments (k, 3) and contacts (c,).

    ``gaps (c,)`` [m] are those of the contacts where the step set out from.
    """

    parts: tuple[Any, ...]
    ties: Array
    pressed: Array
    gaps: Array


def prepared_parts(
    parts: Sequence[Stepping],
    states: Sequence[State],
    h: float,
    memory: Together | None,
    how: Linearisation,
    shown: Shown = NOBODY,
) -> tuple[Prepared, ...]:
    """Every part in the middle of its step, with its points; what is ``shown`` is where it is now."""
    kept = (None,) * len(parts) if memory is None else memory.parts
    how = replace(how, points=True)
    live = shown.placements(parts, states)
    return tuple(
        p.prepare(s, h, m, how, live) if able(p, Watching) else p.prepare(s, h, m, how)
        for p, s, m in zip(parts, states, kept, strict=True)
    )


class CoupledStep:
    """Prepared parts as one, with attachments and contacts between their points. What it keeps is `Together`.

    ``states`` are those that the parts set out from. ``shown`` tells, for the bodies that a part's live rows push
    against, whose links they are. ``rebuild(systems)`` makes the whole system again when parts have changed their
    meshes; ``systems`` has None where a part has not. ``place(state)`` puts exactly together what the state at the end
    should have together. ``join`` puts the matrices side by side, and knows the pattern from the last step.
    ``closing`` [s] is the time in which rows correct positions (None: h).
    """

    def __init__(
        self,
        parts: Sequence[Prepared],
        states: Sequence[State],
        h: float,
        *,
        ties: Ties | None = None,
        touches: Touches | None = None,
        shown: Shown = NOBODY,
        rebuild: Callable[[tuple[Any, ...]], Any] | None = None,
        place: Callable[[State], State] | None = None,
        join: SideBySide | None = None,
        closing: float | None = None,
    ) -> None:
        self.parts, self.states, self.h = tuple(parts), tuple(states), h
        self.closing = h if closing is None else closing
        self.ties, self.touches, self.shown, self.rebuild = ties, touches, shown, rebuild
        self.place, self.join = place, SideBySide() if join is None else join
        blocks = [p.block for p in self.parts]
        for k, b in enumerate(blocks):
            if able(b.A, Solvable):
                remedy = "use Dense() or Sparse(), or step it alone"
                raise SceneError(f"part {k} does not form its matrix", where="LinearlyImplicit.matrix", remedy=remedy)
        self._blocks = blocks
        if touches is not None:
            self.touches = touches.among(self._points)
        self._starts = np.cumsum([0, *(len(b.b) for b in blocks)])
        self._equalities = np.cumsum([0, *(0 if b.equality is None else len(b.equality[1]) for b in blocks)])
        self._inequalities = np.cumsum([0, *(0 if b.inequality is None else len(b.inequality[1]) for b in blocks)])

    @cached_property
    def _points(self) -> sp.csr_matrix:
        """J of the points of all parts."""
        return side_by_side([sparse(b.J) for b in self._blocks])

    @cached_property
    def block(self) -> Block:
        blocks = self._blocks
        J = self._points
        w = np.concatenate([np.zeros(b.J.shape[0]) if b.w is None else b.w for b in blocks])
        x = np.concatenate([b.x for b in blocks])
        own = self._own_rows()
        origin = np.concatenate([np.zeros(len(b.b)) if b.origin is None else b.origin for b in blocks])
        equality, inequality = own
        if self.ties is not None:
            equality = joined_rows(equality, tie_rows(self.ties, J, w, self.closing))
        slips = [self._slip(b.slip, i) for i, b in enumerate(blocks) if b.slip is not None]
        if self.touches is not None and len(self.touches.contacts):
            rows = contact_rows(self.touches, J, w, self.h, self.closing)
            if self.touches.mu.any():
                slips.append(contact_slip(self.touches, x, J, w, len(inequality[1])))
            inequality = joined_rows(inequality, rows)
        return Block(
            self.join([b.A for b in blocks]),
            np.concatenate([b.b for b in blocks]),
            x,
            J,
            equality,
            inequality,
            origin=origin,
            w=w,
            slip=joined_slips(slips),
            guess=origin,
            qp=next((b.qp for b in blocks if b.qp is not None), None),
            impulses=self._impulses(inequality[1]),
            seconds=_summed([b.seconds for b in blocks]),
            border=self._border(),
        )

    def _border(self) -> IntArray:
        """The unknowns of parts with dense matrices: joints."""
        pairs = zip(self._blocks, self._starts, strict=False)
        dense = [np.arange(first, first + len(b.b)) for b, first in pairs if not sp.issparse(b.A)]
        return np.concatenate([np.zeros(0, dtype=np.int64), *dense])

    def _impulses(self, right: Array) -> Array | None:
        """What parts expect of their rows; other rows press where their bound is touched."""
        if all(b.impulses is None for b in self._blocks):
            return None
        expected = np.where(right > -1e-6, 1.0, 0.0)
        for b, first, last in zip(self._blocks, self._inequalities[:-1], self._inequalities[1:], strict=True):
            if b.impulses is not None:
                expected[first:last] = b.impulses
        return expected

    def _own_rows(self) -> tuple[tuple[sp.csr_matrix, Array], tuple[sp.csr_matrix, Array]]:
        """The rows of the parts, with the columns of the links that live ones push against."""
        sizes = [len(b.b) for b in self._blocks]
        both = [rows_of_parts([b.equality for b in self._blocks], sizes)]
        both.append(rows_of_parts([b.inequality for b in self._blocks], sizes))
        for i, b in enumerate(self._blocks):
            if b.live is None:
                continue
            count, away = self._equalities[i + 1] - self._equalities[i], self._carried(b.live)
            for k, first in ((0, self._equalities[i]), (1, self._inequalities[i])):
                mine = np.flatnonzero((b.live.rows < count) if k == 0 else (b.live.rows >= count))
                place = first + b.live.rows[mine] - (0 if k == 0 else count)
                both[k] = (less_in_rows(both[k][0], place, away[mine]), both[k][1])
        return both[0], both[1]

    def _slip(self, slip: Slip, i: int) -> Slip:
        """The friction directions of part i over all velocities."""
        T, rubbing = sp.csr_matrix(slip.T) @ self._columns(i), self._blocks[i].rubbing
        if rubbing is not None:
            T = less_in_rows(T, rubbing.rows, self._carried(rubbing))
        return replace(slip.after(int(self._inequalities[i])), T=T)

    def _carried(self, live: Live) -> sp.csr_matrix:
        """(k, n): normal . velocity of the bodies that live rows push against."""
        G = sp.csr_matrix((len(live.rows), self._starts[-1]))
        owner = np.array([self.shown.bodies[body][:2] for body in live.body], dtype=np.int64).reshape(-1, 2)
        for part in np.unique(owner[:, 0]):
            prepared = self.parts[part]
            assert isinstance(prepared, Carrying), f"part {part} has no links"
            rows = np.flatnonzero(owner[:, 0] == part)
            n = len(rows)
            V = prepared.carried(owner[rows, 1], live.x[rows])
            N = sp.csr_matrix((live.normal[rows].ravel(), np.arange(3 * n), 3 * np.arange(n + 1)), shape=(n, 3 * n))
            P = sp.csr_matrix((np.ones(n), (rows, np.arange(n))), shape=(len(live.rows), n))
            G = sp.csr_matrix(G + P @ (N @ V) @ self._columns(part))
        return G

    def exchanged(self, found: VelocitySolution) -> dict[tuple[str, str], float]:
        """Impulses of live rows, of contacts and of friction along them, times the velocities of where they act."""
        work: dict[tuple[str, str], float] = {}
        own, friction = self._split(found.u), 0
        for i, (b, u) in enumerate(zip(self._blocks, own, strict=True)):
            y = found.equality[self._equalities[i] : self._equalities[i + 1]]
            z = found.inequality[self._inequalities[i] : self._inequalities[i + 1]]
            mine = 0 if b.slip is None else len(b.slip)
            rubbed = found.friction[friction : friction + mine]
            friction += mine
            if b.live is not None and b.equality is not None and b.inequality is not None:
                v = np.concatenate([b.equality[0] @ u, b.inequality[0] @ u])
                self._book(work, i, b.live, np.concatenate([y, z]), v, found.u)
            if b.rubbing is not None and b.slip is not None and len(rubbed):
                self._book(work, i, b.rubbing, rubbed, b.slip.T @ u, found.u)
        touched = self._touched(found)
        return {pair: work.get(pair, 0.0) + touched.get(pair, 0.0) for pair in {**work, **touched}}

    def dragged(self, found: VelocitySolution) -> float:
        """Impulses of contacts times the velocities of obstacles, and of contacts and ties against those of scripts."""
        slips = [b.slip for b in self._blocks if b.slip is not None]  # theirs come first, those between parts after
        ends = np.cumsum([0, *(len(slip) for slip in slips)])
        parts = zip(slips, ends[:-1], ends[1:], strict=True) if len(found.friction) else ()
        work = float(sum(found.friction[a:b] @ slip.drift for slip, a, b in parts))
        w = np.zeros_like(self.block.x) if self.block.w is None else self.block.w.reshape(-1, 3)
        if self.touches is not None and (w.any() or self.touches.contacts.drift.any()):
            for pushes in self.impulses(found):
                work += float((pushes.forces.sum(axis=1) * pushes.contacts.drift).sum())
                work -= float((pushes.forces * w[pushes.nodes]).sum())
        if self.ties is not None:
            S = differences(self.ties.nodes, self.ties.weights, len(w), self.ties.gap.shape[1])
            work -= float(found.equality[self._equalities[-1] :] @ (S @ w.ravel()))
        return work

    def _touched(self, found: VelocitySolution) -> dict[tuple[str, str], float]:
        """The work of contacts between the points."""
        touches = self.touches
        if touches is None or touches.setting is None or touches.owner is None or not len(touches.contacts):
            return {}
        total = exchange.nothing(touches.setting)
        w = self.block.w
        v = (self.block.J @ found.u + (0.0 if w is None else w)).reshape(-1, 3)
        for pushes in self.impulses(found):
            total += exchange.works(touches.setting, touches.owner, pushes, v, pushes.contacts.drift)
        return exchange.told(touches.setting, total)

    def acted(self, found: VelocitySolution) -> Acted | None:
        """Impulses of contacts as forces over the length of the step."""
        touches = self.touches
        if touches is None or touches.setting is None:
            return None
        setting, owner, n = touches.setting, touches.owner, len(self.block.x)

        def find() -> tuple[Array, Array, Pairs]:
            over = [replace(pushes, forces=pushes.forces / self.h) for pushes in self.impulses(found)]
            return of_contacts(setting, over[:1], over[1:], n, owner)

        return Acted(find, self.block.x)

    def impulses(self, found: VelocitySolution) -> list[ContactForces]:
        """What contacts do to the points [N s]: they press, and they rub."""
        if self.touches is None:
            return []
        rubbing = 2 * int(np.count_nonzero(self.touches.mu > 0.0))
        pressed, last = found.inequality[self._inequalities[-1] :], len(found.friction)
        return self.touches.impulses(self.block.x, pressed, found.friction[last - min(rubbing, last) :])

    def _book(
        self, work: dict[tuple[str, str], float], i: int, live: Live, impulses: Array, v: Array, u: Array
    ) -> None:
        """Add what part i, whose rows move with v, and the bodies it pushes at do on each other."""
        p, name = impulses[live.rows], self.shown.watchers[i]
        on_part, on_body = p * v[live.rows], -p * (self._carried(live) @ u)
        for k in np.unique(live.body):
            body, chosen = self.shown.bodies[k][2], live.body == k
            work[body, name] = work.get((body, name), 0.0) + float(on_part[chosen].sum())
            work[name, body] = work.get((name, body), 0.0) + float(on_body[chosen].sum())

    def _columns(self, part: int) -> sp.csr_matrix:
        """(n_part, n): picks the velocities of one part out of all."""
        first, last = self._starts[part], self._starts[part + 1]
        return sp.eye(last - first, self._starts[-1], k=first, format="csr")

    def reach(self, u: Array, h: float) -> float:
        return min(p.reach(y, h) for p, y in zip(self.parts, self._split(u), strict=True))

    def _split(self, u: Array) -> list[Array]:
        return np.split(u, self._starts[1:-1])

    def finish(self, u: Array, equality: Array, inequality: Array, h: float) -> Moved:
        moved = [
            p.finish(
                y,
                equality[self._equalities[i] : self._equalities[i + 1]],
                inequality[self._inequalities[i] : self._inequalities[i + 1]],
                h,
            )
            for i, (p, y) in enumerate(zip(self.parts, self._split(u), strict=True))
        ]
        pressed = inequality[self._inequalities[-1] :]
        tied = equality[self._equalities[-1] :].reshape(-1, 3 if self.ties is None else self.ties.gap.shape[1])
        gaps = np.zeros(0) if self.touches is None else self.touches.contacts.gaps
        work, notes = _summed([m.work for m in moved]), {k: v for m in moved for k, v in m.notes.items()}
        changed = any(m.system is not None for m in moved)
        assert not changed or self.rebuild is not None, "parts changed their meshes, and nobody makes the whole again"
        system = self.rebuild(tuple(m.system for m in moved)) if changed and self.rebuild is not None else None
        start = [s if m.start is None else m.start for s, m in zip(self.states, moved, strict=True)]
        memory = Together(tuple(m.memory for m in moved), tied, pressed, gaps)
        after = _stacked([m.state for m in moved])
        after = after if self.place is None or changed else self.place(after)
        return Moved(after, memory, system, _stacked(start) if changed else None, work, notes)


def _summed(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Numbers of several parts by name."""
    return {name: sum(part.get(name, 0.0) for part in parts) for name in dict.fromkeys(k for p in parts for k in p)}


def _stacked(states: Sequence[State]) -> State:
    return State(np.concatenate([s.q for s in states]), np.concatenate([s.v for s in states]), states[0].t)
