"""A second opinion on the steps of a scene, with arithmetic of its own: masses, energies, forces, momenta, crossings.

Nothing here calls a kernel, an energy or a contact of the package; what a scene is made of (meshes, materials, masses,
pins) is read from its data, and compared with what certificates and ledgers say. Formulas are those of the papers, in
plain NumPy; whether surfaces cross is decided in rational numbers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np

import pliant as pl
from pliant.arrays import Array, IntArray
from pliant.testing.laws import Found, of_elements, of_springs

EPS = float(np.finfo(np.float64).eps)
GAINED = 0.06  # part of the energies so far; the package raises its alarm at 0.05
PULLED = 1e-5  # part of the impulse of gravity that a certified step may miss


@dataclass(frozen=True)
class AuditedElements:
    """The tetrahedra of one solid: nodes (m, 4) among all vertices, inverse rest edges (m, 3, 3), volumes, material."""

    T: IntArray
    inverse: Array
    volume: Array
    material: Any

    def at(self, x: Array) -> Found:
        return of_elements(self.T, self.inverse, self.volume, self.material, x)


@dataclass(frozen=True)
class AuditedSprings:
    """The springs of one network: ends (m, 2), lengths (m,), stiffness."""

    T: IntArray
    rest: Array
    k: float

    def at(self, x: Array) -> Found:
        return of_springs(self.T, self.rest, self.k, x)


class Audit:
    """The energy balance of a scene of solids and spring networks; ``known`` says whether it is one."""

    def __init__(self, scene: pl.Scene) -> None:
        self.scene, self.h = scene, float(scene.h)
        self.known = all(isinstance(b, pl.Solid | pl.SpringNet) for b in scene.bodies)
        self.bare = self.known and scene.contact is None and all(b.damping is None for b in scene.bodies)
        self.free = self.bare and all(not b.pins for b in scene.bodies)
        self.still = self.bare and all(p.motion is None for b in scene.bodies for p in b.pins)
        self.moves = not isinstance(scene.integrator, pl.Quasistatic)  # equilibria have no momentum, whatever q does
        self.g = np.asarray(scene.gravity, dtype=float)
        if self.known:
            self._measure()

    def _measure(self) -> None:
        masses, held, first = [], [], 0
        self.terms: list[AuditedElements | AuditedSprings] = []
        for body in self.scene.bodies:
            X, T = body.mesh.X, body.mesh.T
            n = len(X)
            if isinstance(body, pl.Solid):
                D = np.moveaxis(X[T[:, 1:]] - X[T[:, :1]], 1, 2)
                volume = np.abs(np.linalg.det(D)) / 6.0
                masses.append(
                    np.bincount(T.ravel(), np.repeat(np.asarray(body.density, dtype=float) * volume / 4.0, 4), n)
                )
                self.terms.append(AuditedElements(T + first, np.linalg.inv(D), volume, body.material))
            else:
                rest = np.linalg.norm(X[T[:, 0]] - X[T[:, 1]], axis=1)
                masses.append(np.asarray(body.masses().diagonal(), dtype=float))
                self.terms.append(AuditedSprings(T + first, rest, float(np.mean(body.k))))
            held += [first + int(v) for pin in body.pins for v in np.asarray(pin.vertices)]
            first += n
        self.m = np.concatenate(masses)
        self.held = np.array(sorted(set(held)), dtype=int)

    # ------------------------------------------------------------------------------------------------ own physics

    def energy(self, x: Array, v: Array) -> tuple[float, float]:
        """Total energy [J], and the size of the numbers that it is a sum of."""
        kinetic = 0.5 * float(self.m @ (v**2).sum(axis=1))
        height = -self.m * (x @ self.g)
        elastic = [term.at(x) for term in self.terms]
        total = kinetic + float(height.sum()) + sum(float(W.sum()) for W, *_ in elastic)
        return total, kinetic + float(np.abs(height).sum()) + sum(float(size.sum()) for _, size, *_ in elastic)

    def force(self, x: Array) -> tuple[Array, Array]:
        """Forces (n, 3) [N] of elements and weight, and the sizes (n,) of the numbers that they are sums of."""
        f, size = self.m[:, None] * self.g, self.m * np.linalg.norm(self.g)
        for term in self.terms:
            _, _, pulls, rough = term.at(x)
            np.add.at(f, term.T, pulls)
            np.add.at(size, term.T, np.linalg.norm(pulls, axis=-1) + rough[:, None])
        return f, size

    # ------------------------------------------------------------------------------------------------ complaints

    def complaints(self, steps: Sequence[Any], start: Any) -> Iterator[str]:
        """What is wrong with the steps of a run from ``start``, one sentence each."""
        before = [start, *(step.state for step in steps)][: len(steps)]
        for step, old in zip(steps, before, strict=True):
            yield from self._any(step, old)
            if self.known:
                yield from self._books(step)
        if not self.known:
            return
        if self.free and self.moves:
            yield from self._fall(steps, start)
        if self.bare:
            yield from self._residuals(steps, start)
        if self.still:
            yield from self._gains(steps, start)

    def _any(self, step: Any, old: Any) -> Iterator[str]:
        state, report = step.state, step.report
        if not (np.isfinite(state.q).all() and np.isfinite(state.v).all()):
            yield f"step {step.index}: values that are not finite"
        if abs(state.t - old.t - self.h) > 1e-9 * self.h + 4 * EPS * abs(state.t):
            yield f"step {step.index}: time goes on by {state.t - old.t:g} s, not {self.h:g} s"
        judged = report.converged and report.tolerance is not None and report.error is None  # by its residual alone
        if judged and not report.residual <= report.tolerance:
            yield f"step {step.index}: converged with residual {report.residual:g} above {report.tolerance:g}"
        depth = self._depth(step)
        if depth is not None and report.penetration is not None and depth > report.penetration * 1.001 + 1e-12:
            yield f"step {step.index}: a vertex is {depth:g} m below the floor, said {report.penetration:g} m"
        if report.converged and isinstance(self.scene.contact, pl.BarrierContact):
            if depth is not None and depth > 0.0:
                yield f"step {step.index}: a vertex is below the floor of a barrier"
            if crossing(self._surfaces(), step.system.positions(state.q)):
                yield f"step {step.index}: surfaces cross under a barrier"

    def _depth(self, step: Any) -> float | None:
        """How deep the lowest vertex of deformable bodies is below the plane, where there is one."""
        planes = [o for o in self.scene.obstacles if isinstance(o, pl.Plane)]
        if not planes or not self.known or isinstance(self.scene.contact, pl.ProjectedContact):
            return None
        return max(0.0, float(planes[0].point[2]) - float(step.state.q[2::3].min()))

    def _surfaces(self) -> IntArray:
        """The triangles that bound all bodies with tetrahedra or triangles; empty where a body is something else."""
        faces, first = [], 0
        for body in self.scene.bodies:
            if not isinstance(body, pl.Solid | pl.Rigid | pl.Membrane | pl.Cloth):
                return np.zeros((0, 3), dtype=int)
            faces.append(boundary(body.mesh.T) + first)
            first += len(body.mesh.X)
        apart = [isinstance(b, pl.Rigid) for b in self.scene.bodies]
        return np.concatenate(faces) if apart == sorted(apart) else np.zeros((0, 3), dtype=int)

    def _velocity(self, state: Any) -> Array:
        """Velocities (n, 3) that carry momentum and kinetic energy."""
        return self.moves * np.asarray(state.v).reshape(-1, 3)

    def _books(self, step: Any) -> Iterator[str]:
        x, v, row = step.state.q.reshape(-1, 3), self._velocity(step.state), step.ledger
        if not self.bare:
            said, own = row.energies["kinetic"], 0.5 * float(self.m @ (v**2).sum(axis=1))
            size = own
        else:
            said, (own, size) = row.total, self.energy(x, v)
        if abs(said - own) > 1e-9 * size:
            yield f"step {step.index}: the ledger says {said:.12g} J, it is {own:.12g} J"
        p, L = (self.m[:, None] * v).sum(axis=0), np.cross(x, self.m[:, None] * v).sum(axis=0)
        moving = np.linalg.norm(self.m[:, None] * v, axis=1)
        if np.abs(p - row.linear).max() > 1e-9 * moving.sum():
            yield f"step {step.index}: linear momentum is {p}, said {row.linear}"
        if np.abs(L - row.angular).max() > 1e-9 * float(moving @ np.linalg.norm(x, axis=1)):
            yield f"step {step.index}: angular momentum is {L}, said {row.angular}"

    def _fall(self, steps: Sequence[Any], start: Any) -> Iterator[str]:
        """The impulse of gravity: sum m v = sum m v0 + m g t, whatever happens inside."""
        p0, mass = (self.m[:, None] * start.v.reshape(-1, 3)).sum(axis=0), self.m.sum()
        slack = 0.0
        for step in steps:
            if step.report.converged is False:
                return
            x, v = step.state.q.reshape(-1, 3), step.state.v.reshape(-1, 3)
            piece = self.h / step.report.substeps / 2**10 if step.report.substeps > 1 else self.h
            known = step.report.error if step.report.error is not None else 0.0
            sums = float(self.force(x)[1].sum()) * self.h  # N s: forces inside cancel up to their rounding
            slack += mass * known / piece + 64 * EPS * (mass * np.abs(x).max() / piece + sums)
            missed = (self.m[:, None] * v).sum(axis=0) - p0 - mass * self.g * (step.state.t - start.t)
            allowed = PULLED * mass * np.linalg.norm(self.g) * (step.state.t - start.t) + slack
            if np.linalg.norm(missed) > allowed + 64 * EPS * mass * np.abs(v).max():
                yield f"step {step.index}: momentum off by {np.linalg.norm(missed):.3g} N s of {allowed:.3g}"
                return

    def _residuals(self, steps: Sequence[Any], start: Any) -> Iterator[str]:
        """|M (q - target) - c^2 f(q)| of BDF1 and BDF2, |f(q)| of equilibria, against what the certificate says."""
        if type(self.scene.integrator) not in (pl.BDF1, pl.BDF2, pl.Quasistatic):
            return
        states = [start, *(step.state for step in steps)]
        two = type(self.scene.integrator) is pl.BDF2
        if any(step.report.substeps > 1 for step in steps):
            return
        for k, step in enumerate(steps):
            if not step.report.converged or (two and not k):  # its first step is one of SDIRK2
                continue
            b, c, q = states[k], self.h, step.state.q
            target = b.q + c * b.v
            if two:
                a, c = states[k - 1], 2.0 * self.h / 3.0
                target = (4.0 * b.q - a.q) / 3.0 + c * (4.0 * b.v - a.v) / 3.0
            f, size = self.force(q.reshape(-1, 3))
            if not self.moves:
                target, c = q, 1.0
            r = self.m[:, None] * (q - target).reshape(-1, 3) - c * c * f
            noise = 200 * EPS * (self.m * np.abs(q).max() + c * c * size)
            r[self.held], noise[self.held] = 0.0, 0.0
            own, blur = np.sqrt(((r**2).sum(axis=1) / self.m).sum()), np.sqrt((noise**2 / self.m).sum())
            if own > 1.01 * step.report.residual + blur:
                yield f"step {step.index}: residual {own:.3g}, said {step.report.residual:.3g} (rounding {blur:.2g})"

    def _gains(self, steps: Sequence[Any], start: Any) -> Iterator[str]:
        """A spurious energy gain must raise an alarm, where nothing does work on the bodies."""
        last, peak = self.energy(start.q.reshape(-1, 3), self._velocity(start))
        for step in steps:
            now, size = self.energy(step.state.q.reshape(-1, 3), self._velocity(step.state))
            peak = max(peak, size)
            told = any(alarm.kind == "energy" for alarm in step.report.alarms)
            if now - last > GAINED * peak + 1e-12 and not told:
                yield f"step {step.index}: {now - last:.3g} J of spurious energy gain, of {peak:.3g} J, and no alarm"
            last = now


def boundary(T: IntArray) -> IntArray:
    """The faces of tetrahedra that belong to one of them; triangles are their own."""
    if T.shape[1] == 3:
        return T
    faces = T[:, [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]].reshape(-1, 3)
    _, index, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[index[count == 1]]


def crossing(F: IntArray, x: Array) -> bool:
    """Whether an edge of the triangles passes through another triangle; in rational numbers where boxes meet."""
    if not len(F):
        return False
    edges = sorted({tuple(sorted(pair)) for f in F.tolist() for pair in combinations(f, 2)})
    low, high = x[F].min(axis=1), x[F].max(axis=1)
    for e in edges:
        near = ((x[list(e)].max(axis=0) >= low) & (x[list(e)].min(axis=0) <= high)).all(axis=1)
        for f in F[near].tolist():
            if not set(e) & set(f) and _pierces(*(tuple(map(Fraction, x[k].tolist())) for k in (*e, *f))):
                return True
    return False


def _pierces(p: Any, q: Any, a: Any, b: Any, c: Any) -> bool:
    if _side(a, b, c, p) * _side(a, b, c, q) >= 0:
        return False
    turns = {_side(p, q, a, b), _side(p, q, b, c), _side(p, q, c, a)}
    return not {1, -1} <= turns


def _side(a: Any, b: Any, c: Any, d: Any) -> int:
    """The sign of the volume of four points."""
    u, v, w = ([s - t for s, t in zip(p, d, strict=True)] for p in (a, b, c))
    det = u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) + u[2] * (v[0] * w[1] - v[1] * w[0])
    return (det > 0) - (det < 0)
