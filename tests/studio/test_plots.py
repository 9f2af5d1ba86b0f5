"""Curves are compared with the ledger; files are pictures."""

import imageio.v2 as imageio
import numpy as np
import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

from pliant.cli.app import app
from pliant.errors import RunError
from pliant.plots import plot_runs
from pliant.plots.ledger import dissipation, energies, iterations, parts


def test_the_parts_sum_to_the_total(run):
    ledger = run.ledger
    assert "elastic" in parts(ledger)
    assert np.allclose(sum(ledger[part] for part in parts(ledger)), ledger["total"])


def test_curves_balance(run):
    """Total - its start = work - what the integrator took: read off the drawn curves."""
    figure = Figure()
    above, below, count = figure.subplots(3)
    energies(above, {"a": run.ledger})
    dissipation(below, {"a": run.ledger})
    iterations(count, {"a": run.ledger})
    total = above.lines[0].get_ydata()
    taken, *work = (line.get_ydata() for line in below.lines)
    assert np.allclose(total - total[0], sum(work) - taken, atol=1e-9)
    assert count.lines[0].get_ydata().sum() == run.report["iterations"]


def test_the_command_compares_runs(run, tmp_path):
    out = tmp_path / "a.png"
    done = CliRunner().invoke(app, ["plot", str(run.folder), str(run.folder), "--show", "energy", "--out", str(out)])
    assert done.exit_code == 0 and imageio.imread(out).min() < 100


def test_bad_input_is_named(run, tmp_path):
    with pytest.raises(RunError, match="unknown plot 'heat'; use energy"):
        plot_runs([run], tmp_path / "a.png", ["heat"])
    with pytest.raises(RunError, match="cannot write"):
        plot_runs([run], tmp_path / "a.doc")
    half = tmp_path / "half"
    half.mkdir()
    (half / "report.json").write_text("{}")
    failed = CliRunner().invoke(app, ["plot", str(half)])
    assert isinstance(failed.exception, RunError) and "no complete ledger" in str(failed.exception)
