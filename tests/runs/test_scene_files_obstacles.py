"""Mesh obstacles that scene files script: one that moves as a whole, and one that deforms, each lift a soft cube."""

import textwrap

import numpy as np
import pytest

import pliant as pl
from pliant.errors import PliantError
from pliant.scene_file import load_scene

CUBE = """
h = 0.01
duration = 0.6
integrator = "bdf1"
contact = { kind = "penalty-contact", mu = 0.5 }

[[bodies]]
name = "cube"
mesh = { generator = "bar", size = [0.1, 0.1, 0.1], cells = [2, 2, 2] }
transform = { translate = [0.15, 0.05, 0.001] }
material = { kind = "stable-neo-hookean", E = "200 kPa", nu = 0.4 }
"""
RISING = '{ kind = "keyframes", times = [0.1, 0.4], translations = [[0, 0, 0], [0, 0, "5 cm"]] }'
MOVING = f"""{CUBE}
[[obstacles]]
kind = "triangle-obstacle"
name = "table"
mesh = {{ generator = "bar", size = [0.4, 0.2, 0.05], cells = [2, 1, 1] }}
transform = {{ translate = [0, 0, -0.05] }}
motion = {RISING}
"""
DEFORMING = f"""{CUBE}
[[bodies]]
kind = "membrane"
name = "table"
mesh = {{ generator = "sheet", size = [0.4, 0.2], cells = [4, 2] }}
material = {{ kind = "stable-neo-hookean", E = "1 MPa", nu = 0.3 }}
thickness = "1 mm"
pins = [{{ where = "x == min" }}, {{ where = "x > min", motion = {RISING} }}]
"""


def run(folder, text):
    path = folder / "my.toml"
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    scene = load_scene(path).scene
    return scene, list(pl.simulate(scene))


@pytest.mark.parametrize("text", [MOVING, DEFORMING], ids=["moving", "deforming"])
def test_a_scripted_mesh_lifts_what_lies_on_it(tmp_path, text):
    scene, steps = run(tmp_path, text)
    cube = slice(0, len(scene.bodies[0].mesh.X))
    heights = [step.system.positions(step.state.q)[cube, 2].mean() for step in steps]
    settled = heights[8]  # before the script begins
    assert heights[-1] - settled == pytest.approx(0.05, abs=2e-3)
    weight = 1000.0 * 0.1**3 * 9.81
    lifting = sum(step.ledger.work["scripts"] for step in steps[9:])
    table = 0.0 if text is MOVING else sum(step.ledger.energies["table"] for step in steps[-1:])
    assert lifting - table == pytest.approx(0.05 * weight, rel=0.25)  # the rest is lost to the integrator
    assert all(step.report.converged for step in steps)


def test_the_script_of_a_deforming_mesh_is_followed_exactly(tmp_path):
    scene, steps = run(tmp_path, DEFORMING)
    X, first = scene.bodies[1].mesh.X, len(scene.bodies[0].mesh.X)
    for step in steps[::10]:
        z = step.system.positions(step.state.q)[first:, 2]
        rise = 0.05 * np.clip((step.state.t - 0.1) / 0.3, 0.0, 1.0)
        assert np.allclose(z, np.where(X[:, 0] < 1e-9, 0.0, rise), atol=1e-12)


def test_a_mesh_that_is_not_closed_is_refused_as_an_obstacle(tmp_path):
    sheet = MOVING.replace('generator = "bar", size = [0.4, 0.2, 0.05], cells = [2, 1, 1]',
                           'generator = "sheet", size = [0.4, 0.2], cells = [2, 1]')  # fmt: skip
    with pytest.raises(PliantError, match=r"obstacles.0.*table"):
        run(tmp_path, sheet)
