"""The script behind docs/gradients.md draws every picture of the page."""

import importlib.util
import re
from functools import partial
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_script_draws_the_pictures_of_the_page(tmp_path):
    spec = importlib.util.spec_from_file_location("gradient_pictures", DOCS / "gradients.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.FOLDER = tmp_path
    short = {script.muscle: partial(script.muscle, iterations=1)}
    drawn = {short.get(draw, draw)().name for draw in script.PICTURES}
    shown = re.findall(r"\(images/gradients/(\w+\.png)\)", (DOCS / "gradients.md").read_text(encoding="utf-8"))
    assert drawn == set(shown)
    assert all((tmp_path / name).stat().st_size > 5000 for name in drawn)
