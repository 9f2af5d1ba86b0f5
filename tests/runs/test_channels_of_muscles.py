"""The stress of a muscle is that of its flesh and that of its active fibres."""

import numpy as np
import pytest

from pliant.articulated import Rigid
from pliant.bodies import Solid
from pliant.integrators import BDF1, Quasistatic
from pliant.loads import Activation
from pliant.maps.pins import Pin
from pliant.materials import AnisotropicFung, StableNeoHookean
from pliant.mesh import bar, rectangle
from pliant.record.output import Output
from pliant.scene import Scene

MESH = bar((0.1, 0.02, 0.02), (4, 2, 2))
TENSION, FULL = 2e4, ((0.0, 0.0), (1.0, 1.0))


def muscle(pins, name="muscle", material=None, mesh=MESH):
    return Solid(mesh, material or StableNeoHookean(2e4, 0.45) + AnisotropicFung((1, 0, 0), 1e4), pins=pins, name=name)


def sliding(mesh=MESH):
    """Pins that hold a corner's three planes in themselves: the body may become shorter and thicker."""
    return [Pin(np.flatnonzero(mesh.X[:, a] < 1e-9), axes=(a,)) for a in range(mesh.dim)]


def values(folder, bodies, forces, integrator=None, h=0.5, duration=1.0):
    scene = Scene(bodies, integrator or Quasistatic(), forces=forces, gravity=(0, 0, 0), h=h, duration=duration)
    frames = scene.run(folder, output=Output(channels=("stress", "von_mises"))).frames
    return frames[-1].cell_values["stress"], frames[-1].cell_values["von_mises"]


def test_a_muscle_that_contracts_freely_has_no_stress(tmp_path):
    pull = Activation((1, 0, 0), TENSION, FULL, body="muscle")
    stress, mises = values(tmp_path / "load", [muscle(sliding())], [pull])
    active = StableNeoHookean(2e4, 0.45) + AnisotropicFung((1, 0, 0), 1e4, activation=1.0, tension=TENSION)
    same, _ = values(tmp_path / "material", [muscle(sliding(), material=active)], [])
    assert np.abs(stress).max() < 1e-4 * TENSION and np.abs(mises).max() < 1e-4 * TENSION
    assert np.abs(same).max() < 1e-4 * TENSION


def test_a_muscle_that_is_held_has_the_tension_of_its_fibres(tmp_path):
    """Two alike share one energy; only the second pulls, along a diagonal of x and y, beside a body of another part."""
    held = Pin(range(len(MESH.X)))
    bodies = [muscle(held, "idle"), muscle(held, "busy", mesh=MESH.transformed(translate=(0, 0.1, 0)))]
    bodies.append(Rigid(bar((0.1, 0.1, 0.1), (1, 1, 1)).transformed(translate=(1, 0, 0))))
    pull = Activation((1, 1, 0), TENSION, ((0.0, 0.5),), body="busy")
    stress, mises = values(tmp_path / "held", bodies, [pull], BDF1(), 0.01, 0.01)
    m = len(MESH.T)
    assert stress[:m] == pytest.approx(0.0, abs=1e-6 * TENSION)
    expected = 0.25 * TENSION * np.array([1, 1, 0, 1, 1, 0, 0, 0, 0])
    assert np.allclose(stress[m : 2 * m], expected, atol=1e-9 * TENSION)
    assert np.allclose(mises[m : 2 * m], 0.5 * TENSION, rtol=1e-9)
    assert np.isnan(stress[2 * m :]).all()


def test_a_planar_muscle_has_its_stress_in_the_plane(tmp_path):
    mesh = rectangle((0.1, 0.02), (4, 2))
    flat = Solid(mesh, StableNeoHookean(2e4, 0.3), pins=sliding(mesh), plane="stress", name="muscle")
    pull = Activation((1, 0, 0), TENSION, FULL, body="muscle")
    stress, _ = values(tmp_path / "flat", [flat], [pull])
    assert np.abs(stress).max() < 1e-4 * TENSION
