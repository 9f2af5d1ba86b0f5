"""Names that are a module and a function stay the function, however the module came to be imported."""

import subprocess
import sys
from pathlib import Path

import pytest

import pliant


@pytest.mark.parametrize("name", ["simulate", "record", "advise"])
@pytest.mark.parametrize("first", ["", "import pliant.{0}", "from pliant.{0} import {0}", "pliant.{0}"])
def test_functions_are_not_shadowed_by_their_modules(name, first):
    lines = ["import pliant", first.format(name), f"assert callable(pliant.{name})", f"assert callable(pliant.{name})"]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)


def test_what_the_api_page_lists_is_reachable():
    """Names under headings that do not say otherwise."""
    page = Path(__file__).parents[2] / "docs" / "api.md"
    top = page.read_text().split("## Articulated bodies")[0]
    names = [
        line.split(".")[-1] for line in top.splitlines() if line.startswith("::: ") and line.split(".")[-1][0].isupper()
    ]
    assert len(names) > 15
    for name in names:
        assert hasattr(pliant, name), name
