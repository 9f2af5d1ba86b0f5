"""What XPBD needs of a system: constraints, inverse masses and loads, on the CPU or on a device."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pliant.abilities import able
from pliant.arrays import Array
from pliant.budget import check_budget
from pliant.errors import SceneError
from pliant.integrators.xpbd.constraints import Batch, constraints, in_space
from pliant.integrators.xpbd.patches import PATCH
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.projected_contact import Projecting
from pliant.systems.stepped import Remote


class Model(Protocol):
    """A system for XPBD: ``inverse_mass (N,)`` [1/kg], 0 where prescribed, and constant ``load (N,)`` [N]."""

    system: Elastodynamics
    inverse_mass: Any
    load: Any

    def project(self, predicted: Any, start: Any, h: float, damping: float, times: int) -> Any:
        """Positions after ``times`` sweeps of a substep from ``start``, its multipliers starting from zero."""
        ...


@dataclass(frozen=True, eq=False)
class HostModel:
    """A system on the CPU; ``W (n, 3)`` are its inverse masses."""

    system: Elastodynamics
    batches: tuple[Batch, ...]
    W: Array
    load: Array

    @property
    def inverse_mass(self) -> Array:
        return self.W[:, : self.system.X.shape[1]].ravel()

    def project(self, predicted: Array, start: Array, h: float, damping: float, times: int) -> Array:
        d = self.system.X.shape[1]
        x, x0 = in_space(predicted.reshape(-1, d)), in_space(start.reshape(-1, d))
        multipliers = [np.zeros(batch.multipliers) for batch in self.batches]
        for _ in range(times):
            check_budget()
            for batch, lam in zip(self.batches, multipliers, strict=True):
                batch.sweep(x, x0, self.W, lam, h, damping)
        return np.ascontiguousarray(x[:, :d]).ravel()


class DeviceModel:
    """A system on a device, swept in the same order."""

    def __init__(self, system: Elastodynamics, host: HostModel) -> None:
        from pliant.cuda.device import to_device
        from pliant.cuda.sweeps import Sweeps

        self.system, self.load = system, to_device(host.load)
        W = to_device(host.W)
        self.inverse_mass, self._sweeps = W.ravel(), Sweeps(host.batches, W)

    def project(self, predicted: Any, start: Any, h: float, damping: float, times: int) -> Any:
        check_budget()
        return self._sweeps.project(predicted, start, damping / h, 1.0 / (h * h), times)


def compile_model(system: Elastodynamics, patch: int = PATCH) -> Any:
    """Constraints, inverse masses and loads of a system; refuses by name what has no constraint form."""
    if able(system, Remote):
        forces = system.host.force_terms
        if forces:
            what = f"{forces[0].name!r} acts on the velocities, which XPBD does on the CPU only"
            raise SceneError(what, where='device="cuda"', remedy='use XPBD.damping, or device="cpu"')
        return DeviceModel(system, compile_model(system.host, patch))
    if not isinstance(system, Elastodynamics):
        raise SceneError(f"{type(system).__name__} has no list of energies", where="XPBD", remedy="use elastodynamics")
    if system.contact is not None and not isinstance(system.contact, Projecting):
        remedy = "use ProjectedContact, or an integrator with stages (BDF1, BDF2, ...)"
        raise SceneError("the contact model of the scene has no constraint form", where="XPBD", remedy=remedy)
    n, d = system.X.shape
    q = system.X.ravel()
    if system.mass(q).nnz != n * d:
        raise SceneError("the mass matrix is not diagonal", where="XPBD", remedy="use lumped=True")
    inverse = np.zeros(n * d)
    inverse[system.free] = 1.0 / system.nodal_mass[system.free]
    load = np.zeros(n * d)
    batches: list[Batch] = []
    for energy in system.energy_terms:
        found = constraints(energy, system.X)
        batches += found if patch == PATCH else [batch.replanned(system.X, patch) for batch in found]
        if not found:
            load -= energy.gradient(q)
    return HostModel(system, tuple(batches), in_space(inverse.reshape(n, d)), load)
