"""Chapter 3 as scenes that run: coarse meshes with the frequencies of fine ones. [Chen2019, sec. 3.4]"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pliant.arrays import IntArray
from pliant.bodies import Solid
from pliant.coarsen import Following
from pliant.integrators import ImplicitMidpoint, LinearlyImplicit
from pliant.integrators.base import Integrator
from pliant.materials import ARAP, Linear, NeoHookean
from pliant.mesh import Mesh
from pliant.policy import read_policy, steps_of
from pliant.scenes.chen_coarse import H, Pair, pair
from pliant.state import State
from pliant.systems.eigenfit import EigenFit


@dataclass(frozen=True, eq=False)
class Fitted:
    """The coarse mesh of a pair with ``s`` frequencies of the fine one.

    ``turns`` twists it at the start; ``linear`` materials keep the modes of the rest state.
    """

    pair: Pair
    integrator: Integrator
    s: int = 10
    linear: bool = False
    turns: float = 0.0
    h: float = H
    duration: float = 2.0
    on_failure: Literal["raise", "warn", "substep"] = "raise"
    on_energy_gain: Literal["ignore", "warn", "raise"] = "ignore"
    name: str = "fitted"

    def __post_init__(self) -> None:
        read_policy(self)

    @property
    def bodies(self) -> tuple[Solid, ...]:
        return (self.pair.solid(self.pair.coarse, self.pair.made(self.pair.coarse)),)

    @property
    def steps(self) -> int:
        return steps_of(self)

    def offsets(self) -> IntArray:
        return np.array([0, len(self.pair.coarse.X)])

    def system(self) -> EigenFit:
        return self.pair.eigenfit(self.s, frozen=self.linear, rematch=not self.linear)

    def initial(self, system: Any) -> State:
        return self.pair.twisted(system, self.turns)


def twisted_block(E: float = 1e5, s: int = 10) -> Fitted:
    """A block of linear material, held at one end, let go twisted; ``s`` fine frequencies. [Chen2019, Fig. 3.5]"""
    body = pair("bar", Linear(E=E, nu=0.45))
    return Fitted(body, ImplicitMidpoint(), s, linear=True, turns=0.08, duration=2.9, name="twisted-block")


def shaken_armadillo(E: float = 1e6, s: int = 10) -> Fitted:
    """A figure whose feet are shaken for 30 frames, on a coarse mesh with the fine frequencies. [Chen2019, Fig. 3.7]"""
    body = pair("armadillo", ARAP(E=E), shaken=True, beta=0.0)
    return Fitted(body, Following(LinearlyImplicit()), s, name="shaken-armadillo")


def mixed_arm(s: int = 10) -> Fitted:
    """An arm of soft joints (20 kPa) between stiff parts (100 MPa), shaken at its shoulder. [Chen2019, Fig. 3.10]"""
    body = pair("arm", mixed, shaken=True, beta=0.0)
    return Fitted(body, Following(LinearlyImplicit()), s, name="mixed-arm")


def mixed(mesh: Mesh) -> NeoHookean:
    """From 100 MPa down to 20 kPa in three joints along x; the source shows its distribution only in a picture."""
    x = mesh.X[mesh.T].mean(axis=1)[:, 0]
    joints = np.array([-0.46, 0.0, 0.46])  # m, of an arm from -0.92 to 0.92
    soft = np.clip(1.0 - np.abs(x[:, None] - joints).min(axis=1) / 0.15, 0.0, 1.0)
    return NeoHookean(E=1e8 * (2e4 / 1e8) ** soft, nu=0.45)
