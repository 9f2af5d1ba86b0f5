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
        (lambda: pl.QLB(m=-1), "QLB.m: m is -1; give a whole number"),
        (lambda: pl.QLB(m=2.5), "QLB.m: m is 2.5; "),
        (lambda: pl.Newton(max_iterations=0), "Newton.max_iterations: max_iterations is 0; "),
        (lambda: pl.Newton(tolerance=1e-8), "Newton.tolerance: tolerance is 1e-08; give Tolerance"),
        (lambda: pl.Tolerance(relative=-1.0), "Tolerance.relative: relative is -1.0; "),
        (lambda: pl.Verlet(substeps=0), "Verlet.substeps: substeps is 0; "),
        (lambda: pl.LinearlyImplicit(beta=-1.0), "LinearlyImplicit.beta: beta is -1.0; "),
        (lambda: scene(integrator=pl.BDF2), "scene.integrator: the integrator is BDF2; give BDF2"),
        (lambda: scene(integrator=pl.BDF2(solver=pl.QLB)), "scene.integrator: the solver is QLB; give QLB"),
        (lambda: scene(integrator="bdf2"), "scene.integrator: the integrator is 'bdf2'; "),
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
    with pytest.raises(PliantError, match="Loaded has no system; give its .scene"):
        next(simulate(pl.load_scene("cantilever")))
    with pytest.raises(PliantError, match="Solid has no system; give a pliant.Scene"):
        next(simulate(pl.Solid(BAR, SOFT)))
