"""Work arrays that are kept: the same memory again, but never for two at a time, and never a trace of the last use."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import pliant as pl
from pliant.arrays import Work
from pliant.energies.elastic import Elastic


def test_memory_is_used_again() -> None:
    work = Work(100)
    with work.lent() as first:
        pass
    with work.lent() as second, work.lent() as third:
        assert second is first
        assert third is not first and len(third) == 100


def test_copies_do_not_share_it() -> None:
    work = Work(100)
    with work.lent() as first:
        pass
    for other in (copy.deepcopy(work), copy.copy(work), pickle.loads(pickle.dumps(work))):
        with other.lent() as lent:
            assert lent is not first and len(lent) == 100


def test_hessians_by_several_threads_are_those_of_one() -> None:
    """Eight threads assemble the Hessians of other states with one energy; each gets the bytes it gets alone."""
    mesh = pl.mesh.bar((0.3, 0.1, 0.1), (6, 2, 2))
    energy = Elastic(mesh.X, mesh.T, pl.StableNeoHookean(E=1e5, nu=0.4))
    rng = np.random.default_rng(0)
    states = [mesh.X.ravel() + 0.003 * rng.normal(size=mesh.X.size) for _ in range(32)]
    alone = [energy.hessian(q).data.copy() for q in states]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda q: energy.hessian(q).data, states))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))
