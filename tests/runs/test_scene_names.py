"""Names in scene files: no part is forgotten, parts of one's own have names, the reference says what is so."""

import dataclasses
import importlib
import inspect
import pkgutil
import tomllib

import pytest

import pliant
from pliant.bodies import Solid
from pliant.errors import SceneError
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.origin import Origin
from pliant.scene import Scene
from pliant.scene_file import choices as names
from pliant.scene_file import describe, dumps, load_scene
from pliant.scene_file.choices import families, find, kind_of


def classes(package):
    """All public dataclasses that are defined in a package or module."""
    module = importlib.import_module(package)
    modules = [module]
    if hasattr(module, "__path__"):
        modules += [importlib.import_module(f"{package}.{m.name}") for m in pkgutil.iter_modules(module.__path__)]
    for each in modules:
        for name, thing in vars(each).items():
            own = inspect.isclass(thing) and thing.__module__ == each.__name__ and not name.startswith("_")
            if own and dataclasses.is_dataclass(thing):
                yield thing


# family -> where its members are defined, and the method by which they are known
MEMBERS = {
    "joint": (["pliant.articulated.joints"], "subspace_rate"),
    "link force": (["pliant.articulated.forces"], "add"),
    "link constraint": (["pliant.articulated.constraints"], "bind"),
    "joint contact": (["pliant.articulated.joint_contacts"], "patch"),
    "load": (["pliant.loads"], "at"),
    "event": (["pliant.events"], "apply"),
    "motion": (["pliant.maps.motions"], "positions"),
    "edge rule": (["pliant.cloth.constraints"], "normals"),
    "function": (["pliant.maps.functions"], "__call__"),
    "damping": (["pliant.bodies"], "force"),
    "contact": (["pliant.systems"], "model"),
    "obstacle": (["pliant.contact"], "inner_points"),
    "integrator": (["pliant.integrators", "pliant.articulated"], "step"),
    "solver": (["pliant.solvers"], "solve"),
    "material": (["pliant.materials"], "psi"),
    "body": (["pliant.bodies", "pliant.cloth.body", "pliant.dg", "pliant.articulated.body"], "mesh"),
}
NOT_BY_NAME = {
    "Sum",  # a list of materials
    "ConstrainedSolver",  # a solver that wraps another one for constraints
}


@pytest.mark.parametrize("family", MEMBERS)
def test_every_part_has_a_name(family):
    homes, method = MEMBERS[family]
    known = families()[family]
    found = []
    for home in homes:
        for cls in classes(home):
            has = method in dir(cls) or method in {f.name for f in dataclasses.fields(cls)}
            if has and cls.__name__ not in NOT_BY_NAME:
                found.append(cls)
                assert cls in known, f"{cls.__name__} is missing among the names of {family}s"
    assert found


def test_kinds_are_told_apart_and_found():
    for family, choices in families().items():
        kinds = [kind_of(choice) for choice in choices]
        assert len(set(kinds)) == len(kinds), family
        for kind, choice in zip(kinds, choices, strict=True):
            assert find(family, kind, "here") is choice


@dataclasses.dataclass(frozen=True)
class Jelly(StableNeoHookean):
    """A material of one's own."""


@pytest.fixture
def registry():
    yield
    names.OWN.clear()


def test_a_part_of_ones_own_is_known_by_its_name(tmp_path, registry):
    scene = Scene([Solid(bar(cells=(1, 1, 1)), Jelly(3e4, 0.2))])
    with pytest.raises(SceneError, match="Jelly cannot be written"):
        describe(scene)
    assert pliant.register("material", Jelly) is Jelly
    Origin(*describe(scene)).write(tmp_path)
    assert 'kind = "jelly"' in (tmp_path / "scene.toml").read_text()
    back = load_scene(tmp_path, ["material.nu=0.1"]).scene.bodies[0].material
    assert type(back) is Jelly and (back.E, back.nu) == (3e4, 0.1)
    pliant.register("material", Jelly)  # a file that is imported twice
    assert families()["material"].count(Jelly) == 1


def test_what_cannot_be_registered_is_refused(registry):
    with pytest.raises(SceneError, match="unknown family 'materials'; did you mean 'material'"):
        pliant.register("materials", Jelly)
    with pytest.raises(SceneError, match="cannot be named; give a frozen dataclass"):
        pliant.register("material", 3.0)
    other = dataclasses.make_dataclass("StVK", [], frozen=True)
    with pytest.raises(SceneError, match="a material is called 'st-vk' already"):
        pliant.register("material", other)


def test_nested_tables_are_written_as_they_are_read():
    document = {
        "a": 1,
        "t": {"x": [1.0, 2.5], "inner": {"k": "v"}},
        "bodies": [{"n": 1, "links": [{"s": {"q": [[1.0]]}}, {"m": []}], "z": 2}, {"list": [1, {"a": 2}]}],
    }
    assert tomllib.loads(dumps(document)) == document
