"""Impulses that only push: optimality, and rows that say the same."""

import numpy as np
import pytest
from scipy.optimize import nnls

from pliant.linear.nonnegative import nonnegative
from pliant.linear.slipping import Slipping


def programme(seed, m, n):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(m, n))
    return B, rng.normal(size=n)


@pytest.mark.parametrize("m, n", [(1, 3), (12, 20), (40, 60), (60, 25)])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_what_least_squares_find(seed, m, n):
    """min |B^T y + b|^2 over y >= 0, with more rows than directions too."""
    B, b = programme(seed, m, n)
    y, changes = nonnegative(B @ B.T, B @ b, np.zeros(m), 10 * m)
    assert changes >= 0 and y.min() >= 0.0
    assert np.allclose(B.T @ y, B.T @ nnls(B.T, -b)[0], rtol=0, atol=1e-9)


def test_the_solution_as_guess_changes_nothing():
    B, b = programme(3, 40, 60)
    y, _ = nonnegative(B @ B.T, B @ b, np.zeros(40), 400)
    again, changes = nonnegative(B @ B.T, B @ b, y, 400)
    assert changes == 0 and np.allclose(again, y, rtol=1e-9, atol=1e-12)


def test_a_wrong_guess_is_left():
    B, b = programme(4, 40, 60)
    y, _ = nonnegative(B @ B.T, B @ b, np.zeros(40), 400)
    other, changes = nonnegative(B @ B.T, B @ b, np.where(y > 0.0, 0.0, 1.0), 400)
    assert changes > 0 and np.allclose(other, y, rtol=0, atol=1e-9)


def test_rows_twice_share_equally_and_do_the_same():
    B, b = programme(5, 10, 20)
    once, _ = nonnegative(B @ B.T, B @ b, np.zeros(10), 100)
    C = np.vstack([B, B])
    W, start, none = C @ C.T, C @ b, np.zeros(20)
    y, changes = nonnegative(W, start, none, 200)
    assert changes >= 0 and np.allclose(C.T @ y, B.T @ once, rtol=0, atol=1e-9)
    shared = Slipping(W, start, none, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0)).shared(y, none, 1e-9)
    # proximal terms of 1e-10 leave differences between equal rows to round-off over 1e-10
    assert np.allclose(shared, 0.5 * np.tile(once, 2), rtol=0, atol=1e-5 * once.max())
