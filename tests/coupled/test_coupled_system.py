"""Soft bodies, links and rigid bodies as one system: derivatives, attachments, ways that are curved."""

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import Link, at, cuboid
from pliant.articulated.joints import Revolute
from pliant.assembly import setting
from pliant.closed_stage import ClosedStage
from pliant.contact.intersect import intersections
from pliant.linear import LU
from pliant.linear.bordered import Bordered, BorderedFactor
from pliant.mesh.topology import edges
from pliant.solvers import Newton, Tolerance
from pliant.stage import Stage
from pliant.state import State
from pliant.velocity_step import Linearisation

SOFT = pl.StableNeoHookean("50 kPa", 0.4)


def block(x=(0.0, 0.0, 0.0), size=0.1, cells=1, **options):
    return pl.Solid(pl.mesh.bar((size,) * 3, (cells,) * 3).transformed(translate=x), SOFT, **options)


def die(x, size=0.08, **options):
    return pl.Rigid(pl.mesh.bar((size,) * 3, (1, 1, 1)).transformed(translate=x), density=500, **options)


def arm(**options):
    """A rod on a hinge about y at the origin, hanging down."""
    return pl.Articulated([Link(Revolute((0, 1, 0)), cuboid((0.04, 0.04, 0.3), 800.0, at(0, 0, -0.15)))], **options)


def resting(contact):
    """A die that has sunk into a block a little, both touching a floor that is slightly too high."""
    bodies = [block(name="bed", cells=2), die((0.01, 0.01, 0.0995), name="die", spin=(0.3, -0.2, 1.0))]
    return pl.Scene(bodies, contact=contact, obstacles=[pl.Plane((0, 0, -0.01))], integrator=pl.BDF1())


def started(scene):
    """Where the scene starts, although its bodies overlap."""
    starts = [m.start for m in scene.parts()]
    return State(np.concatenate([s.q for s in starts]), np.concatenate([s.v for s in starts]))


def triangles(system, x):
    """The surface of everything."""
    whole = lambda c: pl.Mesh(x[c.min() : c.max() + 1], c - c.min()).surface() + c.min()
    return np.concatenate([c if c.shape[1] == 3 else whole(c) for c in system.cells()])


def differences(function, x, h=1e-6):
    return np.stack([(function(x + h * e) - function(x - h * e)) / (2 * h) for e in np.eye(len(x))], axis=1)


@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_the_jacobian_of_a_coupled_stage_is_its_derivative(mu):
    scene = resting(pl.PenaltyContact(mu=mu, lagged=True, resolve_initial=False))
    system = scene.system()
    state = State(
        np.concatenate([m.start.q for m in scene.parts()]), np.concatenate([m.start.v for m in scene.parts()])
    )
    rng = np.random.default_rng(1)
    q = state.q + 1e-3 * rng.normal(size=len(state.q))
    h = 5e-3
    stage = Stage(system, h, q + 1e-3 * rng.normal(size=len(q)), state.q, h, q, State(q, state.v))
    assert len(stage.system.contacts(q, state.v, h) or ()) == 0  # frozen: the contacts are terms of the stage
    assert any(np.abs(e.gradient(q)[-6:]).max() > 0 for e in stage.system.energy_terms)  # the die is pushed
    exact = stage.jacobian(q, psd=False).toarray()
    found = differences(stage.residual, q)
    turning = 3e-4 if mu else 2e-5  # friction leaves out how the directions of slip turn with x
    assert np.abs(exact - found).max() < turning * np.abs(exact).max()


@pytest.mark.parametrize("tied", [False, True])
def test_a_border_of_joints_and_multipliers_gives_the_steps_of_lu(tied):
    """A die on a block with enough vertices for a sparse factor; tied to it, or pressed into it."""
    bodies = [block(name="bed", cells=5), die((0.01, 0.01, 0.0995), name="die", spin=(0.3, -0.2, 1.0))]
    held = bodies[0].mesh.where(lambda X: (X[:, 2] > 0.099) & (X[:, 0] < 0.01))
    ties = [pl.Attachment("bed", held, "die")] if tied else []
    contact = None if tied else pl.PenaltyContact(mu=0.3)
    scene = pl.Scene(bodies, attachments=ties, contact=contact, integrator=pl.BDF1())
    system, state, h = scene.system(), started(scene), 1e-2
    stage = Stage(system, h, state.q + h * state.v, state.q, h, state.q.copy(), state)
    z, closures = state.q[system.free], stage.closures(state.q)
    if closures is not None:
        stage = ClosedStage(stage, closures)
        z = stage.joined(z)
    A, r = stage.jacobian(z, psd=False), stage.residual(z)
    factor = Bordered(stage.border).factor(A)
    assert isinstance(factor, BorderedFactor)
    expected = LU().factor(A).solve(r)
    assert np.allclose(factor.solve(r), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_forces_between_parts_have_no_net_force_or_torque():
    scene = resting(pl.PenaltyContact(mu=0.4))
    system = scene.system()
    q, v = started(scene).q, started(scene).v
    between = system.contacts(q, v, 0.0)
    pair = (between.bodies >= 0).all(axis=1)
    assert pair.any()
    state = system.touched(State(q, v))
    terms = scene.contact.model(setting(scene, scene.parts())).at(state, 0.0)
    f = -sum(e.gradient(state.q) for e in terms.energies).reshape(-1, 3)
    floor = (between.normal_force[~pair, None] * between.normals[~pair]).sum(axis=0)
    assert np.allclose(f.sum(axis=0), floor, atol=1e-9 * np.abs(f).sum())


def tied(stiffness, integrator, duration=0.2):
    body = block((-0.05, -0.05, -0.4), name="weight", cells=1, damping=pl.Rayleigh(beta=2e-3))
    top = body.mesh.where(lambda X: X[:, 2] > -0.3 - 1e-9)
    ties = [pl.Attachment("weight", top, "articulated", stiffness=stiffness)]
    hinge = arm(q=[0.0])
    return pl.Scene([body, hinge], attachments=ties, integrator=integrator, h=5e-3, duration=duration)


@pytest.mark.parametrize("integrator", [pl.BDF1(), pl.BDF2(), pl.LinearlyImplicit()], ids=lambda i: type(i).__name__)
def test_what_is_tied_stays_together_and_pulls(integrator):
    """The block hangs from the rod: the hinge carries both weights, which only the ties can bring to it."""
    scene = tied(None, integrator, 0.3)
    system = scene.system()
    for step in pl.simulate(scene):
        gap = np.abs(system.ties @ system.points.lift(step.state.q)).max()
        assert step.report.converged and gap < 1e-6
    x = step.system.positions(step.state.q)
    fall = scene.initial().q.reshape(-1)[: 3 * 8].reshape(-1, 3)[:, 2] - x[:8, 2]
    assert fall.max() < 0.01  # a free block would have fallen 44 cm


def test_springs_approach_the_tie():
    """A hinge that starts aside swings block and rod together; stiffer springs follow the exact ties more closely."""
    ends = {}
    for stiffness in (None, 2e2, 2e3):
        *_, last = pl.simulate(tied(stiffness, pl.BDF1(Newton(tolerance=Tolerance(1e-10, 1e-12))), 0.1))
        ends[stiffness] = last.system.positions(last.state.q)[:8]
    soft, stiff = (np.abs(ends[k] - ends[None]).max() for k in (2e2, 2e3))
    assert stiff < 0.2 * soft


def test_the_way_of_a_turning_body_is_curved():
    """Half a turn takes a rod through a block beside it, although its straight way does not touch it."""
    rod = pl.Rigid(pl.mesh.bar((0.4, 0.02, 0.02), (1, 1, 1)).transformed(translate=(-0.2, -0.01, 0.04)), name="rod")
    scene = pl.Scene(
        [block((0.1, 0.05, 0.0)), rod], contact=pl.BarrierContact(), integrator=pl.BDF1(), gravity=(0, 0, 0)
    )
    system = scene.system()
    state = scene.initial(system)
    held = system.at(state, 0.01)
    turn = np.zeros(len(state.q))
    axis = np.array([0.0, 0.0, 1.0])
    R = system.parts[1].tree.links[0].frame[:3, :3]
    turn[-3:] = R.T @ axis * np.pi  # about its middle: it ends where it began, corner on corner
    reach = held.limit(state.q, turn)
    assert 0.0 < reach < 0.5
    F = triangles(system, system.positions(state.q))
    clear = lambda s: len(intersections(system.positions(state.q + s * turn), edges(F), F)) == 0
    assert all(clear(s) for s in np.linspace(0.0, reach, 20)) and not clear(1.3 * reach)


def test_what_cannot_be_tied_is_refused():
    body, hinge = block((-0.05, -0.05, -0.4), name="weight"), arm()
    scene = lambda **k: pl.Scene([body, hinge], attachments=[pl.Attachment(**k)]).system()
    for wrong, match in (
        ({"body": "weight", "vertices": [0], "to": "leg"}, "no body is called 'leg'"),
        ({"body": "weight", "vertices": [0], "to": "articulated", "link": "hand"}, "no link is called 'hand'"),
        ({"body": "weight", "vertices": [99], "to": "articulated"}, "of 'weight': vertex 99 does not exist"),
        ({"body": "weight", "vertices": [0], "to": "weight"}, "attached to itself"),
    ):
        with pytest.raises(pl.SceneError, match=match):
            scene(**wrong)
    twice = [pl.Attachment("weight", [0, 1], "articulated"), pl.Attachment("weight", [1], "articulated")]
    with pytest.raises(pl.SceneError, match="two attachments"):
        pl.Scene([body, hinge], attachments=twice).system()


def test_rigid_bodies_need_a_closed_surface_and_a_mass():
    F = pl.mesh.bar((1, 1, 1), (1, 1, 1)).surface()
    X = pl.mesh.bar((1, 1, 1), (1, 1, 1)).X
    with pytest.raises(pl.MeshError, match="open at 3 edges"):
        pl.Rigid(pl.Mesh(X, F[1:]))
    with pytest.raises(pl.MeshError, match="enclosed volume"):
        pl.Rigid(pl.Mesh(X, F[:, ::-1]))
    with pytest.raises(pl.SceneError, match="density is 0"):
        pl.Rigid(pl.Mesh(X, F), density=0.0)


def test_a_free_rigid_body_falls_and_turns_like_one():
    scene = pl.Scene(
        [die((0, 0, 0), spin=(0, 0, 2.0), velocity=(1.0, 0, 0))], integrator=pl.BDF2(), h=0.01, duration=0.2
    )
    *_, last = pl.simulate(scene)
    x = last.system.positions(last.state.q)
    assert x.mean(axis=0) == pytest.approx([0.04 + 0.2, 0.04, 0.04 - 0.5 * 9.81 * 0.04], abs=1e-9)
    corner = scene.bodies[0].mesh.X[0] - 0.04
    c, s = np.cos(0.4), np.sin(0.4)
    assert x[0] - x.mean(axis=0) == pytest.approx(
        [c * corner[0] - s * corner[1], s * corner[0] + c * corner[1], corner[2]]
    )


def test_fitted_frequencies_stay_in_a_mixture():
    """The low-rank correction of a fitted body is part of the velocity step's matrix beside penalties as well."""
    fine = block(name="fine", cells=2, lumped=False, pins=pl.Pin([0, 1, 2]))
    body = block(lumped=False, pins=pl.Pin([0, 1]), fit=pl.Fitting(fine, s=2, on_mismatch="ignore"), name="bed")
    other = die((0.01, 0.01, 0.0995))
    scene = pl.Scene([body, other], contact=pl.PenaltyContact(mu=0.0), integrator=pl.LinearlyImplicit())
    system = scene.system()
    block_of = system.prepare(started(scene), 5e-3, None, Linearisation()).block
    A, n = block_of.A @ np.eye(len(block_of.b)), len(system.parts[0].free)
    sparse = block_of.A.sparse().toarray()
    soft = system.parts[0]
    rest = soft.rest, np.zeros(24), 0.0
    K = -soft.restrict(soft.stiffness(*rest)) @ np.eye(n)
    plain = -soft.inner.restrict(soft.inner.stiffness(*rest, psd=True))
    assert np.abs(A - sparse).max() > 0
    assert np.allclose((A - sparse)[:n, :n], 25e-6 * (K - plain.toarray()), atol=1e-9 * np.abs(K).max() * 25e-6)


def test_the_guide_of_a_stage_slopes_as_its_residual():
    """A turning die on a bed: its points move on curves, on which P(J v) is no potential of lagged friction."""
    contact = pl.PenaltyContact(mu=0.4, lagged=True)
    scene = resting(contact)
    system, start = scene.system(), started(scene)
    rng, h = np.random.default_rng(3), 1e-2
    spun = State(start.q, start.v + 3.0 * rng.normal(size=len(start.v)))
    target = spun.q + h * spun.v
    stage = Stage(system, h, target, base=spun.q, t=h, frame=system.prescribe(target, h), start=spun)
    z = stage.frame[system.free] + 1e-3 * rng.normal(size=len(system.free))
    r = stage.residual(z)
    guide = stage.guide(z, r)
    assert guide is not None and guide(z) == 0.0
    for direction in rng.normal(size=(4, len(z))):
        slope = (guide(z + 1e-6 * direction) - guide(z - 1e-6 * direction)) / 2e-6
        # directions of slip turn on the way of the stage, which the guide's part on curves leaves out
        assert slope == pytest.approx(r @ direction, rel=2e-3, abs=1e-6 * np.linalg.norm(r))


@pytest.mark.parametrize("share", [0.3, 1e-3])
def test_a_short_step_does_not_throw_tied_ends_together(share):
    """A turning rod carries a soft bar. Each step leaves a gap of second order, which shorter ones close in the same
    time: closed by a thousandth of a step, at gap / h, it would nearly triple the kinetic energy."""
    h, mesh = 5e-3, pl.mesh.bar((0.2, 0.05, 0.05), (4, 1, 1)).transformed(translate=(0.4, -0.025, -0.025))
    soft = pl.Solid(mesh, pl.StableNeoHookean("1 MPa", 0.3), density=1000, name="bar")
    rod = Link(Revolute((0, 0, 1)), cuboid((0.4, 0.05, 0.05), 1000.0, at(0.2, 0, 0)), name="rod")
    tie = pl.Attachment("bar", np.flatnonzero(mesh.X[:, 0] < 0.4 + 1e-9), "arm", "rod")
    bodies, method = [soft, pl.Articulated([rod], v=(6.0,), name="arm")], pl.LinearlyImplicit()
    scene = pl.Scene(bodies, attachments=[tie], gravity=(0, 0, 0), integrator=method, h=h, duration=0.06)
    *_, last = pl.simulate(scene)
    system, state, memory = last.system, last.state, last.memory
    gap = lambda state: float(np.abs(system.ties @ system.points.lift(state.q)).max())
    kinetic = lambda state: system.energies(state.q, state.v, state.t)["kinetic"]
    left, moving = gap(state), kinetic(state)
    for piece in (share * h, (1 - share) * h):
        step = method.step(system, state, piece, memory)
        state, memory = step.state, step.memory
        assert kinetic(state) < 1.01 * moving
    assert gap(state) < 1.01 * left
