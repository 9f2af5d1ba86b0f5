"""The same force in another form: explicit instead of implicit, reduced instead of maximal."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pliant.arrays import IntArray
from pliant.articulated.forces.base import ArticulatedForce, Settling, joined_links
from pliant.articulated.loads import Loads
from pliant.articulated.quirks import Quirks
from pliant.articulated.tree import Kinematics, Tree


@dataclass(frozen=True)
class Form:
    """What the forms have in common: everything but how they add the ``inner`` force to the loads."""

    inner: ArticulatedForce

    def bind(self, tree: Tree) -> Self:
        return replace(self, inner=self.inner.bind(tree))

    def at(self, kin: Kinematics) -> Self:
        return replace(self, inner=settled(self.inner, kin))

    def joins(self) -> IntArray | None:
        return joined_links(self.inner)

    def potential(self, kin: Kinematics, t: float, quirks: Quirks) -> float:
        return self.inner.potential(kin, t, quirks)


@dataclass(frozen=True)
class Explicit(Form):
    """A force treated explicitly: its value, damping included, without its derivatives."""

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        own = Loads(kin, loads.quirks)
        self.inner.add(own, kin, t)
        maximal, reduced = own.damping_force(kin)
        loads.f += own.f + maximal
        loads.f_r += own.f_r + reduced


@dataclass(frozen=True)
class Reduced(Form):
    """A maximal force projected by the Jacobian: f_r = J^T f, K_r = J^T K J, D_r = J^T D J (dense: small systems)."""

    def add(self, loads: Loads, kin: Kinematics, t: float) -> None:
        own = Loads(kin, loads.quirks)
        self.inner.add(own, kin, t)
        J = np.stack([kin.apply(e).ravel() for e in np.eye(kin.tree.dof)], axis=1)
        every = np.arange(kin.tree.dof)
        loads.f_r += own.f_r + kin.apply_transpose(own.f)
        loads.reduced_stiffness(every, own.K_r() + J.T @ own.K.total().dense() @ J)
        loads.reduced_damping(every, own.D_r() + J.T @ own.D.total().dense() @ J)


def settled(force: ArticulatedForce, kin: Kinematics) -> ArticulatedForce:
    """The force with lengths that depend on the initial configuration filled in."""
    return force.at(kin) if isinstance(force, Settling) else force
