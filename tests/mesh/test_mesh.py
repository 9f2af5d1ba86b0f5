"""The Mesh itself: what it refuses and by which words, and its geometry against closed forms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant import mesh
from pliant.errors import MeshError
from pliant.mesh import Mesh
from pliant.mesh.topology import euler_characteristic

X = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]])
T = np.array([[0, 1, 2, 3], [1, 2, 3, 4]])


def changed(A, *edits):
    B = A.copy()
    for index, value in edits:
        B[index] = value
    return B


REFUSED = {
    "nan": (changed(X, ((3, 1), np.nan)), T, r"not finite: vertex 3 is at \[0\.0, nan, 1\.0\]"),
    "infinite": (changed(X, ((4, 0), np.inf)), T, r"vertex 4 is at \[inf"),
    "absurd": (changed(X, ((4, 0), 1e200)), T, r"vertex 4 is at \[1e\+200"),
    "index too high": (X, changed(T, ((1, 2), 9)), r"element 1 refers to vertex 9, but vertices are 0 \.\.\. 4"),
    "index negative": (X, changed(T, ((0, 0), -1)), r"element 0 refers to vertex -1"),
    "one-based": (X, T + 1, "subtract 1"),
    "inverted": (X, T[:, [1, 0, 2, 3]], r"inverted: element 0 .*-0\.167 m\^3 \(2 in all\)"),
    "flat": (changed(X, (4, X[1:4].mean(axis=0))), T, r"degenerate: element 1 .*volume"),
    "repeated vertex": (X[:4], np.array([[0, 1, 2, 3], [0, 1, 2, 2]]), "degenerate: element 1"),
    "duplicate": (X, np.vstack((T, T[0, [1, 2, 0, 3]])), "duplicate: element 2 has the vertices .* of element 0"),
    "unreferenced": (np.vstack((X, [7.0, 8, 9])), T, r"unreferenced: vertex 5 at \[7\.0, 8\.0, 9\.0\]"),
    "no elements": (X, np.zeros((0, 4), int), "empty: 5 vertices and 0 elements"),
    "no vertices": (np.zeros((0, 3)), np.zeros((0, 4), int), "empty"),
    "four coordinates": (np.zeros((5, 4)), T, r"shape: X has shape \(5, 4\)"),
    "five corners": (X, np.zeros((1, 5), int), r"shape: T has shape \(1, 5\)"),
    "float corners": (X, T.astype(float), "float64.*integers"),
    "planar tets": (X[:, :2], T, "tetrahedra with planar X"),
    "clockwise triangle": (X[:3, :2], np.array([[0, 2, 1]]), r"inverted: element 0 .*area -0\.5 m\^2"),
    "flat triangle": (np.outer(np.arange(3.0), np.ones(3)), np.array([[0, 1, 2]]), "degenerate: element 0 .*area"),
    "spring of no length": (np.zeros((2, 3)), np.array([[0, 1]]), "degenerate: element 0 .*length 0 m"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refuses_by_name_number_and_remedy(name):
    positions, elements, message = REFUSED[name]
    with pytest.raises(MeshError, match=message) as error:
        Mesh(X=positions, T=elements)
    assert error.value.remedy


@pytest.mark.parametrize("region", [[0], [0.5, 1.0], [[0, 1]]])
def test_refuses_regions_of_the_wrong_shape_or_type(region):
    with pytest.raises(MeshError, match="region"):
        Mesh(X=X, T=T, region=np.array(region))


def test_arrays_are_copies_of_fixed_types():
    positions, elements = X.astype(np.float32), T.astype(np.int32)
    body = Mesh(X=positions, T=elements, region=np.array([3, 4], dtype=np.uint8))
    positions[:] = np.nan
    assert np.isfinite(body.X).all()
    assert (body.X.dtype, body.T.dtype, body.region.dtype) == (np.float64, np.int64, np.int64)
    with pytest.raises(AttributeError):
        body.X = X


def test_basic_questions():
    body = mesh.bar((0.3, 0.2, 0.1), (3, 2, 1))
    assert (body.dim, body.kind) == (3, "tetrahedra")
    assert np.allclose(body.bounds, [[0, 0, 0], [0.3, 0.2, 0.1]])
    assert body.size == pytest.approx(np.sqrt(0.14))
    assert "24 vertices, 36 tetrahedra" in repr(body)
    left = body.where(lambda X: X[:, 0] < 1e-9)
    assert len(left) == 6 and (body.X[left, 0] == 0).all()
    with pytest.raises(MeshError, match="predicate"):
        body.where(lambda X: X[:, 0])


def test_edges_of_one_tet_and_of_a_grid():
    assert len(Mesh(X=X[:4], T=T[:1]).edges()) == 6
    nx, ny, nz = 3, 2, 4
    axis = nx * (ny + 1) * (nz + 1) + (nx + 1) * ny * (nz + 1) + (nx + 1) * (ny + 1) * nz
    face = nx * ny * (nz + 1) + nx * (ny + 1) * nz + (nx + 1) * ny * nz
    assert len(mesh.bar((1, 1, 1), (nx, ny, nz)).edges()) == axis + face + nx * ny * nz


def test_surface_is_closed_outward_and_holds_the_volume():
    body = mesh.l_shape()
    F = body.surface()
    V = body.X[F]
    enclosed = np.einsum("fi,fi->", V[:, 0], np.cross(V[:, 1], V[:, 2])) / 6  # divergence theorem, sign included
    assert enclosed == pytest.approx(body.measures().sum())
    assert euler_characteristic(F) == 2
    assert len(np.unique(F)) == len(body.boundary())
    with pytest.raises(MeshError, match="springs has no surface"):
        mesh.chain(3).surface()


def test_boundary_of_a_sheet_and_of_a_chain():
    assert len(mesh.rectangle((1, 1), (4, 3)).boundary()) == 2 * (4 + 3)
    assert mesh.chain(5).boundary().tolist() == [0, 5]


def test_merged_components_and_submesh_undo_each_other():
    parts = [mesh.bar((0.1, 0.1, 0.1), (1, 1, 1)), mesh.ball(cells=4).transformed(translate=(1, 0, 0))]
    both = mesh.merged(parts)
    count, piece = both.components()
    assert count == 2 and (piece == both.region).all()
    for i, part in enumerate(parts):
        again = both.submesh(piece == i)
        assert (again.X == part.X).all() and (again.T == part.T).all() and (again.region == i).all()
    with pytest.raises(MeshError, match="kinds"):
        mesh.merged([parts[0], mesh.chain(2)])
    with pytest.raises(MeshError, match="merged"):
        mesh.merged([])
    with pytest.raises(MeshError, match="submesh"):
        both.submesh([len(both.T)])


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    st.lists(st.floats(0.1, 10), min_size=3, max_size=3),
    st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1),
    st.lists(st.floats(-100, 100), min_size=3, max_size=3),
)
def test_transforms_scale_volumes_and_keep_shape(scale, quaternion, translate):
    w, x, y, z = np.array(quaternion) / np.linalg.norm(quaternion)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    R = np.eye(3) + 2 * w * K + 2 * K @ K
    body = mesh.bar((0.3, 0.2, 0.1), (2, 1, 1))
    moved = body.transformed(scale=scale, rotate=R, translate=translate)
    assert moved.measures() == pytest.approx(np.prod(scale) * body.measures(), rel=1e-9)
    back = (
        moved.transformed(translate=-np.array(translate)).transformed(rotate=R.T).transformed(scale=1 / np.array(scale))
    )
    assert pytest.approx(body.X, abs=1e-9) == back.X


@pytest.mark.parametrize(
    "wrong", [{"scale": 0}, {"scale": -1}, {"scale": np.nan}, {"rotate": 2 * np.eye(3)}, {"rotate": -np.eye(3)}]
)
def test_transforms_that_would_destroy_a_mesh_are_refused(wrong):
    with pytest.raises(MeshError, match="transformed"):
        mesh.chain(2).transformed(**wrong)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_repair_undoes_random_corruption(seed):
    """Turn, repeat and flatten random elements, add loose and broken vertices: repair finds the old body again."""
    rng = np.random.default_rng(seed)
    body = mesh.bar((0.3, 0.2, 0.1), (3, 2, 2))
    n, m = len(body.X), len(body.T)
    positions = np.vstack((body.X, rng.normal(size=(3, 3)), [[np.nan] * 3]))
    elements = body.T.copy()
    turned = rng.choice(m, rng.integers(0, m), replace=False)
    elements[turned] = elements[turned][:, [1, 0, 2, 3]]
    again = elements[rng.choice(m, 4)][:, rng.permutation(4)]
    junk = np.array([[0, 1, 2, 2], [0, 1, 2, n + 3], [0, 1, 2, n + 4], [-1, 0, 1, 2]])
    fixed, done = mesh.repair(positions, np.vstack((elements, again, junk)))
    assert (fixed.X == body.X).all()
    assert (np.sort(fixed.T, axis=1) == np.sort(body.T, axis=1)).all()
    assert (fixed.measures() > 0).all()
    assert done.oriented.tolist() == sorted(turned)
    assert done.dropped_elements.tolist() == list(range(m, m + 8))
    assert done.dropped_vertices.tolist() == list(range(n, n + 4))
    assert f"{len(turned)} elements oriented, 8 elements dropped, 4 vertices dropped" == str(done)


def test_repair_has_limits():
    with pytest.raises(MeshError, match="none of the 1 elements"):
        mesh.repair(X, np.array([[0, 1, 2, 2]]))
    with pytest.raises(MeshError, match="repair"):
        mesh.repair(X, np.zeros((0, 4), int))


def test_weld_joins_a_cut_sheet():
    a, b = (mesh.rectangle((1, 1), (2, 2)).transformed(translate=(i, 0)) for i in (0, 1))
    both = mesh.merged([a, b])
    joined = Mesh(*mesh.weld(both.X, both.T, 1e-6))
    assert both.components()[0] == 2 and joined.components()[0] == 1
    assert len(joined.X) == len(both.X) - 3
