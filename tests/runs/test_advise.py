"""The advisor: amplification against closed forms, limits against theory, frequencies against beam theory."""

from dataclasses import replace
from math import inf, log, pi, sqrt

import numpy as np
import pytest
import scipy.linalg
from typer.testing import CliRunner

from pliant.advise import advise, amplification, stability_limit, steps_for, wave_time
from pliant.bodies import Membrane, Solid, SpringNet
from pliant.cli.app import app
from pliant.errors import SceneError
from pliant.integrators import BDF1, BDF2, RK4, SDIRK2, TRBDF2, ImplicitMidpoint, LinearlyImplicit, Quasistatic, Verlet
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean, StVK
from pliant.mesh import bar, chain, sheet
from pliant.scene import Scene
from pliant.scenes import find
from pliant.scenes.basic import cantilever, falling_ball, net, swinging_bar

THETAS = (0.1, 0.5, 1.0, 2.0, 10.0)


def test_backward_euler_and_its_linearisation():
    for theta in THETAS:
        for method in (BDF1(), LinearlyImplicit()):
            assert amplification(method, theta) == pytest.approx((1 + theta**2) ** -0.5, rel=1e-12)
    beta = 0.5  # [Weidner2022]: (1 + beta theta^2)^(-1/2) while it oscillates
    assert amplification(LinearlyImplicit(beta=beta), 0.7) == pytest.approx((1 + beta * 0.49) ** -0.5, rel=1e-12)


def test_bdf2_has_the_published_damping():
    """d / omega of [Chen2019, Fig. 6.1] at these theta, from |rho| = exp(-d h / 2)."""
    for theta, published in zip(THETAS, (0.000488, 0.0386, 0.1380, 0.2715, 0.2403), strict=True):
        rho = amplification(BDF2(), theta)
        closed = abs((2 + (1 + 2j * theta) ** 0.5) / (3 - 2j * theta))
        assert rho == pytest.approx(closed, rel=1e-4)
        assert -2 * log(rho) / theta == pytest.approx(published, rel=1e-2)


def test_midpoint_keeps_everything_and_sdirk2_equals_trbdf2():
    for theta in THETAS:
        assert amplification(ImplicitMidpoint(), theta) == pytest.approx(1.0, rel=1e-12)
        assert amplification(SDIRK2(), theta) == pytest.approx(amplification(TRBDF2(), theta), rel=1e-9)
    left = amplification(SDIRK2(), 0.5) ** (10 * 2 * pi / 0.5)
    assert left == pytest.approx(0.9727, abs=2e-4)  # amplitude after ten periods


def test_stability_limits_are_those_of_theory():
    assert stability_limit(RK4()) == pytest.approx(2 * sqrt(2), rel=1e-4)
    assert stability_limit(Verlet()) == pytest.approx(2.0, rel=1e-4)
    assert stability_limit(BDF2()) == inf
    # without damping by beta: stable for theta < 2 / sqrt(1 - 2 beta)
    assert stability_limit(LinearlyImplicit(beta=0.25)) == pytest.approx(2 / sqrt(0.5), rel=1e-4)


def test_the_lowest_frequency_is_that_of_a_beam():
    L, a, E, rho = 1.0, 0.1, 1e6, 1000.0
    mesh = bar(size=(L, a, a), cells=(40, 4, 4))
    body = Solid(mesh, StableNeoHookean(E, 0.0), density=rho, pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))
    advice = advise(Scene([body], h=0.01), count=2)
    euler = 1.8751**2 * sqrt(E * a**4 / 12 / (rho * a**2 * L**4)) / (2 * pi)
    assert advice.rigid == 0
    assert advice.modes[0].frequency == pytest.approx(euler, rel=0.1)
    assert advice.cfl == pytest.approx((L / 40) / sqrt(E / rho), rel=1e-9)
    assert 0.1 < advice.explicit_limit / advice.cfl < 2.0


def test_suggestions_say_what_to_do_and_are_true():
    unstable = advise(replace(cantilever(cells=1), integrator=Verlet(), h=0.05))
    assert "unstable" in unstable.suggestions[0] and unstable.top.rho > 1
    h = float(unstable.suggestions[0].split("h <= ")[1].split(" s")[0])
    assert advise(replace(cantilever(cells=1), integrator=Verlet(), h=h)).top.rho == pytest.approx(1.0, abs=1e-6)
    damped = advise(replace(cantilever(cells=1), integrator=BDF1()))
    assert "BDF1 takes" in " ".join(damped.suggestions) and damped.modes[0].left < 0.9
    coarse = advise(replace(cantilever(cells=1), h=0.2))
    assert "steps per period" in coarse.suggestions[0]


def test_free_bodies_and_slack_nets():
    assert advise(falling_ball(cells=3)).rigid == 6
    assert advise(net(cells=3), count=3).rigid > 0
    assert wave_time(net(cells=2)) == inf
    with pytest.raises(SceneError, match="no dynamics"):
        advise(replace(cantilever(cells=1), integrator=Quasistatic()))
    assert np.isfinite(advise(cantilever(cells=1)).condition)


@pytest.mark.parametrize("name", ["redmax/31", "eol/lo-res"])
def test_integrators_with_systems_of_their_own_are_refused(name):
    with pytest.raises(SceneError, match="of its own kind"):
        advise(find(name)())


def test_a_scene_that_is_cut_has_waves_and_one_of_springs_does_not():
    whole = find("conjac/barcut")()
    assert wave_time(whole) < 1e-2
    assert wave_time(find("ledwon/stiff-chain")()) == np.inf


def test_what_cannot_be_measured_is_not_a_number():
    found = advise(find("conjac/barcut")())
    assert all(np.isnan(m.zeta) and np.isnan(m.left) for m in found.modes)
    shown = CliRunner().invoke(app, ["advise", "ledwon/stiff-chain"]).output
    assert "inf" not in shown and "nan" not in shown


def test_slack_motions_do_not_hide_the_elastic_ones():
    """A bar, a sheet and a rope: as many motions without cost, and the same frequencies, as a dense solve finds."""
    bodies = [
        Solid(bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1)), StableNeoHookean(1e5, 0.4)),
        Membrane(sheet(size=(0.3, 0.3), cells=(3, 3)), StVK(5e5, 0.3), thickness=1e-3, density=300.0),
        SpringNet(chain(4, length=0.3), k=500.0, mass=0.01, pins=Pin([0])),
    ]
    scene = Scene(bodies, h=0.004)
    system = scene.system()
    q = system.X.ravel()
    K = -system.restrict(system.stiffness(q, 0 * q, 0.0)).toarray()
    lam = scipy.linalg.eigh(K, system.restrict(system.mass(q)).toarray(), eigvals_only=True)
    elastic = lam[lam > 1e-8 * lam.max()]
    advice = advise(scene)
    assert advice.rigid == len(lam) - len(elastic) > 12
    assert [mode.frequency for mode in advice.modes] == pytest.approx(np.sqrt(elastic[: len(advice.modes)]) / (2 * pi))


def test_the_step_named_for_an_accuracy_has_it():
    """An oscillator after one period with as many steps as advised is off by one part in a hundred."""
    steps = round(steps_for(TRBDF2(), 0.01))
    assert steps_for(TRBDF2(), 0.01, steps) == pytest.approx(steps, rel=0.05)
    told = advise(swinging_bar(cells=1)).accuracy
    assert "TRBDF2 with h = " in told and "Adaptive(TRBDF2(), tolerance=" in told


def test_it_says_which_linear_solver_is_used_and_why():
    told = advise(cantilever()).linear
    assert told is not None and "a Cholesky factor" in told and "multigrid" in told
    assert advise(replace(cantilever(), integrator=Verlet(), h=1e-5)).linear is None
