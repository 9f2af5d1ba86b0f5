"""Projective Dynamics: the same root as Newton, monotone, equal to its literal local/global form, counted work."""

import numpy as np
import pytest
from projection_stages import beam, guess_of, net, stage_after, stage_of

from pliant.bodies import Rayleigh, Solid, SpringNet
from pliant.contact.obstacles import Plane
from pliant.energies.attachment import AttachmentEnergy
from pliant.energies.projective import HingeBending, PlaneCollision, StrainLimit, VolumeRange
from pliant.energies.springs import Springs
from pliant.errors import SceneError
from pliant.integrators import BDF1, XPBD
from pliant.maps.pins import Pin
from pliant.materials import ARAP, NeoHookean, StVK
from pliant.mesh import bar, chain, sheet, spring_net
from pliant.scene import Scene
from pliant.scenes.ledwon import twisted_bar
from pliant.solvers import QLB, LineSearch, Newton, Tolerance
from pliant.solvers.descent import LBFGS, Function
from pliant.solvers.laplacian import laplacian, slope
from pliant.solvers.projective import PD, gather, scalar_matrix
from pliant.stage import Stage
from pliant.state import State
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.penalty_contact import PenaltyContact

TIGHT = Tolerance(1e-11, 1e-16)


def cloth_system(rows="permanent"):
    """A sheet with springs, bending, an attachment and a floor that some vertices touch."""
    mesh = sheet(size=(1.0, 1.0), cells=(3, 3))
    n = len(mesh.X)
    energies = [
        Springs(mesh.X, mesh.edges(), 50.0),
        HingeBending(mesh.X, mesh.T, beta=0.1),
        AttachmentEnergy(n, np.array([0]), mesh.X[[0]] + 0.1, 30.0),
        PlaneCollision(n, np.arange(n), (0, 0, -0.004), (0, 0.1, 1), 200.0, rows=rows),
    ]
    return Elastodynamics(mesh.X, np.full(n, 0.05), energies)


def stage_on(system, c=0.01, seed=0, size=0.01):
    rng = np.random.default_rng(seed)
    q = system.prescribe(system.X.ravel() + size * rng.normal(size=system.X.size), 0.0)
    v = rng.normal(size=len(q))
    return Stage(system, c, q + c * v, q, c, system.prescribe(q + c * v, c), State(q, v, 0.0))


PROJECTIVE = {
    "springs": lambda: stage_of(net()),
    "stiff springs": lambda: stage_of(net(k=1e3)),
    "ARAP": lambda: stage_of(beam(ARAP(2e4))),
    "strain limit": lambda: stage_of(beam(ARAP(1e4) + StrainLimit(4e4, 0.97, 1.02))),
    "volume": lambda: stage_of(beam(ARAP(1e4) + VolumeRange(4e4, 0.99, 1.01))),
    "cloth": lambda: stage_on(cloth_system()),
}
OTHERS = {
    "stable neo-Hookean": lambda: stage_of(beam()),
    "neo-Hookean": lambda: stage_of(beam(NeoHookean(2e4, 0.4))),
    "StVK": lambda: stage_of(beam(StVK(2e4, 0.4))),
    "damped": lambda: stage_of(beam(damping=Rayleigh(0.5, 2e-3))),
}


@pytest.mark.parametrize("m", [0, 5])
@pytest.mark.parametrize("name", [*PROJECTIVE, *OTHERS])
def test_reaches_the_root_of_newton(name, m):
    stage = {**PROJECTIVE, **OTHERS}[name]()
    exact = Newton(tolerance=TIGHT, project="on_demand").solve(stage, guess_of(stage))
    solution = PD(m=m, tolerance=TIGHT).solve(stage, guess_of(stage))
    assert exact.report.converged and solution.report.converged, solution.report.message
    assert abs(solution.z - exact.z).max() < 1e-10


@pytest.mark.parametrize("name", PROJECTIVE)
def test_plain_iteration_decreases_the_objective_with_whole_steps(name):
    stage = PROJECTIVE[name]()
    merits, steps = [stage.merit(guess_of(stage))], []
    for k in range(1, 12):
        solution = PD(m=0, fixed=k).solve(stage, guess_of(stage))
        merits.append(stage.merit(solution.z))
        steps.append(solution.report.history[-1]["step"])
    assert np.all(np.diff(merits) <= 1e-15 * abs(merits[0]))
    assert merits[1] < merits[0] and all(t == 1.0 for t in steps)


@pytest.mark.parametrize("name", PROJECTIVE)
def test_the_laplacian_majorises_the_hessian(name):
    stage = PROJECTIVE[name]()
    system = stage.system
    n, d = system.X.shape
    rng = np.random.default_rng(1)
    for size in (0.003, 0.03, 0.2):
        x = system.X.ravel() + size * rng.normal(size=n * d)
        for energy in system.energy_terms:
            L = np.kron(laplacian(energy, x, n).toarray(), np.eye(d))
            H = energy.hessian(x).toarray()
            assert np.linalg.eigvalsh(L - H).min() > -1e-9 * max(abs(L).max(), 1.0)


def test_iteration_is_the_local_global_one():
    """The literal form for springs: p = l0 s/|s|, then S q = M target + c^2 sum k G^T p, coordinate by coordinate."""
    scene = net(free=True)
    stage = stage_of(scene)
    system = stage.system
    springs = system.energy_terms[0]
    n = len(system.X)
    m = system.nodal_mass[::3]
    G = np.zeros((len(springs.edges), n))
    G[np.arange(len(G)), springs.edges[:, 0]], G[np.arange(len(G)), springs.edges[:, 1]] = 1.0, -1.0
    S = np.diag(m) + stage.c**2 * G.T @ (springs.k[:, None] * G)
    x = guess_of(stage).reshape(n, 3)
    for k in range(1, 4):
        s = G @ x
        p = springs.rest[:, None] * s / np.linalg.norm(s, axis=1)[:, None]
        rhs = m[:, None] * stage.target.reshape(n, 3) + stage.c**2 * G.T @ (springs.k[:, None] * p)
        x = np.linalg.solve(S, rhs)
        ours = PD(m=0, fixed=k).solve(stage, guess_of(stage)).z
        assert abs(ours - x.ravel()).max() < 1e-12
    assert abs(scalar_matrix(gather(stage, system, stage.frame), stage.frame).toarray() - S).max() < 1e-12


def test_iteration_is_the_quasi_newton_step():
    stage = PROJECTIVE["volume"]()
    rng = np.random.default_rng(2)
    z = guess_of(stage) + 0.01 * rng.normal(size=len(guess_of(stage)))
    free = stage.system.free[::3] // 3
    S = scalar_matrix(gather(stage, stage.system, stage.embed(z)), stage.embed(z)).toarray()[np.ix_(free, free)]
    step = np.linalg.solve(S, stage.residual(z).reshape(-1, 3)).ravel()
    assert abs(PD(m=0, fixed=1).solve(stage, z).z - (z - step)).max() < 1e-12


def test_momentum_of_free_bodies_is_kept():
    for scene in (net(free=True), beam(ARAP(2e4), free=True)):
        system = scene.system()
        stage = stage_on(system)
        state = stage.start
        M = system.mass(state.q)
        before = (M @ state.v).reshape(-1, 3).sum(axis=0)
        for solver in (PD(m=0, fixed=3), PD(m=5, fixed=3), PD()):
            after = BDF1(solver).step(system, state, 0.01).state
            assert abs((M @ after.v).reshape(-1, 3).sum(axis=0) - before).max() < 1e-10


def test_pairs_save_iterations_on_the_twisted_bar():
    """At least three times fewer iterations than plain PD to 1e-6."""
    stage = stage_after(twisted_bar(cells=(9, 3, 3), turns=1.0, material=ARAP(1e5)), 20, BDF1(QLB()))
    plain, quick = (PD(m=m, tolerance=Tolerance(1e-6, 0.0)).solve(stage, guess_of(stage)).report for m in (0, 8))
    assert plain.converged and quick.converged
    assert plain.iterations >= 3 * quick.iterations


def test_one_factorization_as_long_as_nothing_changes():
    scene = net()
    system, state, memory = scene.system(), None, None
    state = scene.initial(system)
    made = 0
    for h in (0.01, 0.01, 0.01, 0.02, 0.02):
        step = BDF1(PD()).step(system, state, h, memory)
        state, memory = step.state, step.memory
        made += step.reports[0].counts.factorizations
    assert made == 2


def test_active_collision_rows_refactor_only_when_contacts_change():
    system = cloth_system(rows="active")
    stage = stage_on(system)
    solution = PD(tolerance=TIGHT).solve(stage, guess_of(stage))
    exact = Newton(tolerance=TIGHT, project="on_demand").solve(stage, guess_of(stage))
    assert abs(solution.z - exact.z).max() < 1e-10
    again = PD().solve(stage, guess_of(stage), solution.memory)
    assert again.report.counts.factorizations == 0
    lowered = guess_of(stage) - np.tile([0.0, 0.0, 1.0], len(system.X))
    moved = PD(fixed=1).solve(stage, lowered, solution.memory)
    assert moved.report.counts.factorizations == 1


def test_pins_of_single_axes_are_solved_per_axis():
    mesh = spring_net(3, 3)
    body = SpringNet(mesh, 40.0, 0.05, pins=[Pin(np.array([0])), Pin(np.array([3]), axes=(2,))])
    stage = stage_of(Scene([body]))
    exact = Newton(tolerance=TIGHT, project="on_demand").solve(stage, guess_of(stage))
    solution = PD(tolerance=TIGHT).solve(stage, guess_of(stage))
    assert solution.report.counts.factorizations == 2
    assert abs(solution.z - exact.z).max() < 1e-10


def test_fixed_iterations_say_what_is_left():
    stage = stage_of(net(k=1e4))
    report = PD(m=0, fixed=5).solve(stage, guess_of(stage)).report
    assert report.converged and not report.certified and report.tolerance is None and report.iterations == 5
    assert "fixed iterations" in report.message and report.residual > 0


@pytest.mark.parametrize("name", PROJECTIVE)
def test_steps_need_no_line_search_for_projective_energies(name):
    stage = PROJECTIVE[name]()
    asked, whole = (PD(m=0, fixed=8, line_search=s).solve(stage, guess_of(stage)) for s in (LineSearch(), None))
    assert asked.z.tobytes() == whole.z.tobytes()


def test_a_stage_without_energies_is_refused():
    with pytest.raises(SceneError, match="energies"):
        PD().solve(Function(2, lambda x: x @ x, lambda x: 2 * x), np.ones(2))


def test_contact_of_the_scene_takes_part():
    """A body on a floor: the contact model's energy enters through the trace of its Hessian, the root is Newton's."""
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1)).transformed(translate=(0, 0, -0.002))
    scene = Scene([Solid(mesh, ARAP(5e4))], contact=PenaltyContact(mu=0.0), obstacles=[Plane()])
    system = scene.system()
    state = State(system.X.ravel().copy(), np.zeros(system.X.size))
    target = state.q.copy()
    stage = Stage(system, 0.01, target, state.q, 0.01, target, state)
    exact = Newton(tolerance=TIGHT, project="on_demand").solve(stage, guess_of(stage))
    solution = PD(tolerance=TIGHT).solve(stage, guess_of(stage))
    assert exact.report.converged and solution.report.converged
    assert abs(exact.z - guess_of(stage)).max() > 1e-4
    assert abs(solution.z - exact.z).max() < 1e-10
    again = PD().solve(stage, guess_of(stage), solution.memory)
    assert again.report.counts.factorizations == 0
    with pytest.raises(SceneError, match="contact"):
        XPBD().step(system, state, 0.01)


@pytest.mark.parametrize(
    "material, expected",
    [
        (NeoHookean, (2.0060, 1.0111)),
        (StVK, (2.0060, 1.0030)),
    ],
)
def test_slopes_of_the_stress_stretch_curve(material, expected):
    for nu in (0.2, 0.45):
        E = 1.0
        mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
        assert slope(material(E, nu))[0] == pytest.approx(expected[0] * mu + expected[1] * lam, rel=2e-4)


def test_valanis_landel_gap_after_ten_iterations():
    """Relative gap of the objective <= 1e-2 with m = 5, and ten times smaller than L-BFGS on the mass."""
    mesh = bar(size=(0.6, 0.15, 0.15), cells=(8, 2, 2))
    scene = Scene([Solid(mesh, NeoHookean(1e5, 0.45), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))])
    system = scene.system()
    start = scene.initial(system)
    h = 1 / 30
    stage = Stage(system, h, start.q, start.q, h, start.q, start)
    least = stage.merit(Newton(tolerance=TIGHT).solve(stage, guess_of(stage)).z)
    first = stage.merit(guess_of(stage)) - least
    ours = stage.merit(PD(m=5, fixed=10).solve(stage, guess_of(stage)).z) - least
    plain = stage.merit(LBFGS(m=5, max_iterations=10).solve(stage, guess_of(stage)).z) - least
    assert ours < 1e-2 * first
    assert ours < 0.1 * plain


def test_energy_loss_falls_with_the_iterations():
    """Ten springs of 1e4 N/m; too few iterations look damped and soft, 200 are implicit Euler."""
    mesh = chain(10)
    scene = Scene([SpringNet(mesh, 1e4, 0.05, pins=Pin(np.array([0])))])
    system = scene.system()

    def energy_after(solver):
        state, memory = scene.initial(system), None
        for _ in range(30):
            step = BDF1(solver).step(system, state, 1 / 60, memory)
            state, memory = step.state, step.memory
        return sum(system.energies(state.q, state.v, state.t).values())

    start = sum(system.energies(system.X.ravel(), 0 * system.X.ravel(), 0.0).values())
    exact = start - energy_after(Newton())
    losses = [start - energy_after(PD(m=0, fixed=k)) for k in (1, 5, 10, 50, 200)]
    assert np.all(np.diff(losses) < 0)
    assert losses[-1] == pytest.approx(exact, rel=0.01)
    assert losses[0] > 1.5 * exact
