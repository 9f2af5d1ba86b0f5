"""Names that are a module and a function stay the function, however the module came to be imported."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("name", ["simulate", "record", "advise"])
@pytest.mark.parametrize("first", ["", "import pliant.{0}", "from pliant.{0} import {0}", "pliant.{0}"])
def test_functions_are_not_shadowed_by_their_modules(name, first):
    lines = ["import pliant", first.format(name), f"assert callable(pliant.{name})", f"assert callable(pliant.{name})"]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True)
