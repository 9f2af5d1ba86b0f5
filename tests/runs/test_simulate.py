"""Run policies: what an unusable step leads to, and that no value that is not finite ever comes out."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from pliant.attempt import StepFailed
from pliant.bodies import SpringNet
from pliant.checkpoint import Checkpoint
from pliant.errors import SceneError
from pliant.integrators import BDF1, BDF2, ExplicitEuler, Quasistatic, Verlet
from pliant.maps.pins import Pin
from pliant.mesh import chain
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.state import State, Step
from pliant.systems.elastodynamics import Elastodynamics


def hanging(**options):
    mesh = chain(4)
    body = SpringNet(mesh, k=100.0, mass=0.1, pins=Pin(np.array([0])))
    return Scene([body], **{"integrator": BDF2(), "h": 0.02, "duration": 0.2, **options})


@dataclass(frozen=True)
class Fussy:
    """Backward Euler that refuses to step further than ``limit`` from certain times."""

    limit: float
    order: int = 1

    def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step:
        step = BDF1().step(system, state, h, memory)
        if h <= self.limit * (1 + 1e-9) or state.t < 0.05:
            return step
        bad = [r.__class__(False, r.iterations, 1.0, 0.0, message="too far") for r in step.reports]
        return Step(step.state, step.memory, tuple(bad))


def test_every_step_has_a_certificate_and_a_ledger_row():
    steps = list(simulate(hanging()))
    assert [s.index for s in steps] == list(range(1, 11))
    for step in steps:
        assert step.report.converged and step.report.residual <= step.report.tolerance
        assert step.report.counts.factorizations > 0 and step.report.seconds["step"] > 0.0
        assert set(step.ledger.energies) == {"kinetic", "springs", "gravity"}


def test_a_step_that_does_not_converge_is_an_error_with_what_is_needed_to_repeat_it():
    with pytest.raises(StepFailed, match="step 4.*too far.*reduce h") as error:
        list(simulate(hanging(integrator=Fussy(1e-3))))
    failure = error.value.failure
    assert failure.step == 4 and failure.before.step == 3
    assert failure.before.state.t == pytest.approx(0.06)


def test_warn_goes_on_and_says_so_once():
    with pytest.warns(UserWarning, match="too far") as said:
        steps = list(simulate(hanging(integrator=Fussy(1e-3), on_failure="warn")))
    assert len(said) == 1
    assert [s.report.converged for s in steps] == [True] * 3 + [False] * 7


def test_substeps_are_as_large_as_they_may_be_and_end_on_the_grid():
    steps = list(simulate(hanging(integrator=Fussy(0.02 / 8), on_failure="substep")))
    assert [s.report.substeps for s in steps] == [1] * 3 + [8] * 7
    np.testing.assert_allclose([s.state.t for s in steps], 0.02 * np.arange(1, 11), rtol=1e-12)
    fine = list(simulate(hanging(integrator=BDF1(), h=0.02 / 8)))
    coarse = list(simulate(hanging(integrator=Fussy(1.0), duration=0.06)))
    tail = list(simulate(hanging(integrator=BDF1(), h=0.02 / 8), start=Checkpoint(24, coarse[-1].state)))
    np.testing.assert_allclose(steps[-1].state.q, tail[-1].state.q, atol=1e-8)
    assert len(fine) == 80
    assert steps[-1].ledger.step == 10  # one line per step, whatever it was cut into
    booked = sum(step.ledger.numerical for step in steps[3:])
    assert booked == pytest.approx(sum(step.ledger.numerical for step in tail), rel=1e-9)


def test_substeps_give_up_in_the_end():
    with pytest.raises(StepFailed, match="h / 1024"):
        list(simulate(hanging(integrator=Fussy(1e-9), on_failure="substep")))


@pytest.mark.parametrize("policy", ["raise", "warn", "substep"])
def test_an_explosion_never_yields_a_value_that_is_not_finite(policy):
    scene = hanging(integrator=Verlet(), h=5.0, duration=5000.0, on_failure=policy)
    with pytest.raises(StepFailed):
        for step in simulate(scene):
            assert np.isfinite(step.state.q).all() and np.isfinite(step.state.v).all()
            assert np.isfinite(step.ledger.total)


def test_energy_gain_is_seen():
    unstable = {"integrator": ExplicitEuler(), "duration": 1.0}
    with pytest.raises(StepFailed, match="energy gained"):
        list(simulate(hanging(**unstable, on_energy_gain="raise")))
    with pytest.warns(UserWarning, match="energy gained"):
        list(simulate(hanging(**unstable, on_energy_gain="warn")))
    list(simulate(hanging(on_energy_gain="raise", integrator=BDF1())))


def test_wrong_input_stays_wrong_input():
    with pytest.raises(SceneError, match="free to move"):
        list(simulate(hanging(integrator=Quasistatic())))


def test_a_defect_in_an_integrator_becomes_a_failure_that_can_be_kept():
    @dataclass(frozen=True)
    class Broken:
        order: int = 1

        def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step:
            raise KeyError("nobody home")

    with pytest.raises(StepFailed, match="KeyError") as error:
        list(simulate(hanging(integrator=Broken())))
    assert isinstance(error.value.__cause__, KeyError)


def test_anything_that_can_say_what_a_scene_says_can_run():
    @dataclass(frozen=True)
    class Own:
        name: str = "own"
        integrator: Any = BDF1()
        h: float = 0.1
        steps: int = 3
        on_failure: str = "raise"
        on_energy_gain: str = "ignore"
        isolated: bool = False

        def system(self) -> Elastodynamics:
            return hanging().system()

        def initial(self, system: Elastodynamics) -> State:
            return State(system.X.ravel().copy(), np.zeros(system.X.size))

        def after(self, happened: int) -> "Own":
            return self

        def due(self, t: float) -> int:
            return 0

    assert len(list(simulate(Own()))) == 3


def test_going_on_from_a_step_is_going_on():
    scene = hanging()
    whole = list(simulate(scene))
    rest = list(simulate(scene, start=whole[4].checkpoint()))
    assert [s.index for s in rest] == [6, 7, 8, 9, 10]
    assert rest[-1].state.q.tobytes() == whole[-1].state.q.tobytes()
