"""Writing TOML; reading is `tomllib`'s. Numbers are written with all their digits, so that a round trip is exact."""

import math
from typing import Any


def dumps(document: dict[str, Any]) -> str:
    """The document as text: plain keys first, then tables, then arrays of tables."""
    lines: list[str] = []
    _table(document, (), lines)
    return "\n".join(lines).strip() + "\n"


def _table(table: dict[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    tables = {k: v for k, v in table.items() if isinstance(v, dict) and not path}
    arrays = {k: v for k, v in table.items() if isinstance(v, list) and v and all(isinstance(i, dict) for i in v)}
    for key, value in table.items():
        if key not in tables and key not in arrays:
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, value in tables.items():
        lines += ["", f"[{_key(key)}]"]
        _table(value, (*path, key), lines)
    for key, value in arrays.items():
        for item in value:
            lines += ["", f"[[{'.'.join(_key(k) for k in (*path, key))}]]"]
            _table(item, (*path, key), lines)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
        return repr(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    return "[" + ", ".join(_value(item) for item in value) + "]"


def _string(text: str) -> str:
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(escapes.get(c, c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}") for c in text) + '"'


def _key(key: str) -> str:
    plain = key and all(c.isascii() and (c.isalnum() or c in "-_") for c in key)
    return key if plain else _string(key)
