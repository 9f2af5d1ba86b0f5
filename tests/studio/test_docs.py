"""What the pages say exists: commands, scenes, tables, classes, pictures, links."""

import re
from pathlib import Path

import pytest

import pliant
from pliant.cli.app import app
from pliant.cli.bench import benches
from pliant.scenes import find

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BENCHES = benches()
COMMANDS = {c.name or c.callback.__name__ for c in app.registered_commands}


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_page_is_true(page):
    text = page.read_text(encoding="utf-8")
    for command in re.findall(r"(?:`|    |, then `)pliant ([a-z]+)\b", text):
        assert command in COMMANDS, command
    for scene in re.findall(r"pliant (?:run|advise|sweep|list) ([a-z][\w/-]*)\b(?!\.)", text):
        assert find(scene) is not None, scene
    papers = "qlb|ldot|conjac|eol|redmax|chen|ledwon|contact|core"
    for bench in re.findall(rf"(?:`|pliant bench )((?:{papers})/\w+|(?<=pliant bench )[a-z]+/\w+)", text):
        assert bench in BENCHES, bench
    for target in re.findall(r"\]\(([\w/.-]+)\)", text):
        assert (page.parent / target).exists(), target
    for name in re.findall(r"`([A-Z]\w+)\(", text):
        assert hasattr(pliant, name), name


def test_every_page_is_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert {page.name for page in PAGES[1:]} == set(re.findall(r"(\w+\.md)", menu))
