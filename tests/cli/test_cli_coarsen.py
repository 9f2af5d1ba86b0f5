"""pliant coarsen writes a mesh that can be read again and reports frequencies."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from pliant.cli.app import app
from pliant.errors import MeshError
from pliant.mesh import Mesh, bar, read, sheet, write


@pytest.mark.slow
def test_coarsen_reports_frequencies(tmp_path):
    write(bar(size=(0.3, 0.1, 0.1), cells=(9, 3, 3)), tmp_path / "bar.vtu")
    result = CliRunner().invoke(app, ["coarsen", str(tmp_path / "bar.vtu"), "--target", "60", "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.output.splitlines()[-1])
    assert len(read(tmp_path / "bar-coarse.vtu").X) == told["vertices"]
    assert abs(told["rows"][0]["EigenFit"]) < abs(told["rows"][0]["coarse"])


def refused(*arguments):
    result = CliRunner().invoke(app, ["coarsen", *map(str, arguments)])
    assert isinstance(result.exception, MeshError), result.output
    return str(result.exception)


def test_bad_input_is_one_line_with_a_remedy(tmp_path):
    good = bar(size=(0.3, 0.1, 0.1), cells=(3, 1, 1))
    file, two, flat = (tmp_path / name for name in ("bar.vtu", "two.vtu", "flat.obj"))
    write(good, file)
    write(Mesh(X=np.vstack([good.X, good.X + 1.0]), T=np.vstack([good.T, good.T + len(good.X)])), two)
    write(sheet(size=(1.0, 1.0), cells=(3, 3)), flat)
    assert "target is 500 vertices; use a number from 8 to 15" in refused(file, "--target", 500)
    assert "2 pieces that do not touch; coarsen them one by one" in refused(two, "--target", 10)
    assert "a mesh of triangles; give a tet mesh" in refused(flat, "--target", 10)
    assert "no folder" in refused(file, "--target", 10, "--out", tmp_path / "nowhere" / "x.vtu")
    assert "no such file" in refused(tmp_path / "missing.vtu")
