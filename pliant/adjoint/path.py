"""Numbers inside a scene by their path: ``bodies.bar.material.E``, ``gravity``, ``forces.0.value``, ``contact.mu``."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.errors import SceneError


def read(scene: Any, path: str) -> Array:
    """The number or the array of numbers at ``path``."""
    thing = scene
    for key in path.split("."):
        thing = _members(thing, path)[_key(thing, key, path)]
    try:
        value = np.asarray(thing, dtype=np.float64)
    except (TypeError, ValueError):
        value = np.array(np.nan)
    if not value.size or not np.isfinite(value).all():
        raise SceneError(f"{path} is {thing!r}", where="wrt", remedy="name something that is made of numbers")
    return value


def written(thing: Any, path: str, value: Any, whole: str | None = None) -> Any:
    """The same scene with another value at ``path``."""
    whole = whole or path
    name, _, rest = path.partition(".")
    key = _key(thing, name, whole)
    member = written(_members(thing, whole)[key], rest, value, whole) if rest else value
    if isinstance(key, int):
        return (*thing[:key], member, *thing[key + 1 :])
    return replace(thing, **{key: member})


def replaced(scene: Any, path: str, value: Array) -> Any:
    """The same scene with these numbers at ``path``; one alone is a plain number there."""
    return written(scene, path, value if value.ndim else float(value))


def completed(scene: Any, path: str) -> str:
    """The whole path of a number that may be named without its body, ``material.E`` as in settings of scene files.

    Refused where several bodies have one, or none has.
    """
    if path.partition(".")[0] in _members(scene, path):
        return path
    found = []
    for k, body in enumerate(scene.bodies):
        with suppress(SceneError):
            read(body, path)
            alone = sum(other.name == body.name for other in scene.bodies) == 1
            found.append(f"bodies.{body.name if alone else k}.{path}")
    if len(found) == 1:
        return found[0]
    what = f"{len(found)} bodies have {path!r}" if found else f"no body has a number {path!r}"
    remedy = f"name one of {', '.join(found)}" if found else "name it like material.E, damping.beta or gravity"
    raise SceneError(what, where="wrt", remedy=remedy)


def _members(thing: Any, path: str) -> Any:
    """What can be named in a thing: fields of a dataclass, entries of a sequence."""
    if is_dataclass(thing) and not isinstance(thing, type):
        return {f.name: getattr(thing, f.name) for f in fields(thing) if f.init}
    if isinstance(thing, Sequence) and not isinstance(thing, str):
        return thing
    raise SceneError(f"{path} leads into {thing!r}", where="wrt", remedy="end the path at a number")


def _key(thing: Any, name: str, path: str) -> Any:
    """The field of that name, or the number of the entry that is called so."""
    members = _members(thing, path)
    if isinstance(members, dict):
        if name in members:
            return name
        known = ", ".join(members)
        raise SceneError(f"{path}: {type(thing).__name__} has no {name!r}", where="wrt", remedy=f"use one of {known}")
    if name.isdigit() and int(name) < len(members):
        return int(name)
    called = [k for k, member in enumerate(members) if _name(member) == name]
    if len(called) != 1:
        names = ", ".join(filter(None, map(_name, members))) or f"0 to {len(members) - 1}"
        what = f"{path}: {len(called)} entries are called {name!r}"
        raise SceneError(what, where="wrt", remedy=f"use its number, or one of {names}")
    return called[0]


def _name(member: Any) -> str:
    named = is_dataclass(member) and any(f.name == "name" for f in fields(member))
    return str(member.name) if named else ""
