"""Finding and making a scene: a built-in name, a ``.toml`` file, or a ``.py`` file; with fields set from outside."""

import inspect
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pliant.errors import PliantError, SceneError
from pliant.origin import Origin
from pliant.record.output import Output
from pliant.scene_file.build import adjusted, build, run_values
from pliant.scene_file.choices import NotDescribable, nearest
from pliant.scene_file.describe import describe
from pliant.scene_file.document import OutputTable, ReferenceTable, parse
from pliant.scene_file.extensions import import_extensions, import_file, kept_extensions
from pliant.scene_file.keep import kept_beside
from pliant.scene_file.read import Reader, located
from pliant.scene_file.settings import apply, run_level, split
from pliant.scene_file.write import Writer
from pliant.scene_like import require_scene


@dataclass(frozen=True)
class Loaded:
    """A scene ready to run, what to record of it, and where it came from."""

    scene: Any
    output: Output
    origin: Origin


def load_scene(source: str | Path, settings: Sequence[str] = ()) -> Loaded:
    """The scene called ``source`` with ``path=value`` settings applied, e.g. ``material.E="1 MPa"``.

    ``solver`` is short for ``integrator.solver``. ``extensions=["gent.py"]`` imports files, named from where we are, in
    which parts of one's own are registered.
    """
    named = [name for setting in settings if setting.startswith("extensions=") for name in _names(setting)]
    settings = [setting for setting in settings if not setting.startswith("extensions=")]
    import_extensions(named, Path())
    loaded = _load_scene(source, settings)
    if not named:
        return loaded
    document, files = loaded.origin.document, {**loaded.origin.files, **kept_extensions(named, Path())}
    own = [Path(name).name if name.endswith(".py") else name for name in named]
    document = {**document, "extensions": list(dict.fromkeys([*document.get("extensions", []), *own]))}
    return replace(loaded, origin=Origin(document, files))


def _names(setting: str) -> list[str]:
    value = split(setting)[1]
    return value if isinstance(value, list) else [value]


def _load_scene(source: str | Path, settings: Sequence[str]) -> Loaded:
    settings = [f"integrator.{s}" if s.startswith(("solver=", "solver.")) else s for s in settings]
    path = Path(source)
    if path.suffix == ".toml" or path.is_dir():
        path = path / "scene.toml" if path.is_dir() else path
        return from_document(apply(read_toml(path), settings), path.parent, str(source))
    if path.suffix == ".py":
        document: dict[str, Any] = {"python": path.name}
        folder = path.parent
    else:
        document, folder = {"builtin": str(source)}, Path()
    if any(setting.startswith("integrator.") for setting in settings):  # parts of a choice that is not written yet
        given = from_document(document, folder, str(source)).scene
        document["integrator"] = Writer().choice(given.integrator)
    if all(run_level(setting) for setting in settings):
        return from_document(apply(document, settings), folder, str(source))
    parameters = [s for s in settings if s.startswith("parameters.")]
    scene = from_document(apply(document, parameters), folder, str(source)).scene
    try:
        described, files = describe(scene)
    except NotDescribable as reason:
        remedy = "only h, duration, integrator, policies and parameters.* can be set"
        raise SceneError(f"{source}: {reason.what}", where="--set", remedy=remedy) from None
    rest = [s for s in settings if s not in parameters]
    return from_document(apply(described, rest), folder, str(source), files)


def from_document(document: dict[str, Any], folder: Path, where: str, files: dict[str, bytes] | None = None) -> Loaded:
    """The scene of a document whose files lie in ``folder`` (or are given)."""
    if "made_in_python" in document:
        remedy = "pass the scene itself: pliant.resume(folder, scene)"
        raise SceneError(f"the scene was built in Python ({document['made_in_python']})", where=where, remedy=remedy)
    if files is None:
        import_extensions(document.get("extensions", []), folder)
    table = parse(document, where)
    output = located(f"{where}: output", _output, table.output)
    if isinstance(table, ReferenceTable):
        return _referenced(table, document, folder, where, output)
    if files is not None:
        return Loaded(_build_beside(table, files, where), output, Origin(document, files))
    return Loaded(build(table, folder, where), output, Origin(*kept_beside(document, folder)))


def _build_beside(table: Any, files: dict[str, bytes], where: str) -> Any:
    """Build with files that exist only in memory so far."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        for name, content in files.items():
            (Path(folder) / name).write_bytes(content)
        return build(table, Path(folder), where)


def _referenced(table: ReferenceTable, document: dict[str, Any], folder: Path, where: str, output: Output) -> Loaded:
    files = kept_extensions(table.extensions, folder)
    if table.builtin is not None:
        function = _built_in_function(table.builtin, where)
    else:
        path = folder / str(table.python)
        function = _python_function(path, table.function)
        files[path.name] = path.read_bytes()
    scene = _call(function, table.parameters, where)
    scene = adjusted(scene, run_values(table, where), where)
    return Loaded(scene, output, Origin(document, files))


def _built_in_function(name: str, where: str) -> Callable[..., Any]:
    from pliant.scenes import built_in, find

    function = find(name)
    if function is None:
        remedy = nearest(name, built_in()) + "; `pliant list` shows all"
        raise SceneError(f"no scene is called {name!r}", where=where, remedy=remedy)
    return function


def _call(function: Callable[..., Any], parameters: dict[str, Any], where: str) -> Any:
    known = inspect.signature(function).parameters
    for name in parameters:
        if name not in known:
            raise SceneError(f"unknown parameter {name!r}", where=where, remedy=nearest(name, known))
    try:
        made = located(where, function, **parameters)
    except PliantError:
        raise
    except (Exception, SystemExit) as error:
        what = f"{function.__name__}() failed: {type(error).__name__}: {error}"
        raise SceneError(what, where=where, remedy="-v shows where") from error
    require_scene(made, f"{where}: {function.__name__}()")
    return made


def _python_function(path: Path, name: str) -> Callable[..., Any]:
    """The function ``name`` of a Python file; a scene under that name is returned by a function of no arguments."""
    module = import_file(path, f"pliant_scene_{path.stem}")
    found = getattr(module, name, None)
    if found is None:
        raise SceneError(f"{path} defines no {name!r}", where="scene", remedy=f"define a function {name}() -> Scene")
    return found if callable(found) else lambda: found


def load_remains(folder: Path) -> tuple[list[str], list[Any]]:
    """The names of bodies and the obstacles that a run folder keeps of a scene that was built in Python."""
    document, reader = read_toml(folder / "scene.toml"), Reader(folder)
    if "made_in_python" not in document:
        return [], []
    obstacles = document.get("obstacles", ())
    made = [reader.make("obstacle", o, f"obstacles.{i}") for i, o in enumerate(obstacles)]
    return list(document.get("bodies", ())), made


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SceneError(f"cannot read {path}: {error.strerror}", where="scene") from error
    except (ValueError, RecursionError) as error:  # no TOML, no text, numbers of thousands of digits, tables too deep
        raise SceneError(f"{path} is not TOML: {error}", where="scene") from error


def _output(table: OutputTable) -> Output:
    return Output(table.every, tuple(table.channels), table.checkpoint_every)
