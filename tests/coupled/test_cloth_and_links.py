"""Eulerian cloth and jointed bodies that push each other: momentum, friction, the light-cloth limit, restarts."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from pliant.articulated.bodies import at, cuboid
from pliant.articulated.body import Articulated
from pliant.articulated.joints import Prismatic, Revolute, Translational
from pliant.articulated.tree import Link
from pliant.attachments import Attachment
from pliant.bench.world.arm import Logged, alone
from pliant.checkpoint import load, save
from pliant.cloth.body import Cloth
from pliant.cloth.eulerian import Eulerian
from pliant.cloth.remesh import Remesher
from pliant.cloth.sheet import rectangle, sheet
from pliant.contact.obstacles import Box
from pliant.errors import SceneError
from pliant.integrators import LinearlyImplicit
from pliant.scene import Scene
from pliant.scenes.world_cloth import arm_and_cloth
from pliant.simulate import simulate
from pliant.systems.row_contact import RowContact

H, THICK = 4e-3, 5e-3


def world(bodies, mu=0.0, gravity=(0.0, 0.0, 0.0), **more) -> Scene:
    contact = RowContact(mu=mu, thickness=THICK)
    return Scene(bodies, LinearlyImplicit(), h=H, contact=contact, gravity=gravity, on_failure="substep", **more)


@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_a_block_thrown_into_free_cloth_gives_it_what_it_loses(mu):
    """Every solve keeps the momentum of both but for the trace of drag that keeps the cloth's matrix definite, and what
    its tolerance leaves of sliding along creases. Cloth that lies flat on the block presses nowhere in particular.
    Remeshing keeps it to rounding."""
    flat = sheet(*rectangle((1.0, 1.0), (5, 5)))
    cloth = Cloth(flat, velocity=(0.1, 0.0, -1.0), eulerian=True)
    hit = Articulated([Link(Translational(), cuboid((0.3, 0.3, 0.2), 10.0), None, at(0.5, 0.45, -0.106))], name="block")
    scene = world([cloth, hit], mu, duration=0.08)
    system = scene.system()
    state, memory, met, rubbed = scene.initial(system), None, 0, 0.0
    before = system.momenta(state.q, state.v)[0]
    for _ in range(scene.steps):
        step = LinearlyImplicit().step(system, state, H, memory)
        assert all(r.residual < 1e-6 for r in step.reports)
        old, system = system, step.system or system
        start = step.start or state
        there = system.momenta(start.q, start.v)[0]
        gained = system.momenta(start.q, step.state.v)[0] - there
        if len(step.reports) == 1:
            assert np.abs(gained).max() < 3e-6 * np.abs(before).max()  # sums of all rows, each solved to 1e-7
            assert there == pytest.approx(old.momenta(state.q, state.v)[0], abs=1e-12 * np.abs(before).max())
        met, rubbed = max(met, len(system.parts[0].eol)), rubbed + step.work["friction"]
        state, memory = step.state, step.memory
    assert met > 3  # vertices on the edges of the block
    assert state.v[-1] < -0.05  # it was thrown back
    assert (rubbed < -1e-9) == (mu > 0)


def test_cloth_that_slides_on_a_plate_drags_it_along():
    """Coulomb: both accelerate with -+ mu m g until they go together; nothing holds them along x."""
    mu, g, v = 0.4, 9.81, 0.5
    plate = cuboid((3.0, 2.0, 0.1), 0.2 / 0.6)  # 0.2 kg
    rail = Articulated([Link(Prismatic((1.0, 0.0, 0.0)), plate, None, at(0.0, 0.0, -0.05), name="plate")], name="rail")
    flat = sheet(*rectangle((0.8, 0.8), (4, 4)))
    begin = replace(flat, x=flat.x + [-0.4, -0.4, 0.0])
    cloth = Cloth(begin, velocity=(v, 0.0, 0.0), eulerian=True)
    scene = world([cloth, rail], mu, (0.0, 0.0, -g), duration=0.2)
    m, M = cloth.fabric.rho * 0.64, 0.2
    traded = np.zeros(3)
    for step in simulate(scene):
        p = step.system.momenta(step.state.q, step.state.v)[0][0]
        assert p == pytest.approx(m * v, rel=1e-8)
        if step.state.t > 0.02:
            expected = min(m * v / (m + M), mu * m * g * step.state.t / M)
            assert step.state.v[-1] == pytest.approx(expected, rel=0.02)
        pairs = step.ledger.exchange
        traded += [pairs["cloth", "rail/plate"], pairs["rail/plate", "cloth"], step.ledger.work["friction"]]
    assert traded[0] == pytest.approx(0.5 * M * (m * v / (m + M)) ** 2, rel=0.1)
    assert traded[0] + traded[1] == pytest.approx(traded[2], rel=1e-6)


def swung(**options):
    """How far the cloth turns the arm, beside the arm alone with the same steps, and what it takes from it [J]."""
    lost, method = 0.0, Logged()
    for step in simulate(replace(arm_and_cloth(cells=4, duration=0.5, **options), integrator=method)):
        lost -= step.ledger.exchange["cloth", "arm/box"]
        assert step.report.converged
    return np.abs(step.state.q[-2:] - alone(method.pieces)).max(), lost


def test_the_arm_is_slowed_by_cloth_in_proportion_to_its_mass():
    """As the cloth gets lighter the arm moves as it does alone."""
    off, (lost, little) = zip(swung(areal=0.05), swung(areal=0.0125), strict=True)
    assert lost > 0.03 and off[0] > 1e-4
    assert lost / little == pytest.approx(4, rel=0.1) and off[0] / off[1] == pytest.approx(4, rel=0.2)


def test_a_spinning_cloth_with_a_hub_gains_little_in_steps_that_are_too_long():
    """Cloth alone ends such steps early (`test_eol_energy`). With its middle tied to a link both do, together."""
    spin, h = 60.0, 8e-3
    X, faces = rectangle((1.0, 1.0), (4, 4))
    r = np.column_stack([X - 0.5, np.zeros(len(X))])
    turning = replace(sheet(X, faces, r), v=spin * np.column_stack([-r[:, 1], r[:, 0], r[:, 2]]))
    hub = Articulated(
        [Link(Revolute((0.0, 0.0, 1.0)), cuboid((0.3, 0.3, 0.01), 30.0), name="hub")], v=(spin,), name="hub"
    )
    middle = np.flatnonzero(np.linalg.norm(r, axis=1) < 0.2)
    tie = Attachment("cloth", middle, "hub", "hub")
    scene = Scene(
        [Cloth(turning, eulerian=True, name="cloth"), hub],
        LinearlyImplicit(),
        h=h,
        duration=5 * h,
        gravity=(0.0, 0.0, 0.0),
        attachments=[tie],
    )
    start, system = scene.initial(), scene.system()
    energy = sum(system.energies(start.q, start.v, 0.0).values())
    for step in simulate(scene):
        now = sum(step.system.energies(step.state.q, step.state.v, step.state.t).values())
        assert now <= 1.01 * energy
        energy = now


def test_an_interrupted_run_of_arm_and_cloth_goes_on_bit_for_bit(tmp_path):
    scene = arm_and_cloth(cells=4, duration=0.5)
    whole = list(simulate(scene))
    middle = list(islice(simulate(scene), 112))[-1]
    assert middle.topology.mesh[0] is not None and middle.topology.mesh[1] is None  # one entry per part
    save(tmp_path / "point.h5", middle.checkpoint())
    rest = list(simulate(scene, start=load(tmp_path / "point.h5")))
    assert whole[-1].report.contacts > 0
    assert whole[-1].state.q.tobytes() == rest[-1].state.q.tobytes()
    assert whole[-1].state.v.tobytes() == rest[-1].state.v.tobytes()


def hung(stiffness=None):
    """A cloth whose far hem is attached to a bar on a hinge, and that is blown over the edge of a table."""
    X, faces = rectangle((0.6, 0.6), (5, 5))
    begin = sheet(X, faces, np.column_stack([X[:, 0], X[:, 1], 0 * X[:, 0] + 2e-3]))
    hem = np.flatnonzero(X[:, 1] == 0.6)
    bar = cuboid((0.7, 0.04, 0.04), 200.0, at(0.3, 0.3, 0.0))
    link = Link(Revolute((1.0, 0.0, 0.0)), bar, None, at(0.0, 0.34, 0.03), name="bar")
    cloth = Cloth(begin, eulerian=Eulerian(Remesher(0.08, 0.2)))
    table = Box((0.3, 0.3, -0.5), (2.0, 0.2, 1.0))
    ties = [Attachment("cloth", hem, "rod", "bar", stiffness=stiffness)]
    return world([cloth, Articulated([link], name="rod")], 0.0, (0.0, 0.0, -9.81), duration=0.15,
                 obstacles=[table], attachments=ties), X[hem]  # fmt: skip


@pytest.mark.parametrize("stiffness", [None, 500.0])
def test_attached_cloth_hangs_on_its_link_while_its_mesh_changes(stiffness, tmp_path):
    scene, hem = hung(stiffness)
    start = scene.initial()
    reach = np.linalg.norm(scene.system().parts[0].positions(start.q[:-1])[:, 1].max())
    steps = list(simulate(scene))
    last = steps[-1]
    cloth, q = last.system.parts[0], last.state.q
    assert len(cloth.sheet.faces) != len(scene.bodies[0].mesh.faces)
    held = [int(np.argmin(np.linalg.norm(cloth.sheet.X - X, axis=1))) for X in hem]
    E = last.system.parts[1].kinematics(q[-1:], q[-1:] * 0).frames[0]
    E0 = last.system.parts[1].kinematics(start.q[-1:], start.q[-1:] * 0).frames[0]
    first = np.column_stack([hem, np.full(len(hem), 2e-3)])
    there = (first - E0[:3, 3]) @ E0[:3, :3] @ E[:3, :3].T + E[:3, 3]
    apart = np.abs(cloth.positions(q[:-1])[held] - there).max()
    assert reach > 0.5 and abs(q[-1]) > 0.05 and apart < (1e-3 if stiffness is None else 0.05)
    save(tmp_path / "point.h5", steps[20].checkpoint())
    rest = list(simulate(scene, start=load(tmp_path / "point.h5")))
    assert rest[-1].state.q.tobytes() == q.tobytes()


def test_what_changes_its_mesh_is_no_place_to_attach_to():
    scene, _ = hung()
    with pytest.raises(SceneError, match="swap them"):
        replace(scene, attachments=[Attachment("rod", np.array([0]), "cloth")]).system()
