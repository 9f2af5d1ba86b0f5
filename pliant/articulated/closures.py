"""Equality constraints of an articulated system at one instant: for stages, and for accelerations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.articulated.constraints.rows import Constraint, ConstraintRows, owners_of
from pliant.articulated.forces.base import joined_links
from pliant.articulated.islands import Islands, complex_step
from pliant.articulated.tree import Kinematics
from pliant.errors import SceneError
from pliant.systems.closures import Closures

if TYPE_CHECKING:
    from pliant.articulated.system import ArticulatedSystem


def gaps_of(kin: Kinematics, parts: Sequence[ConstraintRows]) -> tuple[Array, Array]:
    """G (k, nr) over the joint rates, and the gaps; where only a rate is prescribed the gap is G v - rate."""
    G = np.concatenate([p.reduced(kin) for p in parts])
    first = np.cumsum([0, *(len(p.g) for p in parts)])
    gaps = [p.g if p.positional else G[i : i + len(p.g)] @ kin.v - p.rate for i, p in zip(first, parts, strict=False)]
    return G, np.concatenate(gaps)


def closures_of(kin: Kinematics, parts: Sequence[ConstraintRows]) -> Closures:
    """The rows of all parts as a stage wants them."""
    G, gap = gaps_of(kin, parts)
    positional = np.concatenate([np.full(len(p.g), p.positional) for p in parts])
    return Closures(gap, sp.csr_matrix(G), np.concatenate([p.rate for p in parts]), positional, owners_of(parts))


def closure_tangent(
    system: "ArticulatedSystem", q: Array, v: Array, t: float, y: Array, w: float
) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """d(G^T y) and d gap by q, where v changes by w dq: complex steps through the rows, which turn with the links."""

    def moved(e: Array) -> Array:
        kin = system.kinematics(q + e, v + w * e)
        G, gap = gaps_of(kin, system.rows(kin, t, inequality=False))
        return np.concatenate([G.T @ y, gap])

    islands, owners = system.islands, owners_of(system.rows(system.kinematics(q, v), t, inequality=False))
    rows = np.array([_island(islands, system.constraints[owner]) for owner in owners])
    A = islands.matrix(complex_step(moved), np.concatenate([islands.coordinates, rows]))
    return A[: len(q)], A[len(q) :]


def _island(islands: Islands, constraint: Constraint) -> int:
    """The island that the rows of a constraint belong to; -1 if to none."""
    joined = joined_links(constraint)
    links = np.zeros(1, int) if joined is None else joined[joined >= 0]
    return int(islands.links[links[0]]) if len(links) else -1


def closed_acceleration(M: Array, f: Array, G: Array, rhs: Array) -> Array:
    """a with M a - G^T lambda = f and G a = rhs; redundant rows are met together."""
    X = np.linalg.solve(M, np.column_stack([f, G.T]))
    multipliers = np.linalg.lstsq(G @ X[:, 1:], rhs - G @ X[:, 0], rcond=1e-12)[0]
    return np.asarray(X[:, 0] + X[:, 1:] @ multipliers, dtype=float)


def refuse_inequalities(constraints: Sequence[Constraint], where: str) -> None:
    """Refuse limits and contacts where a method would not see them."""
    for c in constraints:
        if c.inequality:
            remedy = "use LinearlyImplicit or BISP, or replace it by a stiff spring"
            raise SceneError(f"{type(c).__name__} is one-sided", where=where, remedy=remedy)


def check_closures(
    constraints: Sequence[Constraint], kin: Kinematics, parts: Sequence[ConstraintRows], scale: float
) -> None:
    """Position errors that no motion can remove, because the rows that could are dependent, are contradictions."""
    if not parts:
        return
    G = np.concatenate([p.reduced(kin) for p in parts])
    g = np.concatenate([p.g for p in parts])
    owner = owners_of(parts)
    U, s, _ = np.linalg.svd(G, full_matrices=True)
    rank = int(np.sum(s > 1e-9 * max(s.max(initial=0.0), 1e-300)))
    stuck = U[:, rank:] @ (U[:, rank:].T @ g)
    if np.abs(stuck).max(initial=0.0) > 1e-6 * scale:
        names = sorted({type(constraints[o]).__name__ + f" {o}" for o in owner[np.abs(stuck) > 1e-9]})
        raise SceneError(
            f"{' and '.join(names)} contradict each other by {np.abs(stuck).max():.3g}",
            where="constraints",
            remedy="remove one, or make their points and offsets agree",
        )
