"""Names for parts: an integrator, material, joint, event, ... by its kind.

A choice is a frozen dataclass (or a function that makes one) of a tuple that its module exports; its parameters are its
fields. Kinds are compared without case, dashes and underscores: "stable-neo-hookean" is StableNeoHookean.
"""

import dataclasses
import difflib
import importlib.metadata
import inspect
import typing
import warnings
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from pliant.errors import SceneError, nearest

Choice = Callable[..., Any]
C = TypeVar("C", bound=Choice)
OWN: dict[str, list[Choice]] = {}  # what users have registered
GROUP = "pliant.extensions"  # entry points of packages that register parts when they are imported

LENGTHS = dict.fromkeys(("radius", "height", "sides", "point", "points", "x1", "x2"), "m")
JOINT = {"q": "rad or m", "v": "rad/s or m/s", "rest": "rad or m", "lower": "rad or m", "upper": "rad or m"}
JOINT |= {"stiffness": "N*m or N/m", "damping": "N*m*s or N*s/m", "force": "N or N*m", "offset": "rad or m"}
JOINT |= {"torque": "N*m or N", "limit": "N*m or N", "position": "rad or m", "rate": "rad/s or m/s"}
JOINT |= {"acceleration": "rad/s^2 or m/s^2"}
UNITS: dict[str, dict[str, str]] = {  # of fields whose classes take plain numbers, or read strings themselves
    "body": {"density": "kg/m^3", "mass": "kg", "thickness": "m", "k": "N/m", "eta": "Pa/m", "velocity": "m/s"}
    | {"spin": "rad/s", "baumgarte": "1/s", "q": JOINT["q"], "v": JOINT["v"]},
    "material": {"E": "Pa", "tension": "Pa"},
    "link force": JOINT | LENGTHS,
    "link constraint": JOINT | LENGTHS,
    "joint contact": LENGTHS,
    "DryFriction": {"force": "N or N*m"},
    "WorldForce": {"force": "N"},
    "PointSprings": {"stiffness": "N/m"},
    "Cable": {"stiffness": "N", "damping": "N*s", "rest": "m"},  # of strains, not of lengths
    "SpringDamper": {"stiffness": "N", "damping": "N*s", "rest": "m"},
    "shape": LENGTHS | {"mass": "kg", "density": "kg/m^3", "center": "m"},
}
KINDS = {"SpringNet": "springs", "DiscontinuousSolid": "discontinuous"}  # bodies are called after what they are made of


class NotDescribable(SceneError):
    """A scene has a part that only Python can say."""


@cache
def _built_in() -> dict[str, tuple[Choice, ...]]:
    from pliant.articulated import TREE_INTEGRATORS, Dense, MatrixFree, Sparse
    from pliant.articulated.body import Articulated, Rigid
    from pliant.articulated.constraints import CONSTRAINTS
    from pliant.articulated.forces import ARTICULATED_FORCES
    from pliant.articulated.joint_contacts import JOINT_CONTACTS
    from pliant.articulated.joints import JOINTS
    from pliant.bodies import DAMPINGS, Membrane, Solid, SpringNet
    from pliant.cloth.active_set import ActiveSet
    from pliant.cloth.body import Cloth
    from pliant.cloth.constraints import EdgeRule
    from pliant.constraints import KEPT, ConstrainedEuler, FilteredEuler
    from pliant.contact import OBSTACLES
    from pliant.dg import DiscontinuousSolid
    from pliant.energies.projective.strain_limit import StrainLimit
    from pliant.energies.projective.volume_range import VolumeRange
    from pliant.events import EVENTS
    from pliant.integrators import INTEGRATORS, REDUCED, WRAPPERS
    from pliant.linear import APPROXIMATE, LINEAR
    from pliant.linear.box_qp import General, ProjectedNewton
    from pliant.linear.qp import OSQP, Clarabel
    from pliant.loads import LOADS
    from pliant.maps import MOTIONS
    from pliant.maps.functions import FUNCTIONS
    from pliant.materials import MATERIALS
    from pliant.scene_file.shapes import SHAPES
    from pliant.solvers import SOLVERS
    from pliant.systems.barrier_contact import BarrierContact
    from pliant.systems.penalty_contact import PenaltyContact
    from pliant.systems.projected_contact import ProjectedContact
    from pliant.systems.row_contact import RowContact

    return {
        "body": (Solid, Membrane, SpringNet, Cloth, DiscontinuousSolid, Rigid, Articulated),
        "material": (*MATERIALS, StrainLimit, VolumeRange),
        "damping": DAMPINGS,
        "integrator": tuple(
            dict.fromkeys((*INTEGRATORS, *REDUCED, *WRAPPERS, *TREE_INTEGRATORS, ConstrainedEuler, FilteredEuler))
        ),
        "solver": SOLVERS,
        "linear": _types((*LINEAR, *APPROXIMATE)),
        "matrix": (Dense, Sparse, MatrixFree),
        "qp": (Clarabel, OSQP, ActiveSet),
        "box programme": (ProjectedNewton, General),
        "contact": (PenaltyContact, BarrierContact, RowContact, ProjectedContact),
        "obstacle": OBSTACLES,
        "motion": MOTIONS,
        "load": LOADS,
        "event": EVENTS,
        "edge rule": typing.get_args(EdgeRule),
        "joint": JOINTS,
        "shape": SHAPES,
        "link force": ARTICULATED_FORCES,
        "link constraint": CONSTRAINTS,
        "joint contact": JOINT_CONTACTS,
        "function": FUNCTIONS,
        "kept": KEPT,
    }


def _types(examples: tuple[Any, ...]) -> tuple[type, ...]:
    return tuple(dict.fromkeys(type(example) for example in examples))


@cache
def installed() -> frozenset[str]:
    """The modules that installed packages offer as extensions, imported; one that cannot be is left out, and said."""
    found = set()
    for entry in importlib.metadata.entry_points(group=GROUP):
        try:
            entry.load()
            found.add(entry.module)
        except Exception as error:  # whatever a foreign package does
            told = f"the extension {entry.name!r} ({entry.value}) was left out: {type(error).__name__}: {error}"
            warnings.warn(told, stacklevel=2)
    return frozenset(found)


def families() -> dict[str, tuple[Choice, ...]]:
    """What can be named in a scene file, by the kind of thing it is."""
    built_in = _built_in()
    installed()
    return {family: (*choices, *OWN.get(family, ())) for family, choices in built_in.items()}


@typing.overload
def register(family: str, choice: C) -> C: ...


@typing.overload
def register(family: str) -> Callable[[C], C]: ...


def register(family: str, choice: Any = None) -> Any:
    """Make a part of your own known by name in scene files and options.

    ``family`` is what it is ("material", "integrator", "solver", "load", ...: those of `families`), ``choice`` a frozen
    dataclass, or a function that makes a part; it is returned. Without it this is a decorator:
    ``@pliant.register("material")``. A scene file names the Python file in which this is done under ``extensions``.
    """
    if choice is None:
        return partial(register, family)
    known = _built_in()
    if family not in known:
        raise SceneError(f"unknown family {family!r}", where="register", remedy=nearest(str(family), known))
    if not (inspect.isfunction(choice) or (isinstance(choice, type) and dataclasses.is_dataclass(choice))):
        remedy = "give a frozen dataclass, or a function that makes one"
        raise SceneError(f"{choice!r} cannot be named", where="register", remedy=remedy)
    if not choice.__name__.isidentifier():
        raise SceneError("a lambda has no name", where="register", remedy="give a function that has one, by def")
    mine = OWN.setdefault(family, [])
    taken = {_plain(kind_of(other)): other for other in (*known[family], *mine)}
    other = taken.get(_plain(kind_of(choice)))
    if other is not None and (other in known[family] or _home(other) != _home(choice)):
        what = f"a {family} is called {kind_of(choice)!r} already"
        raise SceneError(what, where="register", remedy="give it another name")
    mine[:] = [c for c in mine if c is not other] + [choice]  # a file imported again replaces its own
    return choice


def source_of(choice: Choice) -> Path | None:
    """The file in which a choice is defined; None if there is none, as in a notebook."""
    try:
        path = Path(inspect.getsourcefile(choice) or "")
    except TypeError:
        return None
    return path if path.is_file() else None


def _home(choice: Choice) -> tuple[str, str]:
    """The name of a choice and that of its file: the same for one that is defined again, or kept in a run folder."""
    source = source_of(choice)
    return choice.__qualname__, choice.__module__ if source is None else source.name


def find(family: str, kind: str, where: str) -> Choice:
    """The choice of a family that is called ``kind``."""
    options = {_plain(kind_of(choice)): choice for choice in families()[family]}
    wanted = _plain(kind)
    if wanted not in options:
        near = difflib.get_close_matches(wanted, options, n=1, cutoff=0.5)
        known = ", ".join(kind_of(choice) for choice in options.values())
        hint = f"did you mean {kind_of(options[near[0]])!r}?" if near else f"known are {known}"
        raise SceneError(f"unknown {family} {kind!r}", where=where, remedy=hint)
    return options[wanted]


def family_of(choice: Choice) -> str | None:
    """The family that a choice belongs to; None if it has no name in scene files."""
    return next((family for family, choices in families().items() if choice in choices), None)


def parameter_types(choice: Choice) -> dict[str, Any]:
    """The parameters that may be given, with their declared types."""
    hints = typing.get_type_hints(choice)
    if dataclasses.is_dataclass(choice):
        return {f.name: hints.get(f.name, Any) for f in dataclasses.fields(choice) if f.init}
    parameters = inspect.signature(choice).parameters.values()
    return {p.name: hints.get(p.name, Any) for p in parameters if p.kind is not p.VAR_KEYWORD}


def required(choice: Choice) -> list[str]:
    """The parameters that have no default."""
    if not dataclasses.is_dataclass(choice):
        return [p.name for p in inspect.signature(choice).parameters.values() if p.default is p.empty]
    none = dataclasses.MISSING
    return [f.name for f in dataclasses.fields(choice) if f.init and f.default is none and f.default_factory is none]


def units_of(choice: Choice) -> dict[str, str]:
    """The units in which a choice takes its parameters, as far as it says so."""
    own = choice.__dict__.get("units", {}) if isinstance(choice, type) else {}
    return {**UNITS.get(family_of(choice) or "", {}), **UNITS.get(choice.__name__, {}), **own}


def kind_of(choice: Choice) -> str:
    """What a choice is called in documents."""
    return KINDS.get(choice.__name__, kebab(choice.__name__))


def kebab(name: str) -> str:
    """StableNeoHookean -> stable-neo-hookean, BDF2 -> bdf2."""
    out = ""
    for i, c in enumerate(name):
        follows = i > 0 and c.isupper() and (name[i - 1].islower() or (i + 1 < len(name) and name[i + 1].islower()))
        out += ("-" if follows else "") + c.lower()
    return out.replace("_", "-")


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "").replace(" ", "")
