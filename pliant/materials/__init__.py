"""Materials: one energy density per file, all with the same seams."""

from pliant.materials.base import Material, Sum
from pliant.materials.stable_neo_hookean import StableNeoHookean

MATERIALS = (StableNeoHookean,)

__all__ = ["MATERIALS", "Material", "StableNeoHookean", "Sum"]
