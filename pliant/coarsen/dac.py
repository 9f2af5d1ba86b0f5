"""DAC: one factor on Young's modulus that makes the first frequency of a coarse mesh right. [Chen2019, sec. 3.2]

The tangent of every material here is linear in E, so E_c <- E_c lam_fine,1 / lam_coarse,1. Only the first mode is then
right: twist and stretch need other factors than bending, which is what EigenFit gives them.
"""

from dataclasses import replace
from typing import TypeVar

import numpy as np

from pliant.coarsen.ratios import rest_modes
from pliant.errors import MaterialError
from pliant.materials.base import OfModulus
from pliant.systems.elastodynamics import Elastodynamics

M = TypeVar("M")


def dac_factor(coarse: Elastodynamics, fine: Elastodynamics) -> float:
    """lam_fine / lam_coarse of the first elastic mode; rigid ones are passed over."""
    first = []
    for system in (coarse, fine):
        lam = rest_modes(system, min(8, len(system.free))).lam
        first.append(lam[np.abs(lam) > 1e-6 * np.abs(lam).max()][0])
    return float(first[1] / first[0])


def softened(material: M, factor: float) -> M:
    """The material with E (one value or one per element) multiplied by ``factor``."""
    if not isinstance(material, OfModulus):
        raise MaterialError(f"{type(material).__name__} has no Young's modulus", where="softened")
    return replace(material, E=material.E * factor)  # type: ignore[type-var]
