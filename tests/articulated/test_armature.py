"""Armature: the inertia of a rotor on the first joint is that of a body which turns about its axis as much harder."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.articulated import BISP, RK45, ArticulatedSystem, Link, MatrixFree, Sparse, StaggeredProjections, at, cuboid
from pliant.articulated.constraints import CoupledJoints
from pliant.articulated.forces import Explicit, JointSpring
from pliant.articulated.joints import Prismatic, Revolute, Spherical
from pliant.errors import SceneError
from pliant.integrators import BDF1, BDF2, RK4, SDIRK2, TRBDF2, ImplicitMidpoint, LinearlyImplicit, Verlet
from pliant.scene_file import describe, dumps, load_scene
from pliant.state import State

ROTOR = 0.7  # kg m^2
STEPPERS = [
    LinearlyImplicit(),
    LinearlyImplicit(matrix=Sparse()),
    LinearlyImplicit(matrix=MatrixFree()),
    BDF1(),
    BDF2(),
    SDIRK2(),
    TRBDF2(),
    ImplicitMidpoint(),
    RK4(),
    Verlet(),
    RK45(),
    BISP(),
    StaggeredProjections(unilateral=False),
]


def crane(*, rotor, general=False, extra=(), gravity=(0.3, 0.2, -9.81)):
    """A column that turns about z, two beams on it: the rotor is an armature, or moment of inertia of the column."""
    column = cuboid((0.2, 0.2, 1.0), 300.0, at(0.0, 0.0, 0.5))
    if rotor == "in the body":
        column = replace(column, inertia=column.inertia + np.array([0.0, 0.0, ROTOR, 0.0, 0.0, 0.0]))
    links = [
        Link(Revolute((0, 0, 1)), column, name="column", armature=ROTOR if rotor == "armature" else 0.0),
        Link(Revolute((0, 1, 0)), cuboid((1.0, 0.1, 0.1), 300.0, at(0.5, 0, 0)), "column", at(0, 0, 1.0), "boom"),
        Link(Prismatic((1, 0, 0)), cuboid((0.8, 0.08, 0.08), 300.0, at(0.4, 0, 0)), "boom", at(0.3, 0, 0), "arm"),
    ]
    springs = [
        JointSpring("column", 4.0, 0.3, 0.2),
        JointSpring("boom", 90.0, 1.0, -0.2),
        JointSpring("arm", 400.0, 5.0),
    ]
    slow = [Explicit(JointSpring("arm", 0.0, 0.0))] if general else []  # which the compiled passes do not know
    return ArticulatedSystem(links, [*springs, *slow, *extra], gravity=gravity)


START = State(np.array([0.3, -0.4, 0.05]), np.array([1.5, -0.7, 0.4]))


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("method", STEPPERS, ids=lambda m: f"{type(m).__name__}-{STEPPERS.index(m)}")
def test_every_integrator_moves_a_rotor_as_it_does_a_body(method, general):
    ways = [crane(rotor=rotor, general=general) for rotor in ("armature", "in the body", "none")]
    assert all((system.ordinary is None) == general for system in ways)
    ends, books = [], []
    for system in ways:
        state, memory = START, None
        for _ in range(20):
            step = method.step(system, state, 0.01, memory)
            state, memory = step.state, step.memory
        ends.append(np.concatenate([state.q, state.v]))
        books.append(system.energies(state.q, state.v, state.t)["kinetic"])
    rotor, body, none = ends
    close = 1e-6 if isinstance(method, RK45 | BISP | BDF1 | BDF2) else 1e-8  # what the methods iterate to
    assert np.abs(rotor - body).max() < close
    assert np.abs(rotor - none).max() > 1e-2
    assert books[0] == pytest.approx(books[1], rel=10 * close) and books[0] != pytest.approx(books[2], rel=1e-3)


def test_by_material_points_they_agree_to_first_order():
    """There the inertia of a body is that of its chords, and that of a rotor still of its angle."""

    def apart(h, *rotors):
        ends = []
        for rotor in rotors:
            system, state, memory = crane(rotor=rotor), START, None
            for _ in range(round(0.2 / h)):
                step = BDF1(points=True).step(system, state, h, memory)
                state, memory = step.state, step.memory
            ends.append(np.concatenate([state.q, state.v]))
        return np.abs(ends[0] - ends[1]).max()

    coarse, fine = (apart(h, "armature", "in the body") for h in (0.01, 0.005))
    assert 0.4 < fine / coarse < 0.6 and coarse < 0.05 * apart(0.01, "armature", "none")


@pytest.mark.parametrize("general", [False, True])
def test_matrices_and_forces_are_those_of_the_body(general):
    rotor, body = (crane(rotor=way, general=general) for way in ("armature", "in the body"))
    q, v, a = START.q, START.v, np.array([0.3, -2.0, 1.0])
    for of in (
        lambda s: s.mass(q).toarray(),
        lambda s: s.weights(q),
        lambda s: s.inertia(q, a),
        lambda s: s.inverse_dynamics(q, v, a, 0.0),
        lambda s: s.acceleration(q, v, 0.0),
        lambda s: s.accelerated(q, a),
        lambda s: s.tangent(q, v, 0.0, (1.3, 0.2, 0.7), psd=False, a=a).toarray(),
        lambda s: s.tangent(q, v, 0.0, (1.3, 0.2, 0.7)).toarray(),
    ):
        assert np.allclose(of(rotor), of(body), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("method", [LinearlyImplicit(), BDF1(), RK4(), BISP()], ids=lambda m: type(m).__name__)
def test_gears_move_rotors_too(method):
    """The column drives the arm: q_column = 3 q_arm."""
    ends = []
    for way in ("armature", "in the body", "none"):
        free = crane(rotor=way)
        system = ArticulatedSystem(free.tree.links, free.forces, [CoupledJoints("arm", "column", 3.0)])
        state, memory = State(np.array([0.3, -0.4, 0.1]), np.array([1.5, -0.7, 0.5])), None
        for _ in range(20):
            step = method.step(system, state, 0.01, memory)
            state, memory = step.state, step.memory
        ends.append(np.concatenate([state.q, state.v]))
    assert np.allclose(ends[0], ends[1], atol=1e-6) and abs(ends[0] - ends[2]).max() > 1e-2


def test_a_rotor_on_a_later_joint_turns_with_it_alone():
    """A hinge on a hinge, both along z, no gravity: T = (I1 + R1) w1^2/2 + ... of the relative rate; closed form."""
    beam = cuboid((1.0, 0.1, 0.1), 100.0, at(0.5, 0, 0))
    links = [Link(Revolute((0, 0, 1)), beam, name="a"), Link(Revolute((0, 0, 1)), beam, "a", at(1, 0, 0), "b", ROTOR)]
    bare = ArticulatedSystem([replace(link, armature=0.0) for link in links], gravity=(0, 0, 0))
    system = ArticulatedSystem(links, gravity=(0, 0, 0))
    q, v = np.array([0.2, 0.9]), np.array([1.1, -0.6])
    assert np.allclose(system.mass(q).toarray() - bare.mass(q).toarray(), np.diag([0.0, ROTOR]), atol=1e-12)
    assert system.energies(q, v, 0.0)["kinetic"] - bare.energies(q, v, 0.0)["kinetic"] == pytest.approx(
        0.5 * ROTOR * v[1] ** 2, rel=1e-9
    )
    assert np.allclose(system.momenta(q, v)[1], bare.momenta(q, v)[1])


def test_energy_is_kept_with_rotors():
    """The drift of RK4 with armatures on every joint falls with h^4."""
    links = [replace(link, armature=0.2 + 0.3 * k) for k, link in enumerate(crane(rotor="none").tree.links)]
    system = ArticulatedSystem(links)

    def drift(h):
        state = START
        total = lambda s: sum(system.energies(s.q, s.v, s.t).values())
        for _ in range(round(0.4 / h)):
            state = RK4().step(system, state, h, None).state
        return abs(total(state) - total(START))

    assert 12.0 < drift(0.02) / drift(0.01) < 40.0


@pytest.mark.parametrize("armature", [-1.0, np.nan, np.inf])
def test_what_is_no_inertia_is_refused(armature):
    with pytest.raises(SceneError, match="armature"):
        Link(Revolute((0, 0, 1)), cuboid((1, 1, 1), 1.0), armature=armature)


def test_balls_have_no_armature():
    with pytest.raises(SceneError, match="hinges or sliders"):
        Link(Spherical(), cuboid((1, 1, 1), 1.0), armature=0.1)


def test_scene_files_know_it(tmp_path):
    text = """
    h = "5 ms"
    duration = "10 ms"
    integrator = "linearlyimplicit"
    [[bodies]]
    kind = "articulated"
    name = "arm"
    [[bodies.links]]
    name = "beam"
    armature = 0.7
    joint = { kind = "revolute", axis = [0, 1, 0] }
    shape = { kind = "box", sides = [0.4, 0.1, 0.1] }
    """
    path = tmp_path / "arm.toml"
    path.write_text(text)
    scene = load_scene(path).scene
    assert scene.bodies[0].system().tree.armature.tolist() == [0.7]
    assert "armature = 0.7" in dumps(describe(scene)[0])
