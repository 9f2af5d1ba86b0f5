"""Pairs of a coarse and a fine mesh of one body, for EigenFit and DAC. [Chen2019, sec. 3.4, Table 3.1]"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.bodies import Rayleigh, Solid
from pliant.coarsen import dac_factor, fit, prolongation, softened
from pliant.maps.motions import Keyframes, Motion
from pliant.maps.pins import Pin
from pliant.mesh import Mesh
from pliant.scene import Scene
from pliant.scenes.chen_meshes import thesis_mesh
from pliant.systems.eigenfit import EigenFit
from pliant.systems.elastodynamics import Elastodynamics

H = 0.01  # s, everywhere in the chapter
BETA = 0.01  # s
UPRIGHT = {True: (1, 0), False: (2, 1)}  # axes of the armadillo (the thesis's own: True): up, from leg to leg
STANDING = ("skater", "rampant", "fert")  # upright along z
FRAMES = 30  # of shaking
SHAKE = (1.0, 0.0, 0.5)  # direction and amplitude, in units of 2 % of the body's size


@dataclass(frozen=True, eq=False)
class Pair:
    """Two meshes of one body held at the low end of its axis; with consistent masses the coarse one is the stiffer."""

    name: str
    coarse: Mesh
    fine: Mesh
    B: sp.csr_matrix  # (n_fine, n_coarse)
    material: Any  # or a function that makes it for a mesh: moduli that vary in space
    motion: Motion | None = None
    held: Callable[[Array], Any] | None = None  # which of the supported vertices stay held; all by default
    beta: float = BETA
    axes: tuple[int, int] = (0, 1)  # along which it stands on its support, and across

    def solid(self, mesh: Mesh, material: Any, *, damped: bool = True) -> Solid:
        damping = Rayleigh(beta=self.beta) if damped and self.beta else None
        pins = Pin(mesh.where(self._supported), self.motion)
        return Solid(mesh, material, density=1000.0, pins=pins, damping=damping, lumped=False)

    def body(self, mesh: Mesh, material: Any, *, damped: bool = True) -> Elastodynamics:
        return Scene([self.solid(mesh, material, damped=damped)], gravity=(0, 0, 0)).system()

    def _supported(self, X: Array) -> Any:
        axis = self.axes[0]
        low, high = self.fine.bounds[:, axis]
        chosen = X[:, axis] <= low + (0.05 + 1e-9) * (high - low)  # lattices have vertices on this plane
        return chosen if self.held is None else chosen & self.held(X)

    def made(self, mesh: Mesh) -> Any:
        return self.material(mesh) if callable(self.material) else self.material

    def truth(self) -> Elastodynamics:
        return self.body(self.fine, self.made(self.fine))

    def plain(self) -> Elastodynamics:
        return self.body(self.coarse, self.made(self.coarse))

    def dac(self) -> Elastodynamics:
        factor = dac_factor(self.plain(), self.truth())
        return self.body(self.coarse, softened(self.made(self.coarse), factor))

    def eigenfit(self, s: int = 10, **options: Any) -> EigenFit:
        """Damping beta K# replaces that of the coarse mesh."""
        coarse = self.body(self.coarse, self.made(self.coarse), damped=False)
        found = fit(coarse, self.truth(), self.B, s, on_mismatch="ignore")
        return EigenFit(coarse, found, beta=self.beta, **options)

    def twisted(self, X: Array, turns: float) -> Array:
        """X (n, 3) turned about the middle line along x: ``turns`` at the far end, none at the near one.

        Both meshes get the same displacement field.
        """
        low, high = self.fine.bounds
        x = X.copy()
        angle = 2.0 * np.pi * turns * (x[:, 0] - low[0]) / (high[0] - low[0])
        y, z = (x[:, 1:] - 0.5 * (low + high)[1:]).T
        x[:, 1] += (np.cos(angle) - 1.0) * y - np.sin(angle) * z
        x[:, 2] += np.sin(angle) * y + (np.cos(angle) - 1.0) * z
        return x

    def released(self) -> "Pair":
        """The same bodies held on one side only; fits must be made anew."""
        across = self.axes[1]
        middle = float(self.fine.X[:, across].mean())
        return replace(self, held=lambda X: X[:, across] < middle)


def pair(
    name: str,
    material: Any,
    *,
    shaken: bool = False,
    shake: tuple[float, float, float] = SHAKE,
    beta: float = BETA,
) -> Pair:
    """``name``: armadillo, arm, bar, skater, rampant or fert; ``shaken`` moves the support to and fro for 30 frames."""
    found = [thesis_mesh(f"{name}_{kind}") for kind in ("coarse", "fine")]
    coarse, fine = (f.mesh for f in found)
    axes = UPRIGHT[found[1].own] if name == "armadillo" else (2, 1) if name in STANDING else (0, 1)
    motion = None
    if shaken:
        amplitude = 0.02 * fine.size * np.asarray(shake)
        times = tuple(H * FRAMES * k / 4 for k in range(5))
        motion = Keyframes(times=times, translations=tuple(tuple(a * amplitude) for a in (0, 1, 0, -1, 0)))
    return Pair(name, coarse, fine, prolongation(coarse, fine), material, motion, beta=beta, axes=axes)


def notes(*names: str) -> list[str]:
    return [thesis_mesh(f"{n}_{kind}").note for n in names for kind in ("coarse", "fine")]


def distances(pair: Pair, coarse: list[Array], fine: list[Array]) -> Array:
    """Largest distance of a fine vertex from where the coarse mesh carries it [m], frame by frame."""
    out = []
    for c, f in zip(coarse, fine, strict=False):
        lifted = pair.B @ (c.reshape(-1, 3) - pair.coarse.X) + pair.fine.X
        out.append(float(np.linalg.norm(lifted - f.reshape(-1, 3), axis=1).max()))
    return np.array(out)
