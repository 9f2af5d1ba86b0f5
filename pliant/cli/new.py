"""``pliant new``: files to start from. The files in ``starts`` are ordinary Python, tested like the rest."""

import re
from keyword import iskeyword
from pathlib import Path

from pliant.errors import SceneError, nearest
from pliant.scene_file.choices import kebab

STARTS = {"material": "my_rubber", "integrator": "my_leapfrog", "force": "my_drag", "scene": "my_scene"}


def write_start(what: str, name: str, out: Path | None) -> None:
    """Write the file of a kind with its own name put in, and say what to do with it."""
    if what not in STARTS:
        raise SceneError(f"unknown kind {what!r}", where="new", remedy=nearest(what, STARTS))
    words = re.findall(r"[a-z0-9]+", kebab(name))
    if not words or not words[0][0].isalpha() or iskeyword("_".join(words)):
        raise SceneError(
            f"{name!r} is not a valid name", where="new", remedy="like my-rubber: letters, digits and dashes"
        )
    path = out or Path("_".join(words) + ".py")
    if path.exists():
        raise SceneError(f"{path} exists already", where="new", remedy="choose another name, or --out")
    text = (Path(__file__).parent / "starts" / f"{what}.py").read_text(encoding="utf-8")
    given = STARTS[what].split("_")
    for join in ("_".join, "-".join, " ".join, lambda parts: "".join(part.capitalize() for part in parts)):
        text = text.replace(join(given), join(words))
    try:
        path.write_text(text.replace(f"{'_'.join(words)}.py", path.name), encoding="utf-8")
    except OSError as error:
        raise SceneError(
            f"cannot write {path}: {error.strerror}", where="new", remedy="choose another --out"
        ) from error
    print(f"{path}: {next(line for line in text.splitlines() if line.strip()).strip(chr(34))}")
    print(f"check it: python {path}")
