"""Checkpoints: values come back with type and bits; nothing foreign comes in; a failed save spoils nothing."""

import hashlib
import json
import sys
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from pliant.checkpoint import Checkpoint, load, save
from pliant.errors import RunError
from pliant.record import Interrupted, Output, record, resume
from pliant.scene_file import load_scene
from pliant.state import Counts, SolveReport, State, Transient


def there_and_back(tmp_path, memory):
    state = State(np.array([1.0, -0.0, np.pi]), np.array([1e-320, 2.0, 3.0]), 0.1)
    save(tmp_path / "c.h5", Checkpoint(7, state, memory, marks={"frames": 3}))
    back = load(tmp_path / "c.h5")
    assert back.step == 7 and back.marks == {"frames": 3}
    assert back.state.q.tobytes() == state.q.tobytes() and back.state.v.tobytes() == state.v.tobytes()
    return back.memory


def test_nested_values_come_back_bit_for_bit(tmp_path):
    rng = np.random.default_rng(0)
    q = rng.standard_normal(5)
    memory = {
        "history": (q, q, [1, 2.5, "three", None, True, 10**30]),
        3: np.asfortranarray(rng.standard_normal((3, 4))),
        "scalar": np.float32(0.1),
        "empty": np.zeros((0, 3), dtype=np.int32),
        "report": SolveReport(True, 3, float("nan"), -0.0, Counts(1, 2), {"fill": 1e-3}),
        "matrix": sp.random(6, 6, 0.4, format="csr", random_state=1),
    }
    back = there_and_back(tmp_path, memory)
    assert back["history"][0].tobytes() == q.tobytes()
    assert back["history"][0] is back["history"][1]  # one array stays one array
    assert back["history"][2] == memory["history"][2]
    assert [type(v) for v in back["history"][2]] == [int, float, str, type(None), bool, int]
    assert back[3].flags.f_contiguous and back[3].tobytes("A") == memory[3].tobytes("A")
    assert type(back["scalar"]) is np.float32 and back["scalar"] == memory["scalar"]
    assert back["empty"].shape == (0, 3) and back["empty"].dtype == np.int32
    assert isinstance(back["report"], SolveReport) and np.isnan(back["report"].residual)
    assert np.signbit(back["report"].tolerance) and back["report"].counts == Counts(1, 2)
    assert (back["matrix"] != memory["matrix"]).nnz == 0


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
values = st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=3), v, max_size=3))


@settings(max_examples=15, deadline=None)
@given(values)
def test_any_tree_of_plain_values_comes_back(tmp_path_factory, value):
    assert there_and_back(tmp_path_factory.mktemp("c"), value) == value


def test_transient_objects_are_left_out(tmp_path):
    assert there_and_back(tmp_path, {"factor": Transient(object()), "n": 1})["n"] == 1


@dataclass(frozen=True)
class Foreign:
    x: int = 1


@dataclass
class Changeable:
    x: int = 1


def local():
    @dataclass(frozen=True)
    class Hidden:
        x: int = 1

    return Hidden()


def test_a_frozen_dataclass_of_a_module_that_is_loaded_comes_back(tmp_path):
    back = there_and_back(tmp_path, {"own": Foreign(7)})
    assert type(back["own"]) is Foreign and back["own"].x == 7


@pytest.mark.parametrize("value", [Changeable(), local(), object(), {1, 2}, np.array([object()])])
def test_what_cannot_be_restored_is_refused_by_its_path(tmp_path, value):
    with pytest.raises(RunError, match="memory.deep"):
        there_and_back(tmp_path, {"deep": value})


def test_a_class_of_another_module_is_never_imported(tmp_path, monkeypatch):
    import h5py

    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "trap_module.py").write_text("raise SystemExit('imported')")
    for name, reason in (("trap_module:Counts", "not known here"), ("subprocess:Popen", "not a frozen dataclass")):
        there_and_back(tmp_path, Counts(1))
        with h5py.File(tmp_path / "c.h5", "r+") as file:
            tree = file["tree"][...].tobytes().replace(b"pliant.state:Counts", name.encode())
            del file["tree"]
            file["tree"] = np.frombuffer(tree, dtype=np.uint8)
            sums = json.loads(file.attrs["sums"])
            file.attrs["sums"] = json.dumps([hashlib.sha256(tree).hexdigest(), *sums[1:]])  # who forges it knows that
        with pytest.raises(RunError, match=reason):
            load(tmp_path / "c.h5")


OWN = '''
from dataclasses import dataclass

import numpy as np

from pliant import Scene, Solid, StableNeoHookean, State
from pliant.mesh import bar
from pliant.state import SolveReport, Step


@dataclass(frozen=True)
class Past:
    a: np.ndarray
    count: int


@dataclass(frozen=True)
class Remembering:
    """Adams-Bashforth: the acceleration of the step before is its memory."""

    order = 1

    def step(self, system, state, h, memory=None):
        a = system.acceleration(state.q, state.v, state.t)
        last = a if memory is None else memory.a
        v = state.v + h * (1.5 * a - 0.5 * last)
        after = State(state.q + h * v, v, state.t + h)
        count = 1 if memory is None else memory.count + 1
        return Step(after, Past(a, count), (SolveReport(True, 1, 0.0, 0.0),))


def scene():
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(1, 1, 1))
    body = Solid(mesh, StableNeoHookean(1e3, 0.3), velocity=(0.0, 0.0, 1.0))
    return Scene([body], integrator=Remembering(), h=1e-3, duration=0.02)
'''


def test_the_memory_of_a_users_own_integrator_is_recorded_and_resumed(tmp_path):
    """The class lives in the scene's own file, which is loaded before the checkpoint is."""
    (tmp_path / "own.py").write_text(OWN)
    loaded = load_scene(tmp_path / "own.py")
    whole = record(loaded.scene, tmp_path / "whole", origin=loaded.origin)

    def stop(step):
        if step.index == 9:
            raise Interrupted

    with pytest.raises(Interrupted):
        record(loaded.scene, tmp_path / "half", origin=loaded.origin, output=Output(checkpoint_every=4), watch=stop)
    half = resume(tmp_path / "half")
    assert half.checkpoint.step == 20 and half.checkpoint.memory.count == 20
    assert half.checkpoint.state.q.tobytes() == whole.checkpoint.state.q.tobytes()
    assert (half.frames[-1].points == whole.frames[-1].points).all()
    del sys.modules["pliant_scene_own"]
    with pytest.raises(RunError, match="pliant_scene_own:Past is not known here; load the scene"):
        load(tmp_path / "half" / "checkpoint.h5")


def test_a_failed_save_leaves_the_old_checkpoint(tmp_path):
    there_and_back(tmp_path, "old")
    with pytest.raises(RunError):
        there_and_back(tmp_path, {"new": object()})
    assert load(tmp_path / "c.h5").memory == "old"
    with pytest.raises(RunError, match="cannot write"):
        save(tmp_path / "missing" / "c.h5", Checkpoint(0, State(np.zeros(1), np.zeros(1))))
    with pytest.raises(RunError, match="cannot read"):
        load(tmp_path / "none.h5")
