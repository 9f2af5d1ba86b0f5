"""Every source that a docstring cites is in references.bib."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_citation_is_in_the_bibliography():
    known = set(re.findall(r"@\w+\{(\w+),", (ROOT / "references.bib").read_text()))
    for path in (ROOT / "pliant").rglob("*.py"):
        for key in re.findall(r"\[([A-Z][A-Za-z]+(?:19|20)\d\d)[,\];]", path.read_text()):
            assert key in known, f"{path.relative_to(ROOT)} cites {key}"
