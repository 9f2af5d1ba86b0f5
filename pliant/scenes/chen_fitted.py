"""Chapter 3 as scenes that run: coarse meshes with the frequencies of fine ones. [Chen2019, sec. 3.4]"""

from dataclasses import replace

import numpy as np

from pliant.arrays import Array
from pliant.fitting import Fitting
from pliant.integrators import ImplicitMidpoint, LinearlyImplicit
from pliant.integrators.base import Integrator
from pliant.materials import ARAP, Linear, NeoHookean
from pliant.mesh import Mesh
from pliant.scene import Scene
from pliant.scenes.chen_coarse import H, Pair, pair


def fitted(
    pair: Pair,
    integrator: Integrator,
    s: int = 10,
    *,
    linear: bool = False,
    turns: float = 0.0,
    duration: float = 2.0,
    name: str = "fitted",
) -> Scene:
    """The coarse mesh of a pair with ``s`` frequencies of the fine one; the damping beta K# is of both.

    ``turns`` twists it at the start; ``linear`` materials keep the modes of the rest state.
    """
    fine = pair.solid(pair.fine, pair.made(pair.fine))
    fit = Fitting(fine, s, beta=pair.beta, frozen=linear, on_mismatch="ignore")
    coarse = pair.solid(pair.coarse, pair.made(pair.coarse), damped=False)
    start = pair.twisted(pair.coarse.X, turns) if turns else None
    body = replace(coarse, fit=fit, positions=start)
    return Scene([body], integrator, h=H, duration=duration, gravity=(0, 0, 0), name=name)


def twisted_block(E: float = 1e5, s: int = 10) -> Scene:
    """A block of linear material, held at one end, let go twisted; ``s`` fine frequencies. [Chen2019, Fig. 3.5]"""
    body = pair("bar", Linear(E=E, nu=0.45))
    return fitted(body, ImplicitMidpoint(), s, linear=True, turns=0.08, duration=2.9, name="twisted-block")


def shaken_armadillo(E: float = 1e6, s: int = 10) -> Scene:
    """A figure whose feet are shaken for 30 frames, on a coarse mesh with the fine frequencies. [Chen2019, Fig. 3.7]"""
    body = pair("armadillo", ARAP(E=E), shaken=True, beta=0.0)
    return fitted(body, LinearlyImplicit(), s, name="shaken-armadillo")


def mixed_arm(s: int = 10) -> Scene:
    """An arm of soft joints (20 kPa) between stiff parts (100 MPa), shaken at its shoulder. [Chen2019, Fig. 3.10]"""
    body = pair("arm", mixed, shaken=True, beta=0.0)
    return fitted(body, LinearlyImplicit(), s, name="mixed-arm")


def mixed(mesh: Mesh) -> NeoHookean:
    """From 100 MPa down to 20 kPa in three joints along x; the source shows its distribution only in a picture."""
    x = mesh.X[mesh.T].mean(axis=1)[:, 0]
    joints = np.array([-0.46, 0.0, 0.46])  # m, of an arm from -0.92 to 0.92
    soft = np.clip(1.0 - np.abs(x[:, None] - joints).min(axis=1) / 0.15, 0.0, 1.0)
    return NeoHookean(E=1e8 * (2e4 / 1e8) ** soft, nu=0.45)


def banded(soft: float, stiff: float, mesh: Mesh) -> Array:
    """Moduli [Pa] of the elements of an upright body: ``soft`` in two bands of its height, ``stiff`` between them."""
    z = mesh.X[mesh.T].mean(axis=1)[:, 2]
    low, high = mesh.bounds[:, 2]
    bands = low + np.array([0.3, 0.65]) * (high - low)
    inside = np.clip(1.0 - np.abs(z[:, None] - bands).min(axis=1) / (0.12 * (high - low)), 0.0, 1.0)
    return stiff * (soft / stiff) ** inside
