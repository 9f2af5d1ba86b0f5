"""The doctor: every fault found by element number, in whatever company; nothing found in a sound mesh."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant import mesh
from pliant.errors import MeshError
from pliant.mesh.measures import dihedral_angles, radius_ratio


def test_a_sound_bar_has_no_findings():
    report = mesh.doctor(mesh.bar((0.3, 0.2, 0.1), (3, 2, 1)))
    assert not report.refused and report.findings == () and not len(report.bad_elements)
    assert (report.vertices, report.elements, report.kind, report.pieces) == (24, 36, "tetrahedra", 1)
    assert report.measure == pytest.approx(0.006)
    assert np.degrees(report.dihedral) == pytest.approx([45, 90])
    assert report.edge_ratio == pytest.approx(np.sqrt(3))
    assert "24 vertices, 36 tetrahedra" in str(report) and str(report).endswith("accepted")


def test_quality_of_known_shapes():
    regular = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    T = np.array([[0, 2, 1, 3]])
    assert radius_ratio(regular, T) == pytest.approx(1)
    assert radius_ratio(regular, T[:, [1, 0, 2, 3]]) == pytest.approx(-1)
    assert np.degrees(dihedral_angles(regular, T)) == pytest.approx(70.528779, abs=1e-5)
    corner = np.vstack((np.zeros(3), np.eye(3)))  # R = sqrt(3)/2, r = 1 / (3 + sqrt(3))
    assert radius_ratio(corner, np.array([[0, 1, 2, 3]])) == pytest.approx(6 / (3 + np.sqrt(3)) / np.sqrt(3))
    right = np.array([[0.0, 0], [3, 0], [0, 4]])  # r = 1, R = 2.5
    assert radius_ratio(right, np.array([[0, 1, 2]])) == pytest.approx(2 / 2.5)
    assert radius_ratio(np.array([[0.0, 0], [1, 0], [2, 0]]), np.array([[0, 1, 2]])) == pytest.approx(0)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_all_injected_faults_are_found_at_once(seed):
    rng = np.random.default_rng(seed)
    body = mesh.bar((0.3, 0.2, 0.1), (3, 2, 2))
    n, m = len(body.X), len(body.T)
    X = np.vstack((body.X, [[0.5, 0.5, 0.5], [np.nan, 0, 0]]))
    twin, flat, outside, nan, *turned = rng.choice(m, 7, replace=False)
    T = body.T.copy()
    T[turned] = T[turned][:, [1, 0, 2, 3]]
    T[flat, 3] = T[flat, 2]
    T[outside, 1] = n + 99
    T[nan, 0] = n + 1
    T = np.vstack((T, T[twin][[1, 2, 0, 3]]))
    report = mesh.doctor((X, T))
    assert report.refused
    found = {f.name: f for f in report.findings if f.severity == "error"}
    assert found["inverted"].elements.tolist() == sorted(turned)
    assert found["degenerate"].elements.tolist() == [flat]
    assert found["index"].elements.tolist() == [outside]
    assert found["not finite"].vertices.tolist() == [n + 1] and found["not finite"].elements.tolist() == [nan]
    assert found["duplicate"].elements.tolist() == [m]
    assert n in found["unreferenced"].vertices
    assert report.bad_elements.tolist() == sorted([flat, outside, nan, m, *turned])
    assert all(f.what and f.remedy for f in report.findings)
    assert "refused" in str(report)


def test_every_mesh_with_an_error_is_refused_by_the_constructor_and_no_other():
    body = mesh.bar((0.3, 0.2, 0.1), (2, 1, 1))
    T = body.T.copy()
    T[3] = T[3][[1, 0, 2, 3]]
    assert mesh.doctor((body.X, T)).refused
    with pytest.raises(MeshError, match="element 3"):
        mesh.Mesh(X=body.X, T=T)


@pytest.mark.parametrize(("scale", "words"), [(1000, "probably millimetres"), (1e-3, "scaled twice")])
def test_suspicious_scale(scale, words):
    body = mesh.bar((0.15, 0.05, 0.05), (3, 1, 1)).transformed(scale=scale)
    finding = mesh.doctor(body).finding("scale")
    assert words in finding.what and finding.severity == "warning"
    assert "transformed(scale=" in finding.remedy


def corners(*shifts):
    """Unit corner tets at the given places, their vertices welded."""
    tet = np.vstack((np.zeros(3), np.eye(3)))
    X = np.vstack([tet + s for s in shifts])
    return mesh.weld(X, np.arange(len(X)).reshape(-1, 4), 1e-6)


def test_tets_that_share_only_a_vertex_or_an_edge_are_not_manifold():
    by_vertex = mesh.doctor(corners((0, 0, 0), (1, 0, 0)))
    assert "1 vertices" in by_vertex.finding("non-manifold").what and not by_vertex.refused
    X = np.array([[0.0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    by_edge = mesh.doctor((X, np.array([[0, 2, 3, 1], [0, 4, 5, 1]])))
    assert "1 edges" in by_edge.finding("non-manifold").what
    assert by_edge.finding("non-manifold").elements.tolist() == [0, 1]


def test_a_face_of_three_tets_and_an_edge_of_three_triangles():
    X = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.3, 0.3, 2], [0.1, 0.1, -1]])
    three = np.array([[0, 1, 2, 3], [0, 1, 2, 4], [0, 2, 1, 5]])
    assert "1 facets" in mesh.doctor((X, three)).finding("non-manifold").what
    fan = np.array([[0, 1, 2], [1, 0, 3], [0, 1, 4]])
    report = mesh.doctor((X[:5], fan))
    assert "1 facets" in report.finding("non-manifold").what
    assert report.finding("winding") is not None


def test_pieces_unwelded_vertices_poor_and_uneven_elements():
    a = mesh.rectangle((1, 1), (2, 2))
    both = mesh.merged([a, a.transformed(translate=(1, 0))])
    report = mesh.doctor(both)
    assert report.pieces == 2 and "2 separate" in report.finding("pieces").what
    assert len(report.finding("not welded").vertices) == 6
    needle = mesh.doctor(mesh.bar((1, 1, 1e-3), (1, 1, 1)))
    assert needle.finding("poor shape") and needle.finding("uneven")
    assert not needle.refused


def test_arrays_of_the_wrong_form_and_files(tmp_path):
    assert mesh.doctor((np.zeros((0, 3)), np.zeros((0, 4), int))).refused
    assert mesh.doctor((np.zeros((4, 3)), np.zeros((1, 7), int))).finding("shape")
    assert mesh.doctor((np.full((4, 3), np.nan), np.array([[0, 1, 2, 3]]))).refused
    assert mesh.doctor((np.zeros((4, 3)), np.array([[0, 1, 2, 3]]))).bad_elements.tolist() == [0]
    file = tmp_path / "bad.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 1 2 2\nf 1 2 9\n")
    assert mesh.doctor(str(file)).bad_elements.tolist() == [1, 2]
    with pytest.raises(MeshError, match="no such file"):
        mesh.doctor(tmp_path / "none.obj")


def test_springs_and_shells_are_examined_too():
    assert mesh.doctor(mesh.spring_net(3, 3)).findings == ()
    assert mesh.doctor(mesh.sheet()).findings == ()
