"""Export of runs: surfaces in the formats of other programs, pictures and films."""

from collections.abc import Callable
from pathlib import Path

from pliant.export.arrays import write_npz
from pliant.export.clip import Clip, Picture, clip
from pliant.export.film import write_film, write_png
from pliant.export.gltf import write_gltf
from pliant.export.look import Look
from pliant.export.series import write_obj, write_ply, write_vtk
from pliant.export.usd import write_usd

GEOMETRY: dict[str, tuple[str, Callable[[Clip, Path], Path]]] = {  # format -> ending ("": a folder), writer
    "usd": (".usdc", write_usd),
    "vtk": ("", write_vtk),
    "obj": ("", write_obj),
    "ply": ("", write_ply),
    "gltf": (".glb", write_gltf),
    "npz": (".npz", write_npz),
}
PICTURES: dict[str, Callable[..., Path]] = {  # (clip, path, look, beside)
    "png": write_png,
    "mp4": write_film,
    "gif": write_film,
    "webp": write_film,
}

__all__ = [
    "GEOMETRY",
    "PICTURES",
    "Clip",
    "Look",
    "Picture",
    "clip",
    "write_film",
    "write_gltf",
    "write_npz",
    "write_obj",
    "write_ply",
    "write_png",
    "write_usd",
    "write_vtk",
]
