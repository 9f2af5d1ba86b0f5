"""What a system on the device leaves to the host, and what it refuses."""

from typing import Any

from pliant.cuda.device import to_device, to_host
from pliant.energies.elastic import Elastic
from pliant.errors import SceneError
from pliant.forces.base import Lagged
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.penalty_contact import PenaltyModel


class OnHost:
    """An energy that is evaluated on the host, for coordinates on the device."""

    def __init__(self, energy: Any) -> None:
        self.name, self.host = energy.name, energy

    def value(self, x: Any) -> float:
        return float(self.host.value(to_host(x)))

    def gradient(self, x: Any) -> Any:
        return to_device(self.host.gradient(to_host(x)))


class ForceOnHost:
    """A force that is evaluated on the host."""

    def __init__(self, force: Any) -> None:
        self.name, self.host = force.name, force
        self.lagged = isinstance(force, Lagged) and force.lagged

    def dissipation(self, q: Any, v: Any) -> float:
        return float(self.host.dissipation(to_host(q), to_host(v)))

    def force(self, q: Any, v: Any, t: float) -> Any:
        return to_device(self.host.force(to_host(q), to_host(v), t))


def require_able(host: Elastodynamics) -> None:
    """Refuse by name what the device has no kernels for, and what would not be right there."""
    remedy = 'use device="cpu"'
    if host.X.shape[1] != 3:
        raise SceneError("planar bodies", where='device="cuda"', remedy=remedy)
    if not host.lumped:
        raise SceneError("a consistent mass matrix", where='device="cuda"', remedy="use lumped=True")
    for energy in host.energy_terms:
        if isinstance(energy, Elastic) and not energy.material.allows_inversion:
            what = f"{energy.name!r}: {type(energy.material).__name__} forbids inversion, which is not checked there"
            raise SceneError(what, where='device="cuda"', remedy="use StableNeoHookean")
    if host.contact is not None and not isinstance(host.contact, PenaltyModel):
        what = "contact other than penalties (barriers, projections, rows) is for the CPU only"
        raise SceneError(what, where='device="cuda"', remedy='use PenaltyContact, or device="cpu"')
