"""``pliant export``: a run as pictures, films and geometry."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.errors import RunError

if TYPE_CHECKING:
    from pliant.export import Clip

PICTURE_OPTIONS = {
    *("size", "camera", "zoom", "moving", "colours", "limits", "unit", "background", "stamp", "wireframe", "beside"),
}
FILM_OPTIONS = {"fps", "speed", "orbit", "follow"}


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
    options: dict[str, Any],
) -> None:
    """Pictures and films; ``options`` are those of `check_format`, as they were written."""
    from pliant.export import PICTURES, Look

    given = {name: value for name, value in options.items() if value is not None}
    beside = [_clip(other, channel, None, None, 1) for other in given.pop("beside", [])]
    for name, read in (("size", _size), ("camera", _camera), ("limits", _limits)):
        if name in given:
            given[name] = read(given[name])
    look = Look(channel=channel, **given)
    clip = _clip(folder, channel, surface, frame, 1)
    with _writing():
        print(PICTURES[to](clip, _target(folder, to, f".{to}", out), look, beside))


def check_format(to: str, **options: object) -> bool:
    """Whether the format is a picture; an error when there is no such format, or when it has no use for an option."""
    from pliant.export import GEOMETRY, PICTURES

    if to not in GEOMETRY and to not in PICTURES:
        known = ", ".join([*PICTURES, *GEOMETRY])
        raise RunError(f"unknown format {to!r}", where="--to", remedy=f"use {known}")
    useful = PICTURE_OPTIONS if to == "png" else PICTURE_OPTIONS | FILM_OPTIONS if to in PICTURES else {"every"}
    for name, value in options.items():
        if value is not None and name not in useful:
            remedy = "leave it out" if to != "png" else "leave it out, or choose --frame"
            raise RunError(f"{to} does not use {value!r}", where=f"--{name.replace('_', '-')}", remedy=remedy)
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
    from pliant.export.look import SIZES

    found = re.fullmatch(r"(\d+)x(\d+)", text)
    if not found and text not in SIZES:
        raise RunError(
            f"{text!r} is not a size", where="--size", remedy=f"write it like 960x540, or {', '.join(SIZES)}"
        )
    return (int(found[1]), int(found[2])) if found else SIZES[text]


def _camera(text: str) -> str | tuple[float, float, float]:
    """A preset, or a direction x,y,z."""
    if "," not in text:
        return text
    x, y, z = _numbers(text, 3, "--camera", "-1,-1,0.5")
    return x, y, z


def _limits(text: str) -> tuple[float, float]:
    low, high = _numbers(text, 2, "--limits", "0,1e5")
    return low, high


def _numbers(text: str, count: int, where: str, example: str) -> list[float]:
    try:
        numbers = [float(word) for word in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        raise RunError(f"{text!r} is not {count} numbers", where=where, remedy=f"write it like {example}")
    return numbers
