"""Loads of scenes: what they do to momentum, against closed forms; derivatives are in the conformance tests."""

import numpy as np
import pytest

import pliant as pl
from pliant.errors import SceneError
from pliant.forces.surface_load import AirDrag, SurfacePressure
from pliant.scene_file import load_scene
from pliant.testing.differences import derivative

CUBE = pl.mesh.box((0.1, 0.1, 0.1), (2, 2, 2))
SOFT = pl.StableNeoHookean(1e5, 0.3)


def moved(load, mesh=CUBE, **options):
    """The momentum [kg m/s] after 0.1 s without gravity, and the last step."""
    body = pl.Solid(mesh, SOFT, density=1000.0)
    scene = pl.Scene([body], pl.BDF1(), gravity=(0, 0, 0), forces=[load], h=0.01, duration=0.1, **options)
    last = list(pl.simulate(scene))[-1]
    return np.array(last.ledger.linear), last


def test_pressure_all_around_moves_nothing_and_squeezes():
    """Momentum and angular momentum of a closed surface are kept; the cube shrinks by p/K in volume."""
    p, last = moved(pl.Pressure("1 kPa"))
    assert np.abs(p).max() < 1e-12 and np.abs(last.ledger.angular).max() < 1e-12
    rollers = [pl.Pin(CUBE.where(lambda X, k=k: X[:, k] < 1e-9), axes=(k,)) for k in range(3)]
    body = pl.Solid(CUBE, SOFT, pins=rollers)
    still = pl.Scene([body], pl.Quasistatic(), gravity=(0, 0, 0), forces=[pl.Pressure(1e3)], h=1, duration=1)
    volume = CUBE.measures().sum()
    *_, end = pl.simulate(still)
    squeezed = pl.Mesh(end.state.q.reshape(-1, 3), CUBE.T).measures().sum()
    bulk = 1e5 / (3 * (1 - 2 * 0.3))
    assert 1 - squeezed / volume == pytest.approx(1e3 / bulk, rel=0.02)


def test_pressure_on_one_side_pushes():
    top = CUBE.where(lambda X: X[:, 2] > 0.1 - 1e-9)
    p, _ = moved(pl.Pressure(100.0, vertices=top))
    assert p[2] == pytest.approx(-100.0 * 0.01 * 0.1, rel=0.02) and abs(p[0]) < 1e-3 * abs(p[2])


def test_pressure_follows_the_surface():
    """On a plate that has turned, the force is along its normal now."""
    X = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    turned = X @ np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    f = SurfacePressure(3, np.array([[0, 1, 2]]), lambda t: 6.0)
    total = f.force(turned.ravel(), np.zeros(9), 0.0).reshape(3, 3).sum(axis=0)
    assert np.allclose(total, -3.0 * np.cross(turned[1], turned[2]))
    rough = (turned + 0.1 * np.random.default_rng(0).normal(size=(3, 3))).ravel()
    exact = f.exact_stiffness(rough, np.zeros(9), 0.0).toarray()
    assert np.allclose(exact, derivative(lambda y: f.force(y, np.zeros(9), 0.0), rough, 1e-6), atol=1e-7)


def test_air_pushes_a_plate_with_half_rho_v_squared():
    X = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    wind = np.array([3.0, 0.0, 4.0])
    f = AirDrag(3, np.array([[0, 1, 2]]), 1.2, lambda t: wind)
    total = f.force(X.ravel(), np.zeros(9), 0.0).reshape(3, 3).sum(axis=0)
    assert np.allclose(total, (0, 0, 0.5 * 1.2 * 0.5 * 4.0**2))
    assert np.allclose(f.force(X.ravel(), np.tile(wind, 3), 0.0), 0.0)  # it moves with the air
    rng = np.random.default_rng(1)
    x, v = X.ravel() + 0.1 * rng.normal(size=9), rng.normal(size=9)
    assert np.allclose(
        f.exact_stiffness(x, v, 0.0).toarray(), derivative(lambda y: f.force(y, v, 0.0), x, 1e-6), atol=1e-6
    )


FILE = """
h = 0.01
duration = 0.02

[[bodies]]
mesh = { generator = "bar", size = [0.2, 0.1, 0.1], cells = [2, 1, 1] }
material = "stable-neo-hookean"
pins = [{ where = "x == min" }]

[[forces]]
kind = "pressure"
value = "1 kPa"
where = "z == max"
signal = [[0, 0], [0.01, 1]]

[[forces]]
kind = "airflow"
velocity = ["5 m/s", 0, 0]
signal = { kind = "sine", amplitude = 1.0, frequency = 2.0 }

[[forces]]
kind = "push"
times = [0]
values = [[0, 0, "1 N"]]
where = "x == max"
"""


def test_in_scene_files(tmp_path):
    (tmp_path / "scene.toml").write_text(FILE)
    run = load_scene(tmp_path / "scene.toml").scene.run(tmp_path / "run")
    assert {"work_pressure", "work_air", "work_pushes"} <= set(run.ledger)
    again = load_scene(tmp_path / "run").scene
    assert [type(load).__name__ for load in again.forces] == ["Pressure", "Airflow", "Push"]


def test_what_is_refused():
    with pytest.raises(SceneError, match="give pairs"):
        pl.Pressure(1.0, signal=((0.0, 1.0), (0.0, 2.0)))
    with pytest.raises(SceneError, match="no triangle has all its corners"):
        moved(pl.Pressure(1.0, vertices=np.array([0])))
