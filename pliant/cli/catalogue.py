"""``pliant list``: what there is to choose from."""

import inspect
import json as js
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table

from pliant.cli.console import console


def show_catalogue(word: str = "", *, json: bool) -> None:
    """Everything that can be named, in groups; with a word, what has it in its name or its first line."""
    from pliant.errors import SceneError

    parts = {title: _having(word, entries) for title, entries in catalogue().items()}
    parts = {title: entries for title, entries in parts.items() if entries}
    if not parts:
        raise SceneError(f"nothing matches {word!r}", where="list", remedy="`pliant list` shows all")
    if json:
        print(js.dumps({title: [*entries] if title == "channels" else entries for title, entries in parts.items()}))
        return
    out = console()
    for title, entries in {**_by_family(parts.pop("scenes", {})), **parts}.items():
        table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 2))
        for name, text in entries.items():
            table.add_row(name, text)
        out.print(table)


def catalogue() -> dict[str, dict[str, str]]:
    """Names with a line about each: scenes, parts of scenes by what they are, generators, channels."""
    from pliant.record.channels import CELL_CHANNELS, POINT_CHANNELS
    from pliant.scene_file.choices import families, kind_of
    from pliant.scene_file.meshes import GENERATORS
    from pliant.scenes import built_in

    parts: dict[str, dict[str, str]] = {"scenes": {name: summary(make) for name, make in built_in().items()}}
    for family, choices in families().items():
        parts[family] = {kind_of(choice): summary(choice) for choice in choices}
    parts["mesh generators"] = {generator.__name__: summary(generator) for generator in GENERATORS}
    parts["channels"] = dict.fromkeys((*POINT_CHANNELS, *CELL_CHANNELS), "")
    return parts


def _by_family(scenes: dict[str, str]) -> dict[str, dict[str, str]]:
    """Scenes in groups: those of every paper or chapter together, those without a family first."""
    groups: dict[str, dict[str, str]] = {}
    for name, text in scenes.items():
        groups.setdefault(f"scenes: {name.split('/')[0]}" if "/" in name else "scenes", {})[name] = text
    return dict(sorted(groups.items()))


def _having(word: str, entries: dict[str, str]) -> dict[str, str]:
    looked_for = word.lower().replace("_", "-")
    return {name: text for name, text in entries.items() if looked_for in f"{name} {text}".lower().replace("_", "-")}


def is_scene(word: str) -> bool:
    """Whether a word names one scene: a built-in one, a file or a folder."""
    from pliant.scenes import find

    return Path(word).exists() or find(word) is not None


def show_scene(name: str, folder: Path | None, *, json: bool = False) -> None:
    from pliant.origin import Origin
    from pliant.scene_file import describe, dumps, load_scene
    from pliant.scene_file.choices import NotDescribable

    loaded = load_scene(name)
    try:
        origin = Origin(*describe(loaded.scene))
    except NotDescribable:
        origin = loaded.origin  # a reference to the function is all that a file can say
    if folder is None and json:
        print(js.dumps({**origin.document, "files": sorted(origin.files)}))
    elif folder is None:
        if origin.files:
            print(f"# with {', '.join(origin.files)}, which `pliant list {name} --to FOLDER` writes beside it")
        print(dumps(origin.document), end="")
    else:
        origin.write(folder)
        print(js.dumps({"scene": str(folder / "scene.toml")}) if json else folder / "scene.toml")


def summary(thing: Callable[..., Any]) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(thing) or "").split("\n")[0]
