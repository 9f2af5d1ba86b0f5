"""Rigid motions that pins and attachments leave free: a body with such a mode has no static equilibrium."""

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.errors import SceneError
from pliant.systems.base import Composed, System

NAMES = {
    3: ("translation x", "translation y", "translation z", "rotation about x", "rotation about y", "rotation about z"),
    2: ("translation x", "translation y", "rotation"),
}


def rigid_motions(X: Array) -> Array:
    """Velocity fields (n d, 3 or 6) of the rigid motions about the centroid of X (n, d), each of unit RMS size."""
    n, d = X.shape
    R = X - X.mean(axis=0)
    modes = [np.tile(np.eye(d)[a], (n, 1)) for a in range(d)]
    if d == 3:
        modes += [np.cross(np.eye(3)[a], R) for a in range(3)]
    else:
        modes += [np.column_stack([-R[:, 1], R[:, 0]])]
    return np.column_stack([m.ravel() / max(float(np.sqrt((m**2).mean())), 1e-300) for m in modes])


def free_modes(system: System) -> list[tuple[IntArray, list[str]]]:
    """Per connected piece its vertices and the rigid motions that cost nothing, each by its dominant name."""
    X = system.X  # type: ignore[attr-defined]
    n, d = X.shape
    q = X.ravel()
    K = system.stiffness(q, np.zeros_like(q), 0.0, psd=True)
    blocks = sp.csr_matrix((np.ones(K.nnz), K.indices // d, K.indptr), shape=(n * d, n))[::d]
    count, label = sp.csgraph.connected_components(blocks, directed=False)
    fixed = np.ones(n * d, dtype=bool)
    fixed[system.free] = False
    found = []
    for piece in range(count):
        vertices = np.flatnonzero(label == piece)
        dofs = (d * vertices[:, None] + np.arange(d)).ravel()
        R = rigid_motions(X[vertices])
        held = R * fixed[dofs][:, None]
        stiffness = -(R.T @ (K[dofs][:, dofs] @ R))
        gram = held.T @ held + stiffness / max(float(abs(K.diagonal()).max()), 1e-300)
        w, Q = np.linalg.eigh(gram)
        names = _names(Q[:, w < 1e-9 * max(1.0, float(w.max()))], d)
        if names:
            found.append((vertices, names))
    return found


def _names(loose: Array, d: int) -> list[str]:
    """Names for a basis (3 or 6, k) of free motions: as many rotations as it contains, then pure translations."""
    if not loose.shape[1]:
        return []
    _, size, turn = np.linalg.svd(loose[d:])
    rank = int((size > 1e-6).sum())
    _, _, axes = scipy.linalg.qr(loose[d:].T, pivoting=True)
    pure = loose[:d] @ turn[rank:].T
    _, _, directions = scipy.linalg.qr(pure.T, pivoting=True)
    chosen = [*directions[: pure.shape[1]], *(d + axes[:rank])]
    return [NAMES[d][int(k)] for k in sorted(chosen)]


def require_supported(system: System) -> None:
    """Refuse a system with free rigid modes, naming them: its stiffness matrix is singular."""
    if not isinstance(system, Composed):
        return
    for vertices, names in free_modes(system):
        raise SceneError(
            f"the piece with vertex {vertices[0]} ({len(vertices)} vertices) is free to move: {', '.join(names)}",
            where="quasistatic",
            remedy="pin three vertices that are not on one line (two in the plane) or use a dynamic integrator",
        )
