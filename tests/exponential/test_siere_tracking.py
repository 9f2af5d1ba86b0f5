"""Modes that SIERE follows through large deformations are the lowest ones of a dense eigen-solve."""

import numpy as np
import pytest
from scipy.linalg import eigh

from pliant.bodies import Solid
from pliant.integrators import SIERE
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import NeoHookean
from pliant.mesh import bar
from pliant.scene import Scene

LENGTH = 0.5  # m


def pulled(by, cells, duration):
    """A strip held at both ends; one of them moves by ``by`` lengths within ``duration`` [s]."""
    mesh = bar(size=(LENGTH, 0.1, 0.05), cells=cells)
    motion = Keyframes(times=(0.0, duration), translations=((0, 0, 0), (by * LENGTH, 0, 0)))
    near, far = mesh.where(lambda X: X[:, 0] < 1e-9), mesh.where(lambda X: X[:, 0] > LENGTH - 1e-9)
    body = Solid(mesh, NeoHookean(E=1e5, nu=0.4), pins=[Pin(near), Pin(far, motion)])
    return Scene([body], gravity=(0, 0, -1.0), duration=duration)


@pytest.mark.parametrize(
    "by, cells, s, h",
    [
        (-0.125, (10, 2, 1), 5, 0.01),  # buckles: the lowest eigenvalue passes zero
        (-0.125, (10, 2, 1), 5, 0.002),  # h^2 lam = 0.002 ... 0.01: the shift lies far below the spectrum
        (0.75, (10, 2, 1), 2, 0.01),  # stretched: tension stiffens bending, the modes change places
        (0.75, (10, 2, 1), 2, 0.002),
        (-0.25, (5, 4, 2), 2, 0.01),  # snaps into the buckled shape
    ],
    ids=["buckled", "buckled, small steps", "stretched", "stretched, small steps", "snapped"],
)
def test_followed_modes_are_the_lowest_of_a_dense_solve(by, cells, s, h):
    scene = pulled(by, cells, 0.5)
    system = scene.system()
    state, memory, steps = scene.initial(system), None, round(0.5 / h)
    M = system.restrict(system.mass(state.q))
    first = None
    for k in range(steps):
        step = SIERE(s=s).step(system, state, h, memory)
        if k % (steps // 5) == 0 or k == steps - 1:
            K = -system.restrict(system.stiffness(state.q, state.v, state.t + h))
            lam, exact = eigh(K.toarray(), M.toarray(), subset_by_index=(0, s - 1))
            U = step.memory.U[:, :s]
            assert np.linalg.norm(U.T @ (M @ exact), axis=0).min() > 0.98  # of each mode, what is captured
            found = np.sort(np.linalg.eigvalsh(U.T @ (K @ U)))
            assert np.allclose(found, lam, rtol=0.02, atol=0.01 * (first := lam if first is None else first)[-1])
            assert step.reports[0].converged
        state, memory = step.state, step.memory
    assert np.abs(lam / first - 1.0).max() > 0.25  # the spectrum did change
