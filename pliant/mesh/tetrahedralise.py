"""From a closed surface to tetrahedra, by fTetWild (optional)."""

from contextlib import chdir
from tempfile import TemporaryDirectory

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.errors import MeshError, MissingDependency
from pliant.mesh.checks import finite_fault, format_fault, range_fault
from pliant.mesh.mesh import Mesh, refusal
from pliant.mesh.repair import repair


def tetrahedralise(V: Array, F: IntArray, edge_length: float | None = None, *, deviation: float | None = None) -> Mesh:
    """Tets inside the surface ``V (n, 3)`` [m], ``F (k, 3)``; edges about ``edge_length`` [m] (default: size / 20).

    Tolerates holes, self-intersections and poor triangles; the new surface follows the old within ``deviation`` [m]
    (default: size / 1000).
    Two calls need not give the same mesh: write the result to a file and read that in scenes to be repeated.
    """
    try:
        import pytetwild
    except ImportError as error:
        remedy = 'pip install "pliant[tetrahedralise]"'
        raise MissingDependency("pytetwild is not installed", where="tetrahedralise", remedy=remedy) from error
    V, F = np.asarray(V), np.asarray(F)
    for check in (format_fault, range_fault, finite_fault):
        wrong = check(V, F)
        if wrong:
            raise refusal(wrong, where="tetrahedralise")
    if F.shape[1] != 3 or V.shape[1] != 3:
        remedy = "give the triangles of a closed surface in space"
        raise MeshError(f"V {V.shape}, F {F.shape}", where="tetrahedralise", remedy=remedy)
    if edge_length is not None and not (np.isfinite(edge_length) and edge_length > 0):
        raise MeshError(
            f"edge_length is {edge_length}", where="tetrahedralise", remedy="use a positive length in metres"
        )
    relative = 1e-3 if deviation is None else deviation / float(np.linalg.norm(np.ptp(V, axis=0)))
    points, triangles = V.astype(np.float64), F.astype(np.int32)
    with TemporaryDirectory() as folder, chdir(folder):  # it leaves a file of its own in the current folder
        X, T = pytetwild.tetrahedralize(points, triangles, edge_length_abs=edge_length, epsilon=relative)
    if not len(T):
        raise MeshError("the surface encloses no volume", where="tetrahedralise", remedy="close its holes")
    return repair(np.asarray(X, dtype=np.float64), np.asarray(T, dtype=np.int64))[0]
