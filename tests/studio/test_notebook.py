"""What things look like in a notebook, and the notebook of the docs itself."""

import importlib.util
import json
from pathlib import Path

import pytest

import pliant as pl
from pliant.errors import RunError

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    scene = pl.load_scene("cantilever", ["parameters.cells=1", "duration=0.05"]).scene
    return scene, scene.run(tmp_path_factory.mktemp("notebook") / "run", progress=True)


def test_tables(run):
    scene, made = run
    assert "cantilever" in scene._repr_html_() and "BDF2" in scene._repr_html_()
    assert "finished" in made._repr_html_() and "numerical" in made._repr_html_()
    mesh = scene.bodies[0].mesh._repr_html_()
    assert "vertices" in mesh and "0.4 x 0.1 x 0.1" in mesh and "0.004" in mesh
    step = next(iter(pl.simulate(scene)))
    assert "step 1: converged" in step.report._repr_html_() and "unknown" in step.report._repr_html_()


def test_pictures_are_within_the_page(run):
    _, made = run
    plot = made.plot("energy")
    assert plot.path.stat().st_size > 5000 and plot._repr_html_().startswith('<img src="data:image/png;base64,')
    with pytest.raises(RunError, match="to is 'avi'; use"):
        made.show(to="avi")


def test_a_picture_of_the_run(run):
    pytest.importorskip("pyvista")
    shown = run[1].show(to="png", size=(160, 90))
    assert shown.path.read_bytes().startswith(b"\x89PNG") and "data:image/png" in shown._repr_html_()


def test_the_ledger_as_a_table(run):
    pandas = pytest.importorskip("pandas")
    frame = run[1].dataframe
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 6 and frame.index.name == "step"


def test_the_notebook_of_the_docs_runs(tmp_path, monkeypatch):
    """Its cells are those that its script has, and they run; its outputs are there."""
    monkeypatch.chdir(tmp_path)
    spec = importlib.util.spec_from_file_location("notebook_page", DOCS / "notebook.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    stored = json.loads((DOCS / "first_steps.ipynb").read_text())
    assert ["".join(cell["source"]) for cell in stored["cells"]] == [text for _, text in module.CELLS]
    outputs = [cell["outputs"] for cell in stored["cells"] if cell["cell_type"] == "code"]
    assert all(outputs) and stored["nbformat"] == 4
    assert all(module.executed(film=False))
