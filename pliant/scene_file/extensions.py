"""Parts of a user's own in documents: the Python files, or modules, in which they are registered.

``extensions = ["gent.py", "lab.materials"]`` names files beside the document, and modules that can be imported. They
are imported before anything else is read, so that what they register has a name. Files are kept in run folders; their
code runs again only where somebody trusts it (``--trust``).
"""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from pliant.errors import PliantError, SceneError
from pliant.scene_file.choices import OWN, Choice, NotDescribable, installed, source_of

WHERE = "extensions"


def import_extensions(names: Any, folder: Path) -> None:
    """Import what a document names, but for files of a content that has been imported already."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise SceneError(f"{names!r:.60}", where=WHERE, remedy='list files, such as ["gent.py"]')
    for name in names:
        if not name.endswith(".py"):
            try:
                importlib.import_module(name)
            except Exception as error:  # whatever a foreign module does
                remedy = "install it, or name a .py file beside the scene"
                raise SceneError(f"cannot import {name!r}: {error}", where=WHERE, remedy=remedy) from error
        elif _content(folder / name) not in _known():
            import_file(folder / name, f"pliant_extension_{Path(name).stem}")


def import_file(path: Path, name: str) -> ModuleType:
    """A Python file as the module ``name``; what goes wrong in it is said in one line."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise SceneError(f"cannot read {path}", where="scene", remedy="give an existing .py file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # checkpoints find the classes of an integrator's memory there
    try:
        spec.loader.exec_module(module)
    except PliantError:
        raise
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise SceneError(f"{path}: {type(error).__name__}: {error}", where="scene") from error
    return module


def extension_of(choice: Choice) -> str | Path | None:
    """Where a registered choice comes from: a file, the name of a module in a package, or None if it is installed."""
    module = sys.modules.get(choice.__module__)
    if choice.__module__ in installed() or choice.__module__.partition(".")[0] == "pliant":
        return None
    if module is not None and module.__spec__ is not None and module.__spec__.parent:
        return choice.__module__
    source = source_of(choice)
    if choice.__module__ == "__main__" or source is None:
        what = f"{choice.__name__} is defined in the script itself: put it into a file that the script imports"
        raise NotDescribable(what)
    return source


def kept_extensions(names: Sequence[str], folder: Path) -> dict[str, bytes]:
    """The contents of the files among ``names``."""
    return {Path(name).name: (folder / name).read_bytes() for name in names if name.endswith(".py")}


def _content(path: Path) -> bytes:
    if not path.is_file():
        raise SceneError(f"no file {path}", where=WHERE, remedy="it lies beside the scene file")
    return path.read_bytes()


def _known() -> set[bytes]:
    """The contents of the files of what is registered already."""
    files = {source_of(choice) for mine in OWN.values() for choice in mine}
    return {_content(file) for file in files if file is not None}
