"""Built-in scenes: every public function below this package that returns a scene and needs no argument.

Its name with dashes is the scene's name, with the module or folder in front: ``qlb/bar``; those of `basic` have none.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any


def built_in() -> dict[str, Callable[..., Any]]:
    """All built-in scenes by name."""
    found: dict[str, Callable[..., Any]] = {}
    for info in pkgutil.walk_packages(__path__, __name__ + "."):
        family = info.name.removeprefix(__name__ + ".").split(".")[0]
        prefix = "" if family == "basic" else family + "/"
        for name, function in _scene_functions(importlib.import_module(info.name)):
            found[prefix + name.replace("_", "-")] = function
    return dict(sorted(found.items()))


def _scene_functions(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, function in vars(module).items():
        if name.startswith("_") or not inspect.isfunction(function) or function.__module__ != module.__name__:
            continue
        signature = inspect.signature(function)
        runnable = all(hasattr(signature.return_annotation, need) for need in ("system", "initial", "steps"))
        if runnable and all(p.default is not p.empty for p in signature.parameters.values()):
            yield name, function
