"""Hard linear constraints: the root of the dense KKT system, kept exactly, by every kind of solver."""

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.bodies import Solid
from pliant.errors import SceneError
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene
from pliant.solvers import QLB, Newton, Tolerance
from pliant.solvers.constrained import ConstrainedSolver
from pliant.stage import Stage

TIGHT = Tolerance(1e-10, 1e-14)


@pytest.fixture
def stage():
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    scene = Scene([Solid(mesh, StableNeoHookean(E=2e4, nu=0.4), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))])
    system = scene.system()
    state = scene.initial(system)
    h = 0.05
    return Stage(system, h, state.q, state.q, h, state.q, state)


def rows(stage):
    """The mean height of the free vertices is held, and two of them keep their difference along y."""
    n = len(stage.system.free)
    C = np.zeros((2, n))
    C[0, 2::3] = 3.0 / n
    C[1, 1], C[1, 4] = 1.0, -1.0
    return sp.csr_matrix(C), np.array([0.05, 0.002])


@pytest.mark.parametrize("solver", [Newton(tolerance=TIGHT), QLB(tolerance=TIGHT), QLB(m=0, tolerance=TIGHT)])
def test_root_of_the_kkt_system(stage, solver):
    C, d = rows(stage)
    z = stage.frame[stage.system.free]
    lam = np.zeros(2)
    for _ in range(30):  # Newton on the dense KKT system
        A = stage.jacobian(z, psd=False).toarray()
        K = np.block([[A, -C.toarray().T], [C.toarray(), np.zeros((2, 2))]])
        step = np.linalg.solve(K, -np.concatenate([stage.residual(z) - C.T @ lam, C @ z - d]))
        z, lam = z + step[:-2], lam + step[-2:]
    constrained = ConstrainedSolver(solver, C, d)
    solution = constrained.solve(stage, stage.frame[stage.system.free])
    assert solution.report.converged
    assert abs(solution.z - z).max() < 1e-9
    assert abs(C @ solution.z - d).max() < 1e-14
    assert constrained.multipliers(stage, solution.z) == pytest.approx(lam, rel=1e-6)


def test_redundant_rows_are_named(stage):
    C, d = rows(stage)
    twice = sp.csr_matrix(sp.vstack([C, C[1]]))
    with pytest.raises(SceneError, match="constraint row [12] depends"):
        ConstrainedSolver(Newton(), twice, np.append(d, d[1])).solve(stage, stage.frame[stage.system.free])
