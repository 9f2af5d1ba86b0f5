"""Cuts through what is tied or driven: seams, attachments, pins and loads go on with both sides of the cut."""

import numpy as np
import pytest

import pliant as pl
from pliant.events import severed
from pliant.mesh import cut, plane_sides

FABRIC = pl.ClothMaterial(E=100.0, nu=0.2, beta=1e-5, rho=0.2)
UPPER = pl.mesh.sheet((1.0, 1.0), (4, 4))
LOWER = UPPER.transformed(translate=(0.0, -1.0, 0.0))
HEM = LOWER.line((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
EDGE = UPPER.line((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))


def panels(seam: pl.Attachment, **options) -> pl.Scene:
    hung = pl.Pin(UPPER.where(lambda X: X[:, 1] > 1 - 1e-9))
    bodies = [pl.Cloth(UPPER, FABRIC, pins=hung, name="upper"), pl.Cloth(LOWER, FABRIC, name="lower")]
    down = (0.0, -9.81, 0.0)
    return pl.Scene(bodies, attachments=[seam], integrator=pl.BDF1(), gravity=down, h=0.01, duration=0.1, **options)


@pytest.mark.parametrize("stiffness", [None, 50.0])
@pytest.mark.parametrize("first", ["lower", "upper"])
def test_a_panel_that_is_cut_through_its_seam_stays_sewn_on_both_sides(stiffness, first):
    """Whichever panel the seam is written for, its stitch at the cut holds both corners, as firmly as it held one."""
    sides = {"lower": HEM, "upper": EDGE}
    other = {"lower": "upper", "upper": "lower"}[first]
    seam = pl.Attachment(first, sides[first], other, others=sides[other], stiffness=stiffness)
    scene = panels(seam, events=[pl.PlaneCut(0.02, (0.5, 0.0, 0.0), (1.0, 0.0, 0.0), body="lower")])
    *_, last = pl.simulate(scene)
    x = last.system.positions(last.state.q)
    n, X = len(UPPER.X), last.scene.bodies[1].mesh.X
    corners = n + np.flatnonzero(np.linalg.norm(X - (0.5, 0.0, 0.0), axis=1) < 1e-9)
    assert len(corners) == 2 and last.report.converged
    stitch = x[UPPER.line((0.5, 0.0, 0.0), (0.501, 0.0, 0.0))[0]]
    apart = np.linalg.norm(x[corners] - stitch, axis=1)
    weight = 9.81 * FABRIC.rho / 4  # of what hangs below one stitch of the five
    assert apart.max() < (1e-9 if stiffness is None else 2 * weight / stiffness)


@pytest.mark.parametrize("first", ["lower", "upper"])
def test_the_energy_of_an_open_seam_is_the_same_before_and_after_a_cut(first):
    sides = {"lower": HEM, "upper": EDGE}
    other = {"lower": "upper", "upper": "lower"}[first]
    before = panels(pl.Attachment(first, sides[first], other, others=sides[other], stiffness=50.0))
    mesh = before.bodies[1].mesh
    after, carry = severed(before, "lower", cut(mesh, plane_sides(mesh, (0.5, 0.0, 0.0), (1.0, 0.0, 0.0))))
    system, severed_system = before.system(), after.system()
    state = before.initial(system)
    q = state.q + 0.1 * np.random.default_rng(1).normal(size=state.q.shape)
    moved = carry(pl.State(q, state.v, 0.0))
    energies, same = system.energies(q, state.v, 0.0), severed_system.energies(moved.q, moved.v, 0.0)
    assert energies["attachment"] > 0.1
    assert same["attachment"] == pytest.approx(energies["attachment"], rel=1e-12)


def test_ties_in_a_row_survive_a_cut_through_the_middle_one():
    """The seam of a cut panel may itself be sewn to a third one: no vertex is then held twice."""
    seams = [
        pl.Attachment("lower", HEM, "upper", others=EDGE),
        pl.Attachment("third", HEM, "lower", others=HEM),
        pl.Attachment("fourth", HEM, "lower", others=HEM),
    ]
    bodies = [pl.Cloth(UPPER, FABRIC, pins=pl.Pin(EDGE[:1]), name="upper")]
    bodies += [pl.Cloth(LOWER, FABRIC, name=name) for name in ("lower", "third", "fourth")]
    cuts = [pl.PlaneCut(0.0, (0.5, 0.0, 0.0), (1.0, 0.0, 0.0), body="lower")]
    scene = pl.Scene(bodies, attachments=seams, events=cuts, integrator=pl.BDF1(), h=0.01, duration=0.05)
    *_, last = pl.simulate(scene)
    x = last.system.positions(last.state.q)
    corners = np.flatnonzero(
        np.linalg.norm(np.concatenate([b.mesh.X for b in last.scene.bodies]) - (0.5, 0.0, 0.0), axis=1) < 1e-9
    )
    assert len(corners) == 5 and np.ptp(x[corners], axis=0).max() < 1e-9
    assert last.report.converged


LOADS = {
    "pressure": lambda chosen: pl.Pressure(10.0, vertices=chosen),
    "tug": lambda chosen: pl.Tug(chosen, (1.0, 2.0, 3.0), 0.0, 0.0, 9.0),
    "push": lambda chosen: pl.Push(chosen, (0.0,), ((1.0, 2.0, 3.0),)),
}


@pytest.mark.parametrize("load", LOADS)
@pytest.mark.parametrize("mask", [False, True])
def test_a_load_on_vertices_acts_on_both_sides_of_a_cut(load, mask):
    chosen = UPPER.X[:, 1] < 0.6
    before = pl.Scene([pl.Cloth(UPPER, FABRIC)], forces=[LOADS[load](chosen if mask else np.flatnonzero(chosen))])
    done = cut(UPPER, plane_sides(UPPER, (0.5, 0.0, 0.0), (1.0, 0.0, 0.0)))
    after, carry = severed(before, 0, done)
    state = before.initial(before.system())
    f = before.system().force(state.q, state.v, 0.0).reshape(-1, 3)
    now = carry(state)
    g = after.system().force(now.q, now.v, 0.0).reshape(-1, 3)
    summed = np.zeros_like(f)
    np.add.at(summed, done.origin, g)  # what the copies of a vertex get together
    assert len(g) > len(f) and np.abs(summed - f).max() < 1e-12


def test_an_attachment_to_a_link_holds_both_sides_of_a_cut():
    die = pl.Rigid(pl.mesh.box((1.2, 0.1, 0.1), (1, 1, 1)).transformed(translate=(-0.1, 1.0, -0.05)), name="bar")
    top = UPPER.X[:, 1] > 1 - 1e-9
    scene = pl.Scene(
        [pl.Cloth(UPPER, FABRIC, name="cloth"), die],
        attachments=[pl.Attachment("cloth", top, "bar")],
        events=[pl.PlaneCut(0.01, (0.5, 0.0, 0.0), (1.0, 0.0, 0.0), body="cloth")],
        integrator=pl.LinearlyImplicit(),
        h=0.01,
        duration=0.05,
    )
    *_, last = pl.simulate(scene)
    x, X = last.system.positions(last.state.q), last.scene.bodies[0].mesh.X
    corners = np.flatnonzero(np.linalg.norm(X - (0.5, 1.0, 0.0), axis=1) < 1e-9)
    assert len(corners) == 2 and np.ptp(x[corners], axis=0).max() < 1e-9


BLOCK = pl.mesh.bar((0.4, 0.4, 0.4), (2, 2, 2))
CUT = {
    "cloth": lambda: pl.Cloth(UPPER, FABRIC, thickness=0.02),
    "membrane": lambda: pl.Membrane(UPPER, pl.StVK(1e4, 0.3), 0.02, 10.0),
    "solid": lambda: pl.Solid(BLOCK.transformed(translate=(0.3, 0.3, 0.0)), pl.StableNeoHookean(1e4, 0.4)),
}


HALVED = pl.PlaneCut(0.01, (0.5, 0.0, 0.0), (1.0, 0.0, 0.0))
WAYS = {
    "penalties": {"contact": pl.PenaltyContact(), "integrator": pl.BDF1()},
    "rows": {"contact": pl.RowContact(self_contact=True), "integrator": pl.LinearlyImplicit()},
    "thick rows": {
        "contact": pl.RowContact(self_contact=True, thickness=0.02),
        "integrator": pl.LinearlyImplicit(),
    },
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", CUT)
def test_the_two_sides_of_a_cut_do_not_push_each_other_away(kind, way):
    """In free fall nothing happens, although they lie on each other and sheets have a thickness."""
    scene = pl.Scene([CUT[kind]()], events=[HALVED], h=0.01, duration=0.1, **WAYS[way])
    first, *_, last = pl.simulate(scene)
    assert len(last.state.q) > len(first.state.q)
    assert last.ledger.energies.get("contact", 0.0) == pytest.approx(0.0, abs=1e-12)
    assert np.ptp(last.state.v.reshape(-1, 3), axis=0).max() < 1e-9


@pytest.mark.parametrize(
    ("contact", "integrator"),
    [
        (pl.BarrierContact(), pl.BDF1()),
        (pl.RowContact(edges=True, self_contact=True), pl.LinearlyImplicit()),
    ],
)
def test_cuts_are_refused_where_what_touches_has_no_sides(contact, integrator):
    with pytest.raises(pl.SceneError, match="two sides of a cut touch"):
        pl.Scene([CUT["solid"]()], contact=contact, events=[HALVED], integrator=integrator)
