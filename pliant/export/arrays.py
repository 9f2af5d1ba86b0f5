"""NPZ: times, triangles, and positions and channels of all frames, written frame by frame."""

import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.export.clip import Clip, Picture


def write_npz(clip: Clip, path: Path) -> Path:
    """``t (f,)`` [s], ``triangles (k, 3)``, ``lines (l, 2)``, ``points (f, n, 3)`` [m], every channel (f, n, ...)."""
    clip.require_fixed("npz")
    first = next(iter(clip))
    reads: dict[str, Callable[[Picture], Array]] = {"points": lambda picture: picture.points}
    for name in clip.channels:
        reads[name] = lambda picture, name=name: picture.values[name]  # type: ignore[misc]
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in (("t", clip.times), ("triangles", first.triangles), ("lines", first.lines)):
            _append(archive, name, array.shape, array.dtype, [array])
        for name, read in reads.items():  # one pass over the frames for each array: a zip holds one after the other
            one = read(first)
            _append(archive, name, (len(clip), *one.shape), one.dtype, map(read, clip))
    return path


def _append(
    archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], dtype: np.dtype, blocks: Iterable[Any]
) -> None:
    """An array in .npy format, from blocks of its rows."""
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)  # type: ignore[arg-type]
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype=dtype).tobytes())
