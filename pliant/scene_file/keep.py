"""The files that a document names, to lie beside a copy of it: every file once, under a name of its own.

A surface that is tetrahedralised is kept as the tetrahedra that were made of it, and a robot with the meshes of its
links, so that the copy makes the same scene again.
"""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pliant.articulated.urdf import mesh_file
from pliant.scene_file.meshes import edge_length, stored, tetrahedra

ASSETS = {"mesh": "meshdir", "hfield": "meshdir", "skin": "meshdir", "texture": "texturedir"}  # of MJCF: their folders


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
    if value.get("tetrahedralise") is True and isinstance(value.get("file"), str):
        return _filled(value, folder, files)
    return {
        key: _named(key, item, folder, files, names) if key in NAMING else _kept(item, folder, files, names)
        for key, item in value.items()
    }


def _named(key: str, item: Any, folder: Path, files: dict[str, bytes], names: dict[Path, str]) -> Any:
    if isinstance(item, list):
        return [_named(key, one, folder, files, names) for one in item]
    if not isinstance(item, str):
        return _kept(item, folder, files, names)
    return _keep(folder / item, item, files, names, NAMING[key])


def _filled(table: dict[str, Any], folder: Path, files: dict[str, bytes]) -> dict[str, Any]:
    """The tetrahedra of a surface in place of it."""
    path = folder / table["file"]
    solid = tetrahedra(path, edge_length(table, "mesh"))
    name = _free(path.stem, (".npz",), files) + ".npz"
    files[name] = stored({"X": solid.X, "T": solid.T})
    return {key: item for key, item in table.items() if key not in ("tetrahedralise", "edge_length")} | {"file": name}


def _plain(path: Path, files: dict[str, bytes], names: dict[Path, str]) -> bytes:
    return path.read_bytes()


def _urdf(path: Path, files: dict[str, bytes], names: dict[Path, str]) -> bytes:
    """A URDF file whose meshes lie beside it."""
    root = ET.parse(path).getroot()
    meshes = list(root.iter("mesh"))
    for mesh in meshes:
        given = mesh.get("filename", "")
        mesh.set("filename", _keep(mesh_file(given, path.parent, path.name), given, files, names))
    return ET.tostring(root) if meshes else path.read_bytes()


def _mjcf(path: Path, files: dict[str, bytes], names: dict[Path, str]) -> bytes:
    """An MJCF file that contains what it includes, and whose meshes and textures lie beside it."""
    root = ET.parse(path).getroot()
    _include(root, path.parent)
    folders: dict[str, str] = {}
    for compiler in root.iter("compiler"):
        folders |= {key: compiler.attrib.pop(key) for key in ("assetdir", *ASSETS.values()) if key in compiler.attrib}
    for asset in [element for section in root.iter("asset") for element in section]:
        folder = path.parent / folders.get(ASSETS.get(asset.tag, ""), folders.get("assetdir", ""))
        for key in [key for key in asset.attrib if key.startswith("file")]:
            given, model = asset.attrib[key], asset.tag == "model"
            asset.attrib.setdefault("name", Path(given).stem)  # as MuJoCo calls it
            whole = path.parent / given if model else folder / given
            asset.set(key, _keep(whole, given, files, names, _mjcf if model else _plain))
    return ET.tostring(root)


def _include(element: ET.Element, folder: Path) -> None:
    """The contents of included files, which lie in the folder of the main one, in place of their names."""
    for place, child in reversed(list(enumerate(element))):
        path = folder / child.get("file", "")
        if child.tag == "include" and path.is_file():
            included = ET.parse(path).getroot()
            _include(included, folder)
            element[place : place + 1] = list(included)
        else:
            _include(child, folder)


NAMING: dict[str, Callable[[Path, dict[str, bytes], dict[Path, str]], bytes]] = {
    "file": _plain,
    "urdf": _urdf,
    "mjcf": _mjcf,
    "extensions": _plain,
}
"""The keys whose values are names of files, or lists of them, and what is kept of such a file."""


def _free(stem: str, endings: tuple[str, ...], files: dict[str, bytes]) -> str:
    """The first of stem, stem-2, ... that no kept file has with one of these endings."""
    name, k = stem, 1
    while any(f"{name}{end}" in files for end in endings) or name == "scene":
        k += 1
        name = f"{stem}-{k}"
    return name


def _keep(path: Path, given: str, files: dict[str, bytes], names: dict[Path, str], content: Any = _plain) -> str:
    if not path.is_file():
        return given  # reading it will say so
    path = path.resolve()
    if path not in names:
        parts = [path]
        if path.suffix in (".node", ".ele"):  # one mesh is two files
            parts = [path.with_suffix(end) for end in (".node", ".ele") if path.with_suffix(end).is_file()]
        stem = _free(path.stem, tuple(part.suffix for part in parts), files)
        files.update({f"{stem}{part.suffix}": content(part, files, names) for part in parts})
        names[path] = f"{stem}{path.suffix}"
    return names[path]
