"""``--set path=value``: change a document before it is checked. Values are TOML, or plain strings."""

import copy
import itertools
import tomllib
from collections.abc import Sequence
from typing import Any

from pliant.errors import SceneError
from pliant.scene_file.bodies import keys
from pliant.scene_file.choices import families, kind_of, nearest
from pliant.scene_file.document import ReferenceTable, RunTable, SceneTable

DEFAULTS = {"integrator": "bdf2", "solver": "newton", "linear": "cholesky"}  # whose parts are set without a name


def apply(document: dict[str, Any], settings: Sequence[str]) -> dict[str, Any]:
    """The document with all settings applied; ``material.E=...`` without a body means every body that has one."""
    document = copy.deepcopy(document)
    for setting in settings:
        path, value = split(setting)
        if path[0] in {*SceneTable.model_fields, *ReferenceTable.model_fields}:
            _set(document, path, value, setting)
            continue
        bodies = [b for b in document.get("bodies", []) if isinstance(b, dict) and path[0] in _keys(b)]
        for body in bodies:
            _set(body, path, value, setting)
        if not bodies:
            _set(document, path, value, setting)  # what is wrong with it, checking the document says
    return document


def _keys(body: dict[str, Any]) -> list[str]:
    kind = body.get("kind", "solid")
    return next((keys(c) for c in families()["body"] if kind_of(c) == kind), [])


def split(setting: str) -> tuple[list[str], Any]:
    """The keys and the value of ``a.b.c=value``."""
    path, equals, text = setting.partition("=")
    keys = [key.strip() for key in path.split(".")]
    if not equals or not all(keys):
        raise SceneError(
            f"{setting!r} is not a setting", where="--set", remedy="write it like h=0.01 or material.E=1MPa"
        )
    try:
        return keys, tomllib.loads(f"value = {text.strip()}")["value"]
    except tomllib.TOMLDecodeError:
        return keys, text.strip()


def run_level(setting: str) -> bool:
    """Whether a setting concerns only how time passes, or the parameters of a scene's function."""
    return split(setting)[0][0] in {*RunTable.model_fields, "parameters"}


def _set(table: Any, path: list[str], value: Any, setting: str) -> None:
    for key, following in itertools.pairwise(path):
        if isinstance(table, list):
            table = table[_item(table, key, setting)]
            continue
        if isinstance(table.get(key), str):
            table[key] = {"kind": table[key]}  # a choice given by its kind alone gets a parameter
        table = table.setdefault(key, {"kind": DEFAULTS[key]} if key in DEFAULTS else {})
        if isinstance(table, list) and len(table) == 1 and _place(table, following) is None:
            table = table[0]  # of one there is no doubt
        if not isinstance(table, dict | list):
            raise SceneError(f"{key!r} has no parts", where="--set", remedy=f"look at {setting!r}")
    if isinstance(table, list):
        table[_item(table, path[-1], setting)] = value
    else:
        table[path[-1]] = value


def _item(table: list[Any], key: str, setting: str) -> int:
    place = _place(table, key)
    if place is None:
        known = [*_names(table), *(str(i) for i in range(len(table)))]
        raise SceneError(f"no {key!r} in {setting!r}", where="--set", remedy=nearest(key, known))
    return place


def _place(table: list[Any], key: str) -> int | None:
    """The place in a list by its number, or by the name of its item; items without a name go by their kind."""
    if key.isdigit():
        return int(key) if int(key) < len(table) else None
    names = _names(table)
    return names.index(key) if names.count(key) == 1 else None


def _names(table: list[Any]) -> list[str]:
    usual = "solid" if any("mesh" in item for item in table if isinstance(item, dict)) else ""
    return [str(item.get("name", item.get("kind", usual))) if isinstance(item, dict) else "" for item in table]
