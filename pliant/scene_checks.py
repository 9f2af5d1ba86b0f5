"""What a scene must be to run: its fields read, and refused in one line where they make no sense together."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pliant.articulated import TREE_INTEGRATORS
from pliant.bodies import Solid
from pliant.deformable import Deformable
from pliant.errors import SceneError, require_flag, require_name, require_part
from pliant.integrators import (
    BDF1,
    BDF2,
    INTEGRATORS,
    REDUCED,
    SDIRK2,
    TRBDF2,
    Adaptive,
    AdaptiveConJac,
    ConJac,
    LinearlyImplicit,
    Quasistatic,
)
from pliant.integrators.base import require_fit, solved
from pliant.parts import Separate, apart
from pliant.policy import read_budget, read_policy
from pliant.systems.coupled import Coupled
from pliant.systems.eigenfit import EigenFit
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.observed import Reshaping
from pliant.systems.projected_contact import ProjectedContact
from pliant.systems.row_contact import RowContact
from pliant.units import components

# These have a history, no velocities, fewer unknowns, or steps that end elsewhere.
UNPROJECTED = (BDF2, Quasistatic, ConJac, AdaptiveConJac, Adaptive)
CARRYING = (BDF1, BDF2, SDIRK2, TRBDF2, LinearlyImplicit, Quasistatic)  # solve for all of M a, off its diagonal too
CHOICES = (*INTEGRATORS, *REDUCED, *TREE_INTEGRATORS)
LISTS = {"obstacles": "distance", "forces": "force", "events": "apply", "attachments": "tie"}  # what members have


def check_scene(scene: Any) -> None:
    """Read the fields of a frozen scene, and refuse what cannot run, by the name of the field and with a remedy."""
    for name, method in LISTS.items():
        object.__setattr__(scene, name, _listed(getattr(scene, name), f"scene.{name}", method))
    object.__setattr__(scene, "bodies", _bodies(scene.bodies))
    require_name(scene.name, "scene.name")
    _require_flags(scene)
    if scene.contact is not None:
        require_part(scene.contact, "model", "scene.contact", "give PenaltyContact() or BarrierContact()")
    read_policy(scene)
    read_budget(scene)
    dims = {body.mesh.dim for body in scene.deformables()}
    if len(dims) > 1:
        raise SceneError("planar and spatial bodies are mixed", where="scene.bodies", remedy="use one dimension")
    if scene.obstacles and scene.contact is None:
        remedy = "give contact=PenaltyContact() or BarrierContact()"
        raise SceneError("obstacles need a contact model", where="scene.obstacles", remedy=remedy)
    for k, obstacle in enumerate(scene.obstacles):
        if obstacle.motion is not None:
            where, remedy = f"scene.obstacles[{k}].motion", "give Shake(...), or one like it"
            require_part(obstacle.motion, "positions", where, remedy)
    for k, load in enumerate(scene.forces):
        scene.deformable(load.body, f"scene.forces[{k}].body")
    _require_method(scene)
    if scene.contact is not None and 2 in dims:
        raise SceneError("contact needs bodies in space", where="scene.contact", remedy="use tets or sheets")
    _read_vectors(scene)
    if scene.isolated:
        _require_alone(scene)
    object.__setattr__(scene, "events", tuple(sorted(scene.events, key=lambda event: event.time)))
    for event in scene.events:
        event.check(scene)


def _require_flags(part: Any) -> None:
    """Refuse what is neither true nor false in fields that are declared so, of all that the scene is made of."""
    if isinstance(part, list | tuple):
        for one in part:
            _require_flags(one)
    elif is_dataclass(part) and not isinstance(part, type):
        for declared in fields(part):
            value = getattr(part, declared.name)
            if declared.type is bool:
                require_flag(value, f"{type(part).__name__}.{declared.name}")
            _require_flags(value)


def _require_method(scene: Any) -> None:
    """Refuse an integrator that cannot step a kind of body, or a kind of contact, that the scene has."""
    require_fit(scene.integrator, _kinds(scene), CHOICES)
    stepping: Any = scene.integrator.integrator if isinstance(scene.integrator, Adaptive) else scene.integrator
    if scene.contact is not None and scene.contact.safe and not solved(stepping):
        name, remedy = type(stepping).__name__, "use BDF1, BDF2, SDIRK2, TRBDF2 or Quasistatic"
        raise SceneError(f"{name} can step across a barrier", where="scene.integrator", remedy=remedy)
    if isinstance(scene.contact, RowContact) and not isinstance(stepping, LinearlyImplicit):
        what = f"{type(stepping).__name__} does not support RowContact"
        raise SceneError(what, where="scene.integrator", remedy="use LinearlyImplicit, or PenaltyContact")
    if isinstance(scene.contact, ProjectedContact):
        _require_projectable(scene)
    carried = [b.name for b in scene.bodies if isinstance(b, Solid) and not b.lumped and _scripted(b.pins)]
    if carried and not isinstance(stepping, CARRYING):
        name = type(stepping).__name__
        what = f"{name} leaves out the inertia that moving pins of {carried[0]!r} share with other vertices"
        remedy = "use lumped=True, or BDF1, BDF2, SDIRK2, TRBDF2 or LinearlyImplicit"
        raise SceneError(what, where="scene.integrator", remedy=remedy)
    reduced = [b.name for b in scene.bodies if isinstance(b, Solid) and b.reduction is not None]
    if reduced and not isinstance(stepping, LinearlyImplicit):
        what = f"{type(stepping).__name__} does not support the reduction of {reduced[0]!r}"
        raise SceneError(what, where="scene.integrator", remedy="use LinearlyImplicit, or no reduction")
    if reduced and EigenFit in _kinds(scene):
        what, remedy = f"{reduced[0]!r} is condensed in a scene with fitted bodies", "choose fit or reduction"
        raise SceneError(what, where="scene.bodies", remedy=remedy)


def _scripted(pins: Any) -> bool:
    """Whether a script moves any of them."""
    return any(pin.motion is not None for pin in pins)


def _require_projectable(scene: Any) -> None:
    """Refuse what a correction after the step would not reach, or would be undone by."""
    if list(_kinds(scene)) != [Elastodynamics]:
        remedy = "use PenaltyContact for coupled bodies"
        raise SceneError("ProjectedContact moves vertices of soft bodies only", where="scene.contact", remedy=remedy)
    if isinstance(scene.integrator, UNPROJECTED):
        what = f"{type(scene.integrator).__name__} does not follow the corrections of ProjectedContact"
        raise SceneError(what, where="scene.integrator", remedy="use a dynamic one-step integrator, or PenaltyContact")


def _require_alone(scene: Any) -> None:
    """Refuse what acts from outside, and what has no momentum; `require_isolated` sees the rest."""
    for name in ("obstacles", "forces"):
        if getattr(scene, name):
            raise SceneError(f"an isolated scene has no {name}", where=f"scene.{name}", remedy="leave isolated out")
    if scene.dim == 2 or scene.integrator.order == 0:
        what = "only bodies in space conserve linear and angular momentum"
        raise SceneError(what, where="scene.isolated", remedy="leave it out")


def _kinds(scene: Any) -> dict[type, str]:
    """The classes of systems that an integrator of this scene meets, each with the bodies that it is made of, in words:
    those of its parts, and of all together.
    """
    separate = [b for b in scene.bodies if apart(b)]
    soft = [b for b in scene.bodies if not apart(b)]
    fitted = [b for b in soft if isinstance(b, Solid) and b.fit is not None]
    kinds: dict[type, str] = {EigenFit if fitted else Elastodynamics: _called(fitted or soft)} if soft else {}
    for kind in dict.fromkeys(b.kind for b in separate):
        kinds[kind] = _called([b for b in separate if b.kind is kind])
    parts = len({type(b) if b.together else id(b) for b in separate}) + bool(soft)
    own = scene.contact is None or not separate or issubclass(next(iter(kinds)), Reshaping)  # contact is theirs
    if parts > 1 or scene.attachments or not own:
        kinds[Coupled] = "bodies coupled by contact or attachments"
    return kinds


def _called(bodies: list[Any]) -> str:
    """The first of some bodies by its class and name, and how many others there are."""
    others = f" and {len(bodies) - 1} more" if len(bodies) > 1 else ""
    return f"{type(bodies[0]).__name__} {bodies[0].name!r}{others}"


def _read_vectors(scene: Any) -> None:
    object.__setattr__(scene, "gravity", components(scene.gravity, "m/s^2", "scene.gravity"))
    soft = ((f"{b.name}.velocity", b.velocity) for b in scene.deformables())
    for where, given in (("gravity", scene.gravity), *soft):
        vector = np.asarray(given, dtype=np.float64)
        if vector.shape not in ((scene.dim,), (3,)) or not np.isfinite(vector).all():
            what = f"{where} is {tuple(given)}" if vector.size <= 6 else f"{where} is an array of {vector.shape}"
            raise SceneError(what, where=f"scene.{where}", remedy=f"give {scene.dim} finite components")


def _listed(given: Any, where: str, method: str) -> tuple[Any, ...]:
    """A list of things that have a method, given as a list or alone."""
    parts = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    for k, part in enumerate(parts):
        require_part(part, method, f"{where}[{k}]", f"give a list of {where.removeprefix('scene.')}")
    return parts


def _bodies(given: Any) -> tuple[Any, ...]:
    bodies = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
    for k, body in enumerate(bodies):
        if isinstance(body, type) or not isinstance(body, Deformable | Separate):
            shown = f"the class {body.__name__}" if isinstance(body, type) else repr(body)
            remedy = "give a list of Solid, Membrane, SpringNet, Cloth, Articulated or Rigid"
            raise SceneError(f"bodies[{k}] is {shown}", where=f"scene.bodies[{k}]", remedy=remedy)
        require_name(body.name, f"scene.bodies[{k}].name")
    if not bodies:
        raise SceneError("no bodies", where="scene.bodies", remedy="add at least one Solid, Membrane or SpringNet")
    return bodies
