"""A velocity step of Eulerian-on-Lagrangian cloth before and after its solve [Weidner2022, Alg. 2.1].

1 detect collisions   2 preprocess and remesh   3 constraints on the new mesh   4 integrate velocities and positions
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.clock import Clock
from pliant.cloth import _collide
from pliant.cloth.active_set import ActiveSet
from pliant.cloth.adapt import detect, hold, remeshed, same_mesh, untangled
from pliant.cloth.collide import (
    EdgeHits,
    chosen,
    edge_hits,
    face_contacts,
    soft_hits,
    tip_hits,
    tracked,
    untracked,
)
from pliant.cloth.constraints import (
    Corners,
    Lines,
    Pushes,
    RowBuilder,
    crossing_rows,
    face_rows,
    feature_rows,
    tip_rows,
)
from pliant.cloth.friction import slipping
from pliant.cloth.hands import Hold
from pliant.cloth.impulses import expected_impulses, remembered_impulses
from pliant.cloth.own_contact import Own
from pliant.cloth.quadratic import StepModel, assemble
from pliant.cloth.sheet import Sheet, signed_areas
from pliant.cloth.surroundings import SINK, SUNK, Scenery
from pliant.cloth.transfer import conserved, transfer
from pliant.maps.motions import Placement
from pliant.state import State
from pliant.velocity_step import Block, Linearisation, Live, Moved, Relief

if TYPE_CHECKING:
    from pliant.cloth.system import EolCloth

RELIEF = 0.1  # part of a penetration, or of a missing clearance, that a step makes up for
FASTEST = 0.1  # [m/s] at which it does so at most


@dataclass(frozen=True, eq=False)
class PreparedCloth:
    """Cloth in the middle of a step from time ``t`` [s]: ``cloth`` and ``sheet`` are those of the new mesh."""

    before: "EolCloth"
    cloth: "EolCloth"
    sheet: Sheet
    scenery: Scenery
    slide: Array
    equal: RowBuilder
    bound: RowBuilder
    block: Block
    model: StepModel
    operations: int
    t: float
    own: Own | None = None

    @property
    def remeshed(self) -> tuple["EolCloth", State] | None:
        changed = self.cloth is not self.before
        return (self.cloth, self.cloth.pack(self.sheet, self.t)) if changed else None

    def reach(self, u: Array, h: float) -> float:
        """At most h: less where a face of the material would lose nine tenths of its area, the model of the step fails,
        or the cloth would meet itself or sink into a body in spite of its rows."""
        sheet, dt = self._moving(u), h
        A, V = signed_areas(sheet.X, sheet.faces), self._sliding(sheet)
        while dt > 1e-3 * h and (signed_areas(sheet.X + dt * V, sheet.faces) < 0.1 * A).any():
            dt *= 0.5
        if dt < h:
            return dt
        failed = not self.model.holds(self.cloth, u, h)
        meets = self.own is not None and self.own.divided(sheet.v, h)
        return 0.5 * h if failed or meets or self._sinks(sheet, h) else h

    def _sinks(self, sheet: Sheet, h: float) -> bool:
        """Whether faces get deeper into a convex body within h than rows let them, by more than a part of thr.

        Rows hold vertices at faces, and crossings that there are when the step begins: a face that turns about an edge
        or slips past a corner may cut the body by the end of it. Pieces of the step find it there.
        """
        scenery, faces, thr = self.scenery, sheet.faces, self.cloth.around.thickness
        for body, first, last in zip(
            scenery.plane_body, scenery.plane_start[:-1], scenery.plane_start[1:], strict=True
        ):
            planes = scenery.planes[first:last]
            there = sheet.x + h * (sheet.v - scenery.velocity(np.full(len(sheet.x), body), sheet.x))
            after = _collide.face_depths(there, faces, planes, SUNK * thr)
            deep = np.flatnonzero(after > (SUNK + SINK) * thr)
            before = _collide.face_depths(sheet.x, faces[deep], planes, SUNK * thr)
            if (after[deep] - before > SINK * thr).any():
                return True
        return False

    def finish(self, u: Array, equality: Array, inequality: Array, h: float) -> Moved:
        """Positions after h; what hands and moving obstacles did is booked."""
        sheet = self._moving(u)
        V = self._sliding(sheet)
        moved = replace(sheet, V=V, x=sheet.x + h * sheet.v, X=sheet.X + h * V)
        moved, stopped = (moved, 0) if self.own is None else self.own.stopped(moved, h)
        inequality = inequality[: len(self.bound.right)]
        changed, start = self.remeshed or (None, None)
        return Moved(
            self.cloth.pack(moved, self.t + h),
            remembered_impulses(inequality, self.bound.pushes, len(sheet.X)),
            changed,
            start,
            {"scripts": self._scripts(equality, inequality)},
            self._notes(equality, inequality) | ({} if self.own is None else self._own_notes(stopped)),
        )

    def _own_notes(self, stopped: int) -> dict[str, float]:
        """Contacts of the cloth with itself: pairs with rows, vertices stopped."""
        assert self.own is not None
        return {"own_contacts": len(self.own.close), "own_stopped": stopped}

    def _moving(self, u: Array) -> Sheet:
        """The sheet with its new velocities."""
        return self.cloth.unpack(self.cloth.pack(self.sheet, self.t).q, u)

    def _sliding(self, sheet: Sheet) -> Array:
        """Velocities in the material (n, 2) without what the rows left of them along the crease."""
        return np.asarray(sheet.V - np.einsum("ij,ij->i", sheet.V, self.slide)[:, None] * self.slide)

    def _scripts(self, equality: Array, inequality: Array) -> float:
        """Impulses of hands and scripted obstacles times the velocities these have [J]."""
        pushes = self.bound.pushes
        speed = np.einsum("ij,ij->i", pushes.normal, self.scenery.scripted(pushes.body, pushes.point))
        return float(equality @ self.equal.right + inequality @ speed)

    def _notes(self, equality: Array, inequality: Array) -> dict[str, float]:
        """The size of the mesh and impulses [N s]."""
        held, pushed, size = self.equal.pushes, self.bound.pushes, self.cloth.sheet
        hand = held.body < 0
        hands = equality[: len(hand)][hand] @ held.normal[hand]
        edges = (inequality * (size.feature[pushed.vertex] >= 0)) @ pushed.normal
        return {
            "faces": len(size.faces),
            "vertices": len(size.X),
            "eol": len(self.cloth.eol),
            "contacts": len(pushed.vertex),
            "operations": self.operations,
            **{f"edge_impulse_{axis}": float(value) for axis, value in zip("xyz", edges, strict=True)},
            **{f"hand_impulse_{axis}": float(value) for axis, value in zip("xyz", hands, strict=True)},
        }


def prepare(
    system: "EolCloth", state: State, h: float, memory: Any, how: Linearisation, live: Sequence[Placement] = ()
) -> PreparedCloth:
    """Everything up to the solve: features kept and met, a new mesh, rows, matrix and right-hand side.

    The mesh is that of the start of the step, so K is taken there and projected, whatever ``how`` says of that.
    """
    clock = Clock()
    with clock("detect"):
        scenery = system.around.at(state.t, live)
        given = system.unpack(state.q, state.v)
        before = hold(system, given, scenery, h)
        hits = detect(system, before, scenery)
    with clock("remesh"):
        edit = untangled if system.around.clearance else remeshed
        edited = edit(system, before, scenery, hits)
        cloth = system if same_mesh(system.sheet, edited) else system.restored(edited.sheet)
        corners = Corners.of(edited.sheet, cloth, scenery)
        sheet = conserved(given, transfer(before, edited.sheet, edited.origin, corners.slide), edited.origin)
    with clock("detect"):
        relief = Relief(h, how.closing(h), RELIEF, FASTEST)
        equal, bound = constrain(cloth, sheet, scenery, corners, (state.t, h), relief)
        clearance = system.around.clearance
        own = Own.of(sheet, cloth.edges, clearance, h) if clearance else None
    with clock("fill"):
        start = cloth.pack(sheet, state.t)
        n = len(start.q)
        slip, rubbing = slipping(cloth, sheet, scenery, bound)
        rows, pushed, impulses = bounds(bound, own, n, relief, expected_impulses(memory, edited.origin, bound))
        A, b, model = assemble(cloth, start, scenery, h, how.beta)
        block = Block(
            A,
            b,
            sheet.x,
            cloth.point_jacobian(start.q),
            equal.matrix(n),
            rows,
            live_rows(equal, bound, scenery),
            slip=slip,
            guess=start.v,
            qp=ActiveSet(),
            impulses=impulses,
            pushed=pushed,
            rubbing=rubbing,
        )
    block = replace(block, seconds={k: s for k, s in clock.seconds.items() if k != "fill"})
    return PreparedCloth(
        *(system, cloth, sheet, scenery, corners.slide, equal, bound, block, model), edited.operations, state.t, own
    )


def bounds(
    bound: RowBuilder, own: Own | None, n: int, relief: Relief, expected: Array | None
) -> tuple[tuple[Any, Array], IntArray, Array | None]:
    """All inequalities, those of cloth with itself last; the vertices they push; the impulses ``expected`` of them."""
    (C, d), vertex = bound.matrix(n), bound.pushes.vertex
    if own is None or not len(own.close):
        return (C, d), vertex, expected
    more, right = own.close.rows(relief, n)
    both, vertex = np.concatenate([d, right]), np.concatenate([vertex, own.close.nodes[:, 0]])
    press = np.where(both > -1e-6, 1.0, 0.0)
    if expected is not None:
        press[: len(d)] = expected[: len(d)]
    return (sp.csc_matrix(sp.vstack([C, more])), both), vertex, press


def constrain(
    cloth: "EolCloth",
    sheet: Sheet,
    scenery: Scenery,
    corners: Corners,
    when: tuple[float, float],
    relief: Relief,
) -> tuple[RowBuilder, RowBuilder]:
    """Equality and inequality rows of hands, features and faces, and of crossings no vertex stands for."""
    h, around = when[1], cloth.around
    equal, bound = RowBuilder(), RowBuilder()
    held = hold_rows(cloth.holds, sheet, when, equal)
    feature_rows(cloth, sheet, scenery, cloth.method.rule, corners, (equal, bound))
    contacts = face_contacts(sheet, scenery, around, h)
    face_rows(chosen(contacts, np.flatnonzero(~np.isin(contacts.vertex, held))), sheet, scenery, relief, bound)
    sharp = Lines(scenery.edge_n1, scenery.edge_n2, scenery.edge_body)
    crossing_rows(open_crossings(cloth, sheet, scenery, h), sheet, scenery, sharp, relief, bound)
    soft = Lines(scenery.soft_n1, scenery.soft_n2, scenery.soft_body)
    blunt = soft_hits(sheet, scenery, 5 * around.thickness, around.thickness, cloth.edges)
    blunt = replace(blunt, gap=blunt.gap + SUNK * around.thickness)
    blunt = chosen(blunt, closing(blunt, sheet, scenery, soft.body, h, 0.0))
    crossing_rows(blunt, sheet, scenery, soft, relief, bound, SUNK * around.thickness)
    tips = tip_hits(sheet, scenery, scenery.tips, 5 * around.thickness, around.thickness, around.table.edges)
    if cloth.method.conformer is not None:  # what has come through and got no vertex, at the border
        tips = chosen(tips, untracked(tips, sheet))
        tips = chosen(tips, np.flatnonzero(tips.height > 0))
    tips = replace(tips, feature=tips.feature - around.table.edges)
    tip_rows(tips, sheet, scenery, scenery.tips, relief, bound)
    knobs = tip_hits(sheet, scenery, scenery.blunt, 5 * around.thickness, around.thickness)
    tip_rows(knobs, sheet, scenery, scenery.blunt, relief, bound, SUNK * around.thickness)
    return equal, bound


def hold_rows(holds: Sequence[Hold], sheet: Sheet, when: tuple[float, float], equal: RowBuilder) -> IntArray:
    """An equality per axis of every vertex that is held at the time: the velocity its hold asks for; the vertices."""
    t, h = when
    held = [np.zeros(0, dtype=np.int64)]
    kept = np.flatnonzero(sheet.fixed)
    for one in holds:
        if not one.holds(t):
            continue
        apart = np.sum((sheet.X[kept] - np.atleast_2d(one.X)[:, None]) ** 2, axis=2)
        v = kept[np.argmin(apart, axis=1)]
        axes = np.array(one.axes, dtype=np.int64)
        target = one.pull(sheet.x[v], sheet.v[v], t, h)[:, axes]
        k = len(v) * len(axes)
        who = Pushes(
            np.repeat(v, len(axes)),
            np.tile(np.eye(3)[axes], (len(v), 1)),
            np.full(k, -1),
            np.repeat(sheet.x[v], len(axes), axis=0),
        )
        equal.add((3 * v[:, None] + axes).reshape(-1, 1), np.ones((k, 1)), target.ravel(), who)
        held.append(v)
    return np.concatenate(held)


def open_crossings(cloth: "EolCloth", sheet: Sheet, scenery: Scenery, h: float) -> EdgeHits:
    """Crossings of cloth edges with sharp edges that neither end lies on.

    As of faces: at most 5 thr inside, or outside and within reach in the time h, as fast as they close now.
    """
    thr = cloth.around.thickness
    hits = edge_hits(sheet, scenery, 5 * thr, thr, cloth.edges)
    hits = chosen(hits, closing(hits, sheet, scenery, scenery.edge_body, h, thr))
    return chosen(hits, np.flatnonzero(~tracked(hits, sheet.feature, cloth.around.table)))


def closing(hits: EdgeHits, sheet: Sheet, scenery: Scenery, body: IntArray, h: float, thr: float) -> IntArray:
    """The crossings that are closer than thr, or could be after h [s]; ``body (e,)`` are those of the lines."""
    (a, b), s = hits.ends.T, hits.s[:, None]
    v = (1 - s) * sheet.v[a] + s * sheet.v[b] - scenery.velocity(body[hits.feature], hits.point)
    return np.flatnonzero(hits.gap + 2 * h * np.minimum(np.einsum("ij,ij->i", v, hits.normal), 0.0) <= thr)


def live_rows(equal: RowBuilder, bound: RowBuilder, scenery: Scenery) -> Live | None:
    """The rows that push against bodies whose velocity is not known yet; None without any."""
    first = (0, len(equal.right))
    pushes = (equal.pushes, bound.pushes)
    met = [np.flatnonzero(p.body >= scenery.live) for p in pushes]
    if not any(len(k) for k in met):
        return None
    rows = np.concatenate([k + f for k, f in zip(met, first, strict=True)])
    body = np.concatenate([p.body[k] for p, k in zip(pushes, met, strict=True)]) - scenery.live
    x, normal = (
        np.concatenate([getattr(p, n)[k] for p, k in zip(pushes, met, strict=True)]) for n in ("point", "normal")
    )
    return Live(rows, body, x, normal)
