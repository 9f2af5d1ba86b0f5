"""Built-in scenes: every module below this package lists its scene functions in a tuple ``SCENES``.

A scene function has defaults for all its parameters and returns a scene; its name with dashes is the scene's name.
"""

import importlib
import pkgutil
from collections.abc import Callable
from typing import Any


def built_in() -> dict[str, Callable[..., Any]]:
    """All built-in scenes by name."""
    found: dict[str, Callable[..., Any]] = {}
    for info in pkgutil.walk_packages(__path__, __name__ + "."):
        module = importlib.import_module(info.name)
        for function in getattr(module, "SCENES", ()):
            found[function.__name__.replace("_", "-")] = function
    return dict(sorted(found.items()))
