"""``pliant list``: what there is to choose from."""

import inspect
import json as js
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table

from pliant.cli.console import console


def show_catalogue(*, json: bool) -> None:
    from pliant.record.channels import CELL_CHANNELS, POINT_CHANNELS
    from pliant.scene_file.choices import families, kind_of
    from pliant.scene_file.meshes import GENERATORS
    from pliant.scenes import built_in

    parts: dict[str, dict[str, str]] = {"scenes": {name: summary(f) for name, f in built_in().items()}}
    for family, choices in families().items():
        parts[family] = {kind_of(choice): summary(choice) for choice in choices}
    parts["mesh generators"] = {generator.__name__: summary(generator) for generator in GENERATORS}
    if json:
        print(js.dumps({**parts, "channels": [*POINT_CHANNELS, *CELL_CHANNELS]}))
        return
    out = console()
    for title, entries in parts.items():
        table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 2))
        for name, text in entries.items():
            table.add_row(name, text)
        out.print(table)
    out.print("channels: " + ", ".join([*POINT_CHANNELS, *CELL_CHANNELS]))


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
