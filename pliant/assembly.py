"""The physics of a scene: its bodies become parts, and its parts one system."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.attachments import tied
from pliant.bodies import Solid
from pliant.contact.setting import Setting, Shape
from pliant.deformable import Copying, Placed
from pliant.energies.base import Energy
from pliant.energies.gravity import Gravity
from pliant.fitting import fitted, ratios
from pliant.forces.base import Force
from pliant.loads import Load
from pliant.maps.pins import Pin
from pliant.parts import Made, Place, apart, introduced
from pliant.starting import wholes
from pliant.state import State
from pliant.systems.condensed import condensed, led
from pliant.systems.contact import ContactModel
from pliant.systems.coupled import Coupled
from pliant.systems.eigenfit import EigenFit, Fit
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.shown import Shown


def made_of(scene: Any) -> list[Made]:
    """What the bodies become: all deformable ones together first, then the others, class by class."""
    soft = scene.deformables()
    made = [_soft(scene, soft)] if soft else []
    return made + [part for kind, bodies in _kinds(scene).items() for part in kind.gathered(bodies, scene)]  # type: ignore[attr-defined]


def in_order(scene: Any) -> list[Any]:
    """The bodies in the order of what they become, and of the system's cells."""
    return [*scene.deformables(), *(body for bodies in _kinds(scene).values() for body in bodies)]


def _kinds(scene: Any) -> dict[type, list[Any]]:
    kinds: dict[type, list[Any]] = {}
    for body in scene.bodies:
        if apart(body):
            kinds.setdefault(type(body), []).append(body)
    return kinds


def part_number(scene: Any, body: Any) -> int:
    """The number of the part that a body belongs to."""
    groups = [scene.deformables()] if scene.deformables() else []
    for bodies in _kinds(scene).values():
        groups += [bodies] if bodies[0].together else [[one] for one in bodies]
    return next(k for k, group in enumerate(groups) if any(one is body for one in group))


def assembled(scene: Any, made: list[Made]) -> Any:
    """The one part of the scene, or all of them coupled; contact of soft bodies alone belongs to their part."""
    if len(made) == 1 and not scene.attachments:
        part = made[0].part
        if scene.contact is None or not isinstance(part, Elastodynamics | EigenFit):
            return part if scene.contact is None or not made[0].shapes else _coupled(scene, made)
        return part
    return _coupled(scene, made)


def _coupled(scene: Any, made: list[Made]) -> Coupled:
    counts = [len(m.part.positions(m.part.rest)) for m in made]
    starts = np.cumsum([0, *counts])
    places = {
        id(body): replace(place, first=place.first + int(start))
        for m, start in zip(made, starts, strict=False)
        for body, place in m.places
    }
    springs, ties = tied(scene, [places[id(body)] for body in scene.bodies], int(starts[-1]))
    parts = [m.part for m in made]
    if isinstance(parts[0], Elastodynamics):
        held = [ties[0][ties[1] != 0.0], *(s.vertices for s in springs)] if ties else [s.vertices for s in springs]
        vertices = np.concatenate([np.zeros(0, dtype=np.int64), *held])
        parts[0] = led(parts[0], vertices[vertices < counts[0]])
    model, rows = None, None
    if scene.contact is not None:
        shapes = [(s, int(start)) for m, start in zip(made, starts, strict=False) for s in m.shapes]
        if shapes:
            rows = np.concatenate([start + s.first + np.arange(len(s.mesh.X)) for s, start in shapes])
            model = scene.contact.model(setting(scene, made))
            rows = None if np.array_equal(rows, np.arange(starts[-1])) else rows
    shown = Shown()
    if scene.contact is not None:
        parts, shown = introduced([replace(m, part=part) for m, part in zip(made, parts, strict=True)])
    return Coupled(parts, model, rows, springs, ties, shown, scene.dim)


def _soft(scene: Any, bodies: list[Any]) -> Made:
    """The part of all deformable bodies, and where they start."""
    system, offsets = _elastic(scene, bodies), scene.offsets()
    d = scene.dim
    start = np.concatenate([b.mesh.X if b.positions is None else b.positions for b in bodies])
    v = np.concatenate([np.tile(np.asarray(b.velocity, float)[:d], len(b.mesh.X)) for b in bodies])
    held = np.ones(len(v), dtype=bool)
    held[system.free] = False
    v[held] = 0.0
    q = system.prescribe(start.ravel().copy(), 0.0)
    x = system.positions(q)
    places = [
        (b, Place(b.name, int(a), x[a:e], b.mesh.T)) for b, a, e in zip(bodies, offsets[:-1], offsets[1:], strict=True)
    ]
    return Made(system, State(q, v), _soft_shapes(scene, bodies), places)


def _soft_shapes(scene: Any, bodies: list[Any]) -> list[Shape]:
    masses = [np.asarray(b.masses().sum(axis=1)).ravel() for b in bodies]
    first = scene.offsets()
    return [
        Shape(b.mesh, m, b.name, b.young(), b.width(), first=int(a))
        for b, m, a in zip(bodies, masses, first, strict=False)
    ]


def _elastic(scene: Any, bodies: list[Any]) -> Any:
    """Elastodynamics of the deformable bodies, with fitted frequencies where a body asks for them."""
    alone = len(bodies) == len(scene.bodies) and not scene.attachments
    model = None
    if scene.contact is not None and alone:
        shapes = _soft_shapes(scene, bodies)
        model = scene.contact.model(Setting(shapes, scene.obstacles, _gravity(scene), float(scene.h)))
    system = elastodynamics(bodies, scene.gravity, _loads(scene, bodies), model)
    reduced = [
        (first + np.arange(len(b.mesh.X)), b.reduction)
        for b, first in zip(bodies, scene.offsets(), strict=False)
        if isinstance(b, Solid) and b.reduction is not None
    ]
    system = condensed(system, reduced) if reduced else system
    chosen = [b.fit for b in bodies if isinstance(b, Solid) and b.fit is not None]
    return fitted(chosen, system, scene.fits) if chosen else system


def frequencies(scene: Any) -> tuple[Fit, ...]:
    """The frequencies of the fine bodies that coarse ones are fitted to, body by body: each as if it were alone."""
    found, first = [], 0
    for body in scene.deformables():
        last = first + body.mesh.X.size
        if isinstance(body, Solid) and body.fit is not None:
            coarse, fine = (elastodynamics([b], scene.gravity) for b in (body, body.fit.fine))
            found.append(replace(ratios(body, coarse, fine), body=slice(first, last)))
        first = last
    return tuple(found)


def _loads(scene: Any, bodies: list[Any]) -> list[tuple[int, Load]]:
    """The loads with the number of their body among the deformable ones."""
    return [(bodies.index(scene.deformable(f.body, "scene.forces")), f) for f in scene.forces]


def _gravity(scene: Any) -> float:
    return float(np.linalg.norm(scene.gravity))


def _of(shape: Shape, body: Place) -> bool:
    """Whether it is the shape of a body, or of one of its links."""
    return shape.name == body.name or shape.name.startswith(f"{body.name}/")


def setting(scene: Any, made: list[Made]) -> Setting:
    """What contact needs to know of the bodies and obstacles; groups are numbered through."""
    shapes: list[Shape] = []
    for m in made:
        base = 1 + max([s.group for s in shapes if s.group is not None], default=-1)
        shapes += [s if s.group is None else replace(s, group=base + s.group) for s in m.shapes]
    places = {id(body): place for m in made for body, place in m.places}
    for attachment in scene.attachments:
        if not attachment.contact:
            body, to = attachment.ends(scene, [places[id(body)] for body in scene.bodies])
            around = {to.name} if to.links is None else {to.name, f"{to.name}/{to.link_name(attachment.link)}"}
            shapes = [replace(s, beside=s.beside | around) if _of(s, body) else s for s in shapes]
    return Setting(shapes, scene.obstacles, _gravity(scene), float(scene.h), wholes(scene, made))


def elastodynamics(
    bodies: Sequence[Any],
    gravity: Sequence[float],
    loads: Sequence[tuple[int, Load]] = (),
    contact: ContactModel | None = None,
) -> Elastodynamics:
    """The physics of deformable bodies; ``loads`` with the number of the body each acts on."""
    offsets = np.concatenate([[0], np.cumsum([len(b.mesh.X) for b in bodies])]).astype(np.int64)
    n, d = int(offsets[-1]), bodies[0].mesh.dim
    X = np.concatenate([b.mesh.X for b in bodies])
    masses = [sp.csr_matrix(b.masses()) for b in bodies]
    energies: list[Energy] = []
    forces: list[Force] = []
    pins: list[Pin] = []

    def placed(members: list[int]) -> Placed:
        first = int(offsets[members[0]])
        m = sp.block_diag([masses[k] for k in members], format="csr")
        T = np.concatenate([bodies[k].mesh.T + offsets[k] for k in members])
        return Placed(X, T, first, sp.kron(_shifted(m, first, n), sp.identity(d), format="csr"))

    for alike in _alike(bodies):
        body, here = bodies[alike[0]], placed(alike)
        elastic = body.energies(here)
        if len({bodies[k].name for k in alike}) > 1:  # the books say that it is not the energy of one body
            for energy in elastic:
                energy.name += f" and {len(alike) - 1} alike"
        energies += elastic
        if body.damping is not None:
            forces.append(body.damping.force(body, here, elastic))
    forces += [load.force(placed([k])) for k, load in loads]
    for body, first in zip(bodies, offsets, strict=False):
        held = body.copies() if isinstance(body, Copying) else body.pins
        pins += [p.renumbered(np.asarray(p.vertices) + first) for p in held]
    M = sp.block_diag(masses, format="csr")
    g = np.asarray(gravity, dtype=np.float64)[:d]
    if g.any():
        energies.append(Gravity(np.asarray(M.sum(axis=1)).ravel(), g))
    cells = [b.mesh.T + first for b, first in zip(bodies, offsets, strict=False)]
    return Elastodynamics(X, M.diagonal() if M.nnz == n else M, energies, forces, pins, contact, cells)


def _alike(bodies: Sequence[Any]) -> list[list[int]]:
    """Neighbouring bodies made of the same material in the same way: one energy serves them all."""
    groups: list[list[int]] = []
    for k, body in enumerate(bodies):
        if groups and body.alike() == bodies[groups[-1][0]].alike():
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups


def _shifted(m: sp.csr_matrix, first: int, n: int) -> sp.csr_matrix:
    """A body's (n_b, n_b) matrix at its place in (n, n)."""
    coo = m.tocoo()
    return sp.csr_matrix((coo.data, (coo.row + first, coo.col + first)), shape=(n, n))
