"""A scene on coarse meshes that vibrates with the frequencies of the same scene on fine ones. [Chen2019, ch. 3]"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from pliant.bodies import read_out
from pliant.coarsen import fit, prolongation
from pliant.errors import SceneError
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.eigenfit import EigenFit, Fit


@dataclass(frozen=True, eq=False)
class FittedScene:
    """``scene`` with the ``s`` lowest frequencies of ``fine``: the same bodies on fine meshes, held in the same places.

    The fine scene is never run; its modes at rest are found once. Damping belongs to the coarse bodies as given;
    ``alpha`` and ``beta`` add alpha M + beta K#, of the corrected stiffness. Runs and records like the coarse scene.
    """

    scene: Scene
    fine: Scene
    s: int = 10
    alpha: float = 0.0
    beta: float = 0.0

    name, h, steps = read_out("scene.name"), read_out("scene.h"), read_out("scene.steps")
    integrator, bodies, offsets = read_out("scene.integrator"), read_out("scene.bodies"), read_out("scene.offsets")
    on_failure, on_energy_gain = read_out("scene.on_failure"), read_out("scene.on_energy_gain")

    def __post_init__(self) -> None:
        if len(self.scene.bodies) != len(self.fine.bodies):
            what = f"{len(self.scene.bodies)} coarse bodies and {len(self.fine.bodies)} fine ones"
            raise SceneError(what, where="FittedScene.fine", remedy="make both scenes by one function of the mesh")

    @cached_property
    def fit(self) -> Fit:
        """Ratios of the frequencies at rest, fine to coarse, squared."""
        meshes = zip(self.scene.bodies, self.fine.bodies, strict=True)
        B = sp.block_diag([prolongation(coarse.mesh, fine.mesh) for coarse, fine in meshes], format="csr")
        return fit(self.scene.system(), self.fine.system(), B, self.s)

    def system(self) -> EigenFit:
        return EigenFit(self.scene.system(), self.fit, alpha=self.alpha, beta=self.beta, rematch=True)

    def initial(self, system: EigenFit) -> State:
        return self.scene.initial(system.inner)

    def run(self, folder: str | Path, **options: Any) -> Any:
        """Simulate and record into ``folder``."""
        from pliant.record import record

        return record(self, folder, **options)
