"""A contest on sampled steps: everybody solves the same steps, and nobody changes the path."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.bench.contact.duel import duel
from pliant.bench.ldot.contest import THREE
from pliant.bench.ldot.fig5_9 import EveryOther, Extrapolated
from pliant.bench.parts import FOLDER, WHOLE, Share, play_part, played
from pliant.bench.qlb.fig3 import FOLDED, PANELS, cases
from pliant.bench.race import faster
from pliant.bench.samples import contest, sampled
from pliant.errors import SceneError
from pliant.integrators import BDF2, Quasistatic
from pliant.linear import Cholesky
from pliant.mesh import bar as bar_mesh
from pliant.scenes.contact import ducks
from pliant.scenes.qlb import bar
from pliant.solvers import ND, QLB, HybridL1, Newton, Tolerance

SOLVERS = {"ND": ND(), "QLB": QLB()}
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


def test_shares_of_a_contest_add_up_to_the_whole(tmp_path, monkeypatch):
    def play(share):
        return contest("BAR, thin", lambda s: bar(integrator=Quasistatic(s), damping=0.0, mesh=MESH), SOLVERS, 5, share)

    plays, whole = {"BAR, thin": play}, play(WHOLE)
    for k in (1, 2):
        play_part(plays, f"BAR, thin:{k}/2", tmp_path)
    monkeypatch.setenv(FOLDER, str(tmp_path))
    joined = played({"BAR, thin": pytest.fail})["BAR, thin"]
    assert (joined.steps, joined.whole, joined.vertices) == (5, 100, whole.vertices)
    assert joined.iterations == whole.iterations and joined.apart == whole.apart
    for mine, others in zip(whole.runners, joined.runners, strict=True):
        assert (mine.name, mine.counts, mine.failures) == (others.name, others.counts, others.failures)
        assert len(others.times) == 5 and others.seconds == pytest.approx(sum(others.times))
    assert [r.name for r in joined.among(["QLB"]).runners] == ["QLB"]
    (tmp_path / "BAR_thin-2of2.part").unlink()
    assert played(plays)["BAR, thin"].steps == 5  # a share is missing: played anew
    with pytest.raises(SceneError, match="K/N"):
        play_part(plays, "BAR, thick:1/2", tmp_path)


def test_shares_of_a_duel_add_up_to_the_whole():
    def play(share=WHOLE):
        return duel("DUCKS", ducks(2), {"ND": ND()}, steps=8, samples=4, share=share)

    whole, joined = play(), play(Share(1, 2)).joined([play(Share(2, 2))])
    assert joined.note() == whole.note() and joined.samples == 4
    assert joined.runner("ND").counts == whole.runner("ND").counts


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


def test_an_extrapolated_factor_serves_the_next_step_better_than_a_frozen_one():
    rng = np.random.default_rng(1)
    L, Ldot = np.tril(rng.normal(size=(30, 30))) + 9 * np.eye(30), 0.02 * np.tril(rng.normal(size=(30, 30)))
    b, inner = np.arange(30.0), {}
    for linear in (Extrapolated(), EveryOther()):
        memory = None
        for k in range(5):
            S = sp.csr_matrix((L + k * Ldot) @ (L + k * Ldot).T)
            factor = linear.factor(S, memory)
            assert np.linalg.norm(S @ factor.solve(b) - b) < 1e-5 * np.linalg.norm(b)
            memory = factor.memory
            inner.setdefault(type(linear), []).append(factor.inner)
    extrapolated, frozen = inner[Extrapolated], inner[EveryOther]
    assert extrapolated[:2] == [0, 0] and extrapolated[3] == 0  # the first step has no rate, every other one makes it
    assert 0 < max(extrapolated) < max(frozen)
