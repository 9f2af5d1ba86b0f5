"""glTF 2.0 in one binary file: the first frame as a mesh, every later frame as a morph target, one animation.

Morph targets carry positions, colours where a channel is chosen, and texture coordinates where the material was
recorded; programs that morph positions only (the format asks for no more) show the colours of the first frame.
"""

import json
import shutil
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import RunError
from pliant.export.clip import Clip, Picture, ranges
from pliant.export.colours import linear, magnitude, palette

FLOAT, UNSIGNED = 5126, 5125
BODY, WHITE = [0.16, 0.33, 0.64, 1.0], [1.0, 1.0, 1.0, 1.0]  # amounts of light
Z_UP_TO_Y_UP = [-(0.5**0.5), 0.0, 0.0, 0.5**0.5]  # quaternion (x, y, z, w): glTF is y up


@dataclass
class _Buffer:
    """The binary part while it is written: views and accessors point into it."""

    file: BinaryIO
    views: list[dict[str, int]] = field(default_factory=list)
    accessors: list[dict[str, Any]] = field(default_factory=list)

    def add(self, array: Array | IntArray, *, bounds: bool = False) -> int:
        """Append an array (rows of 1, 2 or 3 numbers); the number of its accessor."""
        integer = array.dtype.kind in "iu"
        raw = np.ascontiguousarray(array, dtype="<u4" if integer else "<f4")
        start, count = self.file.tell(), len(raw)
        self.file.write(raw.tobytes())
        self.views.append({"buffer": 0, "byteOffset": start, "byteLength": raw.nbytes})
        kind = "SCALAR" if raw.ndim == 1 else f"VEC{raw.shape[1]}"
        accessor = {"bufferView": len(self.views) - 1, "componentType": UNSIGNED if integer else FLOAT}
        limits = {}
        if bounds:
            rows = raw.reshape(count, -1)
            limits = {"min": rows.min(axis=0).tolist(), "max": rows.max(axis=0).tolist()}
        self.accessors.append({**accessor, "count": count, "type": kind, **limits})
        return len(self.accessors) - 1


def write_gltf(clip: Clip, path: Path) -> Path:
    """Write ``path`` (.glb). Of channels, the first colours all frames; all are attributes ``_NAME`` of frame 0."""
    clip.require_fixed("gltf")
    with TemporaryFile(dir=path.parent) as file:
        buffer = _Buffer(file)
        document = _document(clip, buffer)
        length = file.tell()
        document["buffers"] = [{"byteLength": length}]
        text = json.dumps(document, separators=(",", ":")).encode("utf-8")
        text += b" " * (-len(text) % 4)
        with open(path, "wb") as out:
            out.write(struct.pack("<4sII", b"glTF", 2, 12 + 8 + len(text) + 8 + length))
            out.write(struct.pack("<I4s", len(text), b"JSON") + text)
            out.write(struct.pack("<I4s", length, b"BIN\0"))
            file.seek(0)
            shutil.copyfileobj(file, out)
    return path


def _document(clip: Clip, buffer: _Buffer) -> dict[str, Any]:
    pictures = iter(clip)
    first = next(pictures)
    if not len(first.triangles) and not len(first.lines):
        raise RunError("this run has neither triangles nor springs", where="--to gltf", remedy="use usd, ply or vtk")
    colours = _colours(clip)
    attributes = {"POSITION": buffer.add(first.points, bounds=True)}
    if colours is not None:
        attributes["COLOR_0"] = buffer.add(colours(first))
    if first.uv is not None:
        attributes["TEXCOORD_0"] = buffer.add(_texture(first.uv))
    for name, values in first.values.items():
        attributes["_" + name.upper()] = buffer.add(np.nan_to_num(magnitude(values)))  # glTF has no NaN
    targets = []
    for picture in pictures:
        targets.append({"POSITION": buffer.add(picture.points - first.points, bounds=True)})
        if colours is not None:
            targets[-1]["COLOR_0"] = buffer.add(colours(picture) - colours(first))
        if picture.uv is not None and first.uv is not None:
            targets[-1]["TEXCOORD_0"] = buffer.add(_texture(picture.uv) - _texture(first.uv))
    primitives: list[dict[str, Any]] = []
    for cells, mode in ((first.triangles, 4), (first.lines, 1)):
        if len(cells):
            indices = buffer.add(cells.ravel())
            primitives.append({"attributes": attributes, "indices": indices, "mode": mode, "material": 0})
            if targets:
                primitives[-1]["targets"] = targets
    return {
        "asset": {"version": "2.0", "generator": "pliant"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "rotation": Z_UP_TO_Y_UP, "name": "body"}],
        "meshes": [{"primitives": primitives, **({"weights": [0.0] * len(targets)} if targets else {})}],
        "materials": [
            {"doubleSided": True, "pbrMetallicRoughness": {"baseColorFactor": BODY if colours is None else WHITE}}
        ],
        **_animation(clip, buffer, len(targets)),
        "bufferViews": buffer.views,
        "accessors": buffer.accessors,
    }


def _texture(uv: Array) -> Array:
    """Coordinates in a texture of one metre: glTF counts them from its upper left corner."""
    return np.column_stack([uv[:, 0], 1.0 - uv[:, 1]])


def _colours(clip: Clip) -> Callable[[Picture], Array] | None:
    """The colours (n, 3) of a picture by its first channel, on one scale for all frames; None without channels."""
    if not clip.channels:
        return None
    name = clip.channels[0]
    limits = ranges(clip, name)[2:]
    return lambda picture: linear(palette(magnitude(picture.values[name]), limits))


def _animation(clip: Clip, buffer: _Buffer, targets: int) -> dict[str, Any]:
    """Frame k has weight one for target k - 1 and zero for all others; between frames glTF interpolates linearly."""
    if not targets:
        return {}
    times = buffer.add(clip.times - clip.times[0], bounds=True)
    weights = buffer.add(np.eye(targets + 1, targets, k=-1).ravel())
    sampler = {"input": times, "output": weights, "interpolation": "LINEAR"}
    channel = {"sampler": 0, "target": {"node": 0, "path": "weights"}}
    return {"animations": [{"samplers": [sampler], "channels": [channel]}]}
