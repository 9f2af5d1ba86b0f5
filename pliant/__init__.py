"""pliant: physically based animation and elastodynamics you can trust.

Everything a scene needs is here by name; modules are imported when a name is first used.
"""

# ruff: noqa: F401, F403  (the imports for type checkers are re-exports)
import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOMES = {
    "pliant.scene": ("Scene",),
    "pliant.bodies": ("Solid", "Membrane", "SpringNet", "Rayleigh", "Green"),
    "pliant.cloth.body": ("Cloth",),
    "pliant.cloth.material": ("ClothMaterial", "from_fabric"),
    "pliant.cloth.fabrics": ("fabric", "fabrics"),
    "pliant.events": ("PlaneCut", "ElementCut", "Release"),
    "pliant.loads": ("Activation", "Airflow", "Pressure", "Push", "Tug", "Wind"),
    "pliant.attachments": ("Attachment",),
    "pliant.constraints": ("ConstrainedEuler", "FilteredEuler", "KeptLengths", "KeptVolumes"),
    "pliant.fitting": ("Fitting",),
    "pliant.articulated.body": ("Articulated", "Rigid", "from_mjcf", "from_urdf"),
    "pliant.maps.pins": ("Pin",),
    "pliant.maps.motions": ("Keyframes", "Shake", "Phase", "Phases", "Track"),
    "pliant.mesh": ("Mesh",),
    "pliant.simulate": ("simulate", "TimeStep", "StepFailed"),
    "pliant.record": ("record", "resume", "load", "Run", "Output", "Interrupted"),
    "pliant.systems.penalty_contact": ("PenaltyContact",),
    "pliant.systems.projected_contact": ("ProjectedContact",),
    "pliant.systems.row_contact": ("RowContact",),
    "pliant.systems.barrier_contact": ("BarrierContact",),
    "pliant.systems.condensed": ("Condensation",),
    "pliant.systems.eigenfit": ("EigenFit",),
    "pliant.contact.obstacles": ("Plane", "Sphere", "Bowl", "Box", "Cylinder"),
    "pliant.contact.sharp": ("Hull", "Points", "Wire"),
    "pliant.contact.triangles": ("TriangleObstacle",),
    "pliant.certificate": ("Certificate",),
    "pliant.ledger": ("Row",),
    "pliant.checkpoint": ("Checkpoint",),
    "pliant.bundle": ("replay",),
    "pliant.advise": ("advise",),
    "pliant.adjoint": ("gradient",),
    "pliant.scene_file": ("load_scene", "register"),
    "pliant.state": ("State",),
    "pliant.units": ("quantity",),
    "pliant.materials.base": ("Parameter",),
    "pliant.linear.cholesky": ("Cholesky",),
    "pliant.linear.pcg": ("PCG",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}
_CHOICES = ("pliant.integrators", "pliant.solvers", "pliant.materials", "pliant.errors")  # all their public names
_FOLDERS = (
    *("mesh", "scenes", "materials", "integrators", "solvers", "linear", "contact", "articulated", "cloth", "coarsen"),
    *("adjoint", "export", "plots", "view", "bench"),
)

if TYPE_CHECKING:
    from pliant import mesh, scenes
    from pliant.adjoint import gradient
    from pliant.advise import advise
    from pliant.articulated.body import Articulated, Rigid, from_mjcf, from_urdf
    from pliant.attachments import Attachment
    from pliant.attempt import StepFailed
    from pliant.bodies import Green, Membrane, Rayleigh, Solid, SpringNet
    from pliant.bundle import replay
    from pliant.certificate import Certificate
    from pliant.checkpoint import Checkpoint
    from pliant.cloth.body import Cloth
    from pliant.cloth.fabrics import fabric, fabrics
    from pliant.cloth.material import ClothMaterial, from_fabric
    from pliant.constraints import ConstrainedEuler, FilteredEuler, KeptLengths, KeptVolumes
    from pliant.contact.obstacles import Bowl, Box, Cylinder, Plane, Sphere
    from pliant.contact.sharp import Hull, Points, Wire
    from pliant.contact.triangles import TriangleObstacle
    from pliant.errors import *
    from pliant.events import ElementCut, PlaneCut, Release
    from pliant.fitting import Fitting
    from pliant.integrators import *
    from pliant.ledger import Row
    from pliant.linear.cholesky import Cholesky
    from pliant.linear.pcg import PCG
    from pliant.loads import Activation, Airflow, Pressure, Push, Tug, Wind
    from pliant.maps.motions import Keyframes, Phase, Phases, Shake, Track
    from pliant.maps.pins import Pin
    from pliant.materials import *
    from pliant.materials.base import Parameter
    from pliant.mesh import Mesh
    from pliant.record import Interrupted, Output, Run, load, record, resume
    from pliant.scene import Scene
    from pliant.scene_file import load_scene, register
    from pliant.simulate import TimeStep, simulate
    from pliant.solvers import *
    from pliant.state import State
    from pliant.systems.barrier_contact import BarrierContact
    from pliant.systems.condensed import Condensation
    from pliant.systems.eigenfit import EigenFit
    from pliant.systems.penalty_contact import PenaltyContact
    from pliant.systems.projected_contact import ProjectedContact
    from pliant.systems.row_contact import RowContact
    from pliant.units import quantity


def __getattr__(name: str) -> Any:
    if name in _FOLDERS:
        return importlib.import_module(f"pliant.{name}")
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if not name.startswith("_"):
        for home in _CHOICES:
            module = importlib.import_module(home)
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module 'pliant' has no attribute {name!r}")


def __dir__() -> list[str]:
    public = [n for home in _CHOICES for n in vars(importlib.import_module(home)) if n[0].isupper()]
    return sorted({*globals(), *_HOME, *_FOLDERS, *public})


class _Package(ModuleType):
    """``pliant.simulate`` is the function, also after its module of the same name has been imported.

    Importing a submodule sets it as an attribute of the package; for the names that are functions as well, a property
    stands in the way.
    """

    def _function(name: str) -> property:  # type: ignore[misc]
        return property(lambda self: __getattr__(name), lambda self, module: None)

    simulate, record, advise = map(_function, ("simulate", "record", "advise"))
    del _function


sys.modules[__name__].__class__ = _Package
