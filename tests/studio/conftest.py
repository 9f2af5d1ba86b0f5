"""One small recorded run for all tests of this folder, and a page of the screenshots that they keep."""

import os
from pathlib import Path

import pytest

from pliant.record import record
from pliant.record.output import Output
from pliant.scene_file import load_scene


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    loaded = load_scene("bar-twist", ["parameters.cells=2", "duration=0.1"])
    output = Output(channels=("velocity", "von_mises", "strain"))
    return record(loaded.scene, tmp_path_factory.mktemp("runs") / "bar", output=output, origin=loaded.origin)


@pytest.fixture(scope="session", autouse=True)
def page_of_screenshots():
    """``index.html`` with everything that browsers have shown, written when all tests are done."""
    yield
    folder = Path(os.environ.get("PLIANT_SCREENSHOTS", Path(__file__).parents[2] / "runs" / "screenshots"))
    shots = sorted(path.name for path in folder.glob("*.*g"))  # .png and .jpg
    if shots:
        figures = [f'<figure><img src="{name}" width="640"><figcaption>{name}</figcaption></figure>' for name in shots]
        (folder / "index.html").write_text("<title>Screenshots</title>\n" + "\n".join(figures), encoding="utf-8")
