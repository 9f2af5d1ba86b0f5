"""Collision detection, conformal insertion, constraint rows and velocity transfer of Eulerian-on-Lagrangian cloth."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.bench.eol.books import depth
from pliant.bench.eol.march import march
from pliant.certificate import touching as touched
from pliant.cloth.active_set import ActiveSet
from pliant.cloth.body import Cloth
from pliant.cloth.collide import edge_hits, face_contacts, face_depths, tip_hits, untracked
from pliant.cloth.constraints import Cone, Corners, RowBuilder, feature_rows
from pliant.cloth.hands import Handle
from pliant.cloth.kinematics import corner_velocities, vertex_gradients
from pliant.cloth.material import ClothMaterial, from_fabric
from pliant.cloth.sheet import Sheet, rectangle, sheet
from pliant.cloth.surroundings import Surroundings
from pliant.cloth.system import EolCloth
from pliant.cloth.transfer import released, sliding, transfer
from pliant.contact.obstacles import Box, Sphere
from pliant.contact.sharp import Hull, Points, Wire
from pliant.errors import MaterialError, SceneError
from pliant.integrators import LinearlyImplicit
from pliant.linear.qp import Clarabel, solve_qp
from pliant.maps.motions import Phase, Phases
from pliant.scene import Scene
from pliant.scenes.eol import variants
from pliant.systems.row_contact import RowContact


def cloth_on(world: Surroundings, height: float, cells: int = 6) -> Sheet:
    flat = sheet(*rectangle((1.0, 1.0), (cells, cells)))
    return replace(flat, x=flat.x + [0.0, 0.0, height])


def test_box_has_twelve_edges_and_eight_corners_with_outward_normals() -> None:
    scenery = Surroundings((Box((0.0, 0.0, 0.0), (1.0, 2.0, 3.0), turn=(0.1, 0.2, 0.3)),)).at(0.0)
    assert len(scenery.edge_a) == 12 and len(scenery.corner_x) == 8 and len(scenery.planes) == 6
    middle = 0.5 * (scenery.edge_a + scenery.edge_b)
    for n in (scenery.edge_n1, scenery.edge_n2):
        assert np.all(np.einsum("ij,ij->i", n, middle) > 0)
    assert np.allclose(np.einsum("ij,ij->i", scenery.edge_n1, scenery.edge_n2), 0, atol=1e-12)


def test_smooth_bodies_have_no_sharp_edges() -> None:
    t = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    disc = np.concatenate([np.stack([np.cos(t), np.sin(t), 0 * t + z], 1) for z in (0.0, 1.0)])
    scenery = Surroundings((Hull(disc),)).at(0.0)
    assert len(scenery.edge_a) == 48  # only the two rims; the mantle turns by 15 degrees per face


def test_moving_obstacles_move_with_their_twist() -> None:
    motion = Phases(
        (Phase(0.0, 2.0, (1.0, 0.0, 0.5), (0.0, 0.0, 3.0)), Phase(2.0, 3.0, (0.0, 1.0, 0.0))), (0.3, 0.2, 0.0)
    )
    world = Surroundings((Box((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), motion=motion),))
    t, eps = 0.7, 1e-6
    now, ahead, behind = (world.at(t + d) for d in (0.0, eps, -eps))
    rate = (ahead.corner_x - behind.corner_x) / (2 * eps)
    assert np.allclose(now.velocity(now.corner_body, now.corner_x), rate, atol=1e-8)


def test_edge_hits_are_the_crossings_found_one_by_one() -> None:
    world = Surroundings((Box((0.5, 1.01, -0.5), (2.0, 1.0, 1.0)),))
    cloth = cloth_on(world, -0.002)
    scenery = world.at(0.0)
    hits = edge_hits(cloth, scenery, 2 * world.thickness, world.thickness)
    ends = cloth.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    crossing = {tuple(sorted(e)) for e in ends.tolist() if (cloth.x[e[0], 1] - 0.51) * (cloth.x[e[1], 1] - 0.51) < 0}
    assert {tuple(sorted(e)) for e in hits.ends.tolist()} == crossing
    assert np.allclose(hits.gap, -0.002, atol=2e-5)
    assert np.allclose(hits.point[:, 1:], [0.51, 0.0], atol=1e-12)
    assert len(edge_hits(cloth_on(world, 0.02), scenery, 2 * world.thickness, world.thickness).s) == 0


def test_tips_poke_through_one_face_each() -> None:
    tips = np.array([[0.31, 0.42, 0.001], [0.77, 0.13, 0.002]])
    world = Surroundings((Points(tips, np.tile([0.0, 0.0, 1.0], (2, 1))),))
    hits = tip_hits(
        cloth_on(world, 0.0), world.at(0.0), world.at(0.0).tips, 5 * world.thickness, world.thickness, world.table.edges
    )
    assert len(hits.face) == 2 and np.allclose(hits.height, [0.001, 0.002], atol=1e-5)


def layers(world: Surroundings, *heights: float) -> Sheet:
    """Several flat cloths above each other, as one."""
    sheets = [cloth_on(world, z) for z in heights]
    n = len(sheets[0].x)
    whole = {k: np.concatenate([getattr(s, k) for s in sheets]) for k in ("x", "X", "v", "V", "feature", "fixed")}
    return Sheet(**whole, faces=np.concatenate([s.faces + n * i for i, s in enumerate(sheets)]))


def test_every_layer_that_a_corner_has_come_through_is_found() -> None:
    base = [[0.11, 0.22, -0.3], [0.51, 0.22, -0.3], [0.51, 0.62, -0.3], [0.11, 0.62, -0.3]]
    world = Surroundings((Hull(np.array([[0.31, 0.42, 0.0], *base])),))
    scenery, thr = world.at(0.0), world.thickness
    apex = world.table.edges + int(np.argmax(scenery.corner_x[:, 2]))
    cloth = layers(world, 0.002, -0.003, -0.007)
    hits = tip_hits(cloth, scenery, scenery.tips, 5 * thr, thr, world.table.edges)
    assert set(hits.feature) == {apex}
    assert np.allclose(hits.height, [-0.002, 0.003, 0.007], atol=1e-5)
    feature = cloth.feature.copy()
    feature[cloth.faces[hits.face[1], 0]] = apex
    assert untracked(hits, replace(cloth, feature=feature)).tolist() == [0, 2]


def test_cloth_below_a_thin_body_is_not_pierced_by_its_upper_corners() -> None:
    world = Surroundings((Box((0.5, 0.5, -0.002), (0.41, 0.41, 0.004)),))
    scenery, thr = world.at(0.0), world.thickness
    hits = tip_hits(layers(world, 0.001, -0.006), scenery, scenery.tips, 5 * thr, thr)
    upper = scenery.corner_x[hits.feature, 2] > -0.001
    assert upper.sum() == 4 and np.allclose(hits.height[upper], -0.001, atol=1e-5)


def test_depths_of_faces_are_those_of_their_deepest_points() -> None:
    world = Surroundings((Box((0.5, 0.5, -0.2), (0.45, 0.37, 0.4), turn=(0.1, 0.2, 0.3)),))
    cloth, scenery = cloth_on(world, -0.01), world.at(0.0)
    depths = face_depths(cloth.x, cloth.faces, scenery, 0.0)
    corners = (scenery.planes[:, 3] - cloth.x @ scenery.planes[:, :3].T).min(axis=1)
    assert np.all(depths >= corners[cloth.faces].max(axis=1) - 1e-15)
    assert depths.max() == pytest.approx(depth(cloth, scenery), rel=0.1)  # which has four times as many points


def low_pyramid(sides: int = 6) -> Hull:
    """A pyramid so low that neither its upper edges nor its tip, 8 mm below z = 0, can crease cloth."""
    t = np.linspace(0.1, 0.1 + 2 * np.pi, sides, endpoint=False)
    rim = np.stack([0.47 + 0.4 * np.cos(t), 0.42 + 0.4 * np.sin(t), 0 * t - 0.158], axis=1)
    return Hull(np.concatenate([rim, [[0.47, 0.42, -0.008]]]))


def test_a_face_rests_on_a_corner_too_blunt_to_crease_it() -> None:
    scene = variants.scene("PYRAMID", variants.REGULAR, 2, 0.12, [low_pyramid()])
    highest = []
    for moment in march(scene):
        scenery, thr = moment.cloth.around.at(0.0), moment.cloth.around.thickness
        highest.append(tip_hits(moment.sheet, scenery, scenery.blunt, 0.1, thr).height.max(initial=-0.1))
    assert -thr < highest[-1] and max(highest) < thr


def test_face_contacts_have_the_distance_to_the_nearest_plane() -> None:
    world = Surroundings((Box((0.5, 0.5, -0.5), (4.0, 4.0, 1.0)),))
    contacts = face_contacts(cloth_on(world, 0.003), world.at(0.0), world, 1e-3)
    assert len(contacts.vertex) == 6 * 6 + 7 * 7
    assert np.allclose(contacts.gap, 0.003) and np.allclose(contacts.normal, [0, 0, 1])


def creased(bend: float) -> tuple[EolCloth, Surroundings]:
    """A cloth with five vertices on a box edge, folded over it by an angle."""
    world = Surroundings((Box((0.5, 1.0, -0.5), (2.0, 1.0, 1.0)),))
    X, faces = rectangle((1.0, 1.0), (4, 4))
    s = X[:, 1] - 0.5
    x = np.column_stack([X[:, 0], 0.5 + np.where(s > 0, s, s * np.cos(bend)), np.where(s > 0, 0, s * np.sin(bend))])
    scenery = world.at(0.0)
    middle = 0.5 * (scenery.edge_a + scenery.edge_b)
    e = int(np.argmin(np.linalg.norm(middle - [0.5, 0.5, 0.0], axis=1)))
    return EolCloth(
        replace(sheet(X, faces, x), feature=np.where(np.abs(s) < 1e-9, e, -1)), ClothMaterial(), world
    ), world


@pytest.mark.parametrize("bend", [0.0, 1.2])
def test_constraint_rows_remove_all_null_directions(bend: float) -> None:
    cloth, world = creased(bend)
    scenery = world.at(0.0)
    equal, bound = RowBuilder(), RowBuilder()
    feature_rows(cloth, cloth.sheet, scenery, Cone(), Corners.of(cloth.sheet, cloth, scenery), (equal, bound))
    q = cloth.pack(cloth.sheet, 0.0).q
    A = (cloth.mass(q) - 1e-5 * cloth.stiffness(q, 0 * q, 0.0, psd=True)).toarray()
    null = lambda M: int(np.sum(np.linalg.eigvalsh(M) < 1e-10 * np.linalg.eigvalsh(A)[-1]))
    assert len(cloth.eol) == 5
    assert null(A) == (10 if bend == 0.0 else 5)
    rows = equal.matrix(len(q))[0].toarray()
    assert null(A + A.max() * rows.T @ rows) == 0
    assert len(bound.right) == (5 if bend == 0.0 else 10)


def test_new_eol_vertices_leave_the_material_velocity_alone_and_move_as_little_as_possible() -> None:
    rng = np.random.default_rng(0)
    F, w, a = rng.normal(size=(3, 2)), rng.normal(size=3), np.array([0.6, 0.8])
    V = sliding(F, w, a)
    assert abs(a @ V) < 1e-14
    free = sliding(F, w, np.zeros(2))
    assert np.allclose(F.T @ (w + F @ free), 0)  # nothing left that the material could do
    direction = np.array([-0.8, 0.6])
    assert abs((F @ direction) @ (w + F @ V)) < 1e-12


def test_transfer_and_lift_off_keep_the_velocity_of_the_material() -> None:
    cloth, _ = creased(1.2)
    rng = np.random.default_rng(1)
    moving = replace(cloth.sheet, v=rng.normal(size=cloth.sheet.x.shape))
    V = np.zeros_like(cloth.sheet.X)
    V[cloth.eol] = rng.normal(size=(5, 2))
    moving = replace(moving, V=V)
    free = released(moving, replace(moving, feature=np.full(len(V), -1)))
    F = vertex_gradients(moving, np.arange(len(V)))
    assert np.allclose(free.v, moving.v - np.einsum("nij,nj->ni", F, V), atol=1e-12) and not free.V.any()
    origin = np.where(np.arange(len(V)) == len(V) - 1, -1, np.arange(len(V)))
    back = transfer(moving, moving, origin, np.zeros_like(V))
    f = int(np.flatnonzero((moving.faces == len(V) - 1).any(axis=1))[0])
    k = int(np.flatnonzero(moving.faces[f] == len(V) - 1)[0])
    assert np.allclose(back.v[-1], corner_velocities(moving)[f, k], atol=1e-9)


def test_active_set_agrees_with_the_interior_point_method() -> None:
    rng = np.random.default_rng(2)
    B = rng.normal(size=(30, 30))
    P, q, C, d = B @ B.T + np.eye(30), rng.normal(size=30), rng.normal(size=(20, 30)), rng.normal(size=20)
    A, b = rng.normal(size=(3, 30)), rng.normal(size=3)
    one, two = (solve_qp(P, q, equality=(A, b), inequality=(C, d), solver=s) for s in (ActiveSet(), Clarabel()))
    assert one.converged and np.allclose(one.x, two.x, atol=1e-7)
    squeezed = solve_qp(P, q, inequality=(np.vstack([C[:1], -C[:1]]), np.array([1.0, 1.0])), solver=ActiveSet())
    assert not squeezed.converged and "infeasible" in squeezed.message


def test_bad_input_is_refused_by_name() -> None:
    with pytest.raises(SceneError, match="box.size"):
        Box(size=(1.0, 0.0, 1.0))
    with pytest.raises(SceneError, match="no volume"):
        Hull(np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]))
    with pytest.raises(MaterialError, match="thickness = 0"):
        from_fabric(1e6, 0.3, 500.0, 0.0)
    with pytest.raises(MaterialError, match="rho"):
        ClothMaterial(rho=0.0)
    with pytest.raises(SceneError, match="wire"):
        Wire((0.0, 0, 0), (0.0, 0, 1))
    with pytest.raises(SceneError, match="mu"):
        RowContact(mu=-1.0)
    with pytest.raises(SceneError, match="thickness"):
        RowContact(thickness=-1.0)
    with pytest.raises(SceneError, match=r"obstacles\[1\].*Sphere has no sharp features"):
        Surroundings((Box(), Sphere()))
    assert LinearlyImplicit().order == 1 and not Handle(np.zeros(2), grip=1.0).holds(0.5)


@pytest.mark.parametrize("depth", [3e-4, 1e-3])
def test_cloth_that_has_sunk_into_a_face_is_as_deep_at_the_corners_too(depth: float) -> None:
    """A flat sheet under the top of a box: no edge of it is deeper than the sheet, though the one that cuts a corner
    off runs 1.7 mm behind the upright edge below that corner."""
    flat = sheet(*rectangle((1.0, 1.0), (7, 7)))
    flat = replace(flat, x=flat.x - [0.0, 0.0, depth])
    box = Box((0.501, 0.502, -0.2), (0.43, 0.42, 0.4))
    contact = RowContact(thickness=5e-3)
    scene = Scene([Cloth(flat, eulerian=True)], LinearlyImplicit(), obstacles=[box], contact=contact)
    system = scene.system()
    count, deepest, _ = touched(system, scene.initial(system))
    assert count is not None and count > 8
    assert deepest == pytest.approx(depth, abs=2e-5)  # positions are perturbed by so much
