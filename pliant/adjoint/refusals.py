"""What has no derivative is refused by name."""

from collections.abc import Sequence
from typing import Any

from pliant.adjoint.linear_step import require_linear_step
from pliant.adjoint.methods import require_method
from pliant.adjoint.parameters import Wrt
from pliant.adjoint.regions import Regions
from pliant.errors import SceneError
from pliant.integrators.bdf1 import BDF1
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.base import System
from pliant.systems.observed import Reshaping
from pliant.systems.projected_contact import ProjectedContact
from pliant.systems.stepped import Charted, Pointwise


def require_smooth(scene: Scene) -> None:
    """Refuse what has no derivative: policies that choose the step, events that change the mesh."""
    if not isinstance(scene, Scene):
        raise SceneError(f"{scene!r:.60} is not a scene", where="gradient", remedy="give a pliant.Scene")
    require_method(scene.integrator)
    require_linear_step(scene)
    if scene.on_failure != "raise":
        what = f'on_failure="{scene.on_failure}" changes steps, which has no derivative'
        raise SceneError(what, where="scene.on_failure", remedy='use "raise" and a smaller h')
    if scene.device != "cpu":
        raise SceneError(f'device="{scene.device}"', where="scene.device", remedy="gradients need device='cpu'")
    if scene.isolated:
        what = "isolated scenes are corrected after every step, which has no adjoint"
        raise SceneError(what, where="scene.isolated", remedy="leave it out")
    if isinstance(scene.contact, ProjectedContact):
        what = "ProjectedContact corrects states after the step, which has no adjoint"
        raise SceneError(what, where="scene.contact", remedy="use PenaltyContact or BarrierContact")
    if scene.events:
        raise SceneError("events change the scene", where="scene.events", remedy="leave them out for gradients")
    if isinstance(scene.contact, BarrierContact) and scene.contact.stiffness == "adaptive":
        remedy = "give BarrierContact its stiffness [N/m^3]"
        raise SceneError("its stiffness depends on the closest contact", where="scene.contact", remedy=remedy)


def require_each_once(wrt: Sequence[Wrt]) -> None:
    """Refuse no parameters, and the same one twice."""
    listed = list(wrt) if isinstance(wrt, Sequence) and not isinstance(wrt, str) else []
    names = [given.path if isinstance(given, Regions) else given for given in listed]
    if not names or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        remedy = 'give each parameter once, such as wrt=["bodies.bar.material.E"]'
        raise SceneError(f"wrt is {wrt!r}", where="gradient", remedy=remedy)


def require_plain(integrator: Any, system: System) -> None:
    """Refuse meshes that change, and steps of links in their material points."""
    if isinstance(integrator, BDF1) and integrator.points and isinstance(system, Pointwise):
        what = "BDF1(points=True) has no adjoint for links"
        raise SceneError(what, where="scene.integrator", remedy="use BDF1() or BDF2()")
    if isinstance(system, Reshaping):
        raise SceneError("its mesh changes", where="gradient", remedy="use bodies whose mesh does not change")


def require_chart(system: System, state: State) -> None:
    if isinstance(system, Charted) and system.rechart(state) is not state:
        remedy = "use shorter runs, or joints with fewer axes"
        raise SceneError("a rotation has left its chart", where="gradient", remedy=remedy)
