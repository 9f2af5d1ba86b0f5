"""``--set path=value``: change a document before it is checked. Values are TOML, or plain strings."""

import copy
import tomllib
from collections.abc import Sequence
from typing import Any

from pliant.errors import SceneError
from pliant.scene_file.choices import nearest
from pliant.scene_file.document import BodyTable, ReferenceTable, RunTable, SceneTable

DEFAULTS = {"integrator": "bdf2", "solver": "newton", "linear": "cholesky"}  # whose parts are set without a name


def apply(document: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """The document with all settings applied; ``material.E=...`` without a body means every body."""
    document = copy.deepcopy(document)
    for setting in settings:
        path, value = split(setting)
        if path[0] in BodyTable.model_fields and path[0] not in {
            *SceneTable.model_fields,
            *ReferenceTable.model_fields,
        }:
            for body in document.get("bodies", []):
                _set(body, path, value, setting)
        else:
            _set(document, path, value, setting)
    return document


def split(setting: str) -> tuple[list[str], Any]:
    """The keys and the value of ``a.b.c=value``."""
    path, equals, text = setting.partition("=")
    keys = [key.strip() for key in path.split(".")]
    if not equals or not all(keys):
        raise SceneError(f"{setting!r} is no setting", where="--set", remedy="write it like h=0.01 or material.E=1MPa")
    try:
        return keys, tomllib.loads(f"value = {text.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        return keys, text.strip()


def run_level(setting: str) -> bool:
    """Whether a setting concerns only how time passes, or the parameters of a scene's function."""
    return split(setting)[0][0] in {*RunTable.model_fields, "parameters"}


def _set(table: Any, path: list[str], value: Any, setting: str) -> None:
    for depth, key in enumerate(path[:-1]):
        if isinstance(table, list):
            table = _item(table, key, setting)
            continue
        if isinstance(table.get(key), str):
            table[key] = {"name": table[key]}  # a choice given by name alone gets a parameter
        table = table.setdefault(key, {"name": DEFAULTS[key]} if key in DEFAULTS else {})
        if isinstance(table, list) and not path[depth + 1].isdigit():
            if len(table) != 1:
                raise SceneError(
                    f"{setting!r} does not say which of {len(table)}", where="--set", remedy="add a number"
                )
            table = table[0]
        if not isinstance(table, dict | list):
            raise SceneError(f"{key!r} has no parts", where="--set", remedy=f"look at {setting!r}")
    if isinstance(table, list):
        index = int(path[-1]) if path[-1].isdigit() else -1
        _item(table, path[-1], setting)
        table[index] = value
    else:
        table[path[-1]] = value


def _item(table: list[Any], key: str, setting: str) -> Any:
    if not key.isdigit() or int(key) >= len(table):
        known = [str(i) for i in range(len(table))]
        raise SceneError(f"no {key!r} in {setting!r}", where="--set", remedy=nearest(key, known))
    return table[int(key)]
