"""A coarse mesh of a body for users who have none, with a report of what the coarsening does to its frequencies."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from pliant.arrays import Array
from pliant.coarsen.dac import dac_factor
from pliant.coarsen.ratios import fit, prolongation
from pliant.energies.elastic import Elastic
from pliant.errors import MeshError, MissingDependency
from pliant.materials import Linear
from pliant.mesh import Mesh, consistent_mass, embed, fill, tetrahedralise
from pliant.systems.eigenfit import Fit
from pliant.systems.elastodynamics import Elastodynamics

ATTEMPTS = 3
CLOSE = 0.2  # how near the number of vertices must come to the target
DEVIATION = 0.1  # of the new surface from the old, in edge lengths: more would shave off thin parts


@dataclass(frozen=True, eq=False)
class Coarsened:
    """The coarse ``mesh`` and, for the free body, the relative errors of its elastic frequencies mode by mode.

    ``plain`` are those of the coarse mesh as it is, ``dac`` with one factor on E, ``eigenfit`` with one per mode. Every
    coarse mode is compared with the fine one it resembles most; ``matched`` of them are really the same shapes.
    """

    mesh: Mesh
    plain: Array
    dac: Array
    eigenfit: Array
    matched: int
    fit: Fit = field(repr=False)

    def rows(self) -> list[dict[str, Any]]:
        """One row per mode, for a table."""
        errors = zip(self.plain, self.dac, self.eigenfit, strict=True)
        return [{"mode": k + 1, "coarse": p, "DAC": d, "EigenFit": e} for k, (p, d, e) in enumerate(errors)]


def coarsen(mesh: Mesh, target: int, *, modes: int = 10, nu: float = 0.45) -> Coarsened:
    """A tet mesh of the same body with about ``target`` vertices.

    The surface is decimated and tetrahedralised anew with longer edges (fTetWild when it is installed, our own lattice
    otherwise). Frequencies do not depend on density and E beyond one common factor; ``nu`` is Poisson's ratio.
    """
    check(mesh, target, modes)
    coarse = resized(mesh, target)
    if 3 * len(coarse.X) < modes + 6:
        raise MeshError(
            f"{modes} modes of a coarse mesh with {len(coarse.X)} vertices",
            where="coarsen",
            remedy="use a higher target or fewer modes",
        )
    return report(coarse, mesh, modes, nu)


def check(mesh: Mesh, target: int, modes: int) -> None:
    """Refuse what has no coarse mesh: surfaces, broken tets, several pieces, targets beyond the mesh."""
    if mesh.kind != "tetrahedra":
        remedy = "give a tet mesh; `pliant.mesh.tetrahedralise` makes one of a closed surface"
        raise MeshError(f"a mesh of {mesh.kind}", where="coarsen", remedy=remedy)
    if modes < 1:
        raise MeshError(f"modes is {modes}", where="coarsen", remedy="use 1 or more")
    if not 8 <= target < len(mesh.X):
        remedy = f"use a number from 8 to {len(mesh.X) - 1}"
        raise MeshError(f"target is {target} vertices", where="coarsen", remedy=remedy)
    volumes = mesh.measures()
    worst = int(np.argmin(volumes))
    if volumes[worst] <= 0.0:
        what = f"tetrahedron {worst} has volume {volumes[worst]:.3g} m^3 ({int((volumes <= 0).sum())} such)"
        raise MeshError(what, where="coarsen", remedy="repair it: `pliant doctor MESH` says how")
    edges = sp.coo_matrix((np.ones(4 * len(mesh.T)), (np.repeat(mesh.T[:, 0], 4), mesh.T.ravel())), (len(mesh.X),) * 2)
    pieces = connected_components(edges, directed=False)[0]
    if pieces > 1:
        what = f"the mesh has {pieces} pieces that do not touch"
        raise MeshError(what, where="coarsen", remedy="coarsen them one by one: free pieces share no modes")


def resized(mesh: Mesh, target: int) -> Mesh:
    """The body meshed with edges long enough for ``target`` vertices, corrected a few times by the count found."""
    edge = float((8.0 * np.abs(mesh.measures()).sum() / target) ** (1.0 / 3.0))
    best: Mesh | None = None
    for _ in range(ATTEMPTS):
        try:
            found = remeshed(mesh, edge)
        except MeshError:  # nothing is left of the body: the edges are too long
            edge *= 0.7
            continue
        if best is None or abs(len(found.X) - target) < abs(len(best.X) - target):
            best = found
        if abs(len(found.X) - target) <= CLOSE * target:
            break
        edge *= float(np.clip((len(found.X) / target) ** 0.4, 0.5, 2.0))
    if best is None:
        raise MeshError(f"no mesh with about {target} vertices found", where="coarsen", remedy="use a higher target")
    return best


def remeshed(mesh: Mesh, edge: float) -> Mesh:
    """Tets of about the given edge length [m] in the same body; its surface may move by a tenth of that."""
    try:
        return tetrahedralise(mesh.X, mesh.surface(), edge_length=edge, deviation=DEVIATION * edge)
    except MissingDependency:
        inside = lambda P: np.where(embed(mesh, P).weights.min(axis=1) >= -1e-9, -1.0, 1.0)
        return fill(inside, mesh.bounds, edge)


def report(coarse: Mesh, fine: Mesh, modes: int, nu: float) -> Coarsened:
    """Frequency errors of the free coarse body against the free fine one."""
    small, large = free_body(coarse, nu), free_body(fine, nu)
    found = fit(small, large, prolongation(coarse, fine), modes + 6, on_mismatch="ignore")
    elastic = slice(6, None)
    c, f = found.coarse[elastic], found.fine[elastic]
    factor = dac_factor(small, large)
    relative = lambda lam: np.sqrt(lam / f) - 1.0
    own = Fit(found.ratios[elastic], c, f, found.modes[:, elastic], found.overlap[elastic, elastic])
    return Coarsened(coarse, relative(c), relative(factor * c), relative(own.ratios * c), own.matched, found)


def free_body(mesh: Mesh, nu: float) -> Elastodynamics:
    """The unsupported linear body with unit modulus and density."""
    return Elastodynamics(mesh.X, consistent_mass(mesh, 1.0), [Elastic(mesh.X, mesh.T, Linear(E=1.0, nu=nu))])
