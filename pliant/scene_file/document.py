"""The shape of a scene file, as pydantic models: unknown keys are refused with the nearest known one."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from pliant.errors import SceneError
from pliant.scene_file.choices import nearest

Quantity = float | str
Vector = list[Quantity]
Choice = str | dict[str, Any]


class DocumentTable(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class OutputTable(DocumentTable):
    """What is recorded."""

    every: int = 1
    channels: list[str] = []
    checkpoint_every: int = 0


class RunTable(DocumentTable):
    """How time passes; what every scene has, wherever its physics comes from."""

    name: str | None = None
    h: Quantity | None = None
    duration: Quantity | None = None
    integrator: Choice | None = None
    on_failure: Literal["raise", "warn", "substep"] | None = None
    on_energy_gain: Literal["ignore", "warn", "raise"] | None = None
    units: Literal["SI", "CGS"] | None = None
    device: Literal["cpu", "cuda"] | None = None
    isolated: bool | None = None
    budget: Quantity | None = None
    output: OutputTable = OutputTable()
    extensions: list[str] = []


class SceneTable(RunTable):
    """A scene that is all in the file; the tables in its lists are read by their kinds."""

    gravity: Vector | None = None
    contact: Choice | None = None
    obstacles: list[Choice] = []
    bodies: list[dict[str, Any]]
    attachments: list[dict[str, Any]] = []
    forces: list[dict[str, Any]] = []
    events: list[dict[str, Any]] = []


class ReferenceTable(RunTable):
    """A scene made by a function: ``builtin`` by name, or ``function`` of the file ``python``."""

    builtin: str | None = None
    python: str | None = None
    function: str = "scene"
    parameters: dict[str, Any] = {}


TABLES = {"output": OutputTable}


def parse(document: dict[str, Any], where: str) -> SceneTable | ReferenceTable:
    """The checked document; raises `SceneError` for the first thing that is wrong with it."""
    model = ReferenceTable if "builtin" in document or "python" in document else SceneTable
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise _refusal(model, error, where) from None


def _refusal(model: type[DocumentTable], error: ValidationError, where: str) -> SceneError:
    """The most telling of pydantic's errors in one line: an unknown key first, then the first of the others."""
    errors = error.errors()
    first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
    path = [part for part in first["loc"] if not (isinstance(part, str) and _is_branch(part))]
    place = f"{where}: {'.'.join(map(str, path))}"
    if first["type"] == "extra_forbidden":
        return SceneError(f"unknown key {path[-1]!r}", where=place, remedy=nearest(str(path[-1]), _keys(model, path)))
    if first["type"] == "missing":
        return SceneError(f"{path[-1]!r} is missing", where=place, remedy="add it")
    given = str(first["input"])
    given = given if len(given) < 60 else given[:57] + "..."
    return SceneError(f"{given!r} is not allowed", where=place, remedy=first["msg"][0].lower() + first["msg"][1:])


def _is_branch(part: str) -> bool:
    """Whether a part of pydantic's path is the name of an alternative of a union, not a key."""
    return part in ("float", "str", "int", "bool") or "[" in part


def _keys(model: Any, path: list[Any]) -> list[str]:
    """The keys known at the place of the last part of the path."""
    for part in path[:-1]:
        if isinstance(part, int):
            continue
        model = TABLES.get(str(part), model)
    return list(model.model_fields)
