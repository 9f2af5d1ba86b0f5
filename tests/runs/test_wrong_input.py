"""Wrong input in Python is refused where it is given: argument, value, remedy. Units are read everywhere."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact.obstacles import Box
from pliant.errors import PliantError
from pliant.maps.motions import Keyframes, Shake
from pliant.simulate import simulate

BAR = pl.mesh.bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))
SOFT = pl.StableNeoHookean(1e5, 0.3)


def scene(**options):
    return pl.Scene([pl.Solid(BAR, SOFT)], **options)


def moved(motion):
    return pl.Scene([pl.Solid(BAR, SOFT, pins=pl.Pin([0], motion))])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pl.Pin([0.5]), "Pin.vertices: vertices are .*0.5.*; .*mask"),
        (lambda: pl.Pin([0], axes=(3,)), "Pin.axes: axes are .3,.; "),
        (lambda: pl.Pin([0], axes=(-1,)), "Pin.axes"),
        (lambda: pl.Pin([0], axes=(1, 1)), "Pin.axes"),
        (lambda: pl.Solid(BAR, SOFT, pins=[0, 1]), "solid.pins: pins are .0, 1.; give a Pin"),
        (lambda: pl.Solid(pl.mesh.sheet(cells=(2, 2)), SOFT), "solid.mesh: .*triangles.*; use Membrane"),
        (lambda: pl.Membrane(BAR, SOFT, 1e-3), "membrane.mesh: .*tetrahedra.*; use Solid"),
        (lambda: pl.SpringNet(BAR, 1.0, 1.0), "springs.mesh: springs on tetrahedra; "),
        (lambda: pl.StableNeoHookean("100 KPa", 0.3), "'KPa'; did you mean 'kPa'"),
        (lambda: pl.mesh.ball("5 kg"), "ball.radius: .*5 kg.*expected m"),
        (lambda: pl.Solid(BAR, None), "solid.material: material is None; give one such as"),
        (lambda: pl.Solid(BAR, pl.StVK), "solid.material: material is the class StVK; "),
        (lambda: pl.Solid(None, SOFT), "solid.mesh: mesh is None; "),
        (lambda: pl.Solid(BAR, SOFT, damping=0.1), "solid.damping: damping is 0.1; "),
        (lambda: pl.Solid(BAR, SOFT, plane="strain"), "solid.plane: plane is 'strain' in 3-d; "),
        (lambda: pl.Solid(BAR, SOFT, density=True), "density is True"),
        (lambda: pl.Scene([3]), "scene.bodies.0.: bodies.0. is 3; give a list of Solid"),
        (lambda: scene(contact="penalty"), "scene.contact: contact is 'penalty'; give PenaltyContact"),
        (lambda: scene(contact=pl.PenaltyContact), "scene.contact: contact is the class PenaltyContact; "),
        (lambda: scene(contact=pl.PenaltyContact(), obstacles=["floor"]), "scene.obstacles.0.: .*'floor'; "),
        (lambda: pl.Pin([0], motion=lambda X, t: X), "Pin.motion: .*; give Keyframes"),
        (lambda: pl.Pin([0], axes=2), "Pin.axes: axes are 2; "),
        (lambda: moved(Shake((1.0, 0.0), 2.0)).system(), "pins.0..motion: .*3-d vertices.*; give 3 components"),
        (lambda: Keyframes((0, 1), ((0, 0, 0), (1, 0))), "Keyframes.translations: .*different lengths; "),
        (lambda: Shake((np.nan, 0.0, 0.0), 1.0), "Shake.amplitude: .*nan.*; give finite numbers"),
        (lambda: pl.Rayleigh(beta=np.inf), "Rayleigh.beta: beta is inf; give finite numbers"),
        (lambda: pl.PenaltyContact(k=np.inf), "PenaltyContact.k: k is inf; "),
        (lambda: BAR.where("x<1e-9"), "where: the predicate is 'x<1e-9'; give a function"),
        (lambda: SOFT + 3, "StableNeoHookean . 3; add a material"),
        (lambda: pl.QLB(m=-1), "QLB.m: m is -1; give a whole number"),
        (lambda: pl.QLB(m=2.5), "QLB.m: m is 2.5; "),
        (lambda: pl.Newton(max_iterations=0), "Newton.max_iterations: max_iterations is 0; "),
        (lambda: pl.Newton(tolerance=1e-8), "Newton.tolerance: tolerance is 1e-08; give Tolerance"),
        (lambda: pl.Tolerance(relative=-1.0), "Tolerance.relative: relative is -1.0; "),
        (lambda: pl.Verlet(substeps=0), "Verlet.substeps: substeps is 0; "),
        (lambda: pl.LinearlyImplicit(beta=-1.0), "LinearlyImplicit.beta: beta is -1.0; "),
        (lambda: scene(integrator=pl.BDF2), "scene.integrator: integrator is the class BDF2; give an object"),
        (
            lambda: scene(integrator=pl.BDF2(solver=pl.QLB)),
            "scene.integrator.solver: solver is the class QLB; give an object",
        ),
        (lambda: scene(integrator="bdf2"), "scene.integrator: integrator is 'bdf2'; give an object"),
        (lambda: scene(on_failure="stop"), "scene.on_failure: on_failure is 'stop'; use one of raise"),
        (lambda: scene(on_energy_gain="stop"), "scene.on_energy_gain: .*; use one of ignore"),
        (lambda: scene(h=10, duration=0.03), "scene.duration: .*0.03.*half a step; .*reduce h .now 10"),
        (lambda: scene(h=None), "scene.h: .*None; "),
        (lambda: scene(h=[0.1, 0.2]), "scene.h: .*; give a positive time"),
        (lambda: scene(gravity="9.81 m/s^2"), "scene.gravity: .*; give 3 finite components"),
        (lambda: scene(gravity=(0, 0, "-9.81 kg")), "scene.gravity.2.: .*; expected m/s"),
    ],
)
def test_refused_by_name(make, words):
    with pytest.raises(PliantError, match=words):
        make()


def test_units_are_read_wherever_a_quantity_is_given():
    assert np.allclose(pl.mesh.bar(size=("30 cm", 0.1, "100 mm"), cells=(3, 1, 1)).X, BAR.X)
    assert pl.Rayleigh(alpha="2 1/s", beta="1 ms") == pl.Rayleigh(2.0, 1e-3)
    assert pl.PenaltyContact(k="2 kN/m", thickness="1 mm") == pl.PenaltyContact(k=2e3, thickness=1e-3)
    assert pl.BarrierContact(dhat="1 mm") == pl.BarrierContact(dhat=1e-3)
    assert Box(size=("1 cm", 0.02, 0.03)) == Box(size=(0.01, 0.02, 0.03))
    assert Shake(("3 cm", 0, 0), "3 Hz") == Shake((0.03, 0.0, 0.0), 3.0)
    turn = Keyframes(("0 s", "500 ms"), rotations=((0, 0, 0), ("90 deg", 0, 0)))
    assert turn == Keyframes((0.0, 0.5), rotations=((0.0, 0.0, 0.0), (np.pi / 2, 0.0, 0.0)))
    with_units = pl.Scene(
        [pl.Solid(BAR, SOFT, velocity=("1 cm/s", 0, 0))], gravity=(0, 0, "-981 cm/s^2"), h="10 ms", duration="30 ms"
    )
    assert with_units.gravity == (0.0, 0.0, -9.81) and with_units.bodies[0].velocity == (0.01, 0.0, 0.0)


def test_a_mask_pins_the_vertices_it_marks():
    mask = BAR.X[:, 0] < 1e-9
    assert np.array_equal(pl.Pin(mask).vertices, np.flatnonzero(mask))
    held = pl.Scene([pl.Solid(BAR, SOFT, pins=pl.Pin(mask))], h=0.01, duration=0.03)
    *_, last = simulate(held)
    moved = np.linalg.norm(last.state.q.reshape(-1, 3) - BAR.X, axis=1) > 0.0
    assert np.array_equal(moved, ~mask)


def test_bodies_that_pins_hold_inside_each_other_are_not_told_to_set_what_is_set():
    twice = [pl.Solid(BAR, SOFT, pins=pl.Pin([0]), name=n) for n in ("one", "two")]
    stuck = pl.Scene(twice, contact=pl.PenaltyContact(resolve_initial=True))
    with pytest.raises(PliantError, match="even when pushed apart.*those with pins stay"):
        stuck.initial(stuck.system())


def test_what_is_no_scene_is_said_by_name():
    with pytest.raises(PliantError, match="Loaded is not a scene; give its .scene"):
        next(simulate(pl.load_scene("cantilever")))
    with pytest.raises(PliantError, match="Solid is not a scene; give a pliant.Scene"):
        next(simulate(pl.Solid(BAR, SOFT)))


def test_one_body_or_one_obstacle_needs_no_list():
    alone = pl.Scene(pl.Solid(BAR, SOFT), contact=pl.PenaltyContact(), obstacles=pl.Plane(point=(0, 0, -1)))
    assert len(alone.bodies) == len(alone.obstacles) == 1


def test_a_net_whose_springs_cross_touches_itself():
    net = pl.SpringNet(pl.mesh.spring_net(3, 3, (0.1, 0.1)), 100.0, 0.005, name="net")
    crossed = pl.Scene([net], contact=pl.BarrierContact(stiffness=1e6))
    with pytest.raises(PliantError, match="'net' touches itself at the start; use a net whose springs do not cross"):
        crossed.initial(crossed.system())


def test_damping_by_the_stiffness_at_rest_resists_turning_and_by_the_present_one_does_not():
    """What the docstring of Rayleigh warns of: the spin of a free cube after a fifth of a turn."""
    cube = pl.mesh.bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
    spins = {}
    for name, damping in {"rest": pl.Rayleigh(beta=1e-3), "current": pl.Rayleigh(beta=1e-3, current=True)}.items():
        turning = pl.Scene([pl.Solid(cube, SOFT, damping=damping)], gravity=(0, 0, 0), h=5e-3, duration=0.1)
        system, rest = turning.system(), turning.initial(turning.system())
        x = cube.X - cube.X.mean(axis=0)
        v = np.cross((0.0, 0.0, 3.0), x).ravel()
        start = pl.Checkpoint(0, pl.State(rest.q, v, 0.0))
        *_, last = simulate(turning, start=start, system=system)
        spins[name] = last.ledger.angular[2] / (np.cross(x, v.reshape(-1, 3))[:, 2] @ system.nodal_mass[::3])
    assert spins["rest"] < 0.9 and spins["current"] > 0.98
