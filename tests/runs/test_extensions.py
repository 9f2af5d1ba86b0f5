"""Parts of a user's own by name: in scene files, on the command line, after a restart, in fresh processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.cli.app import app
from pliant.errors import PliantError, RunError, SceneError
from pliant.scene_file import choices, load_scene

LAW = '''
import pliant as pl

@pl.register("material")
def gent(mu: pl.Parameter = 3e4, limit: pl.Parameter = 30.0, kappa: pl.Parameter = 1e5) -> pl.FromEnergy:
    """Rubber that cannot be stretched without end."""
    psi = "-mu*limit/2*log(1 - (I1 - 3)/limit) - mu*log(J) + kappa/2*(J - 1)**2"
    return pl.FromEnergy(psi, {"mu": mu, "limit": limit, "kappa": kappa})
'''
SCENE = """
h = 0.01
duration = 0.06
extensions = ["gent.py"]
integrator = "bdf1"

[[bodies]]
mesh = { generator = "bar", size = [0.2, 0.1, 0.1], cells = [2, 1, 1] }
material = { kind = "gent", mu = "20 kPa" }
pins = [{ where = "x == min" }]
"""
BY_HAND = """
import sys
from dataclasses import dataclass
from typing import ClassVar
import pliant as pl
from pliant.kernels.device import cofactor, combine, det, device, norm2
from pliant.kernels.isotropic import isotropic
from pliant.kernels.specialise import Density
from pliant.materials import base

@device
def psi(F, p):
    return 0.5 * p[0] * (norm2(F) - 3.0 + (det(F) - 2.0) ** 2 - 1.0)

@device
def piola(F, p):
    return combine(p[0], F, p[0] * (det(F) - 2.0), cofactor(F))

@device
def spectral(s0, s1, s2, p):
    J, mu = s0 * s1 * s2, p[0]
    c, k = mu * (J - 2.0), mu * (2.0 * J - 2.0)
    Z = mu + mu * (s1 * s2) ** 2, k * s2, k * s1, mu + mu * (s0 * s2) ** 2, k * s0, mu + mu * (s0 * s1) ** 2
    return (*Z, mu + c * s0, mu + c * s1, mu + c * s2, mu - c * s0, mu - c * s1, mu - c * s2)

DENSITY = Density("Mine", __file__, isotropic(psi, piola, spectral))

@pl.register("material")
@dataclass(frozen=True, eq=False)
class Mine:
    mu: base.Parameter = 1e4
    rotation_invariant: ClassVar[bool] = True
    allows_inversion: ClassVar[bool] = True
    psi, piola, tangent, __add__ = base.psi, base.piola, base.tangent, base.plus
    plane_stress, in_axes = base.same_in_plane, base.same_in_axes

    def young(self):
        return 2 * self.mu

    def terms(self):
        return ((DENSITY, base.rows(self.mu)),)

def scene():
    mesh = pl.mesh.bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    held = pl.Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return pl.Scene([pl.Solid(mesh, Mine(), pins=held)], pl.LinearlyImplicit(), h=0.01, duration=0.02)
"""
HOWEVER = {  # ways in which a file becomes functions; the second leaves nothing in sys.modules
    "script": "scene()",
    "loose module": """
import importlib.util
spec = importlib.util.spec_from_file_location("loose", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.scene()""",
}


@pytest.fixture(autouse=True)
def registry(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gent.py").write_text(LAW)
    (tmp_path / "scene.toml").write_text(SCENE)
    yield
    choices.OWN.clear()


def python(*arguments, cache=None):
    """The output of a new Python process."""
    root = str(Path(pl.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": root} | ({"NUMBA_CACHE_DIR": str(cache)} if cache else {})
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, env=environment)


def test_a_law_by_name_in_a_file_that_is_resumed_elsewhere(tmp_path):
    whole = load_scene("scene.toml").scene.run("whole").frames[-1].points
    choices.OWN.clear()
    first = python("-m", "pliant", "run", "scene.toml", "--duration", "0.03", "--headless", "--out", "part")
    assert first.returncode == 0, first.stderr
    assert (tmp_path / "part" / "gent.py").read_text() == LAW
    longer = (tmp_path / "part" / "scene.toml").read_text().replace("0.03", "0.06")
    fork = ["-m", "pliant", "resume", "part", "--set", "duration=0.06", "--out", "on", "--headless"]
    refused = python(*fork)
    assert refused.returncode == 2 and "--trust" in refused.stderr and "gent.py" in refused.stderr
    assert python(*fork, "--trust").returncode == 0 and "0.06" in longer
    assert (pl.load("on").frames[-1].points == whole).all()


def test_a_law_of_a_script_needs_no_code_to_be_resumed():
    """A formula is data: the run folder says it, and nothing has to be trusted."""
    script = Path("script.py")
    lines = "scene = pl.load_scene('scene.toml').scene\nscene.run('run')\n"
    script.write_text(LAW + lines)
    Path("scene.toml").write_text(SCENE.replace('extensions = ["gent.py"]\n', ""))
    done = python(script)
    assert done.returncode == 0, done.stderr
    told = Path("run/scene.toml").read_text()
    assert 'kind = "from-energy"' in told and "extensions" not in told and "log(1 - (I1 - 3)/limit)" in told
    assert load_scene("run").scene.bodies[0].material.parameters["mu"] == 2e4


def test_on_the_command_line():
    asked = ["run", "bar-twist", "--use", "gent.py", "--set", "material=gent", "--set", "material.mu=1e4"]
    ended = CliRunner().invoke(app, [*asked, "--set", "parameters.cells=1", "--duration", "0.02", "--headless"])
    assert ended.exit_code == 0, ended.output
    assert pl.load("runs/bar-twist").report["done"] == 2
    assert (Path("runs/bar-twist") / "gent.py").is_file()


@pytest.mark.parametrize("way", HOWEVER)
def test_kernels_of_ones_own_survive_the_second_run(way, tmp_path):
    """Machine code that is cached in one process is loaded in another, however the file was loaded."""
    body = HOWEVER[way].replace("scene()", "made = scene()") if way == "script" else HOWEVER[way]
    ran = (
        BY_HAND + body
        if way == "script"
        else "import sys\nimport pliant as pl\n" + body.replace("module.scene()", "made = module.scene()")
    )
    (tmp_path / "mine.py").write_text(BY_HAND)
    (tmp_path / "ran.py").write_text(ran + "\nprint(list(pl.simulate(made))[-1].ledger.total)\n")
    cache = Path(os.environ.get("NUMBA_CACHE_DIR", tmp_path)) / "own"
    outputs = [python("ran.py", "mine.py", cache=cache) for _ in range(2)]
    assert [out.returncode for out in outputs] == [0, 0], outputs[-1].stderr
    assert outputs[0].stdout == outputs[1].stdout


def test_a_class_of_a_module_is_kept_and_read_again(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(BY_HAND)
    monkeypatch.syspath_prepend(str(tmp_path))
    import mine

    mine.scene().run("run")
    assert (tmp_path / "run" / "mine.py").is_file()
    choices.OWN.clear()
    sys.modules.pop("mine")
    again = load_scene("run").scene.bodies[0].material
    assert type(again).__name__ == "Mine" and type(again) is not mine.Mine


def test_what_cannot_be_imported_is_said():
    Path("scene.toml").write_text(SCENE.replace("gent.py", "missing.py"))
    with pytest.raises(SceneError, match="no file missing.py; it lies beside the scene file"):
        load_scene("scene.toml")
    Path("gent.py").write_text("1/0")
    with pytest.raises(SceneError, match="ZeroDivisionError"):
        load_scene("scene.toml", ['extensions=["gent.py"]'])
    with pytest.raises(SceneError, match="cannot import 'no.such.module'"):
        load_scene("bar-twist", ['extensions="no.such.module"'])


@pytest.mark.parametrize("what", ["material", "integrator", "force", "scene"])
def test_a_file_to_start_from_passes_its_checks(what, tmp_path):
    ended = CliRunner().invoke(app, ["new", what, "jelly-bean"])
    assert ended.exit_code == 0, ended.output
    text = (tmp_path / "jelly_bean.py").read_text()
    assert "my" not in text.lower().replace("system", "").split("jelly")[0] and "my_" not in text
    checked = python("jelly_bean.py")
    assert checked.returncode == 0, checked.stderr
    again = CliRunner().invoke(app, ["new", what, "jelly-bean"])
    assert isinstance(again.exception, PliantError) and "exists already" in str(again.exception)


def test_a_folder_with_foreign_code_is_refused(tmp_path):
    load_scene("scene.toml", ["duration=0.01"])
    ended = python("-m", "pliant", "run", "scene.toml", "--duration", "0.01", "--headless", "--out", "run")
    assert ended.returncode == 0
    asked = CliRunner().invoke(app, ["advise", "run"])
    assert isinstance(asked.exception, RunError) and "--trust" in str(asked.exception)


def test_an_installed_package_offers_its_parts_by_an_entry_point(tmp_path):
    """Two packages as pip installs them, one of which cannot be imported: it is left out, and said."""
    site = tmp_path / "site"
    for name, code in (("my_lab", LAW), ("broken_lab", "import nothing_of_this_name")):
        info = site / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (site / f"{name}.py").write_text(code)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[pliant.extensions]\n{name} = {name}\n")
    (tmp_path / "scene.toml").write_text(SCENE.replace('extensions = ["gent.py"]\n', ""))
    code = "from pliant.scene_file import load_scene; print(load_scene('scene.toml').scene.bodies[0].material)"
    path = os.pathsep.join([str(site), str(Path(pl.__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "FromEnergy" in done.stdout and "mu" in done.stdout
    assert "the extension 'broken_lab' (broken_lab) was left out: ModuleNotFoundError" in done.stderr
