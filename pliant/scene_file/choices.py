"""Choices by name: an integrator, solver, material, ... from a name and parameters, and back.

A choice is a frozen dataclass (or a function that makes one) of an exported tuple; its parameters are its fields.
Names are compared without case, dashes and underscores: "stable-neo-hookean" is StableNeoHookean.
"""

import dataclasses
import difflib
import inspect
import types
import typing
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from pliant.errors import PliantError, SceneError

OBSTACLES = ("Plane", "Sphere", "Bowl", "Box", "Cylinder")

NONE = "none"  # a document has no other word for None
SHOWN = 24  # names in a hint; longer lists hide what they say


class NotDescribable(SceneError):
    """A scene has a part that only Python can say."""


def families() -> dict[str, tuple[Callable[..., Any], ...]]:
    """What can be named in a scene file, by the kind of thing it is."""
    from pliant import bodies
    from pliant.articulated import PCG, TREE_INTEGRATORS, Dense, Sparse
    from pliant.cloth.active_set import ActiveSet
    from pliant.contact import obstacles
    from pliant.integrators import INTEGRATORS, REDUCED
    from pliant.linear import LINEAR
    from pliant.linear.qp import OSQP, Clarabel
    from pliant.maps import motions
    from pliant.materials import MATERIALS
    from pliant.solvers import SOLVERS
    from pliant.systems.barrier_contact import BarrierContact
    from pliant.systems.penalty_contact import PenaltyContact
    from pliant.systems.row_contact import RowContact

    return {
        "integrator": (*INTEGRATORS, *REDUCED, *TREE_INTEGRATORS),
        "solver": SOLVERS,
        "linear": tuple(dict.fromkeys(type(solver) for solver in LINEAR)),
        "matrix": (Dense, Sparse, PCG),
        "qp": (Clarabel, OSQP, ActiveSet),
        "material": MATERIALS,
        "motion": (motions.Keyframes, motions.Shake),
        "damping": (bodies.Rayleigh, bodies.Green),
        "contact": (PenaltyContact, BarrierContact, RowContact),
        "obstacle": tuple(getattr(obstacles, name) for name in OBSTACLES),
    }


def make(family: str, given: Any, where: str) -> Any:
    """The choice a document means: a name, or a table with ``name`` and parameters."""
    table = {"name": given} if isinstance(given, str) else given
    if not isinstance(table, dict) or not isinstance(table.get("name"), str):
        raise SceneError(f"{given!r} names no {family}", where=where, remedy='write "name" or { name = "...", ... }')
    options = {_plain(choice.__name__): choice for choice in families()[family]}
    wanted = _plain(table["name"])
    if wanted not in options:
        near = difflib.get_close_matches(wanted, options, n=1, cutoff=0.5)
        known = ", ".join(kebab(choice.__name__) for choice in options.values())
        hint = f"did you mean {kebab(options[near[0]].__name__)!r}?" if near else f"known are {known}"
        raise SceneError(f"unknown {family} {table['name']!r}", where=where, remedy=hint)
    return construct(options[wanted], {k: v for k, v in table.items() if k != "name"}, where)


def construct(choice: Callable[..., Any], parameters: dict[str, Any], where: str) -> Any:
    """Call a constructor with parameters from a document; unknown or ill-typed ones are refused by name."""
    hints = _parameter_types(choice)
    for name in parameters:
        if name not in hints:
            raise SceneError(f"unknown parameter {name!r}", where=f"{where}.{name}", remedy=nearest(name, hints))
    units = getattr(choice, "units", {})  # what the choice itself reads, with or without a unit
    values = {
        name: value if name in units and value != NONE else _convert(hints[name], value, f"{where}.{name}")
        for name, value in parameters.items()
    }
    try:
        return choice(**values)
    except PliantError as error:
        if error.where.startswith(where):
            raise
        place = f"{where} ({error.where})" if error.where else where
        raise type(error)(error.what, where=place, remedy=error.remedy) from error
    except (TypeError, ValueError, OverflowError, IndexError, MemoryError) as error:
        raise SceneError(_one_line(error), where=where, remedy="check its parameters") from error


def nearest(name: str, known: Any) -> str:
    """A hint for a misspelt key."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if near or not names:
        return f"did you mean {near[0]!r}?" if near else "there are none"
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"known are {', '.join(names[:SHOWN])}{more}"


def describe_choice(value: Any) -> dict[str, Any]:
    """The table from which `make` makes an equal choice: its name and the fields that differ from their defaults."""
    known = {choice for family in families().values() for choice in family}
    if type(value) not in known:
        raise NotDescribable(f"{type(value).__name__} cannot be written in a scene file")
    return {"name": kebab(type(value).__name__), **_fields(value)}


def _fields(value: Any) -> dict[str, Any]:
    out = {}
    for f in dataclasses.fields(value):
        given = getattr(value, f.name)
        default = f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
        if f.init and not _equal(given, default):
            out[f.name] = _document(given)
    return out


def _document(value: Any) -> Any:
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
    if isinstance(value, tuple | list):
        return [_document(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        known = {choice for family in families().values() for choice in family}
        if type(value) in known:
            return describe_choice(value)
        if type(value).__module__.startswith("pliant."):  # a part, such as a tolerance, that its field makes again
            return _fields(value)
    raise NotDescribable(f"a {type(value).__name__} cannot be written in a scene file")


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))
    return type(a) is type(b) and bool(a == b)


def _parameter_types(choice: Callable[..., Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(choice if inspect.isfunction(choice) else choice)
    if dataclasses.is_dataclass(choice):
        return {f.name: hints.get(f.name, Any) for f in dataclasses.fields(choice) if f.init}
    parameters = inspect.signature(choice).parameters.values()
    return {p.name: hints.get(p.name, Any) for p in parameters if p.kind is not p.VAR_KEYWORD}


def _convert(hint: Any, value: Any, where: str) -> Any:
    """A document's value as the type a parameter is declared with."""
    if value == NONE and type(None) in typing.get_args(hint):
        return None
    family = _family_of(hint)
    if family is not None:
        return make(family, value, where)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if not isinstance(value, dict):
            raise SceneError(f"{value!r} is no table", where=where, remedy=f"give the fields of {hint.__name__}")
        return construct(hint, value, where)
    if typing.get_origin(hint) is Literal and value not in typing.get_args(hint):
        options = ", ".join(repr(option) for option in typing.get_args(hint))
        raise SceneError(f"{value!r} is not allowed", where=where, remedy=f"use {options}")
    if hint in (bool, int, str) and type(value) is not hint:
        raise SceneError(f"{value!r} is not a {hint.__name__}", where=where, remedy=f"give a {hint.__name__}")
    if hint is float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SceneError(f"{value!r} is not a number", where=where, remedy="give a number")
        return float(value)
    if isinstance(value, list):
        return _tuples(value) if _wants_tuple(hint) else value
    return value


def _family_of(hint: Any) -> str | None:
    from pliant.integrators.base import Integrator
    from pliant.linear.base import LinearSolver
    from pliant.linear.qp import QPSolver
    from pliant.maps.motions import Motion
    from pliant.solvers.base import NonlinearSolver
    from pliant.velocity_step import MatrixChoice

    protocols = {NonlinearSolver: "solver", LinearSolver: "linear", Integrator: "integrator", Motion: "motion"}
    protocols |= {QPSolver: "qp", MatrixChoice: "matrix"}
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return next((protocols[o] for o in options if isinstance(o, type) and o in protocols), None)


def _wants_tuple(hint: Any) -> bool:
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return any(option is tuple or typing.get_origin(option) is tuple for option in options)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


def kebab(name: str) -> str:
    """StableNeoHookean -> stable-neo-hookean, BDF2 -> bdf2."""
    out = ""
    for i, c in enumerate(name):
        follows = i > 0 and c.isupper() and (name[i - 1].islower() or (i + 1 < len(name) and name[i + 1].islower()))
        out += ("-" if follows else "") + c.lower()
    return out


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
