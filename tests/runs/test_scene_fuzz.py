"""Two hundred invented scene files: each runs or is refused in one line; no traceback, no folder without report."""

import tempfile
import tomllib
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pliant.attempt import StepFailed
from pliant.errors import PliantError
from pliant.record import load, record
from pliant.scene_file import dumps, load_scene
from pliant.scene_file.load import from_document

numbers = st.sampled_from([0, 1, -1, 0.01, 0.1, 2.5, 1e-12, 1e12, float("nan"), float("inf")])
quantities = numbers | st.sampled_from(["1 cm", "100 kPa", "5 ms", "2 kg", "3 m/s", "ten", "", "1e400 m"])
junk = st.none() | st.booleans() | quantities | st.text(max_size=4) | st.lists(numbers, max_size=3)
vectors = st.lists(quantities, min_size=2, max_size=3)
integrators = st.sampled_from(
    ["bdf1", "BDF2", "sdirk2", "verlet", "rk4", "implicit-midpoint", "quasistatic", "linearly-implicit", "magic"]
)
solvers = st.sampled_from(["newton", "qlb", "qlf", "newton-pcg", "nothing"])
sentences = st.sampled_from(["x < 1 cm", "x == max", "y > 2", "z == min and x < 0.1", "x", "import os", "all"])
cells = st.integers(-1, 2) | st.sampled_from([10**9, 1.5])


def tables(required, optional):
    return st.fixed_dictionaries(required, optional=optional)


meshes = st.one_of(
    tables(
        {"generator": st.just("bar")}, {"size": vectors, "cells": st.lists(cells, min_size=2, max_size=4), "junk": junk}
    ),
    tables({"generator": st.just("spring_net"), "n": cells, "m": cells}, {"size": vectors}),
    tables({"generator": st.just("chain"), "n": cells}, {}),
    tables({"generator": st.sampled_from(["bar", "blob", "paper_bar"])}, {"name": junk, "cells": st.just([1, 1, 1])}),
    tables({"file": st.text(max_size=5)}, {}),
)
materials = st.one_of(
    st.just("stable-neo-hookean"),
    tables(
        {"kind": st.sampled_from(["stable-neo-hookean", "stvk", "neo-hookean", "arap", "linear", "jelly"])},
        {"E": quantities | st.just("20 kPa"), "nu": numbers | st.just(0.3), "junk": junk},
    ),
)
motions = tables(
    {"kind": st.sampled_from(["shake", "keyframes", "dance"])},
    {"amplitude": vectors, "frequency": numbers, "times": st.lists(numbers, max_size=3), "translations": junk},
)
pins = tables({}, {"where": sentences, "vertices": st.lists(st.integers(-1, 9), max_size=3), "motion": motions,
                   "axes": st.lists(st.sampled_from(["x", "z", "q"]), max_size=2)})  # fmt: skip
bodies = tables(
    {"mesh": meshes},
    {
        "kind": st.sampled_from(["solid", "springs", "membrane", "cloth", "rigid", "discontinuous", "gas"]),
        "material": materials,
        "density": quantities,
        "mass": quantities,
        "k": quantities,
        "thickness": quantities,
        "velocity": vectors,
        "pins": st.lists(pins, max_size=2),
        "fabric": junk | tables({}, {"E": quantities, "nu": numbers, "modulus": quantities, "density": quantities}),
        "spin": vectors,
        "fit": junk | tables({}, {"mesh": meshes, "s": junk}),
        "damping": tables({"kind": st.sampled_from(["rayleigh", "green", "oil"])}, {"beta": numbers, "c": numbers}),
        "junk": junk,
    },
)
likely = st.fixed_dictionaries(  # most invented bodies are nonsense: these run
    {
        "mesh": st.just({"generator": "bar", "size": [0.2, 0.1, 0.1], "cells": [2, 1, 1]}),
        "material": st.just("stable-neo-hookean"),
        "pins": st.just([{"where": "x == min"}]),
    }
)
links = tables(
    {},
    {
        "name": st.sampled_from(["hand", "thumb", ""]) | junk,
        "parent": st.sampled_from(["hand", 0, "foot"]) | junk,
        "joint": st.sampled_from(["fixed", "free3d", "knee"])
        | tables({"kind": st.just("revolute")}, {"axis": vectors}),
        "shape": junk
        | st.just({"kind": "box", "sides": [0.1, 0.1, 0.1]})
        | tables({"kind": junk}, {"radius": numbers}),
        "density": quantities,
        "frame": junk | tables({}, {"translate": vectors, "rotate": vectors}),
        "junk": junk,
    },
)
trees = tables(
    {"kind": st.just("articulated"), "links": st.lists(links, max_size=2)},
    {
        "q": junk,
        "v": junk,
        "urdf": junk,
        "forces": junk | st.lists(tables({"kind": st.sampled_from(["joint-spring", "cable", "wish"])}, {"link": junk})),
        "constraints": junk | st.lists(tables({"kind": st.just("joint-limit")}, {"link": junk, "lower": quantities})),
    },
)
which = st.sampled_from([0, 1, "solid", "articulated"]) | junk
ties = tables(
    {"body": which, "to": which}, {"where": sentences, "vertices": junk, "link": junk, "stiffness": quantities}
)
loads = tables(
    {"kind": st.sampled_from(["tug", "wind", "rain"])},
    {"body": which, "where": sentences, "value": vectors, "mean": vectors, "start": quantities, "full": quantities},
)
events = tables(
    {"kind": st.sampled_from(["plane-cut", "element-cut", "release", "end"])},
    {"time": quantities, "body": which, "where": sentences, "point": vectors, "normal": vectors, "pins": junk},
)
documents = tables(
    {"bodies": st.lists(likely | bodies | trees, max_size=2), "duration": st.sampled_from([0.02, "30 ms", -1.0])},
    {
        "h": st.sampled_from([0.01, "10 ms", 0, "1 m", 1e-300]),
        "gravity": vectors,
        "attachments": st.lists(ties, max_size=1),
        "forces": st.lists(loads, max_size=1),
        "events": st.lists(events, max_size=1),
        "integrator": integrators
        | tables({"kind": integrators}, {"solver": solvers | tables({"kind": solvers}, {"m": junk, "junk": junk})}),
        "on_failure": st.sampled_from(["raise", "warn", "substep", "cry"]),
        "output": tables({}, {"every": st.integers(-1, 3), "channels": st.lists(st.sampled_from(["velocity", "x"]))}),
        "junk": junk,
    },
)


def try_it(document, folder):
    """Run the document; what it came to."""
    path = Path(folder) / "scene.toml"
    path.write_text(dumps(document), encoding="utf-8")
    run = Path(folder) / "run"
    try:
        loaded = load_scene(path)
        if loaded.scene.steps > 10:
            return "too long"
        record(loaded.scene, run, output=loaded.output, origin=loaded.origin)
        outcome = "finished"
    except StepFailed as failed:
        assert failed.bundle is not None
        outcome = "failed"
    except PliantError as error:
        assert "\n" not in str(error) and str(error)
        outcome = "refused"
    if run.exists():
        made = load(run)
        assert made.report["status"] in ("finished", "failed")
        if (run / "frames.vtkhdf").exists():
            assert all(np.isfinite(frame.points).all() for frame in made.frames)
    return outcome


def fuzz(count):
    """Outcomes of ``count`` invented documents."""
    outcomes = []

    @settings(max_examples=count, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(documents)
    def one(document):
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes.append(try_it(_without_none(document), folder))

    one()
    return outcomes


def test_every_scene_file_runs_or_is_refused():
    outcomes = fuzz(40)
    assert {"finished", "refused"} <= set(outcomes)


@pytest.mark.slow
def test_two_hundred_scene_files_run_or_are_refused():
    outcomes = fuzz(200)
    assert outcomes.count("finished") > 10 and outcomes.count("refused") > 50


EXAMPLES = Path(__file__).parents[2] / "examples" / "scenes"
ODD = [None, True, -1, 2**70, 1.5, float("nan"), "", "none", "1 kg", [], [1], ["a"], [[1, 2], [3]], {}, {"kind": "x"}]


def places(value, path=()):
    """The paths of all parts of a document."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def spoiled(document, path, odd):
    """The document with something else at one place, or without it."""
    copy = deepcopy(document)
    table = copy
    for key in path[:-1]:
        table = table[key]
    if odd is None:
        del table[path[-1]]
    else:
        table[path[-1]] = odd
    return copy


def spoil(name, every):
    """Load an example with every place spoiled in turn, by each or some of the odd values."""
    document = tomllib.loads((EXAMPLES / name).read_text(encoding="utf-8"))
    refused = 0
    for k, path in enumerate(places(document)):
        for odd in ODD[k % every :: every]:
            try:
                from_document(spoiled(document, path, odd), EXAMPLES, name)
            except PliantError as error:
                assert "\n" not in str(error) and name in str(error), (path, odd)
                refused += 1
    return refused


@pytest.mark.parametrize("name", ["arm_and_block.toml", "die_on_bed.toml", "flag.toml"])
def test_a_spoiled_scene_file_is_refused_in_one_line_or_runs(name):
    assert spoil(name, 5) > 50


@pytest.mark.slow
@pytest.mark.parametrize("name", ["arm_and_block.toml", "die_on_bed.toml", "flag.toml"])
def test_scene_files_spoiled_in_every_way_are_refused_in_one_line_or_run(name):
    assert spoil(name, 1) > 500


def _without_none(value):
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value
