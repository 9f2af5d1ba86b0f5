"""The pages in a real browser: pixels are looked at, controls are used as people use them, screenshots are kept.

Pictures go to runs/screenshots (or PLIANT_SCREENSHOTS). Without a Chromium on the machine there is nothing to test.
"""

import io
import os
import shutil
import socket
import threading
import time
from pathlib import Path

import imageio.v2 as imageio
import numpy as np
import pytest
from PIL import Image

from pliant.view import LiveView, Replay
from pliant.view.panel import FILM, SHOT, Saving

SCREENSHOTS = Path(os.environ.get("PLIANT_SCREENSHOTS", Path(__file__).parents[2] / "runs" / "screenshots"))
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
NOTICE = 40  # columns of an orange bar that says there is no graphics card
PATIENCE = 240_000  # ms: a software renderer on a busy machine


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def served():
    """Serve a page in a thread, as the command line does."""
    pages = []

    def serve(make):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        shown = make(port)
        thread = threading.Thread(target=shown.serve, daemon=True)
        thread.start()
        pages.append((shown, thread))
        return shown

    yield serve
    for shown, thread in pages:
        shown.stop()
        thread.join(timeout=30)


@pytest.fixture
def opened(browser):
    """Open a url; a function (name) -> image of what the browser shows, kept as a file."""
    page = browser.new_page(viewport={"width": 900, "height": 420})
    page.set_default_timeout(PATIENCE)

    def shot(name):
        raw = page.screenshot()
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        (SCREENSHOTS / f"{name}.png").write_bytes(raw)
        return imageio.imread(io.BytesIO(raw))[:, :560, :3].astype(int)  # without the panel

    def visit(shown):
        page.goto(shown.url)
        page.get_by_text("Connected", exact=True).wait_for()
        until(lambda: body(shot("loading")).mean() > 0.01)
        return page, shot

    yield visit
    page.close()


def until(true, seconds=PATIENCE / 1000):
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


def body(image):
    """Pixels of the bodies, light or shaded: blue in the first run, orange in the second."""
    return blue(image) | orange(image)


def blue(image):
    return (image[..., 2] > image[..., 0] + 25) & (image[..., 2] > 60)


def orange(image):
    seen = (image[..., 0] > image[..., 2] + 40) & (image[..., 0] > 80)
    seen[:, :NOTICE] = False
    return seen


def pieces(mask):
    """Number of runs of columns that have at least three such pixels."""
    filled = np.concatenate([[False], mask.sum(axis=0) > 2, [False]])
    return int((filled[1:] & ~filled[:-1]).sum())


def test_a_live_page_plays_listens_and_can_be_pulled(served, opened):
    live = served(lambda port: LiveView("cantilever", ["parameters.cells=1"], compare=["integrator=bdf1"], port=port))
    page, shot = opened(live)
    before = shot("live-start")
    assert pieces(blue(before)) == pieces(orange(before)) == 1  # both runs
    first, second = live.players
    page.get_by_label("play", exact=True).check()
    until(lambda: first.state.t > 0.15)
    page.get_by_label("play", exact=True).uncheck()
    until(lambda: not live._play.value)
    until(lambda: first.state.t == second.state.t)
    after = shot("live-sagged")
    assert np.abs(after - before).max() > 60  # the picture has moved
    box = page.locator("input[value='5.3']").last  # log10 E
    box.fill("6.3")
    page.keyboard.press("Enter")
    until(lambda: abs(first.scene.bodies[0].material.E / 2e6 - 1) < 0.03)
    rows, columns = np.nonzero(blue(after))
    x, y = float(columns.min() + 30), float(np.median(rows[columns == columns.min() + 30]))
    page.mouse.move(x, y)
    page.mouse.down()
    for k in range(1, 6):
        page.mouse.move(x, y - 12 * k)
    until(lambda: first.hand is not None)
    near, far = first.hand
    assert np.linalg.norm(far - near) > 0.01
    page.mouse.up()
    until(lambda: first.hand is None)


def test_a_replay_plays_and_colours(served, opened, run):
    replay = served(lambda port: Replay([run, run], port=port))
    page, shot = opened(replay)
    before = shot("replay-start")
    assert pieces(blue(before)) == pieces(orange(before)) == 1  # runs that are compared have colours of their own
    assert replay.frame == 0
    page.get_by_label("play", exact=True).check()
    until(lambda: replay.frame > 3)
    page.get_by_label("play", exact=True).uncheck()
    page.reload()  # a page that is loaded again shows the same
    page.get_by_text("Connected", exact=True).wait_for()
    until(lambda: body(shot("replay-reloaded")).mean() > 0.01)
    replay._look.channels.value = "displacement"
    replay.show(10)
    green = lambda image: ((image[..., 1] > image[..., 0] + 20) & (image[..., 1] > image[..., 2] + 5)).mean()
    until(lambda: green(shot("replay-coloured")) > 1e-3)
    replay._look.channels.value, replay._look.wireframe.value = "none", True
    replay.show(10)
    until(lambda: 0 < blue(shot("replay-wireframe")).mean() < 0.97 * blue(before).mean())
    replay._look.wireframe.value, replay._look._axis.value = False, "x"
    replay.show(10)
    until(lambda: 0.2 < blue(shot("replay-clipped")).mean() / blue(before).mean() < 0.8)
    page.get_by_label("dark", exact=True).check()
    until(lambda: shot("replay-dark")[5, 5].max() < 100)


def test_the_view_is_saved_as_a_picture_and_as_a_film(served, opened, run, tmp_path, monkeypatch):
    take, taken = Saving.take, []
    monkeypatch.setattr(Saving, "take", lambda saving: taken.append(take(saving)))
    replay = served(lambda port: Replay([run], port=port))
    page, _ = opened(replay)
    with page.expect_download() as saved:
        page.get_by_role("button", name="screenshot").click()
    saved.value.save_as(tmp_path / "view.png")
    still = imageio.imread(tmp_path / "view.png")
    assert still.shape[:2] == SHOT and blue(still[..., :3].astype(int)).mean() > 0.01
    page.get_by_label("record", exact=True).check()
    page.get_by_label("play", exact=True).check()
    taken.clear()
    until(lambda: len(taken) > 4)
    with page.expect_download() as saved:
        page.get_by_label("record", exact=True).uncheck()
    saved.value.save_as(tmp_path / "view.webp")
    film = Image.open(tmp_path / "view.webp")
    assert film.size == FILM[::-1]
    shutil.copy(tmp_path / "view.png", SCREENSHOTS / "replay-saved.png")
