"""Cloth as a body of any scene: Lagrangian by ordinary energies for every integrator, or Eulerian on Lagrangian."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.bodies import placed_at, read_body
from pliant.cloth.eulerian import Eulerian
from pliant.cloth.hands import Handle, Hold, Pinned, Tied
from pliant.cloth.material import ClothMaterial
from pliant.cloth.sheet import Sheet, sheet
from pliant.cloth.surroundings import Surroundings
from pliant.cloth.system import EolCloth
from pliant.contact.coefficients import single
from pliant.contact.sharp import Sharp
from pliant.energies.base import Energy
from pliant.energies.bending import QuadraticBending
from pliant.energies.membrane import MembraneEnergy
from pliant.errors import SceneError
from pliant.maps.motions import Vector
from pliant.maps.pins import Pin
from pliant.materials.base import positive
from pliant.mesh import Mesh, lumped_mass
from pliant.parts import Made, Place
from pliant.systems.row_contact import RowContact
from pliant.units import components

NONE: IntArray = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Cloth:
    """Triangles flat at rest, of a ``fabric`` given per area; ``thickness`` [m] is that of its contact.

    With ``eulerian`` (True, or an `Eulerian` with its choices) the vertices on sharp features of obstacles also move in
    the material; it is then a part of the scene by itself, stepped by velocity steps, may start from a `Sheet` (a
    pattern and where it lies), and besides pins has `Handle`s, which pull at a velocity.
    """

    mesh: Any  # a Mesh; with eulerian also a Sheet
    fabric: ClothMaterial = field(default_factory=ClothMaterial)
    thickness: float | str = 1e-3
    pins: Sequence[Any] | Any = ()  # of Pin; with eulerian of Pin and Handle
    damping: Any = None
    velocity: tuple[float, ...] = (0.0, 0.0, 0.0)
    positions: Array | None = None
    name: str = "cloth"
    eulerian: Eulerian | bool | None = None

    def __post_init__(self) -> None:
        choice = Eulerian() if self.eulerian is True else self.eulerian or None
        object.__setattr__(self, "eulerian", choice)
        if not isinstance(self.fabric, ClothMaterial):
            remedy = "give a ClothMaterial, or from_fabric(...) for a homogeneous sheet"
            raise SceneError(f"fabric is {self.fabric!r}", where=f"{self.name}.fabric", remedy=remedy)
        if choice is None:
            self._read_lagrangian()
        else:
            self._read_eulerian()
        if np.ndim(self.thickness):
            what = f"thickness is {self.thickness!r}"
            raise SceneError(what, where=f"{self.name}.thickness", remedy="give one number [m]")

    def _read_lagrangian(self) -> None:
        if isinstance(self.mesh, Sheet):
            what, remedy = "a Sheet is a pattern of Eulerian cloth", "give a Mesh, or set eulerian=True"
            raise SceneError(what, where=f"{self.name}.mesh", remedy=remedy)
        read_body(self, thickness="m")
        if self.mesh.kind != "triangles" or self.mesh.dim != 3:
            what = f"a cloth of {self.mesh.kind} in {self.mesh.dim}-d"
            raise SceneError(what, where=f"{self.name}.mesh", remedy="give triangles in space")

    def _read_eulerian(self) -> None:
        if self.damping is not None:
            what, remedy = f"damping is {self.damping!r}", "leave it out: Eulerian cloth has no damping of its own"
            raise SceneError(what, where=f"{self.name}.damping", remedy=remedy)
        given = self.pins if isinstance(self.pins, Sequence) else (self.pins,)
        if not all(isinstance(p, Pin | Handle) for p in given):
            raise SceneError(f"pins are {self.pins!r}", where=f"{self.name}.pins", remedy="give Pins and Handles")
        object.__setattr__(self, "pins", tuple(given))
        object.__setattr__(self, "velocity", components(self.velocity, "m/s", f"{self.name}.velocity"))
        object.__setattr__(self, "thickness", positive(self.thickness, "thickness", "m"))
        self.holds(self.sheet())

    def young(self) -> float:
        """Per thickness: the fabric's own modulus is per length of its cut [N/m]."""
        return float(self.fabric.E) / float(self.thickness)

    def width(self) -> float:
        return float(self.thickness)

    def alike(self) -> tuple[Any, ...]:
        return (id(self),)

    def masses(self) -> sp.csr_matrix:
        """A third of the mass of its faces at each vertex (n, n) [kg]."""
        return sp.csr_matrix(sp.diags(lumped_mass(self.mesh, self.fabric.rho)))

    def energies(self, placed: Any) -> list[Energy]:
        """Corotated membrane and quadratic bending [Weidner2022, sec. 2.4.2]."""
        m = self.fabric
        return [
            MembraneEnergy(placed.X, placed.T, E=m.E, nu=m.nu, name=f"{self.name} membrane"),
            QuadraticBending(placed.X, placed.T, beta=m.beta, name=f"{self.name} bending"),
        ]

    # -- Eulerian on Lagrangian

    @property
    def kind(self) -> type:
        return EolCloth

    @property
    def together(self) -> bool:
        """Each Eulerian cloth is a part."""
        return False

    @property
    def separate(self) -> bool:
        """Whether it is a part of the scene by itself."""
        return self.eulerian is not None

    @classmethod
    def gathered(cls, bodies: Sequence["Cloth"], scene: Any) -> list[Made]:
        """One part for each Eulerian cloth; its contact with obstacles is its own."""
        made = []
        for body in bodies:
            contact = scene.contact
            if contact is not None and not isinstance(contact, RowContact):
                what = f"{type(contact).__name__} does not reach Eulerian cloth"
                raise SceneError(what, where="scene.contact", remedy="use RowContact(mu=..., thickness=...)")
            part = body.part(scene.gravity, scene.obstacles, contact, tied=body._tied(scene))
            place = Place(body.name, 0, part.sheet.x, part.sheet.faces)
            made.append(Made(part, part.initial(), [], [(body, place)]))
        return made

    def _tied(self, scene: Any) -> IntArray:
        """The vertices that the attachments of a scene hold."""
        found = [NONE]
        for k, attachment in enumerate(scene.attachments):
            if scene.bodies[scene.number(attachment.to, "Attachment.to")] is self:
                what, remedy = f"{self.name!r} changes its mesh", "swap them: its vertices as body, the other as to"
                raise SceneError(what, where=f"scene.attachments[{k}].to", remedy=remedy)
            if scene.bodies[scene.number(attachment.body, "Attachment.body")] is self:
                found.append(attachment.vertices)
        return np.concatenate(found)

    def part(
        self,
        gravity: Vector,
        obstacles: Sequence[Any],
        contact: RowContact | None = None,
        live: Sequence[Sharp] = (),
        tied: IntArray = NONE,
    ) -> EolCloth:
        """The part of a scene that this cloth is; ``live`` are bodies, in their own frames, that it can be shown.

        Attachments hold the vertices ``tied (k,)``, which survive all remeshing. The thickness of contact is that of
        ``contact``, or the cloth's own where that has none; with its ``self_contact`` the cloth keeps its own thickness
        from itself.
        """
        if not isinstance(self.eulerian, Eulerian):
            raise SceneError("Lagrangian cloth is no part by itself", where=self.name, remedy="set eulerian=True")
        start = self.sheet()
        length = float(np.ptp(start.X, axis=0).max())
        mu, thickness = (0.0, 0.0) if contact is None else (single(contact.mu, "RowContact.mu"), contact.thickness)
        thickness = thickness or float(self.thickness)
        if length < 10 * thickness and (obstacles or live):
            raise SceneError(
                f"cloth of {length:.3g} m is smaller than ten contact thicknesses of {thickness:.3g} m",
                where=self.name,
                remedy="reduce the thickness or enlarge the cloth",
            )
        clearance = float(self.thickness) if contact is not None and contact.self_contact else 0.0
        around = Surroundings(tuple(obstacles), tuple(live), gravity, mu, thickness, clearance)
        tied = tied[(tied >= 0) & (tied < len(start.X))]  # others are refused when they are tied
        if not len(tied):
            return EolCloth(start, self.fabric, around, self.eulerian, self.holds(start))
        start = replace(start, fixed=start.fixed | np.isin(np.arange(len(start.X)), tied))
        holds = (*self.holds(start), Tied(start.X[tied]))
        return EolCloth(start, self.fabric, around, self.eulerian, holds)

    def sheet(self) -> Sheet:
        """The pattern and where it starts; what pins hold survives all remeshing."""
        start = self.mesh if isinstance(self.mesh, Sheet) else _pattern(self.mesh, self.name)
        if self.positions is not None:
            start = replace(start, x=placed_at(self.positions, start.x, self.name))
        fixed = start.fixed.copy()
        for k, pin in enumerate(p for p in self.pins if isinstance(p, Pin)):
            pin.require_fit(len(start.X), f"{self.name}.pins[{k}].vertices")
            fixed[pin.vertices] = True
        return replace(start, fixed=fixed, v=start.v + np.asarray(self.velocity, dtype=np.float64))

    def holds(self, start: Sheet) -> tuple[Hold, ...]:
        """Pins and handles by the material points they hold."""
        found: list[Hold] = []
        for pin in self.pins:
            if isinstance(pin, Pin):
                found.append(Pinned(start.X[pin.vertices], start.x[pin.vertices], pin.motion, tuple(pin.axes)))
                continue
            d = np.linalg.norm(start.X[start.fixed][None] - np.atleast_2d(pin.X)[:, None], axis=2)
            if d.shape[1] == 0 or d.min(axis=1).max() > 1e-9:
                remedy = "pass its vertices as sheet(keep=...)"
                raise SceneError("a handle is not at a kept vertex", where=self.name, remedy=remedy)
            found.append(pin)
        return tuple(found)


def _pattern(mesh: Mesh, name: str) -> Sheet:
    """The sheet of a flat mesh: its material plane is its own, spanned by the first two axes that do."""
    if mesh.kind != "triangles" or mesh.dim != 3:
        what = f"a cloth of {mesh.kind} in {mesh.dim}-d"
        raise SceneError(what, where=f"{name}.mesh", remedy="give triangles in space")
    e1, e2 = mesh.X[mesh.T[:, 1]] - mesh.X[mesh.T[:, 0]], mesh.X[mesh.T[:, 2]] - mesh.X[mesh.T[:, 0]]
    normal = np.cross(e1, e2).sum(axis=0)
    n = normal / max(float(np.linalg.norm(normal)), 1e-300)
    out = (mesh.X - mesh.X[0]) @ n
    if not np.abs(out).max() <= 1e-9 * float(np.ptp(mesh.X, axis=0).max()):
        what = f"vertex {int(np.argmax(np.abs(out)))} is {np.abs(out).max():.3g} m out of the plane of the others"
        raise SceneError(
            what, where=f"{name}.mesh", remedy="Eulerian cloth is flat at rest: give a Sheet with its pattern"
        )
    flat = np.eye(3)[np.argmax([1.0 - abs(n[k]) for k in range(3)])]
    u = flat - (flat @ n) * n
    u /= np.linalg.norm(u)
    return sheet(np.column_stack([mesh.X @ u, mesh.X @ np.cross(n, u)]), mesh.T, mesh.X)
