"""Scenes in cm, g, s say so wherever their energies are shown."""

from typer.testing import CliRunner

import pliant as pl
from pliant.cli.app import app
from pliant.plots import plot_runs
from pliant.plots.ledger import PANELS, complete
from pliant.scenes.redmax import NUMBERED


class Axes:
    """Takes curves, and keeps the label."""

    def plot(self, *_, **__):
        pass

    def set_ylabel(self, text):
        self.label = text


def test_the_run_the_report_and_the_plots_are_in_erg(tmp_path):
    told = CliRunner().invoke(app, ["run", "redmax/0", "--duration", "0.05", "--out", str(tmp_path / "run")])
    assert told.exit_code == 0 and " erg" in told.output and " J" not in told.output
    run = pl.load(tmp_path / "run")
    assert run.report["units"] == "CGS" and run.energy_unit == "erg"
    assert (
        "CGS" in (tmp_path / "run" / "scene.toml").read_text()
        or "redmax/0" in (tmp_path / "run" / "scene.toml").read_text()
    )
    axes = Axes()
    PANELS["energy"](axes, {"run": complete(run)}, run.energy_unit)
    assert axes.label == "energy [erg]"
    assert plot_runs([run], tmp_path / "plot.png").exists()


def test_a_scene_in_si_units_is_in_joules(tmp_path):
    links = NUMBERED[0]().bodies[0].links
    run = pl.Scene([pl.Articulated(links)], h=0.01, duration=0.02).run(tmp_path / "run")
    assert run.energy_unit == "J"
