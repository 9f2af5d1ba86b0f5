"""Checkpoints: everything a run needs to go on bit for bit, in one HDF5 file that is replaced atomically.

Memory is made of dicts, tuples, lists, frozen dataclasses, arrays, sparse matrices, numbers, strings and None, and is
stored as such; no code is ever stored. A dataclass is stored under its qualified name and restored without running its
constructor, and only if it lives in this package or in a module that is loaded already, such as the scene's own Python
file: what a checkpoint names is never imported. Objects with a true ``transient`` attribute (symbolic analyses,
buffers) are left out: who owns them makes them again, with the same bits.
"""

import dataclasses
import hashlib
import importlib
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import h5py
import numpy as np
import scipy.sparse as sp

from pliant.errors import RunError
from pliant.state import State

FORMAT = 2


@runtime_checkable
class Passing(Protocol):
    """Something in a memory that is rebuilt instead of saved (see `pliant.state.Transient`)."""

    transient: bool


@dataclass(frozen=True, eq=False)
class Topology:
    """What has changed since a scene began: how many of its ``events`` have happened, and the ``mesh`` of parts that
    change theirs by themselves (see `Reshaping`).
    """

    events: int = 0
    mesh: Any = None


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Where a run stands after ``step`` steps.

    ``topology`` is what has changed in the scene (None: nothing has);
    ``marks`` are the lengths and sums of the recorded files, so that resuming can cut off what was written later and
    refuse what does not fit, and totals.
    """

    step: int
    state: State
    memory: Any = None
    topology: Topology | None = None
    marks: dict[str, Any] = field(default_factory=dict)


def save(path: str | Path, checkpoint: Checkpoint) -> None:
    """Write, sync, rename: at any moment ``path`` is either the old checkpoint or the new one."""
    path = Path(path)
    temporary = path.with_name(path.name + ".part")
    encoder = _Encoder()
    tree = json.dumps(encoder.node(checkpoint, "checkpoint")).encode("ascii")
    try:
        with open(temporary, "wb") as handle:
            handle.write(_image(tree, encoder.arrays))
            handle.flush()
            os.fsync(handle.fileno())
        os.replace(temporary, path)
        synced(path.parent)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise RunError(
            f"cannot write {path}: {error}", where="checkpoint", remedy="free disk space, or choose another --out"
        ) from error


def _image(tree: bytes, arrays: list[np.ndarray]) -> bytes:
    """The file, made in memory: HDF5 itself does not survive a disk that is full."""
    with h5py.File("checkpoint", "w", driver="core", backing_store=False) as file:
        file.attrs["format"] = FORMAT
        file.attrs["sums"] = json.dumps([_sum(tree), *map(_sum, arrays)])
        file["tree"] = np.frombuffer(tree, dtype=np.uint8)
        for number, array in enumerate(arrays):
            file[f"arrays/{number}"] = array
        file.flush()
        return bytes(file.id.get_file_image())


def _sum(part: bytes | np.ndarray) -> str:
    content = part if isinstance(part, bytes) else np.ascontiguousarray(part).tobytes()
    return hashlib.sha256(content).hexdigest()


def synced(path: Path) -> None:
    """A file, or the entries of a folder (a rename, say), are on the disk when this returns."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def load(path: str | Path) -> Checkpoint:
    """The checkpoint stored in ``path``."""
    try:
        with h5py.File(path, "r") as file:
            if file.attrs.get("format") != FORMAT:
                raise RunError(f"{path} has format {file.attrs.get('format')}, not {FORMAT}", where="checkpoint")
            text = file["tree"][...].tobytes()
            arrays = [file[f"arrays/{number}"][()] for number in range(len(file.get("arrays", ())))]
            sums = json.loads(file.attrs["sums"])
        if [_sum(text), *map(_sum, arrays)] != sums:
            remedy = "take it from a backup, or run the scene again"
            raise RunError(f"{path} has been changed: its checksums do not match", where="checkpoint", remedy=remedy)
        tree = json.loads(text)
    except (OSError, KeyError, ValueError, RuntimeError) as error:
        raise RunError(f"cannot read {path}: {error}", where="checkpoint", remedy="is it a run folder?") from error
    value = _decode(tree, arrays)
    if not isinstance(value, Checkpoint):
        raise RunError(f"{path} holds a {type(value).__name__}", where="checkpoint")
    return value


def contents(value: Any) -> tuple[str, tuple[bytes, ...]]:
    """What a checkpoint would hold of a value: its tree, and the bytes of its arrays."""
    encoder = _Encoder()
    tree = json.dumps(encoder.node(value, "value"))
    return tree, tuple(array.tobytes() for array in encoder.arrays)


class _Encoder:
    """Values as a JSON tree beside a list of arrays; an array that occurs twice is stored once and stays one array."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._numbers: dict[int, int] = {}

    def node(self, value: Any, path: str) -> Any:
        if value is None or (isinstance(value, Passing) and value.transient):
            return None
        if type(value) in (bool, int, float, str):
            return value  # JSON keeps all digits
        if isinstance(value, np.ndarray):
            return {"array": self._number(value, path), "fortran": value.flags.fnc}
        if isinstance(value, np.generic):
            return {"scalar": self._number(np.asarray(value), path)}
        if isinstance(value, tuple | list):
            items = [self.node(item, f"{path}.{i}") for i, item in enumerate(value)]
            return {type(value).__name__: items}
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {"dict": self._nodes(value, path)}
        if isinstance(value, dict):
            return {"pairs": [[self.node(k, path), self.node(v, f"{path}.{k}")] for k, v in value.items()]}
        if sp.issparse(value):
            return {"sparse": self._nodes(_sparse(value, path), path)}
        name = f"{type(value).__module__}:{type(value).__qualname__}"
        if dataclasses.is_dataclass(value) and _frozen(type(value)) and _found(name) is type(value):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            return {"dataclass": name, "fields": self._nodes(fields, path)}
        raise RunError(
            f"{path} is a {type(value).__module__}.{type(value).__qualname__}, which a checkpoint cannot hold",
            where="checkpoint",
            remedy="memory must be arrays, numbers and frozen dataclasses of modules; mark the rest transient",
        )

    def _nodes(self, parts: dict[str, Any], path: str) -> dict[str, Any]:
        return {name: self.node(part, f"{path}.{name}") for name, part in parts.items()}

    def _number(self, value: np.ndarray, path: str) -> int:
        if value.dtype.kind not in "biufcS":
            raise RunError(f"{path} is an array of {value.dtype}", where="checkpoint", remedy="store numbers")
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self.arrays)
            self.arrays.append(value)  # alive while writing, so that identities stay unique
        return self._numbers[id(value)]


def _decode(node: Any, arrays: list[Any]) -> Any:
    if isinstance(node, list):
        return [_decode(item, arrays) for item in node]
    if not isinstance(node, dict):
        return node
    if "array" in node:
        number = node["array"]
        if node["fortran"]:
            arrays[number] = np.asfortranarray(arrays[number])
        arrays[number] = np.asarray(arrays[number])
        return arrays[number]
    if "scalar" in node:
        return arrays[node["scalar"]]
    if "dataclass" in node:
        return _instance(node["dataclass"], {k: _decode(v, arrays) for k, v in node["fields"].items()})
    ((kind, content),) = node.items()
    if kind in ("dict", "sparse"):
        parts = {key: _decode(value, arrays) for key, value in content.items()}
        return parts if kind == "dict" else _sparse_matrix(parts)
    return {"pairs": dict, "tuple": tuple, "list": list}[kind](_decode(content, arrays))


def _sparse(A: Any, path: str) -> dict[str, Any]:
    if A.format not in ("csr", "csc"):
        raise RunError(f"{path} is a sparse matrix in {A.format} format", where="checkpoint", remedy="use CSR or CSC")
    return {"format": A.format, "shape": A.shape, "data": A.data, "indices": A.indices, "indptr": A.indptr}


def _sparse_matrix(parts: dict[str, Any]) -> Any:
    make = {"csr": sp.csr_matrix, "csc": sp.csc_matrix}[parts["format"]]
    A = make(parts["shape"])
    A.data, A.indices, A.indptr = parts["data"], parts["indices"], parts["indptr"]
    return A


def _found(name: str) -> Any:
    """The class called ``module:qualified.name``; None if its module is not loaded or has no such class.

    Only modules of this package are imported for it.
    """
    place, _, qualified = name.partition(":")
    if place.split(".")[0] == "pliant":
        try:
            importlib.import_module(place)
        except ImportError:
            return None
    found: Any = sys.modules.get(place)
    for part in qualified.split("."):
        found = None if found is None else vars(found).get(part)  # what is there, and nothing that is made when asked
        if not isinstance(found, type):
            return None
    return found


def _frozen(cls: Any) -> bool:
    params: Any = vars(cls).get("__dataclass_params__")
    return params is not None and bool(params.frozen)


def _instance(name: str, fields: dict[str, Any]) -> Any:
    cls, ours = _found(name), name.split(".")[0].split(":")[0] == "pliant"
    version = "resume with the version of the software that wrote it"
    if cls is None:
        remedy = version if ours else "load the scene, or import the module of the integrator, before its checkpoint"
        raise RunError(f"class {name} is not known here", where="checkpoint", remedy=remedy)
    if not _frozen(cls):
        raise RunError(f"class {name} is not a frozen dataclass", where="checkpoint")
    if {f.name for f in dataclasses.fields(cls)} != set(fields):
        remedy = version if ours else "resume with the version of its module that wrote it"
        raise RunError(f"class {name} has changed its fields", where="checkpoint", remedy=remedy)
    instance = object.__new__(cls)
    for field_name, value in fields.items():
        object.__setattr__(instance, field_name, value)
    return instance
