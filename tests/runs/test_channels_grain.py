"""Layers, fibres and leading vertices as channels of frames."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.integrators import ConJac
from pliant.mesh import bar, figure
from pliant.record.output import Output
from pliant.scenes.conjac import aniso, armadillo, hetero, twist

MESH = bar(size=(0.15, 0.03, 0.03), cells=(10, 2, 2))


def recorded(scene, folder, *channels, steps=2):
    made = replace(scene, duration=steps * float(scene.h))
    return list(made.run(folder, output=Output(channels=channels)).frames)


def test_layers_are_told_by_their_stiffness(tmp_path):
    scene = hetero(mesh=MESH)
    layer = scene.bodies[0].mesh.region
    for frame in recorded(scene, tmp_path / "r", "stiffness"):
        assert np.array_equal(frame.cell_values["stiffness"], np.where(layer % 2 == 0, 1e5, 1e4))


def test_fibres_turn_with_the_body(tmp_path):
    """The bar hangs and stretches along z: vertical fibres stay vertical, diagonal ones turn towards z."""
    for fibres, change in (("vertical", False), ("diagonal", True)):
        frames = recorded(aniso(fibres, mesh=MESH), tmp_path / fibres, "fibre", steps=40)
        first, last = (frame.cell_values["fibre"] for frame in (frames[0], frames[-1]))
        assert np.allclose(np.linalg.norm(last, axis=1), 1.0)
        assert (abs(last[:, 2]).mean() > abs(first[:, 2]).mean() + 1e-4) == change


@pytest.mark.parametrize("radius", [0.0, 0.016])
def test_leading_vertices_are_the_nodes_and_their_patches(tmp_path, radius):
    nodes = np.array([40, 60])
    scene = twist(mesh=MESH, integrator=ConJac(nodes, radius=radius))
    X = scene.bodies[0].mesh.X
    near = np.linalg.norm(X[:, None] - X[nodes], axis=2).min(axis=1) <= radius
    for frame in recorded(scene, tmp_path / "r", "leading"):
        assert np.array_equal(frame.point_values["leading"].ravel() > 0.0, near)


def test_leading_vertices_come_and_go_where_nodes_fall_asleep(tmp_path):
    frames = recorded(armadillo(mesh=figure(cells=12)), tmp_path / "r", "leading", steps=40)
    counts = [int(frame.point_values["leading"].sum()) for frame in frames]
    assert counts[0] == 0 and 0 < max(counts) <= 5
