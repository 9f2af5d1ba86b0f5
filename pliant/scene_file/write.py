"""From parts to the tables of a document, bit for bit: the inverse of `read`."""

import dataclasses
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np

from pliant.articulated.tree import Link
from pliant.cloth.hands import Handle
from pliant.cloth.sheet import Sheet
from pliant.maps.functions import Series
from pliant.maps.pins import Pin
from pliant.materials.base import Sum, summands
from pliant.mesh import Mesh
from pliant.scene_file.choices import OWN, NotDescribable, families, kind_of, parameter_types
from pliant.scene_file.extensions import extension_of
from pliant.scene_file.meshes import stored
from pliant.scene_file.read import NONE, mentioned


@dataclasses.dataclass(frozen=True)
class Writer:
    """Writes tables; arrays that are too long for them go to ``files`` (name -> content), called after ``stem``.

    ``modules`` are those that register parts of the user's own.
    """

    files: dict[str, bytes] = dataclasses.field(default_factory=dict)
    stem: str = "part"
    modules: set[str] = dataclasses.field(default_factory=set)

    @property
    def extensions(self) -> list[str]:
        """What must be imported before the tables can be read."""
        return sorted([*(name for name in self.files if name.endswith(".py")), *self.modules])

    def choice(self, value: Any) -> dict[str, Any]:
        """The table from which `Reader.make` makes an equal choice: its kind and the fields that are not at default."""
        if type(value) not in _known():
            raise NotDescribable(f"{type(value).__name__} cannot be written in a scene file")
        self.keep_extension(type(value))
        return {"kind": kind_of(type(value)), **self.fields(value)}

    def fields(self, value: Any, skip: tuple[str, ...] = ()) -> dict[str, Any]:
        """Those of its parameters that differ from their defaults."""
        out, declared = {}, parameter_types(type(value))
        for f in dataclasses.fields(value):
            given = getattr(value, f.name)
            if f.init and f.name not in skip and not _equal(given, default_of(f)):
                out[f.name] = self.plain(given, f"{type(value).__name__}.{f.name}", mentioned(declared[f.name]))
        return out

    def plain(self, value: Any, where: str, declared: Collection[Any] = ()) -> Any:
        """Any value as TOML can say it; ``declared`` are classes that are read from a table of their fields."""
        if value is None:
            return NONE
        if isinstance(value, bool | int | str):
            return value
        if isinstance(value, float | np.floating):
            return float(value)
        if isinstance(value, np.integer):
            return int(value)
        if isinstance(value, np.ndarray):
            return value.tolist()
        if isinstance(value, dict):
            return {str(name): self.plain(item, where, declared) for name, item in value.items()}
        if isinstance(value, tuple | list):
            return [self.plain(item, where, declared) for item in value]
        for kind, write in WRITERS.items():
            if isinstance(value, kind):
                return write(self, value)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            if type(value) in _known():
                return self.choice(value)
            if type(value) in declared:  # a part, such as a tolerance, that its field makes again
                return self.fields(value)
        raise NotDescribable(f"{where}: a {type(value).__name__} cannot be written in a scene file")

    def keep_extension(self, choice: Any) -> None:
        """Keep the file in which a choice of the user's own is registered."""
        if any(choice in mine for mine in OWN.values()):
            source = extension_of(choice)
            if isinstance(source, Path):
                self.files[source.name] = source.read_bytes()
            elif source is not None:
                self.modules.add(source)

    def keep(self, arrays: dict[str, Any]) -> str:
        """The name of a new file with these arrays."""
        name, k = f"{self.stem}.npz", 1
        while name in self.files:
            k += 1
            name = f"{self.stem}-{k}.npz"
        self.files[name] = stored(arrays)
        return name


def default_of(f: Any) -> Any:
    """What a field is when nothing is said; MISSING where it must be."""
    return f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default


def _mesh(writer: Writer, mesh: Mesh) -> dict[str, Any]:
    arrays: dict[str, Any] = {"X": mesh.X, "T": mesh.T}
    if mesh.region is not None:
        arrays["region"] = mesh.region
    table: dict[str, Any] = {"file": writer.keep(arrays)}
    return table | {"planar": True} if mesh.dim == 2 else table


def _pin(writer: Writer, pin: Pin) -> dict[str, Any]:
    table: dict[str, Any] = {"vertices": np.asarray(pin.vertices).ravel().tolist()}
    if tuple(pin.axes) != (0, 1, 2):
        table["axes"] = ["xyz"[axis] for axis in pin.axes]
    if pin.motion is not None:
        table["motion"] = writer.choice(pin.motion)
    return table


def _link(writer: Writer, link: Link) -> dict[str, Any]:
    table = writer.fields(link, skip=("body",))
    shape = {f.name: getattr(link.body, f.name) for f in dataclasses.fields(link.body)}
    called = "".join(c if c.isascii() and c.isalnum() else "-" for c in link.name) or "link"
    kept = dataclasses.replace(writer, stem=f"{writer.stem}-{called}").keep(shape)
    return table | {"shape": {"kind": "stored", "file": kept}}


def _sum(writer: Writer, material: Sum) -> list[dict[str, Any]]:
    return [writer.choice(part) for part in summands(material)]


def _series(writer: Writer, series: Series) -> Any:
    if series.times == (0.0,) and isinstance(series.values[0], float):  # a constant is its value
        return series.values[0]
    return writer.choice(series)


def _sheet(writer: Writer, sheet: Sheet) -> dict[str, Any]:
    arrays = {f.name: getattr(sheet, f.name) for f in dataclasses.fields(sheet)}
    return {"file": writer.keep(arrays), "sheet": True}


WRITERS: dict[type, Callable[[Writer, Any], Any]] = {
    Mesh: _mesh, Pin: _pin, Link: _link, Sum: _sum, Series: _series, Sheet: _sheet, Handle: Writer.fields,
}  # fmt: skip


def _known() -> set[Any]:
    return {choice for family in families().values() for choice in family}


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(_equal(x, y) for x, y in zip(a, b, strict=True))
    return type(a) is type(b) and bool(a == b)
