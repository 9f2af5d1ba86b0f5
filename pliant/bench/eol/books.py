"""What every run of cloth is watched for: how much it is stretched, energy from nowhere, how deep it is in bodies."""

from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array
from pliant.bench.eol.march import ClothMoment
from pliant.cloth.kinematics import deformation_gradients
from pliant.cloth.material import ClothMaterial
from pliant.cloth.sheet import Sheet, signed_areas
from pliant.cloth.surroundings import Scenery
from pliant.scene import Scene

SPLIT = 8  # points along an edge of a face that are looked for in bodies; other ones than the remesher looks at, too
GAIN = 1e-3  # of the largest kinetic energy: what may appear from nowhere in a whole run
JUMP = 2e-2  # the same in one step: a new mesh is another discretisation of the same cloth


@dataclass
class Books:
    """Maxima over a run: principal stretch, energy [J] beyond work, of the whole run and of one step, depth [m]; steps
    that did not converge, and that were taken in pieces."""

    stretch: float = 1.0
    created: float = -np.inf
    jump: float = 0.0
    kinetic: float = 0.0
    depth: float = 0.0
    failed: int = 0
    cut: int = 0
    _start: float | None = None
    _last: float = 0.0
    _work: float = 0.0

    def look(self, moment: ClothMoment) -> None:
        energies = moment.cloth.energies(moment.state.q, moment.state.v, moment.state.t)
        total = sum(energies.values())
        self.failed += sum(not r.converged for r in moment.reports)
        self.cut += len(moment.reports) > 1
        self.stretch = max(self.stretch, largest_stretch(moment.sheet))
        self.depth = max(self.depth, depth(moment.sheet, moment.cloth.around.at(moment.state.t)))
        self.kinetic = max(self.kinetic, energies["kinetic"])
        if self._start is not None:
            self._work += moment.work
            self.jump = max(self.jump, total - self._last - moment.work)
        self._start = total if self._start is None else self._start
        self._last = total
        self.created = max(self.created, total - self._start - self._work)

    @property
    def honest(self) -> bool:
        """Whether nothing came from nowhere."""
        return self.created <= GAIN * self.kinetic and self.jump <= JUMP * self.kinetic

    def columns(self) -> dict[str, object]:
        return {
            "stretch": self.stretch,
            "kinetic_J": self.kinetic,
            "created_J": self.created,
            "jump_J": self.jump,
            "depth_mm": 1e3 * self.depth,
            "unconverged": self.failed,
            "in_pieces": self.cut,
        }


def largest_stretch(sheet: Sheet) -> float:
    """The largest principal stretch, of F^T F averaged by area over the faces at each vertex: slivers do not count."""
    F, A = deformation_gradients(sheet.x, sheet.X, sheet.faces), signed_areas(sheet.X, sheet.faces)
    C, total = np.zeros((len(sheet.X), 2, 2)), np.zeros(len(sheet.X))
    for k in range(3):
        np.add.at(C, sheet.faces[:, k], A[:, None, None] * np.einsum("mia,mib->mab", F, F))
        np.add.at(total, sheet.faces[:, k], A)
    return float(np.sqrt(np.linalg.eigvalsh(C / total[:, None, None])[:, 1].max()))


def depth(sheet: Sheet, scenery: Scenery) -> float:
    """How deep [m] points of the faces, not only vertices, are in convex bodies: the way out of the nearest plane."""
    i, j = np.meshgrid(np.arange(SPLIT + 1), np.arange(SPLIT + 1), indexing="ij")
    inside = i + j <= SPLIT
    w = np.stack([i[inside], j[inside], SPLIT - i[inside] - j[inside]], axis=1) / SPLIT
    points: Array = np.einsum("ws,fsd->fwd", w, sheet.x[sheet.faces]).reshape(-1, 3)
    worst = 0.0
    for first, last in zip(scenery.plane_start[:-1], scenery.plane_start[1:], strict=True):
        planes = scenery.planes[first:last]
        worst = max(worst, float(-(points @ planes[:, :3].T - planes[:, 3]).max(axis=1).min()))
    return worst


def expected_stretch(force: float, speed: float, cell: float, fabric: ClothMaterial) -> float:
    """1 + 2 (P / (E cell) + v sqrt(rho / E)): what a point load and a sudden stop can do to cloth, twice.

    A force P [N] at one point spreads over one ``cell`` [m]: at a corner with legs a, faces that strain uniformly hold
    it by the stress sqrt(2) P / a [N/m] across the diagonal, so a point load strains a finer mesh more. Cloth that is
    stopped at the speed v [m/s] is strained by v / c behind the wave, c = sqrt(E / rho). A load that comes suddenly
    counts twice.
    """
    return float(1 + 2 * (force / (fabric.E * cell) + speed * np.sqrt(fabric.rho / fabric.E)))


def smallest_cell(scene: Scene, cells: int) -> float:
    """The size [m] of the smallest cells of the mesh: those a remesher may make, or those of the mesh it began with."""
    remesher = scene.bodies[0].eulerian.remesher
    return 1.0 / cells if remesher is None else float(remesher.size_min)
