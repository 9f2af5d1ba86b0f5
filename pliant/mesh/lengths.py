"""Lengths of generated meshes may carry a unit: ``bar(size=("30 cm", 0.1, 0.1))``."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from pliant.units import quantity

LENGTHS = ("size", "radius", "length", "height", "pitch", "wall", "width", "thickness")
P = ParamSpec("P")
R = TypeVar("R")


def metric(generator: Callable[P, R]) -> Callable[P, R]:
    """The generator with its lengths read in metres."""
    known = inspect.signature(generator)
    units = [name for name in known.parameters if name in LENGTHS]

    @wraps(generator)
    def made(*args: P.args, **options: P.kwargs) -> R:
        given = known.bind(*args, **options)
        for name in units:
            if name in given.arguments:
                given.arguments[name] = _metres(given.arguments[name], f"{generator.__name__}.{name}")
        return generator(*given.args, **given.kwargs)

    return made


def _metres(value: Any, name: str) -> Any:
    read = quantity(value, "m", name)
    return tuple(read.tolist()) if isinstance(read, np.ndarray) else read
