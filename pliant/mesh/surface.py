"""What is seen of a mesh: its surface in space, as a mesh of its own."""

import numpy as np

from pliant.mesh.mesh import Mesh


def surface_mesh(mesh: Mesh) -> Mesh:
    """The surface of tets with only its vertices; triangles and springs as they are; planar meshes at z = 0."""
    X = mesh.X if mesh.dim == 3 else np.column_stack((mesh.X, np.zeros(len(mesh.X))))
    if mesh.kind != "tetrahedra":
        return Mesh(X=X, T=mesh.T, region=mesh.region)
    used, T = np.unique(mesh.surface(), return_inverse=True)
    return Mesh(X=X[used], T=T.reshape(-1, 3))
