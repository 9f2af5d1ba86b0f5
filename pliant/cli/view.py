"""``pliant view`` and ``pliant play``: runs and scenes in the browser."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pliant.view import LiveView, Replay


def view_runs(folders: Sequence[Path], host: str, port: int, *, play: bool) -> None:
    from pliant.record import load
    from pliant.view import Replay

    replay = Replay([load(folder) for folder in folders], host=host, port=port, playing=play)
    _serve(replay)


def play_scene(scene: str, settings: Sequence[str], compare: Sequence[str], host: str, port: int) -> None:
    from pliant.view import LiveView

    _serve(LiveView(scene, settings, compare=compare, host=host, port=port))


def _serve(page: "LiveView | Replay") -> None:
    print(f"{page.url}  (Ctrl-C stops)", flush=True)
    try:
        page.serve()
    except KeyboardInterrupt:
        page.stop()
