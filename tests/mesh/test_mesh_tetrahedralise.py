"""Surfaces to tetrahedra by the optional package, and the one-line hint when it is missing."""

import sys

import numpy as np
import pytest

from pliant import mesh
from pliant.errors import MeshError, MissingDependency

SPHERE = mesh.surface_mesh(mesh.ball(0.1, 8))


def test_missing_package_names_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "pytetwild", None)
    with pytest.raises(MissingDependency, match=r'pip install "pliant\[tetrahedralise\]"'):
        mesh.tetrahedralise(SPHERE.X, SPHERE.T)


@pytest.mark.parametrize(
    ("V", "F", "edge_length", "message"),
    [
        (SPHERE.X, SPHERE.T + len(SPHERE.X), None, "refers to vertex"),
        (SPHERE.X * np.nan, SPHERE.T, None, "not finite"),
        (SPHERE.X, SPHERE.T[:, :2], None, "triangles of a closed surface"),
        (SPHERE.X, SPHERE.T, -1.0, "edge_length is -1.0"),
    ],
)
def test_wrong_surfaces_are_refused(monkeypatch, V, F, edge_length, message):
    monkeypatch.setitem(sys.modules, "pytetwild", sys)  # refused before the package is asked
    with pytest.raises(MeshError, match=message):
        mesh.tetrahedralise(V, F, edge_length)


def test_sphere_fills_with_its_volume(tmp_path, monkeypatch):
    pytest.importorskip("pytetwild")
    monkeypatch.chdir(tmp_path)
    body = mesh.tetrahedralise(SPHERE.X, SPHERE.T, edge_length=0.04)
    exact = mesh.ball(0.1, 8).measures().sum()
    assert body.measures().sum() == pytest.approx(exact, rel=0.02)
    assert not mesh.doctor(body).refused
    assert list(tmp_path.iterdir()) == []  # nothing is left behind
