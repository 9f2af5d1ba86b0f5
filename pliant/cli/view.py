"""``pliant view``: replay runs in the browser."""

from collections.abc import Sequence
from pathlib import Path


def view_runs(folders: Sequence[Path], host: str, port: int, *, play: bool) -> None:
    from pliant.record import load
    from pliant.view import Replay

    replay = Replay([load(folder) for folder in folders], host=host, port=port, playing=play)
    print(f"{replay.url}  (Ctrl-C stops)", flush=True)
    try:
        replay.serve()
    except KeyboardInterrupt:
        replay.stop()
