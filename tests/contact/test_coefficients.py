"""Coefficients of friction by pairs, in Python and in files."""

import numpy as np
import pytest

from pliant.bodies import Solid
from pliant.contact.coefficients import Coefficients
from pliant.contact.obstacles import Plane
from pliant.errors import PliantError
from pliant.integrators import BDF1, LinearlyImplicit
from pliant.materials import StableNeoHookean
from pliant.mesh import box
from pliant.scene import Scene
from pliant.scene_file import load_scene
from pliant.simulate import simulate
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact

MATERIAL = StableNeoHookean(1e5, 0.4)
TABLE = {"pad, block": 0.9, "floor": 0.5, "default": 0.2}


def two(contact, method=None, **options):
    cube = box(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
    bodies = [
        Solid(cube.transformed(translate=(0, 0, 1e-3)), MATERIAL, name="pad"),
        Solid(cube.transformed(translate=(0, 0, 0.103)), MATERIAL, name="block", **options),
    ]
    return Scene(
        bodies, contact=contact, obstacles=[Plane(name="floor")], integrator=method or BDF1(), h=5e-3, duration=0.1
    )


def test_pairs_and_names_and_the_rest():
    scene = two(PenaltyContact(mu=TABLE))
    table = Coefficients(TABLE, 0.3, scene.system().contact.setting, "mu").table
    assert np.array_equal(table, [[0.0, 0.9, 0.5], [0.9, 0.0, 0.5], [0.5, 0.5, 0.5]])
    table = Coefficients({"pad, block": 0.9}, 0.3, scene.system().contact.setting, "mu").table
    assert np.array_equal(table[2], [0.3] * 3)


def test_a_star_stands_for_a_group():
    setting = two(PenaltyContact()).system().contact.setting
    table = Coefficients({"*": 0.4, "b*, f*": 0.7}, 0.3, setting, "mu").table
    assert np.array_equal(table, [[0.0, 0.4, 0.4], [0.4, 0.0, 0.7], [0.4, 0.7, 0.4]])
    with pytest.raises(PliantError, match="nothing is called 'x\\*'"):
        Coefficients({"x*": 0.4}, 0.3, setting, "mu")


@pytest.mark.parametrize("kind", [PenaltyContact, BarrierContact, RowContact])
@pytest.mark.parametrize(
    "mu, words", [({"pad, blok": 0.9}, "did you mean 'block'"), ({"pad, block": -1}, ">= 0"), ("0.3 m", "expected 1")]
)
def test_what_is_wrong_is_named(kind, mu, words):
    method = LinearlyImplicit() if kind is RowContact else BDF1()
    with pytest.raises(PliantError, match=words):
        two(kind(mu=mu), method).system()


def test_one_mu_rubs_between_bodies_and_a_pair_may_not():
    """A block that hops along on another one is slowed, by mu g at most, unless their pair is said to be smooth."""
    slowed = []
    for mu in (0.3, {"pad, block": 0.0}):
        last = list(simulate(two(PenaltyContact(mu=mu), velocity=(1.0, 0.0, 0.0))))[-1]
        slowed.append(1.0 - last.state.v.reshape(2, -1, 3)[1, :, 0].mean())
    assert 0.1 < slowed[0] < 0.3 * 9.81 * 0.1 and abs(slowed[1]) < 0.05  # normals of what is dented


def test_tables_survive_a_file(tmp_path):
    path = tmp_path / "scene.toml"
    path.write_text(
        'h = 0.01\nduration = 0.1\n[contact]\nkind = "penalty-contact"\nmu = { "pad, block" = 0.9, default = "0.2" }\n'
        '[[bodies]]\nname = "pad"\nmesh = { generator = "bar", size = [0.1, 0.1, 0.1], cells = [1, 1, 1] }\n'
        'material = { kind = "stable-neo-hookean", E = 1e5, nu = 0.4 }\n'
    )
    loaded = load_scene(path)
    assert loaded.scene.contact.mu == {"pad, block": 0.9, "default": 0.2}
