"""The device agrees with the CPU, on a real GPU: every material, springs, membranes, and whole runs."""

import pytest
from numba import cuda
from simulated import agree, contacts, evaluations, runs

from pliant.cuda.device import SIMULATED
from pliant.materials import (
    ARAP,
    AnisotropicARAP,
    AnisotropicFung,
    AnisotropicStVK,
    Corotational,
    Linear,
    StableNeoHookean,
    StableNeoHookeanLog,
    StVK,
)

pytestmark = pytest.mark.skipif(SIMULATED or not cuda.is_available(), reason="no NVIDIA GPU here")

FIBRE = (1.0, 2.0, 0.5)
MATERIALS = [
    StableNeoHookean(1e5, 0.4),
    StableNeoHookeanLog(1e5, 0.4),
    StVK(1e5, 0.4),
    Corotational(1e5, 0.4),
    ARAP(1e5),
    Linear(1e5, 0.4),
    ARAP(1e5) + AnisotropicStVK(FIBRE, 1e5),
    ARAP(1e5) + AnisotropicFung(FIBRE, 1e5, 2.0),
    ARAP(1e5) + AnisotropicARAP(FIBRE, 1e5),
]


def test_every_material_agrees_to_rounding():
    materials = {f"{k} {type(material).__name__}": material for k, material in enumerate(MATERIALS)}
    for body, found in evaluations(materials).items():
        assert found.pop("solve", 0.0) < 1e-5, body
        assert max(found.values()) < 1e-10, (body, found)


def test_contact_agrees_to_rounding():
    for name, found in contacts().items():
        agree(name, found, 1e-10)


def test_runs_agree_with_the_cpu():
    for name, found in runs().items():
        assert found["positions"] < 2e-9 and found["energies"] < 1e-6, (name, found)
        assert found["verdicts"][0] == found["verdicts"][1] and found["resumed"], (name, found)
