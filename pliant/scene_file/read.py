"""From the tables of a document to parts: values become what the constructors' own declarations ask for.

A parameter that is declared as a protocol (a solver, a motion, a joint) is a choice by its kind; a dataclass is a
table of its fields; an array or a tuple is a list. What needs more than its own table (meshes, pins, links) has a
reader of its own, by type.
"""

import dataclasses
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pliant.errors import PliantError, SceneError
from pliant.mesh import Mesh
from pliant.scene_file.choices import family_of, find, nearest, parameter_types, required, units_of
from pliant.units import quantity

if sys.version_info >= (3, 12):
    ALIASES: Any = typing.TypeAliasType
else:
    ALIASES = ()

NONE = "none"  # a document has no other word for None
PLAIN = (bool, int, float, str, list, dict)  # what TOML can say
OTHERWISE = {"type": "kind"}  # what other formats call it
WORDS: dict[Any, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


@dataclasses.dataclass(frozen=True)
class Reader:
    """``folder`` holds the files that a document names; ``mesh`` is that of the body which is being read."""

    folder: Path = Path()
    mesh: Mesh | None = None

    def make(self, family: str, given: Any, where: str) -> Any:
        """The choice a document means: a kind, or a table with ``kind`` and parameters."""
        table = {"kind": given} if isinstance(given, str) else given
        if not isinstance(table, dict) or not isinstance(table.get("kind"), str):
            what = f"{given!r} does not say which kind of {family}"
            raise SceneError(what, where=where, remedy='write its kind, or { kind = "...", ... }')
        parameters = {k: v for k, v in table.items() if k != "kind"}
        return self.construct(find(family, table["kind"], where), parameters, where)

    def construct(self, choice: Callable[..., Any], parameters: dict[str, Any], where: str) -> Any:
        """Call a constructor with parameters from a document; unknown or ill-typed ones are refused by name.

        Whatever has a mesh may have a ``transform`` beside it.
        """
        from pliant.scene_file.meshes import placed

        hints, units = parameter_types(choice), units_of(choice)
        shape = next((name for name, hint in hints.items() if hint is Mesh or BY_NAME.get(name) is Mesh), None)
        known_keys(parameters, [*hints, *(("transform",) if shape else ())], where)
        missing = [name for name in required(choice) if name in hints and name not in parameters]
        if missing:
            raise SceneError(f"{missing[0]!r} is missing", where=where, remedy=f"give {', '.join(missing)}")
        reader, parameters = self, dict(parameters)
        if shape in parameters:  # it comes first: pins and others are found on it
            mesh = self.value(shape, hints[shape], parameters[shape], f"{where}.{shape}")
            move = parameters.pop("transform", None)
            parameters[shape] = mesh if move is None else placed(mesh, move, f"{where}.transform")
            reader = dataclasses.replace(self, mesh=parameters[shape])
        values = {
            name: reader.value(name, hints[name], in_si(value, units.get(name), f"{where}.{name}"), f"{where}.{name}")
            for name, value in parameters.items()
        }
        return located(where, choice, **values)

    def value(self, name: str, hint: Any, value: Any, where: str) -> Any:
        """A document's value as what a parameter is declared to be."""
        if name in BY_NAME and (hint is Any or Any in mentioned(hint) or name == "frame"):
            hint = BY_NAME[name]
        return self._convert(hint, value, where)

    def _convert(self, hint: Any, value: Any, where: str) -> Any:
        options = options_of(hint)
        if not isinstance(value, PLAIN):
            return value  # made already
        if value == NONE and type(None) in options:
            return None
        if isinstance(value, list):
            for option in sorted(options, key=lambda o: typing.get_origin(o) is not np.ndarray):  # arrays first
                found = self._listed(option, value, where)
                if found is not None:
                    return found
        for option in options:
            if option in READERS:
                return READERS[option](self, value, where)
            if option in _protocols():
                return self.make(_protocols()[option], value, where)
            if isinstance(value, dict | str) and dataclasses.is_dataclass(option) and isinstance(option, type):
                family = family_of(option) if isinstance(value, str) or "kind" in value else None
                if family is not None:
                    return self.make(family, value, where)
                if isinstance(value, dict):
                    return self.construct(option, value, where)
            if typing.get_origin(option) is Callable:
                return _function(self, option, value, where)
        return _checked(options, value, where)

    def _listed(self, option: Any, value: list[Any], where: str) -> Any:
        """A list as a sequence, a tuple or an array; None if the option is none of them."""
        origin, inner = typing.get_origin(option), typing.get_args(option)
        if origin is np.ndarray:
            return _array(value, typing.get_args(inner[1])[0] if len(inner) > 1 else np.float64, where)
        if origin is tuple and not (len(inner) == 2 and inner[1] is Ellipsis) and len(inner) != len(value):
            raise SceneError(f"{len(value)} entries", where=where, remedy=f"give {len(inner)}")
        if origin is tuple:
            each = [inner[0]] * len(value) if inner[1:] == (Ellipsis,) else list(inner)
            return tuple(self._convert(h, v, f"{where}.{i}") for i, (h, v) in enumerate(zip(each, value, strict=True)))
        if origin in (list, Sequence) or (isinstance(origin, type) and issubclass(origin, Sequence)):
            return [self._convert(inner[0], v, f"{where}.{i}") for i, v in enumerate(value)]
        return None


READERS: dict[Any, Callable[[Reader, Any, str], Any]] = {}  # by the type that a parameter is declared with
BY_NAME: dict[str, Any] = {}  # the types of parameters that are declared as Any


def reads(kind: Any, *names: str) -> Callable[[Any], Any]:
    """The decorated function reads values of this type, and of parameters of these names that say nothing else."""

    def keep(function: Callable[[Reader, Any, str], Any]) -> Callable[[Reader, Any, str], Any]:
        READERS[kind] = function
        BY_NAME.update(dict.fromkeys(names, kind))
        return function

    return keep


@reads(Mapping[str, float])
def _numbers(reader: Reader, value: Any, where: str) -> Any:
    """A number, or a table of numbers by names."""
    if not isinstance(value, dict):
        return _checked((float,), in_si(value, "1", where), where)
    return {name: _checked((float,), in_si(v, "1", f"{where}.{name}"), f"{where}.{name}") for name, v in value.items()}


@reads(Mapping[str, Any])
def _by_name(reader: Reader, value: Any, where: str) -> Any:
    """A table of values by names, which whoever takes them reads."""
    if not isinstance(value, dict):
        raise SceneError(f"{value!r:.60} is not a table", where=where, remedy="like { mu = 1e4 }")
    return value


def known_keys(table: Any, known: Any, where: str) -> None:
    """Refuse keys that mean nothing here."""
    if not isinstance(table, dict):
        raise SceneError(f"{table!r} is not a table", where=where, remedy=f"give some of {', '.join(list(known)[:12])}")
    for name in table:
        if name not in known:
            meant = OTHERWISE.get(name)
            remedy = f"did you mean {meant!r}?" if meant in known else nearest(name, known)
            raise SceneError(f"unknown key {name!r}", where=f"{where}.{name}", remedy=remedy)


def located(where: str, call: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call a constructor; its complaint gets the place in the document."""
    try:
        return call(*args, **options)
    except PliantError as error:
        if error.where.startswith(where):
            raise
        place = f"{where} ({error.where})" if error.where and error.where not in where else where
        raise type(error)(error.what, where=place, remedy=error.remedy) from error
    except (TypeError, ValueError, OverflowError, IndexError, MemoryError) as error:
        what = " ".join(str(error).split()) or type(error).__name__
        raise SceneError(what, where=where, remedy="check the values here") from error


def in_si(value: Any, unit: str | None, where: str) -> Any:
    """A value whose strings are quantities, as plain numbers; ``unit`` may name alternatives ("rad or m")."""
    if unit is None or value == NONE or not _has_text(value):
        return value
    if isinstance(value, list):
        return [in_si(item, unit, f"{where}.{i}") for i, item in enumerate(value)]
    *others, last = unit.split(" or ")
    for one in others:
        with suppress(PliantError):
            return quantity(value, one, where)
    try:
        return quantity(value, last, where.rsplit(".", 1)[-1])
    except PliantError as error:
        raise type(error)(error.what, where=where, remedy=error.remedy.replace(last, unit, 1)) from None


def _has_text(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and any(_has_text(v) for v in value))


def options_of(hint: Any) -> tuple[Any, ...]:
    """The alternatives of a declared type."""
    hint = unaliased(hint)
    union = isinstance(hint, types.UnionType) or typing.get_origin(hint) is typing.Union
    return tuple(map(unaliased, typing.get_args(hint))) if union else (hint,)


def unaliased(hint: Any) -> Any:
    """What a name of a type stands for: `numpy.typing.NDArray` is one from NumPy 2.5 on."""
    inner = typing.get_args(hint)
    alias = typing.get_origin(hint) if inner else hint
    if not isinstance(alias, ALIASES):
        return hint
    return unaliased(alias.__value__[inner] if inner else alias.__value__)


def mentioned(hint: Any) -> set[Any]:
    """All types that a declaration mentions, but for those within arrays."""
    hint = unaliased(hint)
    if typing.get_origin(hint) is np.ndarray:
        return {np.ndarray}
    inner = [part for arg in typing.get_args(hint) for part in mentioned(arg)]
    return {hint, *inner} if isinstance(hint, typing.Hashable) else set(inner)


def family_of_type(hint: Any) -> str | None:
    """The family of choices that a declared type stands for."""
    from pliant.materials.base import Material

    return "material" if hint is Material else _protocols().get(hint)


def _protocols() -> dict[Any, str]:
    """What the protocols of choices are called."""
    from pliant.articulated.constraints import Constraint
    from pliant.articulated.forces import ArticulatedForce
    from pliant.articulated.joint_contacts import JointContact
    from pliant.articulated.joints import Joint
    from pliant.constraints.kept import Kept
    from pliant.deformable import Damping
    from pliant.integrators.base import Integrator
    from pliant.linear.base import LinearSolver
    from pliant.linear.box_qp import BoxSolver
    from pliant.linear.qp import QPSolver
    from pliant.maps.motions import Motion
    from pliant.solvers.base import NonlinearSolver
    from pliant.velocity_step import MatrixChoice

    return {
        NonlinearSolver: "solver", LinearSolver: "linear", Integrator: "integrator", Motion: "motion",
        Damping: "damping", Joint: "joint", ArticulatedForce: "link force", Constraint: "link constraint",
        JointContact: "joint contact", Kept: "kept", QPSolver: "qp", MatrixChoice: "matrix", BoxSolver: "box programme",
    }  # fmt: skip


def _function(reader: Reader, hint: Any, value: Any, where: str) -> Any:
    """A function of time: a number (or a list of them) that stays, or a table."""
    from pliant.maps.functions import constant

    if [*typing.get_args(hint)[0]] != [float]:
        raise SceneError("this can only be given in Python", where=where, remedy="build the scene in Python")
    if isinstance(value, dict):
        return reader.make("function", value, where)
    return located(where, constant, value)


def _array(value: list[Any], dtype: Any, where: str) -> Any:
    whole = isinstance(dtype, type) and issubclass(dtype, np.integer)
    read = located(where, np.array, value)
    if read.dtype.kind not in ("iu" if whole else "iuf") and read.size:
        raise SceneError(f"{value!r:.60}", where=where, remedy=f"give {'whole ' if whole else ''}numbers")
    return read.astype(dtype)


def _checked(options: tuple[Any, ...], value: Any, where: str) -> Any:
    """A plain value that must be of one of the declared types."""
    literal = next((o for o in options if typing.get_origin(o) is Literal), None)
    if literal is not None and value not in typing.get_args(literal):
        allowed = ", ".join(repr(option) for option in typing.get_args(literal))
        raise SceneError(f"{value!r} is not allowed", where=where, remedy=f"use {allowed}")
    if literal is not None or Any in options or type(value) in options:
        return value
    if float in options and type(value) is int:
        return quantity(value, "1", where)
    wanted = [WORDS[o] for o in options if o in WORDS]
    tables = [o.__name__ for o in options if dataclasses.is_dataclass(o) and isinstance(o, type)]
    wanted += [f"a table of the fields of {name}" for name in tables]
    lists = [o for o in options if typing.get_origin(o) is not None]
    wanted += ["a list"] if lists else []
    raise SceneError(f"{value!r:.60} is not {' or '.join(wanted)}", where=where, remedy="look at its type")
