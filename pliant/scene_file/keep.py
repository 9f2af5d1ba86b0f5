"""The files that a document names, to lie beside a copy of it: every file once, under a name of its own."""

from pathlib import Path
from typing import Any

NAMING = ("file", "urdf", "extensions")  # the keys whose values are names of files, or lists of them


def kept_beside(document: dict[str, Any], folder: Path) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The document with names that are safe beside ``scene.toml``, and the contents of the files by these names."""
    files: dict[str, bytes] = {}
    names: dict[Path, str] = {}  # of files that are kept already
    return _kept(document, folder, files, names), files


def _kept(value: Any, folder: Path, files: dict[str, bytes], names: dict[Path, str]) -> Any:
    if isinstance(value, list):
        return [_kept(item, folder, files, names) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _named(item, folder, files, names) if key in NAMING else _kept(item, folder, files, names)
        for key, item in value.items()
    }


def _named(item: Any, folder: Path, files: dict[str, bytes], names: dict[Path, str]) -> Any:
    if isinstance(item, list):
        return [_named(one, folder, files, names) for one in item]
    return _keep(folder / item, item, files, names) if isinstance(item, str) else _kept(item, folder, files, names)


def _keep(path: Path, given: str, files: dict[str, bytes], names: dict[Path, str]) -> str:
    if not path.is_file():
        return given  # reading it will say so
    path = path.resolve()
    if path not in names:
        parts = [path]
        if path.suffix in (".node", ".ele"):  # one mesh is two files
            parts = [path.with_suffix(end) for end in (".node", ".ele") if path.with_suffix(end).is_file()]
        stem, k = path.stem, 1
        while any(f"{stem}{part.suffix}" in files for part in parts) or stem == "scene":
            k += 1
            stem = f"{path.stem}-{k}"
        files.update({f"{stem}{part.suffix}": part.read_bytes() for part in parts})
        names[path] = f"{stem}{path.suffix}"
    return names[path]
