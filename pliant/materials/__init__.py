"""Materials: one energy density per file, all with the same interface; add them with ``+``."""

from pliant.materials.anisotropic_arap import AnisotropicARAP
from pliant.materials.anisotropic_fung import AnisotropicFung
from pliant.materials.anisotropic_stvk import AnisotropicStVK
from pliant.materials.arap import ARAP
from pliant.materials.base import Material, Sum
from pliant.materials.corotational import Corotational
from pliant.materials.from_energy import FromEnergy
from pliant.materials.linear import Linear
from pliant.materials.neo_hookean import NeoHookean
from pliant.materials.presets import preset, presets
from pliant.materials.stable_neo_hookean import StableNeoHookean
from pliant.materials.stable_neo_hookean_log import StableNeoHookeanLog
from pliant.materials.stvk import StVK

MATERIALS = (
    StableNeoHookean,
    StableNeoHookeanLog,
    StVK,
    Corotational,
    ARAP,
    NeoHookean,
    Linear,
    AnisotropicStVK,
    AnisotropicFung,
    AnisotropicARAP,
    FromEnergy,
)

__all__ = [*(material.__name__ for material in MATERIALS), "MATERIALS", "Material", "Sum", "preset", "presets"]
