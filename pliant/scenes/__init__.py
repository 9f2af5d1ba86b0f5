"""Built-in scenes: every public function below this package that returns a scene and needs no argument.

Its name with dashes is the scene's name, with its family in front: ``qlb/bar``; those of `basic` have none. The family
is the module or folder up to an underscore: `chen_springs` and `chen_structures` both hold ``chen/...``.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any


def find(name: str) -> Callable[..., Any] | None:
    """The scene of that name, importing no more than its own family."""
    family = name.split("/")[0] if "/" in name else "basic"
    scenes, word = built_in(family), name.split("/")[-1].replace("-", "_")
    return scenes.get(name) or next((make for make in scenes.values() if make.__name__ == word), None)


def built_in(only: str | None = None) -> dict[str, Callable[..., Any]]:
    """All built-in scenes by name, or those of one family."""
    found: dict[str, Callable[..., Any]] = {}
    for info in pkgutil.iter_modules(__path__):
        family = info.name.split("_")[0]
        if only in (None, family):
            found |= _scenes(info.name, "" if family == "basic" else family + "/")
    return dict(sorted(found.items()))


def _scenes(module: str, prefix: str) -> dict[str, Callable[..., Any]]:
    top = importlib.import_module(f"{__name__}.{module}")
    inside = pkgutil.walk_packages(top.__path__, top.__name__ + ".") if hasattr(top, "__path__") else ()
    names: dict[str, str] = getattr(top, "NAMES", {})
    found = {}
    for name in (top.__name__, *(info.name for info in inside)):
        for word, function in _scene_functions(importlib.import_module(name)):
            found[prefix + names.get(word, word.replace("_", "-"))] = function
    return found


def _scene_functions(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, function in vars(module).items():
        if name.startswith("_") or not inspect.isfunction(function) or function.__module__ != module.__name__:
            continue
        signature = inspect.signature(function)
        runnable = all(hasattr(signature.return_annotation, need) for need in ("system", "initial", "steps"))
        if runnable and all(p.default is not p.empty for p in signature.parameters.values()):
            yield name, function
