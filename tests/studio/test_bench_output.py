"""A table's files hold its numbers; every table has a figure, its own before the chosen one."""

import csv
import json

import imageio.v2 as imageio
import numpy as np
import pytest
from typer.testing import CliRunner

from pliant.bench.output import draw, write
from pliant.bench.table import Claim, Plot, Table
from pliant.cli.app import app
from pliant.plots import iterations_per_step, liveliness, sheet, work_precision
from pliant.plots.rows import choose

ROWS = [
    {"case": case, "solver": solver, "CPU s": k + 0.5, "iterations": 10 * k}
    for k, (case, solver) in enumerate([("a", "ND"), ("a", "QLB"), ("b", "ND"), ("b", "QLB")])
]
CLAIMS = [Claim("faster", "2x", "3x", True), Claim("a | b", "1", "2", False)]


def test_files_hold_the_table(tmp_path):
    table = Table("paper/one", "two solvers", [*ROWS, {"case": "c", "solver": "ND", "extra": 1}], CLAIMS, ["a note"])
    files = write(table, tmp_path / "new")
    assert [f.name for f in files] == ["paper_one.csv", "paper_one.json", "paper_one.md", "paper_one.png"]
    with open(files[0], newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["CPU s"]) for row in rows[:4]] == [0.5, 1.5, 2.5, 3.5] and rows[4]["extra"] == "1"
    told = json.loads(files[1].read_text())
    assert told["rows"][:4] == ROWS and told["figures"] == [str(files[3])]
    text = files[2].read_text()
    assert "| b | QLB | 3.5 | 30 |  |" in text and "| a \\| b | 1 | 2 | NO |" in text and text.endswith("a note\n")
    assert imageio.imread(files[3]).min() < 100


def test_bars_are_the_named_column():
    """Lying bars, one series per solver, as long as the numbers."""
    (axes,) = draw(Table("p/f", "", ROWS, plot=Plot("case", "iterations", "solver"))).axes
    assert [[bar.get_width() for bar in series] for series in axes.containers] == [[0, 20], [10, 30]]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b"]


def test_curves_are_sorted_and_may_be_logarithmic():
    rows = [{"method": "m", "h": h, "error": h**2} for h in (1.0, 0.01, 0.1)]
    (axes,) = draw(Table("p/f", "", rows, plot=Plot("h", "error", "method", log="xy"))).axes
    x, y = axes.lines[0].get_data()
    assert np.allclose(x, [0.01, 0.1, 1.0]) and np.allclose(y, np.square(x))
    assert axes.get_xscale() == axes.get_yscale() == "log"


@pytest.mark.parametrize(
    "rows, columns",
    [
        (ROWS, ("case", "CPU s", "solver")),
        (
            [{"name": "a", "n": 1, "time [ms]": 2.0}, {"name": "b", "n": 1, "time [ms]": 2.0}],
            ("name", "time [ms]", None),
        ),
        ([{"method": "m", "h": h, "error": h} for h in (1.0, 2.0)], ("h", "error", None)),
        ([{"t": 0.1 * k, "energy J": 1.0} for k in range(3)], ("t", "energy J", None)),
        ([{"h_ms": h, "mu": 0.1 * h, "error": 0.01 * h} for h in (1.0, 2.0)], ("h_ms", "mu", None)),
        ([{"h [s]": h, "CPU s": 0.1 * h} for h in (1.0, 2.0)], ("h [s]", "CPU s", None)),
        ([{"claim": "a", "held": True}], None),
        ([], None),
    ],
)
def test_columns_are_chosen(rows, columns):
    assert choose(rows) == columns


def test_rows_of_several_kinds_are_drawn_where_they_have_the_columns():
    """The rows of a motion in time, and a few of another kind below them, as of conjac/barcut."""
    rows = [{"t": 0.1 * k, "energy J": float(k)} for k in range(3)]
    rows += [{"bar": name, "t": 0.5, "energy J": 7.0} for name in ("short", "long")]
    (axes,) = draw(Table("p/f", "", rows)).axes
    assert sum(len(line.get_xdata()) for line in axes.lines) == 2


def test_a_table_without_numbers_shows_its_claims():
    (axes,) = draw(Table("p/f", "", [], CLAIMS)).axes
    assert [t.get_text() for t in axes.texts][::2] == ["holds", "fails"]


def test_own_pictures_come_before_chosen_ones(tmp_path):
    own = Table("p/f", "", ROWS, figures=["drawn.png"])
    assert write(own, tmp_path)[-1].name == "drawn.png" and not (tmp_path / "p_f.png").exists()
    asked = []

    def figure(table):
        asked.append(table.id)
        return sheet()[0]

    assert write(Table("p/f", "", ROWS), tmp_path, figure)[-1].is_file() and asked == ["p/f"]


def test_the_papers_figures():
    _, ((precision, count, lively),) = sheet(1, 3)
    work_precision(precision, [{"s": 1.0, "e": 0.1, "m": "a"}, {"s": 2.0, "e": 0.01, "m": "a"}], "s", "e", "m")
    assert precision.get_xscale() == precision.get_yscale() == "log" and len(precision.lines) == 1
    t = np.arange(4.0)
    iterations_per_step(count, {"ND": (t, t), "QLB": (t, 2 * t)})
    assert [line.get_ydata().sum() for line in count.lines] == [6, 12]
    liveliness(lively, t, 0.1 * t, t > 1, threshold=0.15)
    assert lively.lines[1].get_ydata()[0] == 0.15 and len(lively.collections) == 1


def test_the_command_writes_them(tmp_path, monkeypatch):
    monkeypatch.setenv("PLIANT_FIGURES", str(tmp_path))
    done = CliRunner().invoke(app, ["bench", "runs/ledger", "--quick", "--out", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert {p.name for p in tmp_path.iterdir()} == {f"runs_ledger.{e}" for e in ("csv", "json", "md", "png")}
