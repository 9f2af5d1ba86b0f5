"""The scalar device functions of every material compile unchanged for CUDA, and give there what they give here.

Needs an NVIDIA GPU and numba-cuda; everywhere else there is nothing to compile for.
"""

import numpy as np
import pytest
from numba import cuda

from pliant.kernels.elements import TET
from pliant.materials import (
    ARAP,
    AnisotropicARAP,
    AnisotropicFung,
    AnisotropicStVK,
    Corotational,
    Linear,
    NeoHookean,
    StableNeoHookean,
    StableNeoHookeanLog,
    StVK,
)

pytestmark = pytest.mark.skipif(not cuda.is_available(), reason="no NVIDIA GPU here")

FIBRE = (1.0, 2.0, 0.5)
MATERIALS = [
    StableNeoHookean(1e5, 0.4),
    StableNeoHookeanLog(1e5, 0.4),
    StVK(1e5, 0.4),
    Corotational(1e5, 0.4),
    ARAP(1e5),
    NeoHookean(1e5, 0.4),
    Linear(1e5, 0.4),
    AnisotropicStVK(FIBRE, 1e5),
    AnisotropicFung(FIBRE, 1e5, 2.0),
    AnisotropicARAP(FIBRE, 1e5),
]


@pytest.mark.parametrize("material", MATERIALS, ids=lambda material: type(material).__name__)
def test_energy_and_stress_are_the_same_on_a_gpu(material):
    ((density, rows),) = material.terms()
    functions = density.functions(TET, f"{density.name}-cuda")
    psi, piola = functions.psi, functions.piola

    @cuda.jit
    def both(F, p, W, P):
        i = cuda.grid(1)
        if i < F.shape[0]:
            f = (F[i, 0], F[i, 1], F[i, 2], F[i, 3], F[i, 4], F[i, 5], F[i, 6], F[i, 7], F[i, 8])
            c = (p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7])
            W[i] = psi(f, c)
            stress = piola(f, c)
            for k in range(9):
                P[i, k] = stress[k]

    rng = np.random.default_rng(0)
    F = np.eye(3) + 0.2 * rng.standard_normal((256, 3, 3))
    p = np.zeros(8)
    p[: rows.shape[1]] = rows[0]
    W, P = np.zeros(len(F)), np.zeros((len(F), 9))
    both[len(F) // 64, 64](F.reshape(-1, 9).copy(), p, W, P)
    assert np.allclose(W, material.psi(F), rtol=1e-11, atol=1e-9)
    assert np.allclose(P.reshape(-1, 3, 3), material.piola(F), rtol=1e-10, atol=1e-7)
