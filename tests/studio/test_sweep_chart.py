"""Pictures of sweeps: every run is a point or a cell; what cannot be drawn is refused."""

import pytest

from pliant.errors import RunError
from pliant.sweep_chart import draw

ROWS = [
    {"material.E": E, "h": h, "status": "finished", "energy": float(i + 2 * j)}
    for i, E in enumerate(("10 kPa", "1 MPa"))
    for j, h in enumerate(("0.01", "0.02", "0.04"))
]
AXES = ["material.E=10 kPa,1 MPa", "h=0.01,0.02,0.04"]


def test_a_curve_and_a_heat_map(tmp_path):
    failed = {"material.E": "1 MPa", "h": "0.04", "status": "failed"}
    assert draw([*ROWS[:-1], failed], AXES, "energy", tmp_path / "map.png").stat().st_size > 5000
    assert draw(ROWS[:3], AXES[1:], "energy", tmp_path / "curve.png").stat().st_size > 5000
    names = [{"integrator": name, "energy": 1.0} for name in ("bdf1", "bdf2")]
    assert draw(names, ["integrator=bdf1,bdf2"], "energy", tmp_path / "bars.png").stat().st_size > 5000


def test_a_heat_map_shows_the_right_cell(tmp_path, monkeypatch):
    from pliant import sweep_chart

    kept = {}
    monkeypatch.setattr(sweep_chart, "save", lambda figure, path: kept.setdefault("figure", figure))
    draw(ROWS, AXES, "energy", tmp_path / "map.png")
    panel = kept["figure"].axes[0]
    assert panel.images[0].get_array().tolist() == [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]  # rows h, columns E
    assert [t.get_text() for t in panel.get_xticklabels()] == ["10 kPa", "1 MPa"]


def test_what_cannot_be_drawn(tmp_path):
    with pytest.raises(RunError, match="no column of numbers is called 'energies'; did you mean 'energy'"):
        draw(ROWS, AXES, "energies", tmp_path / "x.png")
    with pytest.raises(RunError, match="3 axes"):
        draw(ROWS, [*AXES, "mu=1,2"], "energy", tmp_path / "x.png")
