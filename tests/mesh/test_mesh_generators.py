"""Every generator: published counts, volumes in closed form, positive elements, closed manifold surfaces."""

import numpy as np
import pytest

from pliant import mesh
from pliant.errors import MeshError
from pliant.mesh.topology import euler_characteristic, non_manifold

# Euler characteristic of the surface: 2 - 2 * (handles)
SOLIDS = {
    "bar": (lambda: mesh.bar((0.3, 0.1, 0.1), (5, 2, 3)), 2),
    "l_shape": (mesh.l_shape, 2),
    "cylinder": (mesh.cylinder, 2),
    "rope": (lambda: mesh.rope(layers=30), 2),
    "helix": (lambda: mesh.rope(turns=3), 2),
    "moebius": (mesh.moebius, 0),
    "honeycomb": (lambda: mesh.honeycomb((3, 4)), 2 - 2 * 12),
    "ball": (mesh.ball, 2),
    "duck": (mesh.duck, 2),
    "figure": (lambda: mesh.figure(cells=20), 2),
    "long_eared": (mesh.long_eared, 2),
    "serpent": (lambda: mesh.serpent(cells=50), 2),
}


def enclosed_volume(body):
    """By the divergence theorem over the outward surface: less than the sum of the tets if any overlap."""
    V = body.X[body.surface()]
    return np.einsum("fi,fi->", V[:, 0], np.cross(V[:, 1], V[:, 2])) / 6


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_are_positive_connected_manifolds(name):
    make, characteristic = SOLIDS[name]
    body = make()
    assert (body.measures() > 0).all()
    assert enclosed_volume(body) == pytest.approx(body.measures().sum(), rel=1e-11)
    assert body.components()[0] == 1
    assert not non_manifold(body.T)
    assert euler_characteristic(body.surface()) == characteristic
    report = mesh.doctor(body)
    assert not report.refused and report.findings == ()
    again = make()
    assert (again.X == body.X).all() and (again.T == body.T).all()


@pytest.mark.parametrize(
    ("name", "vertices", "tets", "mass"),
    [
        ("BAR", 10125, 51744, 3.0),
        ("TWIST", 1029, 4320, 0.30),
        ("HETERO", 5915, 29376, 0.42),
        ("ANISO", 6591, 32832, 0.34),
        ("BARCUT", 6050, 29400, 0.14),
    ],
)
def test_bars_of_the_papers(name, vertices, tets, mass):
    body = mesh.paper_bar(name)
    assert (len(body.X), len(body.T)) == (vertices, tets)
    assert mesh.lumped_mass(body, 1000).sum() == pytest.approx(mass, abs=0.005)


@pytest.mark.parametrize(
    ("make", "vertices", "kilograms", "within"),
    [
        (mesh.duck, 128, 0.0131, 0.03),
        (mesh.long_eared, 3907, 2.25, 0.01),
        (mesh.figure, 5159, 1.37, 0.01),
    ],
)
def test_stand_ins_have_the_published_size(make, vertices, kilograms, within):
    body = make()
    assert len(body.X) == pytest.approx(vertices, rel=within)
    assert mesh.lumped_mass(body, 1000).sum() == pytest.approx(kilograms, rel=0.01)


def test_duck_has_about_the_published_tets():
    assert len(mesh.duck().T) == pytest.approx(368, rel=0.03)


@pytest.mark.slow
def test_large_stand_ins_have_the_published_size():
    assert len(mesh.serpent().X) == pytest.approx(10456, rel=0.02)
    assert len(mesh.figure(cells=56).X) == pytest.approx(25317, rel=0.02)


def test_volumes_in_closed_form():
    assert mesh.bar((0.3, 0.1, 0.2), (4, 3, 2)).measures().sum() == pytest.approx(0.006, rel=1e-14)
    assert mesh.l_shape((0.2, 0.4, 0.1), (4, 2, 3)).measures().sum() == pytest.approx(0.75 * 0.008, rel=1e-14)
    hexagonal = 3 * 0.05**2 * np.sin(np.pi / 3)  # one ring: a hexagon of side r has area 3 r^2 sin(60 deg)
    assert mesh.cylinder(0.05, 0.2, 1, 2).measures().sum() == pytest.approx(0.2 * hexagonal, rel=1e-13)
    pitch, wall = 0.05, 0.006
    walls = np.sqrt(0.75) * (pitch**2 - (pitch - wall) ** 2)  # hexagon of width w: sqrt(3)/2 w^2
    assert mesh.honeycomb((2, 3), pitch, wall, 0.02).measures().sum() == pytest.approx(6 * 0.02 * walls, rel=1e-12)


@pytest.mark.parametrize(
    ("make", "exact", "low"),
    [
        (lambda n: mesh.ball(0.1, n), 4 / 3 * np.pi * 1e-3, 6),
        (lambda n: mesh.cylinder(0.05, 0.2, n, 2), np.pi * 0.05**2 * 0.2, 3),
    ],
    ids=["ball", "cylinder"],
)
def test_volumes_converge_quadratically(make, exact, low):
    errors = [abs(make(n).measures().sum() / exact - 1) for n in (low, 4 * low)]
    assert errors[1] < errors[0] / 10
    assert errors[1] < 0.01


def test_moebius_band_has_the_volume_of_pappus():
    """Its section turns about its centroid, which runs along a circle: length times area. Twisted sides cost O(1/n)."""
    errors = [abs(mesh.moebius(cells=(n, 2, 2)).measures().sum() / (2e-4 * np.pi * 0.6) - 1) for n in (60, 240)]
    assert errors[1] < errors[0] / 4 and errors[1] < 1e-3


def test_ball_vertices_reach_the_sphere_and_not_beyond():
    body = mesh.ball(0.1, 9)
    radius = np.linalg.norm(body.X[np.unique(body.surface())], axis=1)
    assert radius == pytest.approx(0.1, rel=1e-9)


@pytest.mark.parametrize(
    ("pattern", "triangles", "vertices"), [("x", 4 * 23**2, 24**2 + 23**2), ("alternating", 2 * 23**2, 24**2)]
)
def test_sheets(pattern, triangles, vertices):
    cloth = mesh.sheet((1.0, 0.5), (23, 23), pattern)
    assert (len(cloth.T), len(cloth.X)) == (triangles, vertices)
    assert cloth.measures().sum() == pytest.approx(0.5)
    assert (cloth.X[:, 2] == 0).all() and cloth.dim == 3
    assert not non_manifold(cloth.T)
    assert euler_characteristic(cloth.T) == 1
    a, b, c = np.moveaxis(cloth.X[cloth.T], 1, 0)
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()


def test_union_jack_vertices_have_four_or_eight_triangles():
    plate = mesh.rectangle((1, 1), (6, 6), "union-jack")
    inner = np.setdiff1d(np.arange(len(plate.X)), plate.boundary())
    assert set(np.bincount(plate.T.ravel())[inner]) == {4, 8}
    alternating = mesh.rectangle((1, 1), (6, 6), "alternating")
    assert set(np.bincount(alternating.T.ravel())[inner]) == {6}


def test_spring_net_and_chain():
    n, m = 5, 3
    net = mesh.spring_net(n, m, (1.0, 0.6))
    assert len(net.X) == (n + 1) * (m + 1)
    assert len(net.T) == n * (m + 1) + m * (n + 1) + 2 * n * m
    assert net.measures().sum() == pytest.approx(4 * 1.0 + 6 * 0.6 + 2 * n * m * np.hypot(0.2, 0.2))
    chain = mesh.chain(10, 2.0)
    assert chain.measures() == pytest.approx(np.full(10, 0.2))


WRONG = [
    (mesh.bar, {"size": (0.3, 0.1)}, "size"),
    (mesh.bar, {"size": (0.3, 0.1, -0.1)}, "size"),
    (mesh.bar, {"cells": (4, 0, 4)}, "cells"),
    (mesh.bar, {"cells": (4.5, 1, 4)}, "cells"),
    (mesh.l_shape, {"cells": (3, 2, 2)}, "even"),
    (mesh.rectangle, {"pattern": "stars"}, "'stars'"),
    (mesh.chain, {"n": 0}, "cells"),
    (mesh.paper_bar, {"name": "BEAM"}, "BAR, TWIST"),
    (mesh.cylinder, {"radius": 0}, "radius is 0"),
    (mesh.rope, {"turns": 3, "coil": 0.001}, "touches itself"),
    (mesh.moebius, {"width": 0.3}, "width"),
    (mesh.moebius, {"cells": (20, 2, 1)}, "even sum"),
    (mesh.honeycomb, {"wall": 0.1}, "wall"),
    (mesh.ball, {"radius": -1}, "positive"),
    (mesh.duck, {"cells": 1}, "cells is 1"),
    (mesh.figure, {"cells": float("nan")}, "cells is nan"),
]


@pytest.mark.parametrize(("make", "arguments", "message"), WRONG)
def test_wrong_arguments_are_refused_by_name(make, arguments, message):
    with pytest.raises(MeshError, match=message):
        make(**arguments)
