"""The time step of Eulerian-on-Lagrangian cloth, and of the Lagrangian cloth beside it [Weidner2022, Alg. 2.1].

1 detect collisions   2 preprocess and remesh   3 constraints on the new mesh   4 integrate velocities and positions
"""

from dataclasses import dataclass, fields, replace
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.cloth.active_set import ActiveSet
from pliant.cloth.collide import (
    NO_EDGE_HITS,
    NO_TIP_HITS,
    EdgeHits,
    TipHits,
    confirmed,
    edge_hits,
    face_contacts,
    feature_body,
    mesh_edges,
    tip_hits,
)
from pliant.cloth.conform import Border, Conformer, conform, fresh_edges, fresh_tips, keep_admitted
from pliant.cloth.constraints import (
    Cone,
    Corners,
    EdgeRule,
    Pushes,
    Rows,
    crossing_rows,
    face_rows,
    feature_rows,
    tip_rows,
)
from pliant.cloth.friction import rubbed
from pliant.cloth.impulses import expected_impulses, remembered_impulses, solve
from pliant.cloth.remesh import Edited, Remesher, closed, opened, refined
from pliant.cloth.sheet import Sheet, signed_areas
from pliant.cloth.system import EolCloth
from pliant.cloth.transfer import released, transfer
from pliant.cloth.world import Scenery
from pliant.linear.qp import QPSolver
from pliant.state import SolveReport, State, Step
from pliant.velocity_step import VelocitySolution


@dataclass(frozen=True)
class EolStep:
    """Linearly implicit cloth step: min 1/2 v^T (M - h^2 K) v - v^T (M v0 + h f) under contact rows.

    [Weidner2022, Eq. 2.12].

    ``remesher`` None keeps the mesh; ``conformer`` None inserts no vertices on features (contact is then Lagrangian).
    ``rule`` chooses the normals at sharp edges. ``qvv`` adds the quadratic-velocity vector that Eq. 2.11 leaves out.
    """

    remesher: Remesher | None = None
    conformer: Conformer | None = Conformer()
    rule: EdgeRule = Cone()
    qvv: bool = False
    qp: QPSolver = ActiveSet()
    order: ClassVar[int] = 1
    made_for: ClassVar[type] = EolCloth
    works: ClassVar[tuple[str, ...]] = ("friction",)

    def step(self, system: EolCloth, state: State, h: float, memory: Any = None) -> Step:
        clock = Clock()
        scenery = system.world.at(state.t)
        before = self.hold(system, system.unpack(state.q, state.v), scenery, h)
        hits = self.detect(system, before, scenery)
        clock.mark("detect")
        edited = self.remesh(system, before, hits)
        cloth = system if same_mesh(system.sheet, edited) else rebuilt(system, edited.sheet)
        corners = Corners.of(edited.sheet, cloth, scenery)
        sheet = transfer(before, edited.sheet, edited.origin, corners.slide)
        clock.mark("remesh")
        equal, bound = self.constrain(cloth, sheet, scenery, corners, (state.t, h))
        clock.mark("detect")
        A, b = assemble(cloth, cloth.pack(sheet, state.t), h, self.qvv)
        clock.mark("fill")
        guess = expected_impulses(memory, edited.origin, bound)
        solution = solve(A, b, equal, bound, (self.qp, guess))
        clock.mark("solve")
        slid = cloth.unpack(cloth.pack(sheet, state.t).q, solution.u)
        moved = rubbed(slid, scenery, system.world, cloth.material.rho, (bound.pushes, solution.inequality))
        taken = {"friction": cloth.kinetic(moved) - cloth.kinetic(slid)} if system.world.mu else {}
        moved, dt = advance(moved, corners.slide, h)
        report = described(solution, clock, cloth, edited, (equal, bound))
        pressed = remembered_impulses(solution.inequality, bound.pushes, len(sheet.X))
        changed = None if cloth is system else cloth
        new = Step(cloth.pack(moved, state.t + dt), pressed, (report,), changed, work=taken)
        return new if dt == h else self.rest(new, system, h - dt)

    def rest(self, first: Step, system: EolCloth, h: float) -> Step:
        """The remainder of a step that was cut short because the crease would have run over a face."""
        second = self.step(first.system or system, first.state, h, first.memory)
        changed = second.system or first.system
        work = {name: first.work[name] + done for name, done in second.work.items()}
        return Step(second.state, second.memory, first.reports + second.reports, changed, work=work)

    def hold(self, system: EolCloth, sheet: Sheet, scenery: Scenery, h: float) -> Sheet:
        """Which vertices still lie on their feature; the others become Lagrangian with the velocity of the material."""
        if self.conformer is None:
            return sheet
        kept = confirmed(sheet, scenery, system.world, h, snap=system.eulerian)
        zone = self.conformer.zone * system.scale
        kept = keep_admitted(kept, scenery, system.world.table, Border.of(sheet, system.border), zone)
        return released(sheet, kept)

    def detect(self, system: EolCloth, sheet: Sheet, scenery: Scenery) -> tuple[EdgeHits, TipHits]:
        """New vertices asked for by features that the cloth has met."""
        thr, edges = system.world.thr, system.world.table.edges
        if self.conformer is None:
            return NO_EDGE_HITS, NO_TIP_HITS
        hits = edge_hits(sheet, scenery, 2 * thr, thr, system.edges)
        tips = tip_hits(sheet, scenery, 5 * thr, thr, edges)
        border, zone = Border.of(sheet, system.border), self.conformer.zone * system.scale
        return (
            chosen(hits, fresh_edges(hits, sheet, scenery, system.world, border, zone)),
            chosen(tips, fresh_tips(tips, sheet, border, zone)),
        )

    def remesh(self, system: EolCloth, sheet: Sheet, hits: tuple[EdgeHits, TipHits]) -> Edited:
        """Preprocess for conformity, then remesh adaptively [Weidner2022, sec. 2.6]."""
        table = system.world.table
        features = self.conformer is not None and ((sheet.feature >= 0).any() or any(len(k.feature) for k in hits))
        if not features and self.remesher is None:
            return Edited(sheet, np.arange(len(sheet.X)), 0)
        N = system.neighbours
        S = self.remesher.sizing(sheet, table, N) if self.remesher else uniform_sizing(sheet)
        tri = opened(sheet, S, N)
        operations = 0
        if features and self.conformer is not None:
            operations += conform(tri, sheet, hits, table, self.conformer)
        if self.remesher is not None:
            tri, more = refined(tri, self.remesher, table)
            operations += more
        return closed(tri, sheet, operations)

    def constrain(
        self, cloth: EolCloth, sheet: Sheet, scenery: Scenery, corners: Corners, when: tuple[float, float]
    ) -> tuple[Rows, Rows]:
        """Equality and inequality rows of handles, features and faces, and of crossings no vertex stands for."""
        t, h = when
        equal, bound = Rows(), Rows()
        held = handle_rows(cloth, sheet, t, h, equal)
        feature_rows(cloth, sheet, scenery, self.rule, corners, (equal, bound))
        contacts = face_contacts(sheet, scenery, cloth.world, h)
        face_rows(chosen(contacts, np.flatnonzero(~np.isin(contacts.vertex, held))), sheet, scenery, h, bound)
        crossing_rows(open_crossings(cloth, sheet, scenery), sheet, scenery, h, bound)
        if self.conformer is None:
            edges = cloth.world.table.edges
            tips = tip_hits(sheet, scenery, 5 * cloth.world.thr, cloth.world.thr, edges)
            tip_rows(tips, sheet, scenery, h, (edges, bound))
        return equal, bound


class Clock:
    """Seconds per phase of a step."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = perf_counter()

    def mark(self, phase: str) -> None:
        now = perf_counter()
        self.seconds[phase] = self.seconds.get(phase, 0.0) + now - self._last
        self._last = now


def chosen(hits: Any, which: IntArray) -> Any:
    """The same record with only the entries ``which`` of all its arrays."""
    return type(hits)(*(getattr(hits, f.name)[which] for f in fields(hits)))


def uniform_sizing(sheet: Sheet) -> Array:
    """The isotropic sizing field of the mean edge length: flips toward Delaunay and nothing else."""
    edges = mesh_edges(sheet.faces)
    size = float(np.linalg.norm(sheet.X[edges[:, 0]] - sheet.X[edges[:, 1]], axis=1).mean())
    return np.tile([size**-2, 0.0, size**-2], (len(sheet.X), 1))


def handle_rows(cloth: EolCloth, sheet: Sheet, t: float, h: float, equal: Rows) -> IntArray:
    """Three equalities per handle vertex: its velocity follows the target with the handle's lag; the vertices."""
    held = [np.zeros(0, dtype=np.int64)]
    kept = np.flatnonzero(sheet.fixed)
    for handle in cloth.world.handles:
        if not handle.holds(t):
            continue
        blend = 1 - np.exp(-h / handle.lag)
        apart = np.sum((sheet.X[kept] - np.atleast_2d(handle.X)[:, None]) ** 2, axis=2)
        v = kept[np.argmin(apart, axis=1)]
        target = (1 - blend) * sheet.v[v] + blend * handle.target(t)
        columns = (3 * v[:, None] + np.arange(3)).reshape(-1, 1)
        who = Pushes(np.repeat(v, 3), np.tile(np.eye(3), (len(v), 1)), np.full(3 * len(v), -1))
        equal.add(columns, np.ones((3 * len(v), 1)), target.ravel(), who)
        held.append(v)
    return np.concatenate(held)


def open_crossings(cloth: EolCloth, sheet: Sheet, scenery: Scenery) -> EdgeHits:
    """Crossings of cloth edges with sharp edges at which neither end lies on a feature of that body."""
    hits = edge_hits(sheet, scenery, cloth.world.thr, cloth.world.thr, cloth.edges)
    body = feature_body(sheet.feature, scenery)
    own = (body[hits.ends] == scenery.edge_body[hits.feature][:, None]).any(axis=1)
    return chosen(hits, np.flatnonzero(~own))


def rebuilt(system: EolCloth, sheet: Sheet) -> EolCloth:
    return EolCloth(sheet, system.material, system.world, eulerian=system.eulerian, grip=system.grip)


def assemble(cloth: EolCloth, state: State, h: float, qvv: bool) -> tuple[sp.csr_matrix, Array]:
    """A = M - h^2 K and b = M v + h f (+ h f_v), with a trace of drag that keeps A definite.

    Where the cloth is almost flat, a feature vertex could slide in the world and back in the material at no cost; a
    thousandth of its own mass, tied to its obstacle, makes it stay on the feature.
    """
    q, v, t = state.q, state.v, state.t
    M, K = cloth.mass(q), cloth.stiffness(q, v, t, psd=True)
    diagonal = M.diagonal()
    drag = np.full(len(q), 1e-9 * diagonal.mean())
    tied = (3 * cloth.eol[:, None] + np.arange(3)).ravel()
    drag[tied] = 1e-3 * diagonal[tied]
    A = cloth.combined(M.data - h * h * K.data, drag)
    b = cloth.momentum(q, v) + h * cloth.force(q, v, t)
    b[tied] += drag[tied] * cloth.carried(q, t).ravel()
    return A, b + h * cloth.quadratic_velocity(q, v) if qvv else b


def advance(sheet: Sheet, slide: Array, h: float) -> tuple[Sheet, float]:
    """Positions after ``dt`` <= h: less when a face of the material would lose nine tenths of its area."""
    V = sheet.V - np.einsum("ij,ij->i", sheet.V, slide)[:, None] * slide
    A, dt = signed_areas(sheet.X, sheet.faces), h
    while dt > 1e-3 * h and (signed_areas(sheet.X + dt * V, sheet.faces) < 0.1 * A).any():
        dt *= 0.5
    return replace(sheet, V=V, x=sheet.x + dt * sheet.v, X=sheet.X + dt * V), dt


def same_mesh(sheet: Sheet, edited: Edited) -> bool:
    """Whether nothing was edited and every vertex kept its feature."""
    return edited.operations == 0 and np.array_equal(sheet.feature, edited.sheet.feature)


def described(
    solution: VelocitySolution, clock: Clock, cloth: EolCloth, edited: Edited, rows: tuple[Rows, Rows]
) -> SolveReport:
    """The report of the velocity step with the phases of the whole step, the size of the mesh and impulses [N s]."""
    clock.mark("other")
    held, pushed = (r.pushes for r in rows)
    hands = solution.equality[: len(held.vertex)] @ held.normal
    edges = (solution.inequality * (cloth.sheet.feature[pushed.vertex] >= 0)) @ pushed.normal
    size = {
        "faces": len(cloth.sheet.faces),
        "vertices": len(cloth.sheet.X),
        "eol": len(cloth.eol),
        "contacts": len(pushed.vertex),
        "operations": edited.operations,
        **{f"edge_impulse_{axis}": float(value) for axis, value in zip("xyz", edges, strict=True)},
        **{f"hand_impulse_{axis}": float(value) for axis, value in zip("xyz", hands, strict=True)},
    }
    return replace(solution.report, seconds=clock.seconds, history=(size,))
