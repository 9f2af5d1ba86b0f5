"""Sums do not depend on how many threads the BLAS may use: steps, books and records hold it to one."""

from importlib import import_module

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from pliant import ledger
from pliant.articulated import TREE_INTEGRATORS, Articulated, Link, cuboid
from pliant.articulated.compiled import CompiledTree
from pliant.articulated.joints import Revolute
from pliant.articulated.system import ArticulatedSystem
from pliant.bodies import Solid
from pliant.integrators import INTEGRATORS, REDUCED, AdaptiveConJac, ConJac
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.record import record
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.elastodynamics import Elastodynamics

channels, running = (import_module(f"pliant.{name}") for name in ("record.channels", "simulate"))
ASKED = ("force", "tangent", "stiffness", "prescribe", "weights", "mass", "acceleration", "prepare")


class Watch:
    """How many threads the BLAS of NumPy and SciPy had whenever one of some functions was called.

    The MKL of PARDISO, loaded as soon as some test has asked for it, is left out: it is told its threads at every call.
    """

    def __init__(self):
        self.seen = []
        loaded = ThreadpoolController().select(user_api="blas").lib_controllers
        self.pools = [pool for pool in loaded if pool.internal_api != "mkl"]

    def around(self, function):
        def watched(*arguments, **options):
            self.seen += [pool.num_threads for pool in self.pools]
            return function(*arguments, **options)

        return watched


@pytest.fixture
def watch():
    """With two threads allowed, as far as the libraries have them."""
    with threadpool_limits(2, user_api="blas"):
        watch = Watch()
        if max((pool.num_threads for pool in watch.pools), default=1) < 2:
            pytest.skip("the BLAS has one thread only")
        yield watch


def soft(**options):
    mesh = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    held = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Solid(mesh, StableNeoHookean(2e4, 0.3), pins=held)], h=2e-3, duration=6e-3, **options)


@pytest.mark.parametrize("choice", [*INTEGRATORS, *REDUCED], ids=lambda c: c.__name__)
def test_an_integrator_s_own_step_has_one_thread(choice, watch, monkeypatch):
    system = soft().system()
    state = State(system.rest, np.zeros_like(system.rest))
    for name in ASKED:
        monkeypatch.setattr(Elastodynamics, name, watch.around(getattr(Elastodynamics, name)))
    method = AdaptiveConJac(ConJac()) if choice is AdaptiveConJac else choice()
    method.step(system, state, 1e-4)
    assert watch.seen and set(watch.seen) == {1}


@pytest.mark.parametrize("choice", TREE_INTEGRATORS, ids=lambda c: c.__name__)
def test_a_step_of_joints_has_one_thread(choice, watch, monkeypatch):
    system = Articulated([Link(Revolute((0, 1, 0)), cuboid((0.2, 0.04, 0.04), 500.0))]).system()
    monkeypatch.setattr(ArticulatedSystem, "kinematics", watch.around(ArticulatedSystem.kinematics))
    monkeypatch.setattr(CompiledTree, "acceleration", watch.around(CompiledTree.acceleration))
    choice().step(system, State(system.rest, np.ones(1)), 1e-3)
    assert watch.seen and set(watch.seen) == {1}


def test_the_books_have_one_thread(watch, monkeypatch):
    monkeypatch.setattr(ledger, "opening", watch.around(ledger.opening))
    monkeypatch.setattr(ledger, "entry", watch.around(ledger.entry))
    monkeypatch.setattr(running, "certify", watch.around(running.certify))
    assert len(list(running.simulate(soft()))) == 3
    assert len(watch.seen) >= 7 and set(watch.seen) == {1}


def test_records_have_one_thread(watch, monkeypatch, tmp_path):
    monkeypatch.setattr(channels, "frame_of", watch.around(channels.frame_of))
    record(soft(), tmp_path / "run")
    assert len(watch.seen) >= 3 and set(watch.seen) == {1}
