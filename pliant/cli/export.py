"""``pliant export``: a run as pictures, films and geometry."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pliant.errors import RunError

if TYPE_CHECKING:
    from pliant.export import Clip


def export_run(
    folder: Path, to: str, out: Path | None, channel: str | None, surface: Path | None, frame: int | None, every: int
) -> None:
    from pliant.export import GEOMETRY

    clip = _clip(folder, channel, surface, frame, every)
    ending, write = GEOMETRY[to]
    with _writing():
        print(write(clip, _target(folder, to, ending, out)))


def draw_run(
    folder: Path,
    to: str,
    out: Path | None,
    channel: str | None,
    surface: Path | None,
    frame: int | None,
    size: str,
    fps: float,
) -> None:
    from pliant.export import PICTURES, Look

    look = Look(_size(size), channel, fps)
    clip = _clip(folder, channel, surface, frame, 1)
    with _writing():
        print(PICTURES[to](clip, _target(folder, to, f".{to}", out), look))


def check_format(to: str, **options: object) -> bool:
    """Whether the format is a picture; an error when there is no such format, or when it has no use for an option."""
    from pliant.export import GEOMETRY, PICTURES

    if to not in GEOMETRY and to not in PICTURES:
        known = ", ".join([*PICTURES, *GEOMETRY])
        raise RunError(f"unknown format {to!r}", where="--to", remedy=f"use {known}")
    useful = {"png": {"size"}, "mp4": {"size", "fps"}, "gif": {"size", "fps"}}.get(to, {"every"})
    for name, value in options.items():
        if value is not None and name not in useful:
            remedy = "leave it out" if to != "png" else "leave it out, or choose --frame"
            raise RunError(f"{to} has no use for {value!r}", where=f"--{name}", remedy=remedy)
    return to in PICTURES


def _clip(folder: Path, channel: str | None, surface: Path | None, frame: int | None, every: int) -> "Clip":
    from pliant.export import clip

    if every < 1:
        raise RunError(f"every is {every}", where="--every", remedy="use at least 1")
    chosen = clip(folder, () if channel is None else (channel,), surface=surface)
    return replace(chosen, chosen=(frame,)) if frame is not None else chosen.every(every)


def _target(folder: Path, to: str, ending: str, out: Path | None) -> Path:
    """The asked file, or one inside the run's folder."""
    path = out or folder / (folder.resolve().name + ending if ending else to)
    if out is not None and ending and not out.suffix:
        path = out.with_name(out.name + ending)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def _writing() -> Iterator[None]:
    """What the system says against a file, as one line."""
    try:
        yield
    except OSError as error:
        what = f"cannot write {error.filename or 'the file'}: {error.strerror or error}"
        raise RunError(what, where="--out", remedy="choose another place") from error


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    if not found:
        raise RunError(f"{text!r} is no size", where="--size", remedy="write it like 960x540")
    return int(found[1]), int(found[2])
