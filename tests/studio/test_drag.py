"""A hand is a spring of the system: its force, its energy and its work are those of a spring."""

import socket

import numpy as np
import pytest

from pliant.bench.eol.march import march
from pliant.scene_file import load_scene
from pliant.simulate import beginning, simulate
from pliant.view import LiveView
from pliant.view.player import Player


@pytest.fixture
def player():
    return Player("cantilever", ["parameters.cells=1", "gravity=[0, 0, 0]"])


def tip(player):
    return int(np.argmax(player.points @ [1.0, 0.1, 0.1]))


def test_the_spring_is_in_the_force_the_tangent_and_the_energy(player):
    system, vertex, target, k = player.system, tip(player), np.array([0.5, 0.1, 0.3]), 700.0
    held = system.pulled(vertex, target, k)
    q, v = player.state.q + 1e-3, np.zeros_like(player.state.v)
    more = (held.force(q, v, 0.0) - system.force(q, v, 0.0)).reshape(-1, 3)
    assert np.allclose(more[vertex], k * (target - q.reshape(-1, 3)[vertex])) and np.count_nonzero(more) == 3
    stiffer = (held.stiffness(q, v, 0.0) - system.stiffness(q, v, 0.0)).diagonal().reshape(-1, 3)
    assert np.allclose(stiffer[vertex], -k) and np.count_nonzero(np.round(stiffer, 6)) == 3
    assert held.energies(q, v, 0.0)["attachment"] == pytest.approx(
        0.5 * k * np.sum((target - (q.reshape(-1, 3)[vertex])) ** 2)
    )
    assert "attachment" not in system.energies(q, v, 0.0)


def test_the_books_of_a_pull_balance(player):
    """Energy at the end = what the hand did - what the integrator took; nothing else acts without gravity."""
    vertex, start = tip(player), sum(player.system.energies(player.state.q, player.state.v, 0.0).values())
    taken = 0.0
    for _ in range(12):
        player.pull((vertex, player.points[vertex] + [0.0, 0.0, 0.02], player.grip))
        player.take()
        assert player.last.report.verdict != "failed" and player.hand.shape == (2, 3)
        taken += player.last.ledger.numerical
    end = player.last.ledger.total
    assert player.worked > 0.0 and end - start == pytest.approx(player.worked - taken, rel=1e-9)
    assert player.points[vertex, 2] > 0.1 + 1e-3
    player.pull(None)
    assert player.hand is None and player.history[-1][0] == player.state.t


def test_a_pull_keeps_the_memory_of_the_integrator(player):
    """Holding a vertex where it is with a spring of no consequence does not change the motion of a two-step method."""
    scene = load_scene("cantilever", ["parameters.cells=1"]).scene
    plain = [step.state.q for _, step in zip(range(6), simulate(scene))]
    player = Player("cantilever", ["parameters.cells=1"])
    for _ in range(6):
        player.pull((tip(player), player.points[tip(player)], 1e-9))
        player.take()
    assert np.abs(player.state.q - plain[-1]).max() < 1e-7


@pytest.mark.parametrize("solver", ["pd", "qlb"])
def test_solvers_that_keep_matrices_feel_the_hand(solver):
    """A hand that comes after some steps leads where Newton's method says."""
    found = []
    for name, held in (("newton", True), (solver, True), (solver, False)):
        player = Player("ledwon/hanging-cloth", ["integrator=bdf1", f"integrator.solver={name}"])
        corner = int(np.argmax(player.points @ [0.01, 1.0, 0.0]))  # free; two others are held
        for k in range(5):
            if held and k > 1:
                player.pull((corner, player.points[corner] + [0.0, 0.0, 0.05], 10.0 * player.grip))
            player.take()
        found.append(player.points)
    assert np.abs(found[0] - found[1]).max() < 1e-5
    assert found[1][corner, 2] > found[2][corner, 2] + 1e-3


def test_a_rigid_body_can_be_pulled():
    """The generalised force of the spring is minus the derivative of its energy along every joint."""
    scene = load_scene("redmax/scene-1", []).scene
    system, _ = beginning(scene)
    rng = np.random.default_rng(3)
    start = scene.initial(system).q
    q, v = start + 0.3 * rng.normal(size=len(start)), np.zeros(len(start))
    held = system.pulled(len(system.positions(q)) - 1, np.array([5.0, 9.0, 3.0]), 40.0)
    more = held.force(q, v, 0.0) - system.force(q, v, 0.0)
    extra = lambda q: held.energies(q, v, 0.0)["elastic"] - system.energies(q, v, 0.0)["elastic"]
    eps = 1e-6
    slope = [(extra(q + eps * e) - extra(q - eps * e)) / (2 * eps) for e in np.eye(len(q))]
    assert np.allclose(more, -np.array(slope), rtol=1e-6, atol=1e-3)


def test_the_hand_on_sliding_cloth_is_a_spring_to_its_material():
    """Its force is minus the derivative of its energy along every coordinate, those in the material included."""
    scene = load_scene("eol/edge", ["parameters.cells=4"]).scene
    moments = [moment for _, moment in zip(range(40), march(scene))]
    cloth, state = moments[-1].cloth, moments[-1].state
    assert len(cloth.eol)
    sheet = cloth.unpack(state.q, state.v)
    face = int(np.argmax((sheet.faces == cloth.eol[1]).any(axis=1)))  # one that slides
    inside = np.array([0.5, 0.3, 0.2]) @ sheet.X[sheet.faces[face]]
    held = cloth.pulled(inside, np.array([0.4, 0.5, 0.3]), 70.0)
    v = np.zeros_like(state.v)
    more = held.force(state.q, v, 0.0) - cloth.force(state.q, v, 0.0)
    spring = lambda q: held.energies(q, v, 0.0)["attachment"]
    eps = 1e-6
    slope = [(spring(state.q + eps * e) - spring(state.q - eps * e)) / (2 * eps) for e in np.eye(len(state.q))]
    assert np.allclose(more, -np.array(slope), atol=1e-6 * np.abs(slope).max())
    assert np.abs(more[3 * len(sheet.X) :]).max() > 0.1
    stiffer = held.stiffness(state.q, v, 0.0) - cloth.stiffness(state.q, v, 0.0)
    d = np.zeros(len(state.q))
    d[: 3 * len(sheet.X)] = 1.0  # the whole cloth moved in the world
    assert -d @ stiffer @ d == pytest.approx(3 * 70.0)


def test_cloth_whose_mesh_changes_can_be_pulled():
    """A hand lifts the material it took hold of, from mesh to mesh, and lets go."""
    player = Player("eol/tablecloth", ["parameters.cells=6"])
    for _ in range(20):
        player.take()
    vertex = int(np.argmin(np.linalg.norm(player.points[:, :2] - 0.5, axis=1)))
    where, start = player.hold(vertex), player.points[vertex]
    meshes = set()
    for _ in range(40):
        player.pull((where, start + [0.0, 0.0, 0.3], 5 * player.grip))
        player.take()
        meshes.add(len(player.points))
        assert player.last.report.verdict != "failed"
    near, far = player.hand
    assert len(meshes) > 1 and np.array_equal(far, start + [0.0, 0.0, 0.3])
    assert near[2] - start[2] > 0.1
    player.pull(None)
    assert player.hand is None and "attachment" not in player.system.energies(player.state.q, player.state.v, 0.0)
    player.take()


def test_the_mouse_holds_the_nearest_vertex_and_lets_go():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    live = LiveView("cantilever", ["parameters.cells=1"], port=port)
    try:
        (player,) = live.players
        vertex = tip(player)
        grab = player.points[vertex] + 1e-3
        live.drag(0, "start", grab, grab)
        live.drag(0, "update", grab, grab + [0.0, 0.0, 0.1])
        assert np.allclose(player.hand, [player.points[vertex], grab + [0.0, 0.0, 0.1]])
        live._play.value = True
        for _ in range(5):
            live.advance()
        free_fall = [s.state for _, s in zip(range(5), simulate(player.scene))][-1]
        assert player.points[vertex, 2] > player.system.positions(free_fall.q)[vertex, 2] + 1e-3
        live.drag(0, "end", grab, grab)
        assert player.hand is None
        live.advance()
        assert "the hand did" in live._text.content
    finally:
        live.stop()
