"""The documentation as a browser shows it: built from a few pages, opened from disk, screenshots kept.

Pictures go to ``runs/screenshots`` (or PLIANT_SCREENSHOTS). It needs Chromium and mkdocs-material.
"""

import os
import shutil
from pathlib import Path

import pytest

pytest.importorskip("material", reason="mkdocs-material is not installed")
yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[2]
SCREENSHOTS = Path(os.environ.get("PLIANT_SCREENSHOTS", ROOT / "runs" / "screenshots"))
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
PAGES = ("index", "gallery", "start", "own_mesh", "materials", "glossary")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages above with the theme and extensions of ``mkdocs.yml``, without the API, which takes long."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    folder = tmp_path_factory.mktemp("docs")
    for name in PAGES:
        shutil.copy(ROOT / "docs" / f"{name}.md", folder)
    for more in ("style.css", "images"):
        copy = shutil.copytree if (ROOT / "docs" / more).is_dir() else shutil.copy
        copy(ROOT / "docs" / more, folder / more)
    given = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    given |= {"docs_dir": str(folder), "site_dir": str(folder.parent / "site"), "use_directory_urls": False}
    given |= {
        "nav": [f"{name}.md" for name in PAGES],
        "plugins": ["search"],
        "validation": {"links": {"not_found": "info"}},
    }
    config = folder.parent / "mkdocs.yml"
    config.write_text(yaml.safe_dump(given), encoding="utf-8")
    build(load_config(str(config)))
    return folder.parent / "site"


@pytest.fixture(scope="module")
def shown(site):
    """Every page: what it asked other hosts for, pictures that did not load, highlighted words, excess width."""
    from playwright.sync_api import sync_playwright

    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    found = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(60_000)
        for name in PAGES:
            asked: list[str] = []
            page.on("request", lambda request, asked=asked: asked.append(request.url))
            page.goto((site / f"{name}.html").as_uri())
            page.screenshot(path=SCREENSHOTS / f"docs-{name}.jpg", quality=70, type="jpeg")
            page.evaluate("document.querySelectorAll('img').forEach(i => { i.loading = 'eager' })")
            page.wait_for_function("[...document.images].every(i => i.complete)")
            found[name] = {
                "hosts": [url for url in asked if not url.startswith(("file:", "data:", "blob:"))],
                "broken": page.evaluate("[...document.images].filter(i => !i.naturalWidth).map(i => i.src)"),
                "words": page.evaluate("document.querySelectorAll('.highlight span[class]').length"),
                "films": page.evaluate("document.querySelectorAll('.grid.cards img').length"),
                "wide": page.evaluate("document.documentElement.scrollWidth - window.innerWidth"),
            }
        browser.close()
    return found


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_complete_by_itself(name, shown):
    assert shown[name]["hosts"] == []  # fonts, scripts and pictures are its own
    assert shown[name]["broken"] == []
    assert shown[name]["wide"] <= 0  # wide tables scroll inside the page


def test_code_is_highlighted_and_the_gallery_moves(shown):
    assert shown["start"]["words"] > 20 and shown["own_mesh"]["words"] > 20
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    assert shown["gallery"]["films"] == text.count(".webp)") > 4
