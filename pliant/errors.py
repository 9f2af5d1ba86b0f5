"""Errors are part of the interface: what is wrong, with which value, where, and what to do about it.

Wrong input raises one of these at construction time; the command line prints the message in one line.
Numerical failure is a result (``converged=False``) that the run policy turns into `ConvergenceError`.
"""

import difflib
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np

SHOWN = 24  # names in a hint; longer lists hide what they say


class PliantError(Exception):
    """Base class of all errors raised on purpose: ``what`` is wrong, ``where``, and the ``remedy``."""

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy
        told = (f"{where}: " if where else "") + what + (f"; {remedy}" if remedy else "")
        super().__init__(" ".join(line.strip() for line in told.splitlines()))  # one line, whatever it quotes


class MeshError(PliantError):
    """A mesh that cannot be simulated: inverted, degenerate, duplicate or unreferenced elements, unreadable files."""


class MaterialError(PliantError):
    """Material parameters outside their physical range."""


class UnitError(PliantError):
    """A quantity with the wrong dimension or an unknown unit."""


class SceneError(PliantError):
    """A scene that does not make sense: unknown keys, wrong types, missing mass, too few pins."""


class RunError(PliantError):
    """A run folder, checkpoint or bundle that cannot be read or written."""


class MissingDependency(PliantError):
    """An optional package is needed; the remedy is the line that installs it."""


class NotPositiveDefinite(PliantError):
    """A Cholesky factorization met a pivot that is not positive."""


class ConvergenceError(PliantError):
    """A step did not converge and the run policy says that this is an error."""


def require_part(thing: object, method: str, where: str, remedy: str) -> None:
    """Refuse what cannot be part of a scene: a class instead of an object, a string, a number."""
    if isinstance(thing, type) or not callable(getattr(thing, method, None)):
        shown = f"the class {thing.__name__}" if isinstance(thing, type) else repr(thing)
        raise SceneError(f"{where.rsplit('.', 1)[-1]} is {shown}", where=where, remedy=remedy)


def require_name(name: object, where: str) -> None:
    """Refuse what cannot be written to a file as a name: non-strings, zero bytes, lone surrogates."""
    if not isinstance(name, str) or "\0" in name or any("\ud800" <= c <= "\udfff" for c in name):
        raise SceneError(f"the name is {name!a}", where=where, remedy="give a text of printable characters")


def require_numbers(value: object, where: str, remedy: str) -> Any:
    """``value`` as an array of numbers; booleans and texts are refused."""
    try:
        if np.asarray(value).dtype.kind not in "bUS":
            return np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    raise SceneError(f"{value!r} is not an array of numbers", where=where, remedy=remedy)


def require_flag(value: object, where: str) -> None:
    """Refuse what is neither True nor False, such as the text "no", which Python considers true."""
    if not isinstance(value, bool | np.bool_):
        name = where.rsplit(".", 1)[-1]
        raise SceneError(f"{name} is {value!r}", where=where, remedy="give True or False")


def require_count(value: object, least: int, where: str) -> None:
    """Refuse what is not an integer of at least ``least``."""
    if isinstance(value, bool) or not (isinstance(value, Integral) and int(value) >= least):
        name = where.rsplit(".", 1)[-1]
        raise SceneError(f"{name} is {value!r}", where=where, remedy=f"give a whole number, {least} or more")


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a misspelt name."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if near or not names:
        return f"did you mean {near[0]!r}?" if near else "there are none"
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"known are {', '.join(names[:SHOWN])}{more}"
