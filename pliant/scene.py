"""A scene: bodies, what acts on them, and how time passes. It is data; `simulate` runs it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.bodies import Body, Placed
from pliant.contact.obstacles import Obstacle
from pliant.contact.setting import Setting
from pliant.energies.base import Energy
from pliant.energies.gravity import Gravity
from pliant.errors import SceneError, require_part
from pliant.forces.base import Force
from pliant.integrators import BDF2, INTEGRATORS, LinearlyImplicit
from pliant.integrators.base import Integrator, require_fit
from pliant.maps.pins import Pin
from pliant.policy import read_policy, steps_of
from pliant.state import State
from pliant.systems.contact import ContactChoice
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.row_contact import RowContact
from pliant.units import components


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything needed to run: ``h`` and ``duration`` [s], ``gravity`` [m/s^2] (z is up by default).

    ``on_failure`` says what a step that does not converge means: an error with a failure bundle ("raise"), a warning
    ("warn"), or half the step size until it converges ("substep").
    """

    bodies: Sequence[Body]
    integrator: Integrator = field(default_factory=BDF2)
    h: float | str = 0.01
    duration: float | str = 1.0
    gravity: Sequence[float] = (0.0, 0.0, -9.81)
    contact: ContactChoice | None = None
    obstacles: Sequence[Obstacle] = ()
    on_failure: Literal["raise", "warn", "substep"] = "raise"
    on_energy_gain: Literal["ignore", "warn", "raise"] = "ignore"
    name: str = "scene"

    def __post_init__(self) -> None:
        for name, method in (("bodies", "energies"), ("obstacles", "distance")):
            given = getattr(self, name)
            parts = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)
            for k, part in enumerate(parts):
                require_part(part, method, f"scene.{name}[{k}]", f"give a list of {name}")
            object.__setattr__(self, name, parts)
        if self.contact is not None:
            require_part(self.contact, "model", "scene.contact", "give PenaltyContact() or BarrierContact()")
        read_policy(self)
        if not self.bodies:
            raise SceneError("no bodies", where="scene.bodies", remedy="add at least one Solid, Membrane or SpringNet")
        dims = {body.mesh.dim for body in self.bodies}
        if len(dims) > 1:
            raise SceneError("planar and spatial bodies are mixed", where="scene.bodies", remedy="use one dimension")
        if self.obstacles and self.contact is None:
            remedy = "give contact=PenaltyContact() or BarrierContact()"
            raise SceneError("obstacles need a contact model", where="scene.obstacles", remedy=remedy)
        require_fit(self.integrator, None, INTEGRATORS)
        staged = hasattr(self.integrator, "solver") and not getattr(self.integrator, "extrapolates", False)
        if self.contact is not None and self.contact.safe and not staged:
            name, remedy = type(self.integrator).__name__, "use BDF1, BDF2, SDIRK2, TRBDF2 or Quasistatic"
            raise SceneError(f"{name} can step across a barrier", where="scene.integrator", remedy=remedy)
        if isinstance(self.contact, RowContact) and not isinstance(self.integrator, LinearlyImplicit):
            what = f"{type(self.integrator).__name__} does not see the rows of RowContact"
            raise SceneError(what, where="scene.integrator", remedy="use LinearlyImplicit, or PenaltyContact")
        if self.contact is not None and dims != {3}:
            raise SceneError("contact needs bodies in space", where="scene.contact", remedy="use tets or sheets")
        object.__setattr__(self, "gravity", components(self.gravity, "m/s^2", "scene.gravity"))
        for where, given in (("gravity", self.gravity), *((f"{b.name}.velocity", b.velocity) for b in self.bodies)):
            vector = np.asarray(given, dtype=np.float64)
            if vector.shape not in ((self.dim,), (3,)) or not np.isfinite(vector).all():
                what = f"{where} is {tuple(given)}"
                raise SceneError(what, where=f"scene.{where}", remedy=f"give {self.dim} finite components")

    @property
    def steps(self) -> int:
        """Number of time steps of the whole run."""
        return steps_of(self)

    @property
    def dim(self) -> int:
        return self.bodies[0].mesh.dim

    def offsets(self) -> IntArray:
        """First vertex of every body in the scene's numbering, and the total (len(bodies) + 1,)."""
        return np.concatenate([[0], np.cumsum([len(b.mesh.X) for b in self.bodies])]).astype(np.int64)

    def system(self) -> Elastodynamics:
        """The physics of the scene; built anew at each call."""
        offsets, d = self.offsets(), self.dim
        n = int(offsets[-1])
        X = np.concatenate([b.mesh.X for b in self.bodies])
        masses = [sp.csr_matrix(b.masses()) for b in self.bodies]
        energies: list[Energy] = []
        forces: list[Force] = []
        pins: list[Pin] = []
        for alike in _alike(self.bodies):
            body, first = self.bodies[alike[0]], int(offsets[alike[0]])
            m = sp.block_diag([masses[k] for k in alike], format="csr")
            mass = sp.kron(_shifted(m, first, n), sp.identity(d), format="csr")
            T = np.concatenate([self.bodies[k].mesh.T + offsets[k] for k in alike])
            placed = Placed(X, T, first, mass)
            elastic = body.energies(placed)
            energies += elastic
            if body.damping is not None:
                forces += [body.damping.force(body, placed, e) for e in elastic]
        for body, first in zip(self.bodies, offsets, strict=False):
            pins += [Pin(np.asarray(p.vertices) + first, p.motion, p.axes) for p in body.pins]
        M = sp.block_diag(masses, format="csr")
        gravity = np.asarray(self.gravity, dtype=np.float64)[:d]
        if gravity.any():
            energies.append(Gravity(np.asarray(M.sum(axis=1)).ravel(), gravity))
        diagonal = M.nnz == n
        model = None if self.contact is None else self.contact.model(self.setting(np.asarray(M.sum(axis=1)).ravel()))
        cells = [b.mesh.T + first for b, first in zip(self.bodies, offsets, strict=False)]
        return Elastodynamics(X, M.diagonal() if diagonal else M, energies, forces, pins, model, cells)

    def setting(self, mass: Array) -> Setting:
        """What contact needs to know of the bodies and obstacles, with nodal masses (n,) [kg]."""
        materials = [getattr(b, "material", None) for b in self.bodies]
        modulus = [float("nan") if m is None else float(np.mean(m.young())) for m in materials]
        thickness = [float(getattr(b, "thickness", float("nan"))) for b in self.bodies]
        names = [b.name for b in self.bodies]
        meshes = [b.mesh for b in self.bodies]
        g = float(np.linalg.norm(self.gravity))
        return Setting(meshes, self.offsets(), mass, np.array(modulus), np.array(thickness), names, self.obstacles, g)

    def initial(self, system: Elastodynamics) -> State:
        """Rest positions (scripts at t = 0) with the bodies' initial velocities; prescribed vertices start at rest."""
        d = self.dim
        v = np.concatenate([np.tile(np.asarray(b.velocity, float)[:d], len(b.mesh.X)) for b in self.bodies])
        held = np.ones(len(v), dtype=bool)
        held[system.free] = False
        v[held] = 0.0
        q = system.prescribe(system.X.ravel().copy(), 0.0)
        return State(q if system.contact is None else system.contact.initial(q, np.flatnonzero(held)), v, 0.0)

    def run(self, folder: str | Path, **options: Any) -> Any:
        """Simulate and record into ``folder``; returns the run (frames, ledger, report)."""
        from pliant.record import record

        return record(self, folder, **options)


def _alike(bodies: Sequence[Body]) -> list[list[int]]:
    """Neighbouring bodies made of the same material object in the same way: one energy serves them all."""
    groups: list[list[int]] = []
    last: Any = None
    for k, body in enumerate(bodies):
        made = (type(body), getattr(body, "material", body), body.damping, *_sheet(body), body.mesh.T.shape[1])
        if groups and made == last:
            groups[-1].append(k)
        else:
            groups.append([k])
        last = made
    return groups


def _sheet(body: Body) -> tuple[Any, Any]:
    return getattr(body, "plane", None), getattr(body, "thickness", None)


def _shifted(m: sp.csr_matrix, first: int, n: int) -> sp.csr_matrix:
    """A body's (n_b, n_b) matrix at its place in (n, n)."""
    coo = m.tocoo()
    return sp.csr_matrix((coo.data, (coo.row + first, coo.col + first)), shape=(n, n))


def positions_of(system: Any, state: State) -> Array:
    """Vertex positions (n, 3) [m] of a state."""
    return system.positions(state.q)
