"""The cubes in Newton obey the laws that the table compares by: they are the same cubes there."""

from dataclasses import replace
from math import cos, sin

import numpy as np
import pytest

from pliant.bench.contact.cubes import G, H, grip, slope
from pliant.bench.contact.cubes_newton import WAYS, motion

pytest.importorskip("newton")
VBD = WAYS[1]


def test_a_cube_stays_on_a_slope_and_slides_by_coulomb_with_less_friction():
    scene = slope()
    still, depth, _ = motion(scene, VBD, 0.2)
    assert np.abs(still[-1] - still[20]).max() < 1e-5
    assert 0.0 < depth < 1e-5
    mu = 0.2
    sliding, _, _ = motion(replace(scene, mu=mu), VBD, 0.2)
    v = (sliding[-1] - sliding[-11])[0] / (10 * H)
    a = (v - (sliding[19] - sliding[9])[0] / (10 * H)) / (20 * H)
    np.testing.assert_allclose(a[0], G * (sin(scene.tilt) - mu * cos(scene.tilt)), rtol=0.02)


def test_pads_hold_a_cube_unless_it_is_slippery():
    held, _, _ = motion(grip(), VBD, 0.1)
    assert abs(held[-1, 0, 2] - held[10, 0, 2]) < 1e-4
    lost, _, _ = motion(replace(grip(), mu=0.005), VBD, 0.1)
    assert lost[-1, 0, 2] - lost[10, 0, 2] < -5e-3
