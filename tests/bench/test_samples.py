"""A contest on sampled steps: everybody solves the same steps, and nobody changes the path."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.bench.ldot.contest import THREE
from pliant.bench.ldot.fig5_9 import EveryOther
from pliant.bench.qlb.fig3 import FOLDED, PANELS, cases
from pliant.bench.race import faster
from pliant.bench.samples import contest, sampled
from pliant.integrators import BDF2, Quasistatic
from pliant.linear import Cholesky
from pliant.mesh import bar as bar_mesh
from pliant.scenes.qlb import bar
from pliant.solvers import ND, QLB, HybridL1, Newton, Tolerance

MESH = bar_mesh(size=(0.3, 0.1, 0.1), cells=(6, 2, 2))


@pytest.mark.parametrize("integrator", [BDF2, Quasistatic])
def test_the_same_steps_for_all(integrator):
    def build(solver):
        return bar(integrator=integrator(solver), damping=0.0, mesh=MESH)

    both = sampled("BAR", build, {"ND": ND(), "QLB": QLB()}, 4)
    alone = sampled("BAR", build, {"QLB": QLB()}, 4)
    assert (both.steps, both.whole) == (4, 100)
    assert [t for t, _ in both.iterations["ND"]] == pytest.approx([0.65, 1.9, 3.15, 4.4])
    assert both.iterations["QLB"] == alone.iterations["QLB"]
    newton = both.runner("ND")
    assert newton.failures == 0 and newton.counts.factorizations == newton.iterations
    assert both.apart["ND"] == 0.0 < both.apart["QLB"] < 1e-5
    assert [len(r.times) for r in both.runners] == [4, 4]
    assert newton.seconds == pytest.approx(sum(newton.times))
    rows = both.rows("ND")
    assert rows[0]["ND / this"] == 1.0 and rows[0]["steps"] == "4 of 100"


@pytest.mark.parametrize(
    "options", [{"integrator": Quasistatic, "damping": 0.0}, {"integrator": BDF2, "E": (6e4, 2e4)}]
)
def test_one_root_at_a_tight_tolerance(options):
    tight = Tolerance(1e-9, 1e-13)
    choices = {
        "ND-exact": Newton(tolerance=tight),
        "QLB": QLB(tolerance=tight),
        "HYBRID-L1": HybridL1(tolerance=tight),
    }
    integrator, rest = options["integrator"], {k: v for k, v in options.items() if k != "integrator"}
    result = sampled("BAR", lambda solver: bar(integrator=integrator(solver), mesh=MESH, **rest), choices, 3)
    assert all(r.failures == 0 for r in result.runners)
    assert max(result.apart.values()) < 1e-8


def test_a_ratio_is_that_of_the_totals_with_the_middle_half_of_the_steps():
    slow, fast = (SimpleNamespace(times=times, seconds=sum(times)) for times in ([1, 2, 3, 4, 50], [1, 1, 1, 1, 1]))
    assert faster(slow, fast) == "12.00x (2.0-4.0 in half of 5 steps)"


def test_whole_runs_on_request(monkeypatch, capsys):
    monkeypatch.setenv("PLIANT_BENCH_STEPS", "all")
    result = contest("BAR", lambda solver: bar(integrator=BDF2(solver), h=1.0, mesh=MESH), {"QLB": QLB()})
    assert (result.steps, result.whole) == (5, 5)
    assert "QLB" in capsys.readouterr().err


def test_every_panel_of_the_figure_has_its_cases():
    assert {name for names in PANELS.values() for name in names} == set(cases(quick=True)) - {FOLDED}
    assert list(THREE) == ["NEWTON-D", "NEWTON-L0", "HYBRID-L1"]


def test_a_factor_for_two_steps_factors_every_other_time():
    B = np.random.default_rng(0).normal(size=(12, 12))
    S = sp.csr_matrix(B @ B.T + 12 * np.eye(12))
    b = np.arange(12.0)
    linear, memory, inner = EveryOther(), None, []
    for _ in range(4):
        factor = linear.factor(S, memory)
        assert np.allclose(factor.solve(b), Cholesky().factor(S).solve(b))
        memory = factor.memory
        inner.append(factor.inner)
    assert inner == [0, 1, 0, 1]
