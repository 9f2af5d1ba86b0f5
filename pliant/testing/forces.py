"""Checks of forces without a potential."""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.forces.base import Lagged, Rubbing
from pliant.testing.differences import agree, derivative, semidefinite


def check_force(
    force: Any,
    x: Array,
    v: Array,
    t: float = 0.0,
    *,
    stiffness: bool = True,
    dissipates: bool = True,
    eps: float = 1e-6,
    tolerance: float = 1e-6,
) -> None:
    """A force at (x, v, t): D = df/dv exactly and negative semidefinite, K = df/dx, v . f <= 0.

    ``stiffness=False`` for forces that say that their K is an approximation; ``dissipates=False`` for those that may
    put energy in (wind, tugs, moving obstacles).
    """
    kept = x.copy(), v.copy()
    name = f"{type(force).__name__} {force.name!r}"
    D = force.damping(x, v, t)
    agree(f"{name}: damping", D, derivative(lambda u: force.force(x, u, t), v, eps), tolerance, floor=1e-9)
    semidefinite(f"{name}: damping", D, sign=-1.0)
    if stiffness:
        K = force.stiffness(x, v, t)
        agree(f"{name}: stiffness", K, derivative(lambda y: force.force(y, v, t), x, eps), tolerance, floor=1e-9)
    f = force.force(x, v, t)
    if dissipates:
        power = float(v @ f)
        assert power <= 1e-12 * max(1.0, abs(power)), f"{name}: does positive work {power:.3g} W"
    if isinstance(force, Lagged) and force.lagged:
        slope = derivative(lambda u: force.dissipation(x, u), v, eps)
        agree(f"{name}: -dP/dv", -slope, f, tolerance, floor=1e-9)
    if isinstance(force, Rubbing):
        semidefinite(f"{name}: persistent damping", force.persistent_damping(x, v, t), sign=-1.0)
    assert np.array_equal(x, kept[0]) and np.array_equal(v, kept[1]), f"{name} changes what it is given"
