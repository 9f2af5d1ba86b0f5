"""The active set of cloth where many rows say the same."""

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.cloth.active_set import ActiveSet
from pliant.linear.qp import solve_qp


@pytest.mark.parametrize("rounds", [20, 0])
@pytest.mark.parametrize("seed", range(4))
def test_rows_that_almost_repeat_each_other(rounds: int, seed: int) -> None:
    """Every row four times, to 1e-9; a third of those that touch do not press. Without rounds the interior point is
    refined, whose impulses and slacks are both small there but not zero."""
    rng, n, copies = np.random.default_rng(seed), 60, 4
    L = np.diag(2 + rng.random(n)) - np.diag(np.ones(n - 1), 1) - np.diag(np.ones(n - 1), -1)
    P = L @ L.T
    base = np.where(rng.random((n, n)) < 4 / n, rng.standard_normal((n, n)), 0.0)
    base = base[np.abs(base).sum(axis=1) > 0]
    C = np.vstack([base + 1e-9 * k * rng.standard_normal(base.shape) * (base != 0) for k in range(copies)])
    x = rng.standard_normal(n)
    slack = np.tile(np.where(rng.random(len(base)) < 0.3, rng.random(len(base)), 0.0), copies)
    z = np.where((slack == 0) & (rng.random(len(slack)) < 0.3), rng.random(len(slack)), 0.0)
    solution = solve_qp(
        sp.csc_matrix(P), C.T @ z - P @ x, inequality=(sp.csc_matrix(C), C @ x - slack), solver=ActiveSet(rounds=rounds)
    )
    assert solution.converged
    assert solution.residual <= 1e-8
    assert np.abs(solution.x - x).max() <= 1e-8 * np.linalg.cond(P)
