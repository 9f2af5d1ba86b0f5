"""Back-tracking without a merit: a saddle is left, a minimum of the residual alone is not taken for a root."""

from dataclasses import dataclass

import numpy as np
import pytest

from pliant.clock import Clock
from pliant.solvers import LineSearch
from pliant.solvers.newton import start_trial


@dataclass
class Forces:
    """r(z) of one unknown, with or without telling its potential."""

    residual_of: object
    potential_of: object = None
    scale: float = 1.0

    def residual(self, z):
        return self.residual_of(z)

    def merit(self, z):
        return None if self.potential_of is None else float(self.potential_of(z)[0])

    def norm(self, r):
        return float(np.linalg.norm(r))

    def limit(self, z, dz):
        return np.inf


def double_well(z):
    """The gradient of (z^2 - 1)^2 / 4: a saddle at 0, roots at -1 and 1."""
    return z**3 - z


def test_a_merit_sees_through_a_saddle():
    stage = Forces(double_well, lambda z: (z**2 - 1) ** 2 / 4)
    now = start_trial(stage, np.array([0.01]), Clock())
    found = LineSearch().search(stage, now, -now.r)  # curvature projected to 1: |r| grows along the way
    assert found is not None and found.norm > now.norm


def test_without_a_merit_the_forces_show_the_way_out_of_a_saddle():
    stage = Forces(double_well)
    now = start_trial(stage, np.array([0.01]), Clock())
    dz = -now.r
    assert LineSearch().search(stage, now, dz) is None
    found = LineSearch().pulled(stage, now, dz)
    assert found is not None and found.t == 1.0 and found.z[0] == pytest.approx(0.02, rel=1e-3)
    over = start_trial(stage, np.array([0.9]), Clock())
    assert LineSearch().pulled(stage, over, np.array([0.5])) is None  # beyond the root the forces push back


def test_a_step_that_the_forces_oppose_everywhere_is_refused():
    stage = Forces(lambda z: np.where(z == 0.0, -1.0, 3.0) * np.ones(1))  # a wall right at the start
    now = start_trial(stage, np.zeros(1), Clock())
    assert LineSearch().search(stage, now, np.ones(1)) is None


@dataclass
class GuidedForces(Forces):
    """Forces without a merit that know what a step costs."""

    def guide(self, z, r):
        return lambda z1: float(self.potential_of(z1)[0] - self.potential_of(z)[0])

    def merit(self, z):
        return None


@pytest.mark.parametrize("kind", [Forces, GuidedForces])
@pytest.mark.parametrize("dz", [-3.0, -2.0 + 2e-6], ids=["too far", "just as high"])
def test_a_step_beyond_the_minimum_is_halved(kind, dz):
    """z^2 / 2 from 1: a step that ends higher, or lower by less than the slope promises, is halved once."""
    stage = kind(lambda z: z, lambda z: z**2 / 2)
    now = start_trial(stage, np.ones(1), Clock())
    found = LineSearch().search(stage, now, np.array([dz]))
    assert found is not None and found.t == 0.5


def test_a_step_out_of_a_saddle_goes_on_while_it_is_pulled():
    """Along negative curvature whole steps of a matrix that is too stiff are a small part of the way to the root."""
    stage = GuidedForces(double_well, lambda z: (z**2 - 1) ** 2 / 4)
    now = start_trial(stage, np.array([0.01]), Clock())
    found = LineSearch().search(stage, now, -now.r / 30.0)
    assert found is not None and found.t > 500.0 and 0.3 < found.z[0] < 1.0
