"""Scene files: the same bytes as the Python scene, refusals in one line with the place and a hint."""

import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pliant.bodies import Rayleigh, Solid
from pliant.errors import MaterialError, PliantError, SceneError, UnitError
from pliant.integrators import BDF1, BDF2, SDIRK2, ConJac
from pliant.linear import PCG
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import AnisotropicStVK, StableNeoHookean
from pliant.mesh import bar
from pliant.origin import Origin
from pliant.scene import Scene
from pliant.scene_file import describe, load_scene
from pliant.scene_file.where import select
from pliant.scenes import basic
from pliant.simulate import simulate
from pliant.solvers import QLB, QLF, HybridL1, Newton, Tolerance

BAR = 'generator = "bar", size = ["30 cm", 0.1, 0.1], cells = [3, 1, 1]'
FULL = """
name = "two bars"
h = "10 ms"
duration = 0.05
gravity = [0, 0, "-9.81 m/s^2"]
on_failure = "substep"

[integrator]
kind = "bdf2"
solver = { kind = "newton", tolerance = { relative = 1e-8 }, linear = { kind = "pcg", tolerance = 1e-6 } }

[output]
every = 2
channels = ["velocity", "von_mises"]

[[bodies]]
mesh = { generator = "bar", size = ["30 cm", 0.1, 0.1], cells = [3, 1, 1] }
material = { kind = "stable-neo-hookean", E = "50 kPa", nu = 0.4 }
density = "1.1 g/cm^3"
damping = { kind = "rayleigh", beta = 1e-3 }

[[bodies.pins]]
where = "x < 1 mm"

[[bodies.pins]]
where = "x == max and z > 5 cm"
motion = { kind = "shake", amplitude = [0, 0.01, 0], frequency = 2.0 }

[[bodies]]
name = "second"
mesh = { generator = "bar", size = [0.2, 0.1, 0.1], cells = [2, 1, 1] }
transform = { translate = [0, 0, "50 cm"], rotate = [0, 0, "90 deg"] }
material = [{ kind = "stvk", E = 1e4, nu = 0.3 }, { kind = "anisotropic-stvk", direction = [1, 0, 0], E = 1e4 }]
mass = "250 g"
velocity = [1.0, 0, 0]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "my.toml"
    path.write_text(textwrap.dedent(text))
    return path


def final(scene):
    state = list(simulate(scene))[-1].state
    return state.q.tobytes() + state.v.tobytes()


def test_a_scene_file_says_all_of_it(tmp_path):
    loaded = load_scene(write(tmp_path, FULL))
    scene = loaded.scene
    assert scene.h == 0.01 and scene.steps == 5 and scene.on_failure == "substep"
    expected = BDF2(Newton(tolerance=Tolerance(1e-8), linear=PCG(tolerance=1e-6)))
    assert scene.integrator == expected
    first, second = scene.bodies
    assert first.density == pytest.approx(1100) and first.material.E == 5e4
    assert len(first.pins[0].vertices) == 4 and len(first.pins[1].vertices) == 2
    assert second.masses().sum() == pytest.approx(0.25)
    np.testing.assert_allclose(second.mesh.bounds, [[-0.1, 0.0, 0.5], [0.0, 0.2, 0.6]], atol=1e-12)
    assert len(second.material.materials) == 2
    assert loaded.output.every == 2 and loaded.output.channels == ("velocity", "von_mises")
    assert final(scene)


@pytest.mark.parametrize("name", ["cantilever", "bar-twist", "swinging-bar", "falling-ball", "net", "spring-chain"])
def test_built_in_scenes_written_as_toml_give_the_same_bytes(tmp_path, name):
    size = {"spring-chain": "links=3", "falling-ball": "cells=2"}.get(name, "cells=1")
    scene = load_scene(name, [f"parameters.{size}"]).scene
    scene = replace(scene, duration=3 * scene.h)
    Origin(*describe(scene)).write(tmp_path)
    assert final(load_scene(tmp_path / "scene.toml").scene) == final(scene)


def test_everything_that_differs_from_a_default_is_written(tmp_path):
    mesh = bar(cells=(2, 1, 1))
    per_element = np.linspace(1e4, 2e4, len(mesh.T))
    script = Keyframes((0.0, 1.0), ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0)))
    material = StableNeoHookean(per_element, 0.3) + AnisotropicStVK((1.0, 0.0, 0.0), E=500.0)
    body = Solid(mesh, material, density=per_element / 10, lumped=False, pins=Pin(np.array([0, 3]), script, (0, 2)))
    method = SDIRK2(QLB(m=3, tolerance=Tolerance(1e-9, 1e-12)))
    scene = Scene([body, replace(body, damping=Rayleigh(0.1), name="b")], method, h=1e-3, duration=2e-3)
    Origin(*describe(scene)).write(tmp_path)
    back = load_scene(tmp_path).scene
    assert back.integrator == method
    np.testing.assert_array_equal(back.bodies[0].material.materials[0].E, per_element)
    assert final(back) == final(scene)


@pytest.mark.parametrize("method", [BDF2(QLF()), BDF1(HybridL1(worth=None)), ConJac(count=2, gamma=None)])
def test_none_is_a_value_too(tmp_path, method):
    mesh = bar(cells=(2, 1, 1))
    scene = Scene([Solid(mesh, StableNeoHookean(1e4, 0.3), pins=Pin(np.array([0, 1, 2])))], method, duration=2e-2)
    Origin(*describe(scene)).write(tmp_path)
    assert repr(load_scene(tmp_path).scene.integrator) == repr(method)
    assert load_scene("cantilever", ["integrator.solver=qlb", "integrator.solver.refresh=none"]).scene.integrator == (
        BDF2(QLB(refresh=None))
    )
    with pytest.raises(SceneError, match="'none' is not a whole number"):
        load_scene("cantilever", ["integrator.solver=qlb", "integrator.solver.m=none"])


def test_a_python_file_is_a_scene_too(tmp_path):
    path = tmp_path / "my.py"
    path.write_text("from pliant.scenes.basic import net\ndef scene(cells=2):\n    return net(cells)\nother = net(3)\n")
    assert len(load_scene(path, ["parameters.cells=4"]).scene.bodies[0].mesh.X) == 25
    loaded = load_scene(path, ["h=0.02"])
    assert loaded.scene.h == 0.02
    loaded.origin.write(tmp_path / "copy")
    assert final(replace(load_scene(tmp_path / "copy").scene, duration=0.04)) == final(
        replace(loaded.scene, duration=0.04)
    )
    path.write_text("import nothing_like_this\n")
    with pytest.raises(SceneError, match="ModuleNotFoundError"):
        load_scene(path)
    path.write_text("x = 1\n")
    with pytest.raises(SceneError, match="defines no 'scene'"):
        load_scene(path)


def test_settings_change_any_part():
    scene = load_scene("cantilever", ["parameters.cells=1", "material.E=1 MPa", "integrator=bdf1"]).scene
    assert scene.bodies[0].material.E == 1e6 and scene.integrator == BDF1()
    scene = load_scene("cantilever", ["integrator.solver=qlb", "integrator.solver.m=4", "h=5 ms"]).scene
    assert scene.integrator == BDF2(QLB(m=4)) and scene.h == 0.005
    assert load_scene("cantilever", ["bodies.0.density=2 g/cm^3"]).scene.bodies[0].density == 2000.0
    assert load_scene("net", ["integrator.solver.max_iterations=7"]).scene.integrator == BDF1(Newton(max_iterations=7))


REFUSED = {
    "unknown key": ("gravty = [0, 0, 0]\n" + FULL, SceneError, ["gravty", "gravity"]),
    "unknown key in a body": (FULL.replace("density", "densty", 1), SceneError, ["bodies.0", "densty", "density"]),
    "type for kind": ('[[bodies]]\ntype = "articulated"\nurdf = "a.urdf"\n', SceneError, ["bodies.0.type", "'kind'"]),
    "transform in a mesh": (FULL.replace(BAR, BAR + ", scale = 2.0", 1), SceneError, ["mesh.scale", "beside"]),
    "unknown key in a pin": (FULL.replace("where", "were", 1), SceneError, ["bodies.0.pins.0", "were", "where"]),
    "unknown solver": (FULL.replace('"newton"', '"newtn"'), SceneError, ["integrator.solver", "newtn", "newton"]),
    "unknown parameter": (FULL.replace("relative", "relatve"), SceneError, ["tolerance", "relatve", "relative"]),
    "unknown material": (FULL.replace("stvk", "stvkk", 1), SceneError, ["bodies.1.material", "stvkk", "stvk"]),
    "unknown generator": (FULL.replace('"bar"', '"barr"', 1), SceneError, ["bodies.0.mesh", "barr", "bar"]),
    "unknown channel": (FULL.replace("von_mises", "vonmises"), SceneError, ["vonmises", "von_mises"]),
    "wrong unit": (FULL.replace("50 kPa", "50 kg"), UnitError, ["bodies.0.material", "50 kg", "Pa"]),
    "wrong value": (FULL.replace("nu = 0.4", "nu = 0.6"), MaterialError, ["bodies.0.material", "nu = 0.6"]),
    "wrong type": (FULL.replace("every = 2", 'every = "two"'), SceneError, ["output.every", "two"]),
    "wrong choice": (FULL.replace('"substep"', '"explode"'), SceneError, ["on_failure", "explode"]),
    "both": (FULL.replace("velocity = [1.0", "density = 3.0\nvelocity = [1.0"), SceneError, ["bodies.1", "both"]),
    "no vertex": (FULL.replace("x < 1 mm", "x < -1 m"), SceneError, ["bodies.0.pins.0.where", "no vertex", "x from 0"]),
    "no TOML": ("h = = 3", SceneError, ["TOML"]),
    "missing bodies": ("h = 0.1", SceneError, ["bodies", "missing"]),
    "negative step": (FULL.replace('"10 ms"', "-1"), SceneError, ["h is -1"]),
    "missing file": (FULL.replace(BAR, 'file = "no.msh"'), PliantError, ["bodies.0.mesh", "no.msh"]),
    "material for springs": (FULL.replace('name = "second"', 'kind = "springs"'), SceneError, ["bodies.1", "springs"]),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_refused_in_one_line_with_its_place(tmp_path, case):
    text, kind, words = REFUSED[case]
    with pytest.raises(kind) as error:
        load_scene(write(tmp_path, text))
    said = str(error.value)
    assert "\n" not in said and all(word in said for word in words), said


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("x < 0.5", lambda X: X[:, 0] < 0.5),
        ("x == min or y == max", lambda X: (X[:, 0] == 0.0) | (X[:, 1] == 1.0)),
        ("x >= 25 cm and x <= 75 cm", lambda X: (X[:, 0] >= 0.25) & (X[:, 0] <= 0.75)),
        ("not (x > 0.1 or z > 0.1)", lambda X: ~((X[:, 0] > 0.1) | (X[:, 2] > 0.1))),
        ("x > 0.1 and y > 0.1 or z > 0.9", lambda X: (X[:, 0] > 0.1) & (X[:, 1] > 0.1) | (X[:, 2] > 0.9)),
        ("all", lambda X: X[:, 0] > -1),
    ],
)
def test_sentences_choose_vertices(sentence, expected):
    X = bar(size=(1.0, 1.0, 1.0), cells=(4, 4, 4)).X
    np.testing.assert_array_equal(select(sentence, X), expected(X))


@pytest.mark.parametrize(
    "sentence",
    ["", "x", "x <", "< 3", "w < 1", "x < 1 kg", "x < 1 and", "(x < 1", "x < 1)", "x < 1 y < 2", "__import__('os')",
     "x < 1; y < 2", "(" * 99 + "x < 1" + ")" * 99, "x < nan"],
)  # fmt: skip
def test_other_sentences_are_refused(sentence):
    with pytest.raises(PliantError):
        select(sentence, bar(cells=(1, 1, 1)).X)


def test_paper_scenes_are_found_by_name():
    from pliant.scenes import built_in, find

    names = built_in()
    assert "qlb/bar" in names and "cantilever" in names
    assert names["cantilever"] is basic.cantilever and find("cantilever") is basic.cantilever
    assert find("qlb/bar") is names["qlb/bar"] and find("nothing/here") is None


@pytest.mark.parametrize("name", ["linearly-implicit", "bdf1", "bdf2", "trbdf2", "rk4", "rk45", "bisp"])
def test_joint_integrators_have_names(name):
    scene = load_scene("redmax/3", [f"integrator={name}", "duration=0.02"]).scene
    swung = list(simulate(scene))
    assert all(s.report.verdict != "failed" for s in swung)
    assert type(scene.integrator).__name__.lower() == name.replace("-", "")


@pytest.mark.parametrize(
    ("source", "integrator", "hint"),
    [
        ("redmax/3", "quasistatic", "BDF2"),
        ("eol/lo-res", "bdf1", "LinearlyImplicit"),
        ("muscle/muscle", "conjac", "LinearlyImplicit"),
        ("bar-twist", "bisp", "BDF2"),
    ],
)
def test_an_integrator_for_another_kind_of_system_is_refused(source, integrator, hint):
    with pytest.raises(SceneError, match=f"does not step .*{hint}") as refused:
        load_scene(source, [f"integrator={integrator}"])
    assert "scene.integrator" in refused.value.where


@pytest.mark.parametrize("source", ["cantilever", "redmax/3", "eol/lo-res", "muscle/muscle", "conjac/barcut"])
@pytest.mark.parametrize("setting", ["h=-1", "h=0", "h=nan", "duration=0", "duration=-2", "h=[1,2]"])
def test_every_kind_of_scene_wants_positive_times(source, setting):
    with pytest.raises(PliantError, match=rf"{setting.split('=')[0]}.*; "):
        load_scene(source, [setting])


def test_times_of_every_kind_of_scene_may_have_units():
    for source in ("redmax/3", "eol/lo-res", "muscle/muscle"):
        scene = load_scene(source, ["h=2 ms", "duration=10 ms"]).scene
        assert scene.h == 2e-3 and scene.steps == 5
    with pytest.raises(SceneError, match="less than half a step.*reduce h"):
        load_scene("redmax/3", ["duration=1e-9"])


def test_parameters_of_choices_take_units_in_files_too(tmp_path):
    """As they do in Python; None is still "none"."""
    text = """
    h = "10 ms"
    duration = "20 ms"
    contact = { kind = "penalty-contact", k = "1 kN/m", creep = "1 mm/s", smoothing = "none" }
    obstacles = [{ kind = "sphere", center = [0, 0, "-60 cm"], radius = "50 cm" }]
    [[bodies]]
    mesh = { generator = "bar", size = [0.3, 0.1, 0.1], cells = [3, 1, 1] }
    material = { kind = "stable-neo-hookean", E = "100 kPa", nu = 0.4 }
    damping = { kind = "rayleigh", beta = "2 ms" }
    [[bodies.pins]]
    where = "x < 1 mm"
    motion = { kind = "shake", amplitude = [0, 0, "3 cm"], frequency = "2 Hz" }
    """
    path = tmp_path / "units.toml"
    path.write_text(textwrap.dedent(text))
    scene = load_scene(path).scene
    assert scene.contact.k == 1e3 and scene.contact.creep == 1e-3 and scene.contact.smoothing is None
    assert scene.obstacles[0].radius == 0.5 and scene.bodies[0].damping.beta == 2e-3
    assert scene.bodies[0].pins[0].motion.frequency == 2.0
    path.write_text(textwrap.dedent(text).replace('"2 ms" }', '"2 kg" }'))
    with pytest.raises(UnitError, match="beta"):
        load_scene(path)


def test_a_function_that_fails_is_one_line(tmp_path):
    (tmp_path / "broken.py").write_text("def scene():\n    return 1 / 0\n")
    with pytest.raises(SceneError, match=r"scene\(\) failed: ZeroDivisionError: division by zero; -v shows where"):
        load_scene(tmp_path / "broken.py")


def test_a_solver_made_in_python_is_called_so(tmp_path):
    class Loud(Newton):
        pass

    mesh = bar(size=(0.3, 0.1, 0.1), cells=(1, 1, 1))
    scene = Scene([Solid(mesh, StableNeoHookean(1e5, 0.3))], integrator=BDF1(Loud()), duration=0.02)
    scene.run(tmp_path / "run")
    assert "made_in_python" in (tmp_path / "run" / "scene.toml").read_text()
