"""Every example runs to its last assertion, and draws something."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example(path, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    done = runpy.run_path(str(path))  # computes and asserts
    done["visualize"]()
    drawn = tmp_path / capsys.readouterr().out.splitlines()[-1].split(": ")[1]
    assert drawn.stat().st_size > 1000
