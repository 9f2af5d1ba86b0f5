"""Formulas compiled for single contacts against the same formulas on arrays, as NumPy evaluates them."""

import numpy as np

from pliant.contact import _formula_kernels as kernels
from pliant.contact._blocks import gathered, spread
from pliant.contact.formulas import plane_frame, tangent_pair, turning
from pliant.contact.laws import spring
from pliant.contact.vectors import components


def test_compiled_formulas_are_those_of_arrays():
    rng = np.random.default_rng(0)
    x, c = rng.normal(size=(40, 3)), 25
    nodes = np.array([rng.choice(40, 4, replace=False) for _ in range(c)])
    side, force = np.where(rng.random(c) < 0.5, -1.0, 1.0), rng.normal(size=c)
    corners = [components(x[nodes[:, r]]) for r in range(4)]
    n, w, slopes, g = plane_frame(*corners, side)
    normals, weights, gaps = kernels.plane_frames(x, nodes, side)
    for found, expected in ((normals, np.stack(n, 1)), (weights, np.stack(w, 1)), (gaps, g)):
        assert np.allclose(found, expected, rtol=1e-13, atol=1e-13)
    blocks = kernels.turning_blocks(x, nodes, normals, force)
    zero = (np.zeros(c),) * 3
    weights, turns = [np.ones(c), *(-a for a in w)], [zero, *(tuple(-a for a in b) for b in slopes)]
    for r in range(4):
        for s in range(4):
            block = np.stack(turning(weights[r], turns[r], weights[s], turns[s], n, g), 1).reshape(-1, 3, 3)
            assert np.allclose(blocks[:, r, s], force[:, None, None] * block, rtol=1e-11, atol=1e-11)
    still = kernels.slip_frames(x, normals, np.full((c, 3), -1))[1]
    assert np.allclose(still, np.stack([np.stack(t, 1) for t in tangent_pair(n)], 1), rtol=1e-13, atol=1e-13)


def test_compiled_springs_are_those_of_arrays_on_the_softer_side():
    rng = np.random.default_rng(1)
    nodes, k = rng.integers(0, 20, (30, 4)), rng.uniform(1.0, 2.0, 20)
    weights = np.where(rng.random((30, 4)) < 0.5, 0.0, rng.normal(size=(30, 4)))
    weights[:, 0] = 1.0
    softer = np.where(weights != 0.0, k[nodes], np.inf).min(axis=1)
    for w in (0.0, 0.5):
        gaps = np.concatenate([rng.normal(size=28), [0.0, -w]])
        found = kernels.springs(gaps, k, nodes, weights, w)
        np.testing.assert_allclose(found, spring(gaps, softer, w), rtol=1e-14, atol=1e-16)


def test_compiled_sums_over_vertices_are_those_of_numpy():
    rng = np.random.default_rng(2)
    nodes, weights, f = rng.integers(0, 9, (30, 4)), rng.normal(size=(30, 4)), rng.normal(size=(30, 3))
    each, expected = weights[:, :, None] * f[:, None, :], np.zeros((9, 3))
    np.add.at(expected, nodes, each)
    np.testing.assert_allclose(spread(nodes, weights, f, 9), expected.ravel(), rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(gathered(nodes, each, 9), expected.ravel())
