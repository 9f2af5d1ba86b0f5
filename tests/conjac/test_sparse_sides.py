"""Right-hand sides with few entries: what their zeros save must not change the answer."""

import numpy as np
import pytest

from pliant.bodies import Solid
from pliant.linear.supernodal import Supernodal
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene


@pytest.mark.parametrize("dense", [0, 1, 2])
def test_sparse_right_hand_sides(dense):
    """Some dense columns, then unit columns here and there, one of zeros: A x = b as in one column at a time."""
    mesh = bar(size=(0.15, 0.05, 0.05), cells=(9, 4, 4))
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    system = Scene([Solid(mesh, StableNeoHookean(1e5, 0.4), pins=pins)]).system()
    q = system.X.ravel()
    A = system.restrict(-system.stiffness(q, 0 * q, 0.0, psd=True))
    factor = Supernodal(A.indptr, A.indices)
    assert factor.refactor(factor.gather(A.data)) == -1
    N = A.shape[0]
    rng = np.random.default_rng(3)
    b = np.zeros((N, dense + 8))
    b[:, :dense] = rng.normal(size=(N, dense))
    b[rng.integers(N, size=7), dense + np.arange(7)] = 1.0
    together = factor.solve(A.data, b)
    alone = np.column_stack([factor.solve(A.data, b[:, k : k + 1])[:, 0] for k in range(b.shape[1])])
    assert abs(together - alone).max() < 1e-12 * abs(alone).max()
    assert not together[:, -1].any()
    assert abs(A @ together - b).max() < 1e-9
