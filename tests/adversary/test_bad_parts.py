"""Loads, adaptive steps, fits, laws of one's own, batches and pictures: wrong values are refused in one line."""

from dataclasses import dataclass

import numpy as np
import pytest
from typer.testing import CliRunner

import pliant as pl
from pliant.adjoint import Observations, Regions, fit
from pliant.batch import together
from pliant.cli.app import app
from pliant.errors import PliantError
from pliant.mesh import bar
from pliant.scene_file import load_scene
from pliant.simulate import simulate

MESH = bar(size=(0.3, 0.1, 0.1), cells=(2, 1, 1))
SOFT = pl.StableNeoHookean(E=1e5, nu=0.4)
SHEET = pl.mesh.sheet(size=(0.1, 0.1), cells=(2, 2))
NET = pl.SpringNet(pl.mesh.spring_net(3, 3), k=1.0, mass=1.0)
E = "bodies.solid.material.E"
nan, inf = float("nan"), float("inf")


def solid(**options):
    return pl.Solid(MESH, SOFT, density=1000.0, **options)


def scene(body=None, **options):
    return pl.Scene([body or solid()], **{"duration": 0.02, **options})


def loaded(load, body=None):
    return next(simulate(scene(body, forces=[load])))


def law(formula, parameters, **options):
    return pl.FromEnergy(formula, parameters, **options)


def seen(markers=((0,),), times=(0.01, 0.02), places=None, **options):
    places = np.zeros((len(times), len(markers), 3)) if places is None else places
    return Observations(markers, times, places, **options)


def fitted(wrt, markers=None, given=None, **options):
    held = scene(solid(pins=pl.Pin([0, 1, 2, 3])), integrator=pl.BDF1())
    return fit(held, markers or seen() if given is None else given, wrt, **options)


@dataclass(frozen=True)
class MyNewton:
    x: float = 1.0


class Plain:
    pass


FLAGS = {
    "lumped": lambda: scene(solid(lumped="no")),
    "of an integrator": lambda: scene(integrator=pl.LinearlyImplicit(psd="no")),
    "of the scene": lambda: scene(isolated="no"),
    "of contact": lambda: scene(contact=pl.PenaltyContact(self_contact=0)),
    "of adaptive steps": lambda: scene(integrator=pl.Adaptive(dense="no")),
    "of an exponential method": lambda: scene(integrator=pl.ERE(rational="no")),
    "of a solver": lambda: scene(integrator=pl.BDF1(solver=pl.Newton(coupled="no"))),
    "of a solver within adaptive steps": lambda: scene(integrator=pl.Adaptive(pl.TRBDF2(solver=pl.QLB(scaled=None)))),
    "of damping": lambda: scene(solid(damping=pl.Rayleigh(current="no"))),
    "of a reduction": lambda: scene(solid(reduction=pl.Condensation(inertial="x")), integrator=pl.LinearlyImplicit()),
    "of a run: overwrite": lambda: scene().run("run", overwrite="no"),
    "of a run: progress": lambda: scene().run("run", progress="no"),
    "of a robot": lambda: pl.from_urdf("<robot name='r'/>", floating="no"),
    "of a gradient": lambda: pl.gradient(scene(), None, ["gravity"], check="no"),
}
PINS = {
    "no vertices": lambda: solid(pins=pl.Pin([])),
    "a mask without any": lambda: solid(pins=pl.Pin(MESH.X[:, 0] > 9.0)),
    "no vertices of cloth": lambda: pl.Cloth(SHEET, pl.ClothMaterial(), pins=pl.Pin([])),
    "no vertices of Eulerian cloth": lambda: pl.Cloth(SHEET, eulerian=True, pins=pl.Pin([])).sheet(),
    "a word": lambda: pl.Pin("all"),
    "iterations that are true": lambda: pl.Newton(max_iterations=True),
}
LOADS = {
    "a word of pressure": lambda: pl.Pressure("hot"),
    "metres of pressure": lambda: pl.Pressure("3 m"),
    "no number of pressure": lambda: pl.Pressure(nan),
    "no pressure": lambda: pl.Pressure(None),
    "two pressures": lambda: pl.Pressure([1.0, 2.0]),
    "pressure on nothing": lambda: loaded(pl.Pressure(10.0, vertices=[])),
    "pressure on one vertex": lambda: loaded(pl.Pressure(10.0, vertices=[0])),
    "pressure beyond the body": lambda: loaded(pl.Pressure(10.0, vertices=[999])),
    "pressure on vertex -1": lambda: loaded(pl.Pressure(10.0, vertices=[-1, 0, 1, 2])),
    "pressure on springs": lambda: loaded(pl.Pressure(10.0), NET),
    "pressure on a rigid body": lambda: scene(pl.Rigid(MESH), forces=[pl.Pressure(10.0)]),
    "a tug at a rigid body": lambda: scene(pl.Rigid(MESH), forces=[pl.Tug([0], (0, 0, 1), 0, 1, 2)]),
    "pressure on nobody": lambda: scene(forces=[pl.Pressure(10.0, body="nobody")]),
    "pressure on body 4": lambda: scene(forces=[pl.Pressure(10.0, body=4)]),
    "pressure on no body": lambda: scene(forces=[pl.Pressure(10.0, body=None)]),
    "a signal back in time": lambda: pl.Pressure(10.0, signal=[(1, 0), (0, 1)]),
    "a signal that is a word": lambda: pl.Pressure(10.0, signal="up"),
    "a signal that is a number": lambda: pl.Pressure(10.0, signal=3),
    "a signal of nothing": lambda: pl.Pressure(10.0, signal=[]),
    "a signal of triples": lambda: pl.Pressure(10.0, signal=[(0, 1, 2)]),
    "a signal that says words": lambda: loaded(pl.Pressure(10.0, signal=lambda t: "x")),
    "a signal that says no number": lambda: loaded(pl.Pressure(10.0, signal=lambda t: nan)),
    "air in a plane": lambda: pl.Airflow((1.0, 2.0)),
    "air along a line": lambda: pl.Airflow(3.0),
    "a word of air": lambda: pl.Airflow("fast"),
    "air that weighs less than nothing": lambda: pl.Airflow((1, 0, 0), density=-1.2),
    "kilograms for density": lambda: pl.Airflow((1, 0, 0), density="1 kg"),
    "air without end": lambda: pl.Airflow((inf, 0, 0)),
    "air past springs": lambda: loaded(pl.Airflow((1, 0, 0)), NET),
    "a push of another length": lambda: pl.Push([0], (0, 1), [(0, 0, 1)]),
    "a push back in time": lambda: pl.Push([0], (1, 0), [(0, 0, 1), (0, 0, 1)]),
    "a push at one time twice": lambda: pl.Push([0], (0, 0), [(0, 0, 1), (0, 0, 1)]),
    "a push in a plane": lambda: loaded(pl.Push([0], (0, 1), [(0, 1), (0, 1)])),
    "a push of no number": lambda: pl.Push([0], (0, 1), [(0, 0, nan), (0, 0, 1)]),
    "a push of nothing": lambda: pl.Push([], (0, 1), [(0, 0, 1), (0, 0, 1)]),
    "a push at no time": lambda: pl.Push([0], (), ()),
    "a push by a word": lambda: pl.Push([0], "now", [(0, 0, 1)]),
    "a push of metres": lambda: pl.Push([0], (0, 1), [("1 m", 0, 0), (0, 0, 0)]),
    "a push of rows": lambda: pl.Push([0], (0, 1), [(0, 0), (0, 0, 1)]),
    "a push beyond the body": lambda: loaded(pl.Push([99], (0, 1), [(0, 0, 1), (0, 0, 1)])),
    "a load that is a class": lambda: scene(forces=[pl.Pressure]),
    "a load that is a number": lambda: scene(forces=[3.0]),
}
ADAPTIVE = {
    "of a word": lambda: pl.Adaptive("bdf2"),
    "of a class": lambda: pl.Adaptive(pl.TRBDF2),
    "of adaptive steps": lambda: pl.Adaptive(pl.Adaptive()),
    "of no motion": lambda: pl.Adaptive(pl.Quasistatic()),
    "to 0": lambda: pl.Adaptive(tolerance=0),
    "to less than 0": lambda: pl.Adaptive(tolerance=-1e-3),
    "to seconds": lambda: pl.Adaptive(tolerance="1 s"),
    "to two numbers": lambda: pl.Adaptive(tolerance=[1e-3, 1e-3]),
    "to None": lambda: pl.Adaptive(tolerance=None),
    "h_min above h_max": lambda: pl.Adaptive(h_min=1.0, h_max=0.1),
    "h_min of 0": lambda: pl.Adaptive(h_min=0),
    "h_max without end": lambda: pl.Adaptive(h_max=inf),
    "speed below 0": lambda: pl.Adaptive(speed=-1),
    "stops by a word": lambda: pl.Adaptive(stops="now"),
    "stops at no time": lambda: pl.Adaptive(stops=(nan,)),
    "stops at a number": lambda: pl.Adaptive(stops=3),
}
FITS = {
    "no scene": lambda: fit(solid(), seen(), [E]),
    "no observations": lambda: fitted([E], given=np.zeros(3)),
    "nothing": lambda: fitted([]),
    "one text": lambda: fitted(E),
    "None": lambda: fitted(None),
    "a number": lambda: fitted([3]),
    "twice the same": lambda: fitted([E, E]),
    "an unknown name": lambda: fitted(["bodies.solid.material.young"]),
    "an unknown body": lambda: fitted(["bodies.liquid.material.E"]),
    "a name": lambda: fitted(["bodies.solid.name"]),
    "in no runs": lambda: fitted([E], runs=0),
    "in a run and a half": lambda: fitted([E], runs=1.5),
    "in true runs": lambda: fitted([E], runs=True),
    "to less than 0": lambda: fitted([E], tolerance=-1.0),
    "to no number": lambda: fitted([E], tolerance=nan),
    "to a word": lambda: fitted([E], tolerance="small"),
    "two labels": lambda: fitted([Regions(E, [0, 1])]),
    "labels of floats": lambda: fitted([Regions(E, np.zeros(len(MESH.T)))]),
    "labels with a gap": lambda: fitted([Regions(E, np.full(len(MESH.T), 2))]),
    "regions of nothing": lambda: fitted([Regions(None, np.zeros(len(MESH.T), dtype=int))]),
    "no markers": lambda: Observations([], (0.01,), np.zeros((1, 0, 3))),
    "half a marker": lambda: Observations([[0.5]], (0.01,), np.zeros((1, 1, 3))),
    "markers that are a number": lambda: Observations(3, (0.01,), np.zeros((1, 1, 3))),
    "markers that are words": lambda: Observations(["tip"], (0.01,), np.zeros((1, 1, 3))),
    "times that go back": lambda: seen(times=(0.02, 0.01)),
    "times that are words": lambda: Observations([[0]], "now", np.zeros((1, 1, 3))),
    "no times": lambda: Observations([[0]], (), np.zeros((0, 1, 3))),
    "places of rows": lambda: Observations([[0]], (0.01, 0.02), [[[0, 0, 0]], [[0, 0]]]),
    "places of another shape": lambda: seen(places=np.zeros((2, 3))),
    "nothing that was seen": lambda: seen(places=np.full((2, 1, 3), nan)),
    "two names for one marker": lambda: seen(names=["a", "b"]),
    "letters for names": lambda: seen(markers=((0,), (1,), (2,)), names="tip"),
    "a marker beyond the body": lambda: fitted([E], seen(markers=((999,),))),
    "marker -1": lambda: fitted([E], seen(markers=((-1,),))),
    "later than the run": lambda: fitted([E], seen(times=(0.5, 0.6))),
}
PSI = "mu/2*(I1 - 3 - 2*log(J))"
LAWS = {
    "not a formula": lambda: law("", {}),
    "a number": lambda: law(3, {}),
    "half a formula": lambda: law("mu*(I1 - 3", {"mu": 1e4}),
    "an unknown name": lambda: law(f"{PSI} + foo", {"mu": 1e4}),
    "an unknown function": lambda: law("mu/2*gamma(I1)", {"mu": 1e4}),
    "code": lambda: law("__import__('os').getcwd()", {}),
    "an attribute": lambda: law("I1.real", {}),
    "two sets of variables": lambda: law("mu*(I1 - 3) + s0", {"mu": 1e4}),
    "a stress at rest": lambda: law("mu/2*(I1 - 3)", {"mu": 1e4}),
    "a division by zero at rest": lambda: law("mu/(I1 - 3)", {"mu": 1e4}),
    "a constant": lambda: law("mu", {"mu": 1e4}),
    "a comparison": lambda: law("mu*(I1 > 3)", {"mu": 1e4}),
    "a tower of powers": lambda: law("mu*(I1 - 3)**(9**9**9)", {"mu": 1e4}),
    "parentheses without end": lambda: law("(" * 3000 + "I1" + ")" * 3000, {}),
    "a parameter that is missing": lambda: law(PSI, {}),
    "a parameter that is not used": lambda: law(PSI, {"mu": 1e4, "kappa": 1.0}),
    "a parameter of no number": lambda: law(PSI, {"mu": nan}),
    "a parameter of a word": lambda: law(PSI, {"mu": "soft"}),
    "no parameter": lambda: law(PSI, {"mu": None}),
    "a parameter below zero": lambda: law(PSI, {"mu": -1e4}),
    "a parameter called 3": lambda: law(PSI, {3: 1e4}),
    "a parameter called J": lambda: law("J*(I1 - 3)", {"J": 1e4}),
    "a list of parameters": lambda: law(PSI, [1e4]),
    "None for parameters": lambda: law(PSI, None),
    "two parameters for twelve elements": lambda: scene(pl.Solid(MESH, law(PSI, {"mu": [1e4, 2e4]}))).system(),
    "fibres without a direction": lambda: law("k*(I4 - 1)**2", {"k": 1e4}),
    "fibres along nothing": lambda: law("k*(I4 - 1)**2", {"k": 1e4}, direction=(0, 0, 0)),
    "fibres in a plane": lambda: law("k*(I4 - 1)**2", {"k": 1e4}, direction=(1, 0)),
    "a direction of no fibres": lambda: law(PSI, {"mu": 1e4}, direction=(1, 0, 0)),
    "an unknown family": lambda: pl.register("materiel", MyNewton),
    "no family": lambda: pl.register(None, MyNewton),
    "a class without fields": lambda: pl.register("solver", Plain),
    "an object": lambda: pl.register("solver", MyNewton()),
    "a lambda": lambda: pl.register("material", lambda: 3),
    "what is there already": lambda: pl.register("solver", pl.Newton),
    "an unknown preset": lambda: pl.materials.preset("ecoflexx"),
    "no preset": lambda: pl.materials.preset(None),
    "an unknown fabric": lambda: pl.fabric("steel"),
    "a list of fabrics": lambda: pl.fabric(["denim"]),
}
BATCHES = {
    "nothing": lambda: together([]),
    "a number": lambda: together(3),
    "a body": lambda: together([solid()]),
    "contact": lambda: together([scene(contact=pl.PenaltyContact())] * 2),
    "other steps": lambda: together([scene(), scene(h=0.02)]),
    "rigid bodies": lambda: together([scene(pl.Rigid(MESH))] * 2),
    "other meshes": lambda: together([scene(), scene(pl.Solid(bar(size=(1, 1, 1), cells=(1, 1, 1)), SOFT))]),
}
CASES = {"flag": FLAGS, "pin": PINS, "load": LOADS, "adaptive": ADAPTIVE, "fit": FITS, "law": LAWS, "batch": BATCHES}


@pytest.mark.parametrize(("group", "what"), [(group, what) for group, cases in CASES.items() for what in cases])
def test_refused_in_python(group, what, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PliantError) as refused:
        CASES[group][what]()
    said = str(refused.value)
    assert "\n" not in said and len(said) < 300 and refused.value.remedy
    assert not (tmp_path / "run").exists()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return scene().run(tmp_path_factory.mktemp("runs") / "run")


SHOWN = {
    "a panel": lambda run: run.plot("heat"),
    "a panel that is a number": lambda run: run.plot(3),
    "a channel": lambda run: run.show("heat"),
    "a format": lambda run: run.show(to="avi2"),
    "one number of pixels": lambda run: run.show(size=(640,)),
    "pixels below zero": lambda run: run.show(size=(-640, 360)),
    "half a pixel": lambda run: run.show(size=(640.5, 360)),
    "pixels in words": lambda run: run.show(size="4k"),
    "too many pixels": lambda run: run.show(size=(10**9, 10**9)),
    "a folder without a run": lambda run: pl.load(run.folder.parent),
    "no folder": lambda run: pl.load(None),
}


@pytest.mark.parametrize("what", SHOWN)
def test_refused_of_a_run(run, what):
    pytest.importorskip("pyvista")
    with pytest.raises(PliantError) as refused:
        SHOWN[what](run)
    assert "\n" not in str(refused.value) and refused.value.remedy


TOML = """duration = 0.02
INTEGRATOR
[[bodies]]
mesh = { generator = "bar", size = [0.3, 0.1, 0.1], cells = [2, 1, 1] }
material = MATERIAL
density = 1000
"""
SNH = '{ kind = "stable-neo-hookean", E = 1e5, nu = 0.4 }'
IN_FILES = {
    "force": [
        'kind = "pressure"\nvalu = 3',
        'kind = "pressure"',
        'kind = "pressure"\nvalue = "hot"',
        'kind = "pressure"\nvalue = true',
        'kind = "pressure"\nvalue = [1, 2]',
        'kind = "pressure"\nvalue = 1\nsignal = "up"',
        'kind = "pressure"\nvalue = 1\nsignal = [[1, 0], [0, 1]]',
        'kind = "pressure"\nvalue = 1\nsignal = [1, 2]',
        'kind = "pressure"\nvalue = 1\nvertices = [0.5]',
        'kind = "pressure"\nvalue = 1\nvertices = [99]',
        'kind = "pressure"\nvalue = 1\nvertices = "all"',
        'kind = "airflow"\nvelocity = [1, 2]',
        'kind = "airflow"\nvelocity = "3 m/s"',
        'kind = "airflow"\nvelocity = [1, "a", 2]',
        'kind = "airflow"\ndensity = "3 kg"',
        'kind = "push"\nvertices = [0]\ntimes = [0, 1]\nvalues = [[0, 0, 1]]',
        'kind = "push"\nvertices = [0]\ntimes = ["1 m", 1]\nvalues = [[0, 0, 1], [0, 0, 1]]',
        'kind = "push"\ntimes = [0, 1]\nvalues = [[0, 0, 1], [0, 0, 1]]',
        'kind = "push"\nvertices = [0]\ntimes = 0\nvalues = 1',
        'kind = "presure"\nvalue = 3',
        "value = 3",
    ],
    "integrator": [
        'integrator = "adaptive"',
        "tolerance = '1 s'",
        "tolerance = true",
        "tolerance = 'none'",
        "dense = 'no'",
        "stops = ['a']",
        "stops = 3",
        "h_min = 1\nh_max = 0.1",
        "integrator = 3",
        'integrator = "quasistatic"',
    ],
    "material": [
        '{ kind = "from-energy", formula = "a*(I1" }',
        '{ kind = "from-energy", parameters = 3 }',
        '{ kind = "from-energy", parameters = { mu = "soft" } }',
        '"ecoflexx"',
        "{ preset = 3 }",
    ],
    "body": ['lumped = "no"', "pins = { vertices = [] }", 'pins = { where = "x > 9" }'],
}


def document(key="", value=""):
    text = TOML.replace("MATERIAL", value if key == "material" else SNH)
    inside = 'integrator = { kind = "adaptive", ' + value.replace("\n", ", ") + " }"
    text = text.replace("INTEGRATOR", inside if key == "integrator" else "")
    return text + {"force": f"[[forces]]\n{value}\n", "body": f"{value}\n"}.get(key, "")


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in IN_FILES.items() for value in values])
def test_refused_in_files(tmp_path, key, value):
    (tmp_path / "s.toml").write_text(document(key, value))
    with pytest.raises(PliantError) as refused:
        load_scene(tmp_path / "s.toml").scene.system()
    said = str(refused.value).replace(str(tmp_path), "")
    assert "\n" not in said and len(said) < 400 and refused.value.remedy


CSV = "t,tip.x,tip.y,tip.z\n"
FIT = ("fit", "fit.toml", "--to", "seen.csv", "--vary", "material.E", "--marker", "tip=x == max")
COMMANDS = {
    "an unknown kind": ("new", "planet", "x"),
    "a name that is a number": ("new", "material", "3"),
    "a name that Python has taken": ("new", "material", "class"),
    "a file in no folder": ("new", "material", "my-x", "--out", "no/where/x.py"),
    "a file that is a folder": ("new", "material", "my-y", "--out", "."),
    "a file that is there": ("new", "material", "seen", "--out", "seen.csv"),
    "no measurements": (*FIT[:3], "nothing.csv", *FIT[4:]),
    "measurements in a folder": (*FIT[:3], ".", *FIT[4:]),
    "an empty file": (*FIT[:3], "empty.csv", *FIT[4:]),
    "other columns": (*FIT[:3], "columns.csv", *FIT[4:]),
    "words in it": (*FIT[:3], "words.csv", *FIT[4:]),
    "short lines": (*FIT[:3], "short.csv", *FIT[4:]),
    "a header alone": (*FIT[:3], "header.csv", *FIT[4:]),
    "nothing seen": (*FIT[:3], "nan.csv", *FIT[4:]),
    "no text": (*FIT[:3], "bytes.csv", *FIT[4:]),
    "an unknown number": (*FIT[:5], "material.young", *FIT[6:]),
    "no number": (*FIT[:5], "", *FIT[6:]),
    "all bodies": (*FIT[:5], "bodies", *FIT[6:]),
    "no runs": (*FIT, "--runs", "0"),
    "a marker without a place": (*FIT, "--marker", "tip"),
    "half a condition": (*FIT, "--marker", "tip=x >"),
    "a marker at no vertex": (*FIT, "--marker", "tip=x > 9"),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_refused_on_the_command_line(tmp_path, monkeypatch, what):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fit.toml").write_text(document())
    files = {
        "seen": f"{CSV}0.01,0,0,0\n",
        "empty": "",
        "columns": "a,b\n1,2\n",
        "words": f"{CSV}0.01,a,0,0\n",
        "short": f"{CSV}0.01,0,0\n",
        "header": CSV,
        "nan": f"{CSV}0.01,nan,nan,nan\n",
    }
    for name, text in files.items():
        (tmp_path / f"{name}.csv").write_text(text)
    (tmp_path / "bytes.csv").write_bytes(bytes(range(256)))
    told = CliRunner().invoke(app, COMMANDS[what])
    assert isinstance(told.exception, PliantError | SystemExit) and told.exit_code != 0


def test_what_the_refused_are_spoiled_from_runs(tmp_path):
    """The same calls with sensible values."""
    assert loaded(pl.Pressure(10.0, signal=lambda t: 1)).report.converged
    assert loaded(pl.Pressure("10 Pa", vertices=MESH.X[:, 0] < 1e-9)).report.converged
    assert loaded(pl.Airflow((1.0, 0.0, 0.0))).report.converged
    assert loaded(pl.Push([0], (0, 1), [(0, 0, "1 N"), (0, 0, 1)])).report.converged
    assert pl.Adaptive(pl.TRBDF2(), tolerance="1 mm", stops=[0.5, 0.1]).stops == (0.1, 0.5)
    assert fitted([E], runs=1).runs == 1
    assert fitted([Regions(E, np.arange(len(MESH.T)) % 2)], runs=1).runs == 1
    assert law(PSI, {"mu": "10 kPa"}).parameters["mu"] == 1e4
    assert len(together([scene(), scene()]).bodies) == 1
    for key, value in (
        *(("force", 'kind = "pressure"\nvalue = "1 Pa"'), ("integrator", "tolerance = '1 mm'\nstops = [0.01]")),
        *(("material", '{ kind = "from-energy", parameters = { mu = "10 kPa" } }'), ("body", "lumped = true")),
    ):
        (tmp_path / "s.toml").write_text(document(key, value))
        assert next(simulate(load_scene(tmp_path / "s.toml").scene)).report.converged
