"""The studio's benchmarks at toy size: what they count is there to be counted."""

import importlib
from dataclasses import replace

import pytest

from pliant.bench.studio import export, view
from pliant.cli.bench import _own_figure
from pliant.scene_file import load_scene


def small(steps):
    scene = load_scene("cantilever", ["parameters.cells=1"]).scene
    return replace(scene, duration=steps * float(scene.h))


def test_a_client_receives_the_frames():
    row = view.measure("bar", small(20), 1.0)
    points = row["vertices sent"]
    assert row["frames/s"] > 0.0
    assert row["MB/s"] * 2**20 / row["frames/s"] > 12 * points  # three floats for each vertex


@pytest.mark.slow
def test_exporting_is_weighed():
    table = export.measure(small(10), 10)
    assert [row["to"] for row in table.rows] == ["usd", "vtk"] and len(table.claims) == 2
    assert all(row["per frame [ms]"] > 0 for row in table.rows)


def test_figures_are_drawings_of_benchmarks():
    assert _own_figure(importlib.import_module("pliant.bench.conjac.armadillo")) is None  # imports mesh.figure
    shared = importlib.import_module("pliant.bench.ldot.fig5_4")  # figure = wall_clock_figure, of another module
    assert _own_figure(shared) is shared.wall_clock_figure
