"""Cutting meshes: pieces, sizes, duplicates, and fronts that stay closed."""

import numpy as np
import pytest

from pliant.errors import MeshError
from pliant.mesh import bar, cut, lumped_mass, plane_sides, rectangle, spring_net
from pliant.mesh.topology import boundary_facets, non_manifold


@pytest.mark.parametrize("mesh", [bar(size=(2, 1, 1), cells=(4, 2, 2)), rectangle((2.0, 1.0), (4, 2))])
def test_plane_cut_makes_two_pieces(mesh):
    """Along grid faces: the cut surface is the cross-section, once per side; nothing else changes."""
    point, normal = np.full(mesh.dim, 1.0), np.eye(mesh.dim)[0]
    result = cut(mesh, plane_sides(mesh, point, normal))
    new = result.mesh
    assert mesh.components()[0] == 1 and new.components()[0] == 2
    section = mesh.where(lambda X: abs(X[:, 0] - 1.0) < 1e-12)
    assert np.array_equal(np.sort(result.origin[len(mesh.X) :]), section)  # duplicated once, and nothing else
    assert np.array_equal(result.origin[: len(mesh.X)], np.arange(len(mesh.X)))
    assert np.array_equal(result.origin[new.T], mesh.T)
    assert np.array_equal(new.measures(), mesh.measures())
    new_facets = len(boundary_facets(new.T)) - len(boundary_facets(mesh.T))
    assert new_facets == 2 * (8 if mesh.dim == 3 else 2)
    mass, before = lumped_mass(new, 1000.0), lumped_mass(mesh, 1000.0)
    assert np.allclose(np.bincount(result.origin, mass), before, rtol=1e-14)


def test_element_set_is_cut_out_and_the_surface_stays_a_manifold():
    mesh = bar(size=(3, 3, 3), cells=(6, 6, 6))
    middle = (abs(mesh.X[mesh.T].mean(axis=1) - 1.5) < 1.0).all(axis=1)
    new = cut(mesh, middle).mesh
    assert new.components()[0] == 2
    assert not non_manifold(new.T)
    assert new.measures()[middle].sum() == pytest.approx(8.0)


def test_several_parts_at_once_equal_successive_cuts():
    mesh = bar(size=(3, 1, 1), cells=(6, 2, 2))
    x = mesh.X[mesh.T].mean(axis=1)[:, 0]
    once = cut(mesh, np.floor(x).astype(int))
    twice = cut(cut(mesh, x > 1).mesh, x > 2)
    assert once.mesh.components()[0] == twice.mesh.components()[0] == 3
    assert len(once.mesh.X) == len(twice.mesh.X)


def test_a_cut_that_ends_inside_leaves_its_front_closed():
    mesh = bar(size=(2, 1, 1), cells=(4, 4, 2))
    half = cut(mesh, plane_sides(mesh, (1, 0, 0), (1, 0, 0)), within=lambda c: c[:, 1] < 0.5)
    assert half.mesh.components()[0] == 1
    opened = mesh.X[half.origin[len(mesh.X) :]]
    assert len(opened) == 2 * 3  # the front at y = 0.5 is not duplicated
    assert (opened[:, 1] < 0.5 - 1e-12).all()


def test_nothing_to_cut_changes_nothing():
    mesh = bar(cells=(2, 1, 1))
    same = cut(mesh, np.zeros(len(mesh.T), dtype=bool))
    assert np.array_equal(same.mesh.T, mesh.T) and len(same.origin) == len(mesh.X)


def test_springs_are_cut_at_their_vertices():
    mesh = spring_net(4, 4)
    x = mesh.X[mesh.T].mean(axis=1)[:, 0]
    assert cut(mesh, x > 0.5).mesh.components()[0] == 2


def test_wrong_sides_are_refused():
    mesh = bar(cells=(2, 1, 1))
    with pytest.raises(MeshError, match="one boolean or integer per element"):
        cut(mesh, np.zeros(3, dtype=bool))
    with pytest.raises(MeshError, match="a normal that is not 0"):
        plane_sides(mesh, (0, 0, 0), (0, 0, 0))
