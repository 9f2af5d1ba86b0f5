"""Fitted bodies beside others: every body moves as it does alone until something touches it."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.errors import SceneError
from pliant.ledger import entry, opening
from pliant.record import record, resume
from pliant.simulate import simulate

LINEAR, SOFT, HARD = pl.Linear("200 kPa", 0.45), pl.StableNeoHookean("200 kPa", 0.45), pl.StableNeoHookean("2 MPa", 0.3)
CLOSE = pl.Newton(tolerance=pl.Tolerance(relative=1e-11, absolute=1e-15))


def bar(cells, material=SOFT, y=0.0, pinned=True, **options):
    mesh = pl.mesh.bar(size=(0.4, 0.1, 0.1), cells=cells).transformed(translate=(0.0, y, 0.0))
    pins = pl.Pin(mesh.where(lambda X: X[:, 0] < 1e-9)) if pinned else ()
    return pl.Solid(mesh, material, pins=pins, lumped=False, **options)


def fitted(material=SOFT, y=0.0, s=4, pinned=True, name="fitted", velocity=(0.0, 0.0, 0.0), **options):
    fit = pl.Fitting(bar((8, 2, 2), material, y, pinned), s, **options)
    return bar((4, 1, 1), material, y, pinned, fit=fit, name=name, velocity=velocity)


def cube(y=1.0, **options):
    mesh = pl.mesh.bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)).transformed(translate=(0.0, y, 0.0))
    return pl.Solid(mesh, SOFT, name="cube", **options)


def scene(*bodies, **options):
    return pl.Scene(bodies, **{"h": 0.01, "duration": 0.08, "integrator": pl.LinearlyImplicit(), **options})


def motion(of, *bodies, **options):
    """The coordinates of the body ``of`` in all steps of the scene of these bodies."""
    first = sum(b.mesh.X.size for b in bodies[: bodies.index(of)])
    made = scene(*bodies, **options)
    return np.array([step.state.q[first : first + of.mesh.X.size] for step in simulate(made)])


SHEET = pl.Membrane(pl.mesh.sheet((0.1, 0.1), (2, 2)).transformed(translate=(0, 1, 0)), SOFT, thickness=1e-3)
BESIDE = {
    "free cube": cube(),
    "cube with damping": cube(damping=pl.Rayleigh(beta=1e-3)),
    "coarse bar of the same material": bar((4, 1, 1), y=1.0, name="coarse"),
    "fitted bar of another material": fitted(HARD, 1.0, s=6, name="other"),
    "membrane": SHEET,
}


@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("integrator", [pl.LinearlyImplicit(), pl.BDF2(CLOSE)], ids=lambda i: type(i).__name__)
def test_a_fitted_body_moves_as_it_does_alone_and_so_does_its_neighbour(beside, integrator):
    one, other, how = fitted(), BESIDE[beside], {"integrator": integrator}
    for body, bodies in ((one, (one, other)), (one, (other, one)), (other, (one, other))):
        assert abs(motion(body, *bodies, **how) - motion(body, body, **how)).max() < 1e-10


@pytest.mark.parametrize("options", [{"alpha": 1.0, "beta": 0.01}, {"alpha": 1.0, "beta": 0.01, "frozen": True}])
def test_the_damping_of_a_fit_acts_on_fitted_bodies_only(options):
    one, neighbour = fitted(**options), cube(velocity=(0.1, 0.0, 0.3))
    both = scene(one, neighbour, gravity=(0, 0, 0)).system()
    v = np.random.default_rng(0).normal(size=both.X.size)
    rest = both.X.ravel()
    assert not both.rayleigh_force(rest, v)[one.mesh.X.size :].any()
    n = one.mesh.X.size
    assert abs(both.damping(rest, v, 0.0).toarray()[n:]).max() == 0.0
    tangents = [both.tangent(rest, v, 0.0, (1.0, w, 1e-4)) for w in (0.0, 0.01)]
    assert np.allclose(tangents[0].toarray()[n:], tangents[1].toarray()[n:], rtol=1e-13, atol=0.0)
    for body in (one, neighbour):
        assert abs(motion(body, one, neighbour) - motion(body, body)).max() < 1e-10


def test_ratios_and_frequencies_are_those_of_the_bodies_alone():
    one, two = fitted(), fitted(HARD, 1.0, s=6, name="other")
    mixture = scene(cube(2.0), one, two, cube(3.0)).system()
    for found, body in zip(mixture.fits, (one, two), strict=True):
        alone = scene(body).system().fit
        assert found.ratios.min() < 0.9 and found.ratios == pytest.approx(alone.ratios, rel=1e-12)
        assert found.coarse == pytest.approx(alone.coarse, rel=1e-12) and len(found.ratios) == body.fit.s
    x = mixture.spectrum(mixture.X.ravel())
    assert np.allclose(x.U.T @ (mixture.mass(x.q) @ x.U), np.eye(10), atol=1e-10)
    assert x.lam == pytest.approx(np.concatenate([f.coarse for f in mixture.fits]), rel=1e-6)
    assert not x.U[:24].any() and not x.U[-24:].any()  # the cubes


def test_a_fitted_body_moves_as_it_does_alone_beside_rigid_bodies_and_links():
    one = fitted(LINEAR, frozen=True)  # whose modes are exact: elsewhere they are sought anew beside links
    die = pl.Rigid(pl.mesh.bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)).transformed(translate=(0, 1, 0)), name="die")
    for other in (die, cube()):
        both = motion(one, one, other, die) if other is not die else motion(one, one, die)
        assert abs(both - motion(one, one)).max() < 1e-10


def test_what_touches_a_fitted_body_gets_the_momentum_that_it_loses():
    one = fitted(s=8, pinned=False)  # six of them rigid
    ball = cube(y=0.101, velocity=(0.0, -1.0, 0.0))
    made = scene(one, ball, gravity=(0, 0, 0), contact=pl.PenaltyContact(), integrator=pl.BDF1(CLOSE), duration=0.1)
    system = made.system()
    start = system.momenta(*(lambda s: (s.q, s.v))(made.initial(system)))[0]
    states = [step.state for step in simulate(made)]
    carried = [system.momenta(s.q, s.v)[0] for s in states]
    n = one.mesh.X.size
    assert np.abs(states[-1].v[:n]).max() > 0.01  # they did touch
    assert np.abs(np.array(carried) - start).max() < 1e-8 * np.abs(start).max()


def test_the_stiffness_of_a_squeezed_neighbour_is_the_derivative_of_its_force():
    """K of fitted bodies is projected; that of others only where it is asked for."""
    one = fitted()
    system = scene(one, cube()).system()
    n = one.mesh.X.size
    q = system.X.copy()
    q[n // 3 :, 2] *= 0.5  # indefinite
    q = q.ravel()
    K = system.stiffness(q, 0 * q, 0.0).toarray()[n:, n:]
    steps = 1e-6 * np.eye(len(q))[n:]
    slopes = [(system.force(q + d, 0 * q, 0.0) - system.force(q - d, 0 * q, 0.0))[n:] / 2e-6 for d in steps]
    assert np.allclose(K, np.transpose(slopes), atol=1e-6 * np.abs(K).max())
    projected = system.stiffness(q, 0 * q, 0.0, psd=True).toarray()[n:, n:]
    assert np.linalg.eigvalsh(-K)[0] < -1.0 and np.linalg.eigvalsh(-projected)[0] > -1e-6


def test_the_energy_of_frozen_modes_is_booked_beside_a_nonlinear_body():
    made = scene(fitted(LINEAR, frozen=True), cube(pins=pl.Pin([0, 1, 2, 3])), integrator=pl.ImplicitMidpoint(CLOSE))
    system = made.system()
    state = made.initial(system)
    row = first = opening(0, system, state)
    for step in simulate(made):
        row, state = entry(row, system, state, step.state, 2), step.state
    assert row.energies["eigenfit"] < 0.0 and abs(row.total - first.total) < 1e-4 * row.scale


def test_a_mixture_goes_on_bit_for_bit_in_the_middle(tmp_path):
    made = scene(fitted(), cube(), fitted(HARD, 2.0, s=6, name="other"))
    whole = record(made, tmp_path / "whole")
    record(replace(made, duration=0.04), tmp_path / "half")
    half = resume(tmp_path / "half", made)
    assert np.array_equal(whole.frames[-1].points, half.frames[-1].points)


def test_what_would_be_lost_in_silence_is_refused():
    with pytest.raises(SceneError, match="on_mismatch is 'warn' here and 'ignore' there"):
        scene(fitted(), fitted(HARD, 1.0, on_mismatch="ignore", name="other")).system()
    with pytest.raises(SceneError, match="'cube' is condensed in a scene with fitted bodies"):
        scene(fitted(), cube(reduction=pl.Condensation(count=3)))
