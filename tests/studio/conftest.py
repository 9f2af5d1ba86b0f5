"""One small recorded run for all tests of this folder."""

import pytest

from pliant.record import record
from pliant.record.output import Output
from pliant.scene_file import load_scene


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    loaded = load_scene("bar-twist", ["parameters.cells=2", "duration=0.1"])
    output = Output(channels=("velocity", "von_mises", "strain"))
    return record(loaded.scene, tmp_path_factory.mktemp("runs") / "bar", output=output, origin=loaded.origin)
