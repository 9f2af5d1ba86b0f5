"""Whole steps: rest, symmetry, sliding, locking, lift-off, friction, contradiction, restart."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from pliant.bench.eol.books import largest_stretch
from pliant.bench.eol.friction import margin
from pliant.bench.eol.march import march
from pliant.bench.eol.table2_1 import stretch
from pliant.bodies import Rayleigh
from pliant.checkpoint import load, save
from pliant.cloth.adapt import detect, hold, remeshed
from pliant.cloth.body import Cloth
from pliant.cloth.collide import tip_hits
from pliant.cloth.eulerian import Eulerian
from pliant.cloth.hands import Handle
from pliant.cloth.remesh import Remesher
from pliant.cloth.sheet import Sheet, rectangle, sheet, signed_areas
from pliant.contact.obstacles import Box
from pliant.errors import SceneError
from pliant.integrators import LinearlyImplicit
from pliant.maps.motions import Phase, Phases
from pliant.scene import Scene
from pliant.scenes import eol
from pliant.simulate import simulate
from pliant.systems.row_contact import RowContact

CONTACT = RowContact(mu=0.0, thickness=5e-3)


def scene_of(bodies, **more) -> Scene:
    """A scene of cloth alone."""
    return Scene(bodies, LinearlyImplicit(), **{"h": 4e-3, "contact": CONTACT, "on_failure": "substep"} | more)


def last(scene: Scene):
    moment = None
    for moment in march(scene):
        assert all(r.converged for r in moment.reports)
    return moment


def test_flat_cloth_rests_on_a_box() -> None:
    flat = sheet(*rectangle((1.0, 1.0), (5, 5)))
    cloth = Cloth(flat, eulerian=Eulerian(Remesher(0.1, 0.25)))
    moment = last(scene_of([cloth], duration=0.04, obstacles=[Box((0.5, 0.5, -0.5), (2.0, 2.0, 1.0))]))
    assert np.abs(moment.sheet.v).max() < 1e-6
    assert np.abs(moment.sheet.x - flat.x).max() < 1e-7


def test_cloth_inside_a_box_leaves_it_slowly() -> None:
    """A tenth of the depth per step: out at once, it would be thrown off with a hundred times the energy."""
    flat, depth, h = sheet(*rectangle((1.0, 1.0), (5, 5))), 4e-4, 4e-3
    sunk = replace(flat, x=flat.x - [0.0, 0.0, depth])
    cloth = Cloth(sunk, eulerian=Eulerian(Remesher(0.1, 0.25)))
    under = Box((0.5, 0.5, -0.5), (2.0, 2.0, 1.0))
    scene = scene_of([cloth], h=h, duration=2 * h, gravity=(0.0, 0.0, 0.0), obstacles=[under])
    first, second = (moment.sheet for moment in march(scene))
    assert np.allclose(first.v[:, 2], 0.1 * depth / h, rtol=1e-3)
    assert np.allclose(second.x[:, 2], -0.8 * depth, rtol=1e-2)  # it coasts: nothing brakes it


def test_free_fall_is_exact_and_keeps_momentum() -> None:
    flat = sheet(*rectangle((1.0, 1.0), (4, 4)))
    scene = scene_of([Cloth(flat, eulerian=True)], h=0.01, duration=0.1, gravity=(0.0, 0.0, -9.8))
    moment = last(scene)
    assert np.allclose(moment.sheet.v, [0.0, 0.0, -0.98], atol=1e-8)
    linear, _ = moment.cloth.momenta(moment.state.q, moment.state.v)
    assert np.allclose(linear, [0, 0, -0.98 * 0.05], atol=1e-9)


def test_strand_follows_the_cosh_law_while_material_slides_through_the_mesh() -> None:
    scene = replace(eol.strand(h=4e-3), duration=0.28)
    moment = last(scene)
    hanging = moment.sheet.X[moment.cloth.eol, 1].mean()
    assert abs(hanging / (0.25 * np.cosh(moment.state.t * np.sqrt(9.81))) - 1) < 0.01
    assert len(moment.sheet.faces) != len(scene.bodies[0].mesh.faces)  # vertices were passed over and inserted
    assert abs(signed_areas(moment.sheet.X, moment.sheet.faces).sum() - 0.05) < 1e-12


def test_friction_holds_the_strand() -> None:
    moment = last(replace(eol.strand(h=4e-3, mu=0.5), duration=0.2))
    assert moment.sheet.X[moment.cloth.eol, 1].mean() < 0.251
    assert np.abs(moment.sheet.v).max() < 0.05


@pytest.mark.parametrize(("mu", "stays"), [(0.0, False), (1.2, True)])
def test_friction_decides_whether_cloth_stays_on_boxes(mu: float, stays: bool) -> None:
    """On tops of 0.35 m mu = 1.2 can carry twice what the sagging strips pull with; mu = 0.6 could not."""
    assert (margin(mu, 0.35) > 1.9) is stays and 0.5 < margin(0.6, 0.35) < 0.9
    *_, step = simulate(eol.friction(cells=4, mu=mu, overlap=0.35, duration=0.6))  # with its policy: one step is halved
    kinetic = step.ledger.energies["kinetic"]
    on_boxes = float(np.mean(step.system.positions(step.state.q)[:, 2] > -0.011))
    assert (kinetic < 1e-3 and on_boxes > 0.3) is stays


def test_friction_neither_tears_at_the_cloth_nor_feeds_it() -> None:
    """Hem vertices used to stick to the boxes whatever pulled at them: 8 times stretched, with energy from nowhere."""
    for moment in march(eol.friction(cells=6, duration=0.3)):
        assert largest_stretch(moment.sheet) < 1.15  # averaged at vertices: slivers of a few mm do not count
        assert moment.energy < 1e-5  # it starts at rest from 0


def test_draped_cloth_begins_stretched_by_its_weight() -> None:
    """Without bending nothing moves before the hands do; unstretched it would fall at 0.15 m/s and bounce."""
    moment = last(replace(eol.draped_edge(cells=4, beta=0.0), duration=0.1))
    assert np.abs(moment.sheet.v).max() < 1e-3


def hem_height(variant: eol.Variant) -> float:
    scene = eol.draped_edge(variant, cells=4, speed=0.5, pull=0.1)
    moment = last(scene)
    hem = moment.sheet.fixed & (moment.sheet.X[:, 1] == 0)
    return float(moment.sheet.x[hem, 2].mean()) + 0.52


def test_eol_slides_over_the_edge_where_the_cone_locks() -> None:
    assert hem_height(eol.EOL) > 0.08
    assert hem_height(eol.CONE) < 0.01


def test_cloth_folded_over_a_wire_slides_up_to_its_borders() -> None:
    scene = eol.draped_wire(cells=4, speed=0.5, pull=0.1)
    moment = last(scene)
    rise = moment.sheet.x[moment.sheet.X[:, 1] == 0, 2].mean() - 0.05
    pulled = 0.55 - moment.sheet.x[moment.sheet.X[:, 1] == 1, 2].mean()
    assert 0.9 < rise / pulled < 1.1
    on = moment.sheet.feature >= 0
    assert {0.0, 1.0} <= set(moment.sheet.X[on, 0].tolist())  # the crease ends on the border


def test_lagrangian_faces_rest_on_tips() -> None:
    scene = replace(eol.nails(eol.REGULAR, cells=5), duration=0.16)
    world = scene.system().around
    for moment in march(scene):
        hits = tip_hits(moment.sheet, world.at(0.0), world.at(0.0).tips, 0.2, world.thickness, world.table.edges)
        assert len(hits.height) == 16 and hits.height.max() < world.thickness


def test_mirrored_scene_gives_the_mirrored_result() -> None:
    """Mirror x -> 1 - x of a cloth that falls over a box edge while one of its corners is held."""
    results = []
    for mirrored in (False, True):
        X, faces = rectangle((1.0, 1.0), (4, 4))
        if mirrored:
            X, faces = np.column_stack([1.0 - X[:, 0], X[:, 1]]), faces[:, [0, 2, 1]]
        hand = Handle(np.array([[1.0, 1.0]]) if mirrored else np.array([[0.0, 1.0]]))
        cloth, table = Cloth(sheet(X, faces), pins=hand, eulerian=True), Box((0.5, 1.01, -0.503), (2.0, 1.0, 1.0))
        results.append(last(scene_of([cloth], duration=0.1, obstacles=[table])))
    one, two = (m.sheet for m in results)
    assert len(results[0].cloth.eol) == len(results[1].cloth.eol) > 0
    d = np.linalg.norm(one.x[:, None] - (two.x * [-1, 1, 1] + [1, 0, 0])[None], axis=2)
    assert d.min(axis=1).max() < 1e-6
    assert np.abs(one.x[:, 0] - 0.5).max() > 0.49


def test_box_that_retreats_leaves_no_feature_vertices() -> None:
    scene = eol.push(cells=6, reach=0.1)
    met = 0
    for moment in march(scene):
        met = max(met, len(moment.cloth.eol))
        assert signed_areas(moment.sheet.X, moment.sheet.faces).min() > 0
    assert met > 0 and len(moment.cloth.eol) == 0
    assert not moment.sheet.V.any()


def test_contradicting_obstacles_are_reported_not_hidden() -> None:
    flat = sheet(*rectangle((1.0, 1.0), (3, 3)))
    presses = [
        Box((0.5, 0.5, z), (2.0, 2.0, 1.0), Phases((Phase(0.0, 1.0, (0.0, 0.0, speed)),)))
        for z, speed in ((-0.501, 1.0), (0.501, -1.0))
    ]
    scene = scene_of([Cloth(flat, eulerian=True)], h=2e-3, duration=0.006, obstacles=presses)
    reports = [m.reports[-1] for m in march(scene)]
    assert any("relaxed" in r.message and "vertices" in r.message for r in reports)
    assert all(np.isfinite(m.state.v).all() for m in march(scene))


def test_interrupted_run_goes_on_bit_for_bit(tmp_path) -> None:
    scene = replace(eol.strand(h=4e-3), duration=0.12)
    whole = list(simulate(scene))
    middle = list(islice(simulate(scene), 17))[-1]
    save(tmp_path / "point.h5", middle.checkpoint())
    rest = list(simulate(scene, start=load(tmp_path / "point.h5")))
    assert len(whole[-1].system.sheet.faces) != len(scene.bodies[0].mesh.faces)
    assert np.array_equal(whole[-1].state.q, rest[-1].state.q)
    assert np.array_equal(whole[-1].state.v, rest[-1].state.v)


def test_a_scene_runs_to_its_end_by_its_own_steps_of_which_a_stretch_is_timed() -> None:
    scene = replace(eol.strand(h=4e-3), duration=0.08)
    moments = list(stretch(scene, 5))
    times = np.array([0.0] + [m.state.t for m, _ in moments])
    timed = np.array([seconds is not None for _, seconds in moments])
    assert timed.sum() == 5
    assert len(moments) == scene.steps and np.allclose(np.diff(times), scene.h)
    assert abs(times[-1] - scene.duration) < 1e-9
    assert sum(seconds is not None for _, seconds in stretch(scene, None)) == scene.steps


def test_scenes_refuse_nonsense_by_name() -> None:
    tiny = sheet(*rectangle((0.02, 0.02), (2, 2)))
    with pytest.raises(SceneError, match="smaller than"):
        scene_of([Cloth(tiny, eulerian=True)], obstacles=[Box((0.0, 0.0, -1.0))]).system()
    with pytest.raises(SceneError, match="handle"):
        Cloth(tiny, pins=Handle(np.array([0.01, 0.01])), eulerian=True)
    with pytest.raises(SceneError, match="eulerian=True"):
        Cloth(tiny)
    with pytest.raises(SceneError, match="damping"):
        Cloth(tiny, damping=Rayleigh(alpha=1.0), eulerian=True)


@pytest.mark.slow
@pytest.mark.parametrize("build", [eol.wire, eol.nails, eol.jaws, eol.throw, eol.tablecloth, eol.friction])
def test_scenes_run_to_their_end(build) -> None:
    scene = build(cells=8)
    for moment in march(scene):
        assert np.isfinite(moment.state.q).all() and moment.reports[-1].converged
        assert signed_areas(moment.sheet.X, moment.sheet.faces).min() > 0
    assert abs(signed_areas(moment.sheet.X, moment.sheet.faces).sum() - 1.0) < 1e-9


def least_altitude(s: Sheet) -> float:
    """Smallest altitude [m] in the material of the faces with a vertex on a feature."""
    X = s.X[s.faces[(s.feature[s.faces] >= 0).any(axis=1)]]
    longest = np.max([np.linalg.norm(X[:, k] - X[:, k - 1], axis=1) for k in range(3)], axis=0)
    u, w = X[:, 1] - X[:, 0], X[:, 2] - X[:, 0]
    return float((np.abs(u[:, 0] * w[:, 1] - u[:, 1] * w[:, 0]) / longest).min(initial=np.inf))


@pytest.mark.parametrize("build", [eol.throw, eol.tablecloth])
def test_no_thin_face_touches_a_feature_after_preprocessing(build) -> None:
    scene = replace(build(cells=5), duration=0.24)
    method, cloth, memory, seen = scene.integrator, scene.system(), None, 0
    state = scene.initial(cloth)
    for i in range(scene.steps):
        if i % 4 == 0:
            scenery = cloth.around.at(state.t)
            held = hold(cloth, cloth.unpack(state.q, state.v), scenery, scene.h)
            edited = remeshed(cloth, held, scenery, detect(cloth, held, scenery)).sheet
            seen += int((edited.feature >= 0).any())
            assert least_altitude(edited) >= 0.5 * cloth.method.conformer.tau * cloth.scale
        step = method.step(cloth, state, scene.h, memory)
        cloth, state, memory = step.system or cloth, step.state, step.memory
    assert seen > 3
