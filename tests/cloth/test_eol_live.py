"""Cloth against a body that moves with it: the coupled step by hand, for a body that only translates."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.cloth.active_set import ActiveSet
from pliant.cloth.body import Cloth
from pliant.cloth.sheet import rectangle, sheet
from pliant.contact.obstacles import Box
from pliant.integrators import LinearlyImplicit
from pliant.maps.motions import Phase, Phases, Pose, Twist
from pliant.scenes import eol
from pliant.systems.row_contact import RowContact
from pliant.velocity_programme import velocity_step

QP = ActiveSet()


def together(cloth, state, body, mass, h, steps, g=(0.0, 0.0, 0.0)):
    """Steps of the cloth and a live body (x, v) of the given mass that feels gravity ``g``, in one programme."""
    x, v = (np.array(part, dtype=np.float64) for part in body)
    memory, rows, drift = None, 0, 0.0
    for _ in range(steps):
        pose = Pose(np.eye(3), x)
        prepared = cloth.prepare(state, h, memory, live=[(pose, Twist(v, np.zeros(3), x))])
        block = prepared.block
        (E, e), (C, d) = block.equality, block.inequality
        n, k = len(block.b), len(e)
        push = sp.lil_matrix((k + len(d), 3))
        if block.live is not None:
            rows += len(block.live.rows)
            push[block.live.rows] = -block.live.normal
        push = push.tocsr()
        solution = velocity_step(
            sp.block_diag([block.A, mass * sp.identity(3)], format="csr"),
            np.concatenate([block.b, mass * (v + h * np.asarray(g))]),
            equality=(sp.hstack([E, push[:k]], format="csc"), e),
            inequality=(sp.hstack([C, push[k:]], format="csc"), d),
            qp=QP,
        )
        assert solution.report.converged
        u, before, v = solution.u[:n], v, solution.u[n:]
        q, now = prepared.cloth.pack(prepared.sheet, 0.0).q, prepared.cloth.pack(prepared.sheet, 0.0).v
        gained = prepared.cloth.momenta(q, u)[0] - prepared.cloth.momenta(q, now)[0] + mass * (v - before)
        drift = max(drift, float(np.abs(gained).max()))
        assert prepared.reach(u, h) == h
        moved = prepared.finish(u, solution.equality, solution.inequality, h)
        cloth, state, memory = moved.system or cloth, moved.state, moved.memory
        x = x + h * v
    return cloth, state, v, rows, drift


def scripted(cloth, state, h, steps):
    memory = None
    for _ in range(steps):
        step = LinearlyImplicit().step(cloth, state, h, memory)
        cloth, state, memory = step.system or cloth, step.state, step.memory
    return cloth, state


NO_WEIGHT, CONTACT = (0.0, 0.0, 0.0), RowContact(mu=0.0, thickness=5e-3)


def test_a_heavy_body_moves_as_scripted_and_the_cloth_on_its_faces_does_the_same() -> None:
    """The difference falls with one over the mass."""
    flat = sheet(*rectangle((1.0, 1.0), (4, 4)))
    body, velocity = Box((0.5, 0.5, -0.501), (2.0, 2.0, 1.0)), (0.05, 0.0, 0.5)
    given = replace(body, motion=Phases((Phase(0.0, 9.0, velocity),)))
    one = Cloth(flat, eulerian=True).part((0.0, 0.0, -9.81), [given], CONTACT)
    _, expected = scripted(one, one.initial(), 4e-3, 10)
    errors = []
    for mass in (1e2, 1e4, 1e6):
        cloth = Cloth(flat, eulerian=True).part((0.0, 0.0, -9.81), [], CONTACT, live=[body])
        _, state, _, rows, _ = together(cloth, cloth.initial(), (np.zeros(3), velocity), mass, 4e-3, 10)
        assert rows > 100
        errors.append(float(np.abs(state.v - expected.v).max()))
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.1) and errors[2] < 1e-6


def test_cloth_slides_over_the_edge_of_a_heavy_body_as_over_a_scripted_one() -> None:
    """EDGE from rest on a table that moves; the two keep A definite in different ways, by a thousandth of a mass."""
    scene = replace(eol.draped_edge(cells=5, beta=0.0), duration=0.2)
    (table,), velocity = scene.obstacles, (0.0, -0.2, 0.0)
    given = replace(table, motion=Phases((Phase(0.0, 9.0, velocity),)))
    gravity = scene.gravity
    one = scene.bodies[0].part(gravity, [given], CONTACT)
    first, expected = scripted(one, one.initial(), scene.h, 25)
    two = scene.bodies[0].part(gravity, [], CONTACT, live=[table])
    last, state, _, rows, _ = together(two, two.initial(), (np.zeros(3), velocity), 1e6, scene.h, 25)
    assert len(first.eol) == len(last.eol) > 3 and rows > 100
    crease = last.unpack(state.q, state.v).X[last.eol, 1]
    assert np.abs(crease - 0.51).min() > 1e-2  # it has moved in the material
    speed = np.abs(expected.v).max()
    assert np.abs(state.v - expected.v).max() < 1e-4 * speed
    assert np.abs(state.q - expected.q).max() < 1e-6


def test_an_isolated_cloth_and_body_keep_their_momentum() -> None:
    """A cloth flies over the edge of a body twice as heavy, which is thrown back by it.

    Every solve keeps it but for the trace of drag, 1e-9 of the mass; the whole motion but for what remeshing and the
    material that crosses the crease (the quadratic-velocity vector) take: 0.6 % here.
    """
    flat = sheet(*rectangle((1.0, 1.0), (5, 5)))
    above = replace(flat, x=flat.x + [0.0, 0.0, 0.004])
    cloth = Cloth(above, velocity=(0.0, 0.0, -1.0), eulerian=True)
    part = cloth.part(NO_WEIGHT, [], CONTACT).shown([Box((0.5, 1.01, -0.5), (2.0, 1.0, 1.0))])
    assert part.contacts(part.rest, 0 * part.rest, 0.0) is None  # unknown as long as nobody says where the body is
    start = part.initial()
    before = part.momenta(start.q, start.v)[0]
    last, state, v, rows, drift = together(part, start, (np.zeros(3), np.zeros(3)), 0.1, 4e-3, 30)
    after = last.momenta(state.q, state.v)[0] + 0.1 * v
    size = np.abs(before).max()
    assert len(last.eol) > 3 and rows > 100 and v[2] < -0.1
    assert drift < 2e-9 * size and np.abs(after - before).max() < 1e-2 * size
