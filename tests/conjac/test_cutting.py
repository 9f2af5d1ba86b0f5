"""Cuts while a scene runs: the books balance, every integrator goes on, runs restart bit for bit."""

import numpy as np
import pytest

from pliant import checkpoint
from pliant.bench.conjac.play import march
from pliant.bodies import Solid, SpringNet
from pliant.errors import SceneError
from pliant.events import ElementCut, PlaneCut, Release
from pliant.integrators import (
    BDF1,
    BDF2,
    ERE,
    RK4,
    SDIRK2,
    SIERE,
    TRBDF2,
    XPBD,
    ConJac,
    ImplicitMidpoint,
    LinearlyImplicit,
    Verlet,
)
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar, spring_net
from pliant.scene import Scene
from pliant.scenes.conjac import barcut
from pliant.simulate import simulate
from pliant.state import State

LENGTH = 0.15


def stretched(integrator, *, h=2e-3, steps=8, E=1e4, cuts=None):
    mesh = bar(size=(LENGTH, 0.05, 0.05), cells=(6, 2, 2))
    pull = Keyframes((0.0, 8e-3), ((0, 0, 0), (0.01, 0, 0)))
    pins = (Pin(mesh.where(lambda X: X[:, 0] < 1e-9)), Pin(mesh.where(lambda X: X[:, 0] > LENGTH - 1e-9), pull))
    body = Solid(mesh, StableNeoHookean(E, 0.4), pins=pins)
    chosen = [PlaneCut(3 * h, (0.05, 0, 0), (1, 0, 0)), PlaneCut(5 * h, (0.1, 0, 0), (1, 0, 0))]
    events = chosen if cuts is None else cuts
    return Scene([body], integrator=integrator, h=h, duration=h * steps, events=events)


def test_mass_momentum_and_energy_balance_across_a_cut():
    scene = stretched(BDF1())
    system = scene.system()
    rng = np.random.default_rng(0)
    q = system.X.ravel() + 2e-3 * rng.normal(size=system.X.size)
    state = State(q, rng.normal(size=q.size), 0.3)
    later, carried = scene.happen(0, 2, state)
    after = later.system()
    assert len(after.X) == len(system.X) + 2 * 9

    def books(s, x):
        p = (s.mass(x.q) @ x.v).reshape(-1, 3)
        spin = np.cross(x.q.reshape(-1, 3), p).sum(axis=0)
        return np.array([s.nodal_mass.sum(), *p.sum(axis=0), *spin, *s.energies(x.q, x.v, x.t).values()])

    assert np.allclose(books(after, carried), books(system, state), rtol=1e-12, atol=1e-14)
    assert carried.t == state.t
    pinned = np.setdiff1d(np.arange(after.X.size), after.free)
    assert len(pinned) == 2 * 9 * 3  # the held ends are not on a cut


INTEGRATORS = [
    BDF1(),
    BDF2(),
    SDIRK2(),
    TRBDF2(),
    ImplicitMidpoint(),
    LinearlyImplicit(),
    RK4(),
    Verlet(substeps=20),
    ERE(),
    SIERE(),
    XPBD(),
    ConJac(np.array([20, 40])),
]


@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda i: type(i).__name__)
def test_any_integrator_goes_on(integrator):
    """Three pieces at the end; total mass stays; the middle piece, held by nothing, falls."""
    scene = stretched(integrator)
    steps = list(simulate(scene))
    assert len(steps) == 8 and all(s.report.verdict != "failed" for s in steps)
    assert [len(s.system.X) for s in steps] == [63] * 3 + [72] * 2 + [81] * 3
    assert [s.topology is not None and s.topology.events for s in steps] == [False] * 3 + [1] * 2 + [2] * 3
    assert all(s.system.nodal_mass.sum() == pytest.approx(3 * 0.375, rel=1e-12) for s in steps)
    x = steps[-1].system.X
    inner = (x[:, 0] > 0.05 + 1e-9) & (x[:, 0] < 0.1 - 1e-9)
    fall = steps[-1].state.v.reshape(-1, 3)[inner, 2].mean() - steps[-3].state.v.reshape(-1, 3)[inner, 2].mean()
    assert fall < 0.0
    assert np.isfinite(steps[-1].ledger.total)


def test_free_middle_piece_falls_with_g():
    scene = stretched(BDF1(), steps=12)
    last = list(simulate(scene))[-4:]

    def momentum(s):
        x = s.scene.bodies[0].mesh
        piece = x.components()[1]
        middle = np.unique(x.T[piece == piece[len(piece) // 2]])
        m = s.system.nodal_mass.reshape(-1, 3)[middle]
        return (m * s.state.v.reshape(-1, 3)[middle]).sum(axis=0) / m[:, 0].sum()

    a = (momentum(last[-1]) - momentum(last[0])) / (3 * scene.h)
    assert np.allclose(a, [0, 0, -9.81], atol=1e-6)


@pytest.mark.parametrize("integrator", [BDF2(), ConJac(count=3)], ids=lambda i: type(i).__name__)
def test_restart_after_a_cut_is_bit_exact(integrator, tmp_path):
    scene = stretched(integrator)
    whole = list(simulate(scene))
    checkpoint.save(tmp_path / "half.h5", whole[3].checkpoint())
    again = list(simulate(scene, start=checkpoint.load(tmp_path / "half.h5")))
    assert len(again) == 4
    assert np.array_equal(again[-1].state.q, whole[-1].state.q)
    assert np.array_equal(again[-1].state.v, whole[-1].state.v)


def test_elements_cut_out_fall_out():
    mesh = bar(size=(0.1, 0.1, 0.1), cells=(4, 4, 4))
    block = np.flatnonzero((mesh.X[mesh.T].mean(axis=1)[:, [0, 2]] < 0.05).all(axis=1))
    body = Solid(mesh, StableNeoHookean(1e5, 0.4), pins=Pin(mesh.where(lambda X: X[:, 2] > 0.1 - 1e-9)))
    scene = Scene([body], integrator=BDF1(), h=5e-3, duration=0.03, events=[ElementCut(0.0, block)])
    last = list(simulate(scene))[-1]
    assert last.scene.bodies[0].mesh.components()[0] == 2
    fallen = np.unique(last.scene.bodies[0].mesh.T[block])
    v = last.state.v.reshape(-1, 3)[fallen, 2]
    assert np.allclose(v, -9.81 * 0.03, rtol=1e-6)


def test_impossible_cuts_are_refused():
    solid = Solid(bar(cells=(2, 1, 1)), StableNeoHookean(1e5, 0.4))
    with pytest.raises(SceneError, match="body 1 of 1"):
        Scene([solid], events=[PlaneCut(0.0, (0, 0, 0), (1, 0, 0), body=1)])
    with pytest.raises(SceneError, match="no body is called 'leg'"):
        Scene([solid], events=[PlaneCut(0.0, (0, 0, 0), (1, 0, 0), body="leg")])
    with pytest.raises(SceneError, match="springs"):
        Scene([SpringNet(spring_net(2, 2), k=1.0, mass=1.0)], events=[PlaneCut(0.0, (0, 0, 0), (1, 0, 0))])
    with pytest.raises(SceneError, match="pin 0 does not exist"):
        Scene([solid], events=[Release(0.0, pins=[0])])


def test_a_body_falls_when_its_pins_let_go():
    mesh = bar(size=(0.1, 0.1, 0.1), cells=(2, 2, 2))
    body = Solid(mesh, StableNeoHookean(1e5, 0.4), pins=Pin(np.arange(len(mesh.X))))
    scene = Scene([body], integrator=BDF1(), h=5e-3, duration=0.05, events=[Release("20 ms")])
    v = [s.state.v.reshape(-1, 3)[:, 2] for s in simulate(scene)]
    assert not v[3].any() and np.allclose(v[-1], -9.81 * 0.03, rtol=1e-9)


def test_pins_let_go_one_after_the_other_by_their_first_numbers():
    mesh = bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
    pins = [Pin(np.flatnonzero(mesh.X[:, 0] < 0.05)), Pin(np.flatnonzero(mesh.X[:, 0] > 0.05))]
    events = [Release(5e-3, pins=[0]), Release(10e-3, pins=[1])]
    body = Solid(mesh, StableNeoHookean(1e5, 0.4), pins=pins)
    held = [step.system.free.size for step in simulate(Scene([body], h=5e-3, duration=15e-3, events=events))]
    assert held == [0, 12, 24]


def test_a_cut_run_is_recorded(tmp_path):
    scene = stretched(ConJac(count=2), steps=7)
    run = scene.run(tmp_path / "run")
    assert len(run.ledger) >= 7


def test_the_bar_hangs_from_its_clamp_without_folding():
    """Two thirds of a bar, which the first cut leaves, hang down: of 0.15 m they fold at the clamp, of 0.1 m not."""
    mesh = bar(size=(0.15, 0.03, 0.03), cells=(18, 4, 4))
    least = {length: min(m.det for m in march(barcut(length=length, mesh=mesh), 150)) for length in (0.1, 0.15)}
    assert least[0.15] < 0.35 < 0.45 < least[0.1]
