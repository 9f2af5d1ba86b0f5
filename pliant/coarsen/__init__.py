"""Coarse meshes with fine frequencies: ratios for EigenFit, DAC, and a way to make a coarse mesh."""

from pliant.coarsen.dac import dac_factor, softened
from pliant.coarsen.decimate import Coarsened, coarsen
from pliant.coarsen.following import Following
from pliant.coarsen.ratios import fit, prolongation, rest_modes

__all__ = ["Coarsened", "Following", "coarsen", "dac_factor", "fit", "prolongation", "rest_modes", "softened"]
