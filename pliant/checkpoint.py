"""Checkpoints: everything a run needs to go on bit for bit, in one HDF5 file that is replaced atomically.

Memory is made of dicts, tuples, lists, frozen dataclasses, arrays, sparse matrices, numbers, strings and None, and is
stored as such; no code is ever stored. A dataclass is stored under its qualified name and restored without running its
constructor, and only if it lives in this package. Objects with a true ``transient`` attribute (symbolic analyses,
buffers) are left out: who owns them makes them again, with the same bits.
"""

import dataclasses
import importlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import scipy.sparse as sp

from pliant.errors import RunError
from pliant.state import State

FORMAT = 1


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Where a run stands after ``step`` steps.

    ``topology`` is what `restore` of a scene needs to make a system whose topology has changed (None: it has not);
    ``marks`` are the lengths of the recorded files, so that resuming can cut off what was written later, and totals.
    """

    step: int
    state: State
    memory: Any = None
    topology: Any = None
    marks: dict[str, Any] = field(default_factory=dict)


def save(path: str | Path, checkpoint: Checkpoint) -> None:
    """Write, sync, rename: at any moment ``path`` is either the old checkpoint or the new one."""
    path = Path(path)
    temporary = path.with_name(path.name + ".part")
    try:
        with h5py.File(temporary, "w") as file:
            file.attrs["format"] = FORMAT
            _Writer().write(file.create_group("checkpoint"), checkpoint, "checkpoint")
        with open(temporary, "rb+") as handle:
            os.fsync(handle.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RunError(
            f"cannot write {path}: {error}", where="checkpoint", remedy="free space or change --out"
        ) from error


def load(path: str | Path) -> Checkpoint:
    """The checkpoint stored in ``path``."""
    try:
        with h5py.File(path, "r") as file:
            if file.attrs.get("format") != FORMAT:
                raise RunError(f"{path} has format {file.attrs.get('format')}, not {FORMAT}", where="checkpoint")
            value = _Reader().read(file["checkpoint"])
    except OSError as error:
        raise RunError(f"cannot read {path}: {error}", where="checkpoint", remedy="is it a run folder?") from error
    if not isinstance(value, Checkpoint):
        raise RunError(f"{path} holds a {type(value).__name__}", where="checkpoint")
    return value


class _Writer:
    """Values into HDF5 groups; an array that occurs twice is stored once and stays one array."""

    def __init__(self) -> None:
        self._places: dict[int, str] = {}
        self._alive: list[Any] = []  # so that identities stay unique while writing

    def write(self, group: h5py.Group, value: Any, path: str) -> None:
        kind = group.attrs
        if value is None or getattr(value, "transient", False):
            kind["kind"] = "none"
        elif isinstance(value, bool | int | str | np.bool_):
            kind["kind"] = type(value).__name__.rstrip("_")
            kind["value"] = json.dumps(value) if isinstance(value, str) else str(value)
        elif isinstance(value, float) and not isinstance(value, np.floating):
            kind["kind"], kind["value"] = "float", np.float64(value)
        elif isinstance(value, np.ndarray | np.generic):
            self._array(group, np.asarray(value), path, scalar=isinstance(value, np.generic))
        elif sp.issparse(value):
            self._parts(group, "sparse", _sparse(value, path), path)
        elif isinstance(value, dict):
            if all(isinstance(key, str) for key in value):
                self._parts(group, "dict", value, path)
            else:
                self._parts(group, "pairs", {str(i): pair for i, pair in enumerate(value.items())}, path)
        elif isinstance(value, tuple | list):
            self._parts(group, type(value).__name__, {str(i): item for i, item in enumerate(value)}, path)
        elif dataclasses.is_dataclass(value) and _ours(type(value)):
            kind["class"] = f"{type(value).__module__}:{type(value).__qualname__}"
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            self._parts(group, "dataclass", fields, path)
        else:
            raise RunError(
                f"{path} is a {type(value).__module__}.{type(value).__qualname__}, which a checkpoint cannot hold",
                where="checkpoint",
                remedy="memory must be arrays, numbers and frozen dataclasses; mark rebuildable objects transient",
            )

    def _parts(self, group: h5py.Group, kind: str, parts: dict[str, Any], path: str) -> None:
        group.attrs["kind"] = kind
        for number, (name, part) in enumerate(parts.items()):
            child = group.create_group(f"{number:06d}")
            child.attrs["name"] = json.dumps(name)
            self.write(child, part, f"{path}.{name}")

    def _array(self, group: h5py.Group, value: np.ndarray, path: str, *, scalar: bool) -> None:
        if value.dtype.kind not in "biufcS":
            raise RunError(f"{path} is an array of {value.dtype}", where="checkpoint", remedy="store numbers")
        if id(value) in self._places and not scalar:
            group.attrs["kind"], group.attrs["value"] = "same", self._places[id(value)]
            return
        group.attrs["kind"] = "scalar" if scalar else "array"
        group.attrs["fortran"] = bool(value.flags.f_contiguous and not value.flags.c_contiguous)
        group.create_dataset("data", data=value)
        self._places[id(value)] = group.name
        self._alive.append(value)


class _Reader:
    def __init__(self) -> None:
        self._arrays: dict[str, np.ndarray] = {}

    def read(self, group: h5py.Group) -> Any:
        kind, attrs = group.attrs["kind"], group.attrs
        if kind in ("none", "bool", "int", "str", "float"):
            return None if kind == "none" else _plain(kind, attrs["value"])
        if kind in ("array", "scalar"):
            data = group["data"][()]
            if kind == "scalar":
                return data
            array = np.asfortranarray(data) if attrs["fortran"] else np.asarray(data)
            self._arrays[group.name] = array
            return array
        if kind == "same":
            return self._arrays[attrs["value"]]
        parts = {json.loads(group[key].attrs["name"]): self.read(group[key]) for key in sorted(group)}
        if kind == "sparse":
            return _sparse_matrix(parts)
        if kind == "dataclass":
            return _instance(attrs["class"], parts)
        if kind == "dict":
            return parts
        return {"pairs": dict, "tuple": tuple, "list": list}[kind](parts.values())


def _plain(kind: str, value: Any) -> Any:
    if kind == "bool":
        return value == "True"
    return {"int": int, "str": json.loads, "float": float}[kind](value)


def _sparse(A: Any, path: str) -> dict[str, Any]:
    if A.format not in ("csr", "csc"):
        raise RunError(f"{path} is a sparse matrix in {A.format} format", where="checkpoint", remedy="use CSR or CSC")
    return {"format": A.format, "shape": A.shape, "data": A.data, "indices": A.indices, "indptr": A.indptr}


def _sparse_matrix(parts: dict[str, Any]) -> Any:
    make = {"csr": sp.csr_matrix, "csc": sp.csc_matrix}[parts["format"]]
    A = make(parts["shape"])
    A.data, A.indices, A.indptr = parts["data"], parts["indices"], parts["indptr"]
    return A


def _ours(cls: type) -> bool:
    return cls.__module__.split(".")[0] == "pliant"


def _instance(name: str, fields: dict[str, Any]) -> Any:
    module, _, qualified = name.partition(":")
    if module.split(".")[0] != "pliant":
        raise RunError(f"class {name} is not part of this package", where="checkpoint")
    try:
        cls: Any = importlib.import_module(module)
        for part in qualified.split("."):
            cls = getattr(cls, part)
    except (ImportError, AttributeError) as error:
        remedy = "resume with the version of the software that wrote it"
        raise RunError(f"class {name} is not known", where="checkpoint", remedy=remedy) from error
    if not dataclasses.is_dataclass(cls) or {f.name for f in dataclasses.fields(cls)} != set(fields):
        remedy = "resume with the version of the software that wrote it"
        raise RunError(f"class {name} has changed its fields", where="checkpoint", remedy=remedy)
    instance = object.__new__(cls)  # type: ignore[arg-type]
    for field_name, value in fields.items():
        object.__setattr__(instance, field_name, value)
    return instance
