"""Detection against brute force, intersection checks, overlaps at the start."""

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import Solid
from pliant.contact.initial import OverlapError
from pliant.contact.intersect import intersections
from pliant.contact.obstacles import Plane, Sphere
from pliant.contact.pairs import PairDetector
from pliant.contact.triangles import NearestTriangle
from pliant.errors import SceneError
from pliant.integrators import BDF1, ImplicitMidpoint, LinearlyImplicit
from pliant.materials import StableNeoHookean
from pliant.mesh import ball, bar, box, cut, duck, plane_sides, sheet
from pliant.mesh.topology import edges
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

MATERIAL = StableNeoHookean(1e5, 0.4)


def heap(seed=0, count=4):
    rng = np.random.default_rng(seed)
    meshes = [duck().transformed(translate=0.02 * rng.normal(size=3)) for _ in range(count)]
    offsets = np.concatenate([[0], np.cumsum([len(m.X) for m in meshes])])
    x = np.concatenate([m.X for m in meshes])
    return meshes, offsets, x + 1e-3 * rng.normal(size=x.shape)


def brute_hits(detector, x):
    found = set()
    for e, tet in enumerate(detector.T):
        M = np.column_stack([x[tet[1:]] - x[tet[0]]]).T
        w = np.linalg.solve(M, (x[detector.vertices] - x[tet[0]]).T)
        inside = (w >= 0).all(axis=0) & (w.sum(axis=0) <= 1)
        for v in detector.vertices[inside]:
            if v not in tet:
                found.add((int(v), int(detector.tet_body[e])))
    return found


@pytest.mark.parametrize("seed", range(3))
def test_vertices_in_tets_against_brute_force(seed):
    meshes, offsets, x = heap(seed)
    detector = PairDetector(meshes, offsets)
    hits = detector.hits(x)
    assert {(int(v), int(detector.tet_body[t])) for v, t in zip(hits.vertex, hits.tet, strict=True)} == brute_hits(
        detector, x
    )
    assert len(hits.vertex) > 10
    assert np.allclose(np.einsum("ck,ckd->cd", hits.weights, x[detector.T[hits.tet]]), x[hits.vertex])


def vertex_normals(x, F):
    N = np.cross(x[F[:, 1]] - x[F[:, 0]], x[F[:, 2]] - x[F[:, 0]])
    own = np.zeros_like(x)
    np.add.at(own, F, N[:, None, :])
    return N, own


@pytest.mark.parametrize("seed", range(3))
def test_exit_triangle_is_the_nearest_facing_one_in_the_rest_shape(seed):
    meshes, offsets, x = heap(seed)
    detector = PairDetector(meshes, offsets, self_contact=False)
    hits, pairs = detector.hits(x), detector.detect(x)
    assert len(pairs.body) == len(hits.vertex)
    rest = np.einsum("ck,ckd->cd", hits.weights, detector.X[detector.T[hits.tet]])
    _, own = vertex_normals(x, np.concatenate([m.surface() + o for m, o in zip(meshes, offsets, strict=False)]))
    facing = 0
    for point, nodes, body in zip(rest, pairs.nodes, pairs.body, strict=True):
        chosen = NearestTriangle(detector.X[nodes[1:]], np.array([[0, 1, 2]])).find(point[None])[2][0]
        F = meshes[body].surface() + offsets[body]
        F = F[vertex_normals(x, F)[0] @ own[nodes[0]] <= 0]
        below = ((point - detector.X[F[:, 0]]) * vertex_normals(detector.X, F)[0]).sum(axis=1) <= 0
        F = F[below]
        facing += nodes[1:].tolist() in F.tolist()
        w = np.random.default_rng(0).dirichlet((1, 1, 1), size=300)
        samples = np.einsum("sk,fkd->fsd", w, detector.X[F]).reshape(-1, 3)
        assert chosen <= np.linalg.norm(samples - point, axis=1).min() + 1e-12
    assert facing == len(pairs.body)
    assert (pairs.contacts(x).gaps < 0).mean() > 0.9


def brute_near(x, F, bodies, vertices, reach, sheets):
    """Nearest triangle of another body straight below every vertex, by dense sampling-free projection."""
    found = {}
    N, own = vertex_normals(x, F)
    for v in vertices:
        for f, (a, b, c) in enumerate(x[F]):
            if bodies[F[f, 0]] == bodies[v]:
                continue
            n = N[f] / np.linalg.norm(N[f])
            height = (x[v] - a) @ n
            if (not sheets and (height < 0 or own[v] @ n > 0)) or abs(height) > reach:
                continue
            w = np.linalg.solve(np.column_stack([b - a, c - a, n]), x[v] - a)[:2]
            if w.min() < 0 or w.sum() > 1:
                continue
            key = (int(v), int(bodies[F[f, 0]]))
            if key not in found or abs(height) < found[key][0] - 1e-15:
                found[key] = (abs(height), f)
    return found


@pytest.mark.parametrize("sheets", [False, True])
def test_near_pairs_against_brute_force(sheets):
    rng = np.random.default_rng(3)
    if sheets:
        meshes = [
            sheet(size=(0.1, 0.1), cells=(4, 4)).transformed(translate=(0.01 * k, 0, 0.004 * k)) for k in range(3)
        ]
    else:
        meshes = [
            box(size=(0.1, 0.1, 0.1), cells=(3, 3, 3)).transformed(translate=(0.103 * k, 0.01 * k, 0)) for k in range(3)
        ]
    offsets = np.concatenate([[0], np.cumsum([len(m.X) for m in meshes])])
    x = np.concatenate([m.X for m in meshes])
    x = x + 1e-3 * rng.normal(size=x.shape)
    detector = PairDetector(meshes, offsets, self_contact=False)
    pairs = detector.near(x, 0.006)
    F = np.concatenate([m.surface() + o for m, o in zip(meshes, offsets, strict=False)])
    expected = brute_near(x, F, detector.body, detector.vertices, 0.006, sheets)
    gaps = pairs.contacts(x).gaps
    found = {(int(n[0]), int(b)): g for n, b, g in zip(pairs.nodes, pairs.body, gaps, strict=True)}
    assert len(expected) > 10 and set(expected) <= set(found)  # more: beside an edge, but nearly straight above it
    for key, (height, _) in expected.items():
        assert found[key] <= height + 1e-15
    assert (gaps >= 0).all() and (gaps <= 0.006).all()


def test_the_next_body_of_a_train_is_met_in_the_step_that_stops_the_first():
    cube, stiff = box(size=(0.1, 0.1, 0.1), cells=(2, 2, 2)), StableNeoHookean(2e6, 0.3)
    bodies = [Solid(cube.transformed(translate=(0, 0, 1e-5 + 0.10001 * k)), stiff) for k in range(4)]
    scene = Scene(bodies, contact=PenaltyContact(mu=0.0), obstacles=[Plane()], integrator=BDF1(), h=0.01, duration=0.03)
    for step in simulate(scene):
        assert step.report.penetration < 5e-4  # a free fall of one step is 1e-3


@pytest.mark.parametrize("g, met", [(0.0, False), (9.81, False), (98.1, True)])
def test_bodies_at_rest_are_looked_for_as_far_as_gravity_takes_them(g, met):
    cube = box(size=(0.1, 0.1, 0.1), cells=(2, 2, 2))
    bodies = [Solid(cube.transformed(translate=(0, 0, 0.103 * k)), MATERIAL) for k in range(2)]
    system = Scene(bodies, contact=PenaltyContact(), gravity=(0, 0, -g), integrator=BDF1()).system()
    q = system.X.ravel()
    energies = system.contact.at(State(q, np.zeros_like(q), 0.0), 0.01).energies
    assert any(len(energy.contacts(q)) for energy in energies) == met  # 3 mm apart; in 10 ms they fall 0, 1 and 10 mm


@pytest.mark.parametrize("pace", [0.002, 0.01, 0.1])
def test_what_was_near_before_does_not_change_what_is_found(pace):
    """One detector follows bodies through each other, in slow steps and fast ones; at every place a new one agrees."""
    rng = np.random.default_rng(3)
    cube, cloth = box((0.1, 0.1, 0.1), (2, 2, 2)), sheet((0.2, 0.2), (6, 6))
    meshes = [cube, cube.transformed(translate=(0.02, 0.01, 0.112)), cloth.transformed(translate=(-0.1, -0.1, 0.22))]
    offsets = np.concatenate([[0], np.cumsum([len(m.X) for m in meshes])])
    x, edge = np.concatenate([m.X for m in meshes]), 0.05
    down = np.repeat([0.0, -1.0, -3.0], np.diff(offsets))[:, None] * [0.1, 0.2, 1.0]
    old, found = PairDetector(meshes, offsets), []
    for _ in range(60):
        x = x + pace * edge * (down + 0.3 * rng.normal(size=x.shape))
        way = pace * edge * down
        pairs = [
            d.detect_along(x, way, slack=0.0, thickness=0.005, margin=0.02)
            for d in (old, PairDetector(meshes, offsets))
        ]
        for a, b in zip(*(vars(p).values() for p in pairs), strict=True):
            assert a.tobytes() == b.tobytes()
        found.append(len(pairs[0].body))
    assert max(found) > min(found) + 5


def test_detection_does_not_depend_on_where_the_scene_is():
    meshes, offsets, x = heap(1)
    detector = PairDetector(meshes, offsets)
    here, there = detector.detect(x), detector.detect(x + np.array([-37.0, 11.0, 53.0]))
    assert np.array_equal(here.nodes[:, 0], there.nodes[:, 0]) and np.array_equal(here.body, there.body)


def test_self_contact_of_a_folded_body():
    mesh = box(size=(0.4, 0.05, 0.05), cells=(16, 2, 2))
    x = mesh.X.copy()
    angle = np.pi * 1.15 * x[:, 0] / 0.4  # bent into a hairpin whose ends meet
    radius = 0.4 / np.pi / 1.15 - 0.09
    x = np.column_stack([(radius + x[:, 2]) * np.sin(angle), x[:, 1], (radius + x[:, 2]) * np.cos(angle)])
    closed = x.copy()
    closed[:, 0] *= 0.4
    detector = PairDetector([mesh], np.array([0, len(mesh.X)]))
    found = {(int(v), 0) for v in detector.hits(closed).vertex}
    assert found == brute_hits(detector, closed)
    rest = detector.detect(mesh.X)
    assert len(rest.body) == 0


def test_intersections_against_brute_force():
    rng = np.random.default_rng(0)
    meshes, offsets, x = heap(0)
    F = np.concatenate([m.surface() + o for m, o in zip(meshes, offsets, strict=False)])
    E = edges(F)
    found = set(map(tuple, intersections(x, E, F)))
    assert found
    chosen = rng.permutation(len(E))[:150]
    for e in chosen:
        p, q = x[E[e]]
        a, b, c = (x[F[:, k]] for k in range(3))
        M = np.stack([np.broadcast_to(p - q, a.shape), b - a, c - a], axis=2)
        flat = abs(np.linalg.det(M)) < 1e-16
        M[flat] = np.eye(3)
        s = np.linalg.solve(M, (p - a)[:, :, None])[:, :, 0]
        hit = (s >= 0).all(axis=1) & (s[:, 0] <= 1) & (s[:, 1] + s[:, 2] <= 1)
        hit &= ~(np.isin(F, E[e]).any(axis=1) | flat)
        assert {f for k, f in found if k == e} == set(np.flatnonzero(hit))
    assert len(intersections(duck().X, edges(duck().surface()), duck().surface())) == 0


@pytest.mark.parametrize("contact", [PenaltyContact, BarrierContact])
def test_overlaps_at_the_start_are_named_written_and_resolved(contact, tmp_path):
    cube = box(size=(0.1, 0.1, 0.1), cells=(2, 2, 2))
    bodies = [
        Solid(cube.transformed(translate=(0, 0, -0.01)), MATERIAL, name="floor cube"),
        Solid(cube.transformed(translate=(0.03, 0.02, 0.06)), MATERIAL, name="upper cube"),
    ]
    scene = Scene(bodies, contact=contact(), obstacles=[Plane()], integrator=BDF1())
    with pytest.raises(OverlapError, match="floor cube.*plane") as caught:
        scene.initial(scene.system())
    assert "upper cube" in str(caught.value) and "resolve_initial" in str(caught.value)
    import meshio

    written = meshio.read(caught.value.write(tmp_path / "overlaps.vtu"))
    assert len(written.cells_dict["triangle"]) > 2
    scene = Scene(bodies, contact=contact(resolve_initial=True), obstacles=[Plane()], integrator=BDF1())
    system = scene.system()
    state = scene.initial(system)
    assert system.min_distance(state.q, 0.0) > (0 if contact is BarrierContact else -2e-3)
    moved = (state.q - system.X.ravel()).reshape(2, -1, 3)
    assert np.ptp(moved, axis=1).max() < 1e-12 and abs(moved).max() > 1e-3  # rigid translations
    x = state.q.reshape(-1, 3)
    F = np.concatenate([cube.surface(), cube.surface() + len(cube.X)])
    assert len(intersections(x, edges(F), F)) == 0


def test_bad_contact_input_is_refused_by_name():
    body = Solid(ball(radius=0.1, cells=5), MATERIAL, name="ball")
    above = Solid(ball(radius=0.1, cells=5).transformed(translate=(0, 0, 0.2)), MATERIAL, name="ball")
    for make, match in [
        (lambda: PenaltyContact(mu=-0.1), "mu.*-0.1"),
        (lambda: BarrierContact(mu=-0.1), "mu.*-0.1"),
        (lambda: BarrierContact(dhat=-1.0), "dhat"),
        (lambda: PenaltyContact(anisotropy=2.0), "anisotropy"),
        (lambda: Scene([above], obstacles=[Plane()]), "contact"),
        (lambda: Scene([above], contact=BarrierContact(), integrator=LinearlyImplicit()), "LinearlyImplicit.*BDF1"),
        (lambda: Scene([above], contact=BarrierContact(), integrator=ImplicitMidpoint()), "ImplicitMidpoint"),
        (lambda: Scene([above], contact=PenaltyContact(thickness=0.2)).system(), "larger than the mean edge.*'ball'"),
        (lambda: Scene([above], contact=BarrierContact(dhat=0.2)).system(), "larger than the mean edge.*'ball'"),
    ]:
        with pytest.raises(SceneError, match=match):
            make()
    inside = Scene([body], contact=PenaltyContact(), obstacles=[Sphere(radius=0.02, name="pill")])
    with pytest.raises(SceneError, match="'pill' lies inside body 'ball'"):
        inside.initial(inside.system())


def test_a_turned_flat_sided_body_does_not_cross_itself():
    from pliant.maps.motions import rotation

    mesh = box(size=(0.12, 0.04, 0.04), cells=(3, 2, 2))
    F = mesh.surface()
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = mesh.X @ rotation(rng.normal(size=3)).T + rng.normal(size=3)
        assert len(intersections(x, edges(F), F, touching=True)) == 0


def test_grazing_is_decided_exactly():
    triangle, segment = np.array([[0, 1, 2]]), np.array([[3, 4]])
    corners = np.array([[0.1, 0.1, 0.3], [1.1, 0.1, 0.3], [0.1, 1.1, 0.3]])
    up = np.nextafter(0.3, 1.0)
    for ends, crosses, touches in [
        ([[0.2, 0.2, 0.3], [0.2, 0.2, 1.0]], 0, 1),  # an end exactly on the triangle
        ([[0.2, 0.2, up], [0.2, 0.2, 1.0]], 0, 0),  # one bit above it
        ([[0.2, 0.2, np.nextafter(0.3, 0.0)], [0.2, 0.2, up]], 1, 1),  # two bits long, through it
        ([[0.9, 0.9, 0.3], [1.0, 0.4, 0.3]], 0, 0),  # beside it in its plane
        ([[0.9, 0.9, 0.3], [0.2, 0.3, 0.3]], 0, 1),  # into it in its plane
        ([[1.2, 0.1, 0.3], [1.3, 0.1, 0.3]], 0, 0),  # on the line of a side, beyond its end
        ([[1.1, 0.1, 0.3], [1.3, 0.1, 0.3]], 0, 1),  # from its corner
    ]:
        x = np.vstack([corners, ends])
        assert len(intersections(x, segment, triangle)) == crosses
        assert len(intersections(x, segment, triangle, touching=True)) == touches
        turned = x[:, [2, 0, 1]]
        assert len(intersections(turned, segment, triangle, touching=True)) == touches


def test_a_body_that_has_exploded_is_looked_at_in_finite_time():
    """An element of more cells than there are points: every point is looked at instead of every cell."""
    mesh = bar(size=(0.3, 0.1, 0.1), cells=(6, 2, 2))
    meshes, offsets = [mesh, mesh.transformed(translate=(0.0, 0.0, 0.3))], np.array([0, len(mesh.X), 2 * len(mesh.X)])
    finder = PairDetector(meshes, offsets)
    rest = np.concatenate([m.X for m in meshes])
    rest = rest + 1e-3 * np.random.default_rng(0).normal(size=rest.shape)
    far = np.arange(len(rest)) % 7 == 0
    x = np.where(far[:, None], 1e3, 1.0) * rest
    found = finder.hits(x)
    assert {(int(v), int(finder.tet_body[t])) for v, t in zip(found.vertex, found.tet, strict=True)} == brute_hits(
        finder, x
    )
    for size in (1e14, 1e300, np.inf, np.nan):
        x = np.where(far[:, None], size, 1.0) * rest
        assert len(finder.hits(x).vertex) <= len(rest) * len(meshes)
        finder.near(x, 0.1)


def test_the_two_sides_of_a_cut_are_no_contact_but_for_round_off() -> None:
    """They lie on each other: a vertex a hair inside the other side leaves through the cut, not the far side."""
    whole = bar((0.2, 0.05, 0.05), (8, 2, 2))
    mesh = cut(whole, plane_sides(whole, (0.1, 0.0, 0.0), (1.0, 0.0, 0.0))).mesh
    detector = PairDetector([mesh], np.array([0, len(mesh.X)]))
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(100):
        x = mesh.X + rng.normal(size=3) + 3e-17 * rng.normal(size=mesh.X.shape)
        pairs = detector.detect(x)
        found += len(pairs.body)
        assert pairs.contacts(x).gaps.min(initial=0.0) > -1e-12
    assert found > 100


@pytest.mark.parametrize("turned", [False, True], ids=["upwards", "downwards"])
def test_a_sheet_leaves_a_solid_by_the_nearest_face_whichever_way_it_is_oriented(turned):
    """Sheets have two sides: their normals say nothing about where they came from."""
    box = pl.mesh.bar((0.1, 0.1, 0.1), (2, 2, 2))
    sheet = pl.mesh.sheet((0.04, 0.04), (2, 2)).transformed(translate=(0.03, 0.03, 0.099))
    if turned:
        sheet = pl.Mesh(sheet.X, sheet.T[:, ::-1])
    offsets = np.cumsum([0, len(box.X), len(sheet.X)])
    detector = PairDetector([box, sheet], offsets)
    x = np.concatenate([box.X, sheet.X])
    found = detector.detect(x)
    assert set(found.nodes[:, 0]) == set(range(offsets[1], offsets[2]))
    contacts = found.contacts(x)
    assert np.allclose(contacts.normals, (0, 0, 1)) and np.allclose(contacts.gaps, -0.001)


@pytest.mark.parametrize("contact", [pl.PenaltyContact(), pl.RowContact(mu=0.0)], ids=["penalty", "rows"])
def test_cloth_that_is_thrown_at_a_free_die_gains_no_energy(contact):
    """It arrives within a step, at 4 mm per step. With penalties it is in the die by then, which costs their energy."""
    sheet = pl.mesh.sheet((0.3, 0.3), (12, 12)).transformed(translate=(-0.15, -0.15, 0.065))
    cube = pl.mesh.bar((0.1, 0.1, 0.1), (2, 2, 2)).transformed(translate=(-0.05, -0.05, -0.05))
    bodies = [pl.Cloth(sheet, velocity=(0, 0, -1)), pl.Rigid(cube, 300.0)]
    how = {"gravity": (0, 0, 0), "integrator": pl.LinearlyImplicit(), "h": 0.004, "duration": 0.3}
    rows = [step.ledger for step in pl.simulate(pl.Scene(bodies, contact=contact, **how))]
    without = [row.total - row.energies.get("contact", 0.0) for row in rows]
    assert max(without) < 1.001 * without[0] and rows[-1].total < 0.2 * rows[0].total
