"""pliant coarsen writes a mesh that can be read again and reports frequencies."""

import json

import pytest
from typer.testing import CliRunner

from pliant.cli.app import app
from pliant.mesh import bar, read, write


@pytest.mark.slow
def test_coarsen_reports_frequencies(tmp_path):
    write(bar(size=(0.3, 0.1, 0.1), cells=(9, 3, 3)), tmp_path / "bar.vtu")
    result = CliRunner().invoke(app, ["coarsen", str(tmp_path / "bar.vtu"), "--target", "60", "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.output.splitlines()[-1])
    assert len(read(tmp_path / "bar-coarse.vtu").X) == told["vertices"]
    assert abs(told["rows"][0]["EigenFit"]) < abs(told["rows"][0]["coarse"])
