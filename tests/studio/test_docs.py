"""What the pages say exists: commands, scenes, tables, classes, pictures, links; and their Python runs."""

import importlib.util
import re
from pathlib import Path

import pytest

import pliant
from pliant.cli.app import app
from pliant.cli.bench import benches
from pliant.scene_file import load_scene
from pliant.scenes import find

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(p for p in DOCS.rglob("*.md") if p.parent.name != "tables")]
BENCHES = benches()
RUNNING = ("contact", "extending", "gradients", "own_mesh", "start", "world")
COMMANDS = {c.name or c.callback.__name__ for c in app.registered_commands}


@pytest.mark.parametrize("page", ["gallery", "presets", "scene_files"])
def test_the_page_is_as_its_script_writes_it(page):
    spec = importlib.util.spec_from_file_location(f"{page}_page", DOCS / f"{page}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    remedy = f"run python docs/{page}.py{' --page' if page == 'gallery' else ''}"
    assert (DOCS / f"{page}.md").read_text(encoding="utf-8") == script.page(), remedy


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
    for target in re.findall(r'--8<-- "([^"]+)"', text):
        assert (ROOT / target).exists(), target
    for name in re.findall(r"`([A-Z]\w+)\(", text):
        assert hasattr(pliant, name), name


@pytest.mark.parametrize(
    "page",
    [*sorted((DOCS / "methods").glob("*.md")), *(DOCS / f"{name}.md" for name in RUNNING)],
    ids=lambda p: p.name,
)
def test_the_python_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.S):
        if "torch" in block:  # an extra that tests do not need
            continue
        exec(compile(block, page.name, "exec"), {})
    for block in re.findall(r"```toml\n(# ball.toml\n.*?)```", text, flags=re.S):  # it reads the mesh written above
        (tmp_path / "ball.toml").write_text(block, encoding="utf-8")
        assert load_scene(tmp_path / "ball.toml").scene.steps == 120


def test_every_page_is_in_the_menu():
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert {p.relative_to(DOCS).as_posix() for p in PAGES[1:]} == set(re.findall(r"([\w/]+\.md)", menu))


def test_every_table_is_among_the_results():
    results = (DOCS / "results.md").read_text(encoding="utf-8")
    for table in (DOCS / "tables").glob("*.md"):
        assert f'--8<-- "docs/tables/{table.name}"' in results, table.name
