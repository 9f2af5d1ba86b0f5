"""The sparse form of joint friction: the same numbers as the dense one, and what is left out of it."""

import numpy as np
import pytest

from pliant.articulated import BISP, ArticulatedSystem, Friction
from pliant.articulated.blocks import PairRows
from pliant.articulated.forces import PointSprings
from pliant.articulated.friction import LinkContacts
from pliant.linear.box_matrix import SparseBox
from pliant.linear.box_qp import General, ProjectedNewton
from pliant.linear.qp import Clarabel
from pliant.scenes.redmax import chain_with_friction, run, walker


def random_rows(rng, s=40, n=9):
    bodies = np.stack([rng.integers(0, n, s), rng.integers(-1, n, s)], axis=1)
    bodies[bodies[:, 0] == bodies[:, 1], 1] = -1
    rows = rng.normal(size=(s, 2, 6)) * (bodies >= 0)[:, :, None]
    return PairRows(bodies, rows), n


def test_rows_on_pairs_of_bodies_are_rows():
    rng = np.random.default_rng(1)
    T, n = random_rows(rng)
    D, x, y = T.dense(n), rng.normal(size=(n, 6)), rng.normal(size=len(T))
    B = rng.normal(size=(n, 6, 6))
    inverse = B @ np.swapaxes(B, 1, 2)
    A = np.zeros((n, 6, n, 6))
    A[np.arange(n), :, np.arange(n)] = inverse
    assert np.allclose(T.apply(x), D @ x.ravel())
    assert np.allclose(T.transpose(y, n).ravel(), D.T @ y)
    H = T.gram(inverse)
    assert H.has_sorted_indices and H.nnz < len(T) ** 2
    assert np.allclose(H.toarray(), D @ A.reshape(6 * n, 6 * n) @ D.T)
    again = PairRows.of(D)
    assert np.allclose(again.dense(n), D)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("box", [ProjectedNewton(), General(Clarabel())])
def test_sparse_and_dense_programmes_agree(seed, box):
    rng = np.random.default_rng(seed)
    T, n = random_rows(rng, 60, 7)  # 42 coordinates: semidefinite
    H = T.gram(np.broadcast_to(np.eye(6), (n, 6, 6)).copy())
    g, bound = T.apply(rng.normal(size=(n, 6))), 0.3 * rng.random(60) * (rng.random(60) > 0.2)
    value = lambda x: 0.5 * x @ (H @ x) - g @ x
    dense = box.solve(H.toarray(), g, -bound, bound, np.zeros(60))
    sparse = box.solve(SparseBox(H), g, -bound, bound, np.zeros(60))
    assert dense.converged and sparse.converged
    assert np.all(np.abs(sparse.x) <= bound)
    assert value(sparse.x) == pytest.approx(value(dense.x), rel=1e-7)


class Compared:
    """The programme solver of BISP, and beside it a library's: the same minimum in every step."""

    solved = 0

    def solve(self, H, g, lo, hi, x):
        value = lambda y: 0.5 * y @ H.multiply(y) - g @ y
        ours, theirs = ProjectedNewton().solve(H, g, lo, hi, x), General(Clarabel()).solve(H, g, lo, hi, x)
        assert ours.converged and np.all(ours.x >= lo) and np.all(ours.x <= hi)
        assert value(ours.x) == pytest.approx(value(theirs.x), rel=1e-6)
        self.solved += 1
        return ours


def test_every_programme_of_a_falling_chain_has_the_minimum_that_a_library_finds():
    scene, box = chain_with_friction(0.5, 12), Compared()
    system, state, memory = scene.system(), scene.initial(), None
    for _ in range(60):
        step = BISP(scene.integrator.friction, box=box).step(system, state, scene.h, memory)
        state, memory = step.state, step.memory
        assert step.reports[0].converged
    assert box.solved >= 60


def test_a_step_is_the_same_where_a_spring_makes_it_dense():
    """A spring of no stiffness couples two bodies, so the dense factors are taken; the motion must not know."""
    scene = chain_with_friction(0.5, 6)
    s, start = scene.system(), scene.initial()
    nothing = PointSprings([0], np.zeros(3), [5], np.zeros(3), 0.0)
    contacts = s.patches
    coupled = ArticulatedSystem(s.tree.links, [nothing], gravity=tuple(s.gravity))
    coupled.patches = contacts
    ends = []
    for system in (s, coupled):
        state, memory = start, None
        for _ in range(40):
            step = BISP(Friction(0.3)).step(system, state, scene.h, memory)
            state, memory = step.state, step.memory
            assert step.reports[0].converged
        ends.append(state.v)
    assert np.abs(ends[0]).max() > 1.0
    assert np.allclose(*ends, atol=1e-6 * np.abs(ends[0]).max())


def test_the_friction_programme_has_few_entries():
    scene = chain_with_friction(0.5, 100)
    system, start = scene.system(), scene.initial()
    kin = system.kinematics(start.q, start.v)
    T = LinkContacts(system, kin, [], Friction(), 1e-6).T
    assert T.gram(np.broadcast_to(np.eye(6), (100, 6, 6)).copy()).nnz <= 3 * 8 * len(T)


def test_a_long_chain_and_the_walker_converge():
    for scene, steps in ((chain_with_friction(0.5, 300), 4), (walker(0.4), 6)):
        assert all(r.converged for s in run(scene, steps=steps)[1:] for r in s.reports)
