"""Derivatives of a forest: coordinates of different islands varied together give the same matrices as one by one."""

from itertools import pairwise

import numpy as np
import pytest

from pliant.articulated import ArticulatedSystem, Link, at, cuboid
from pliant.articulated.constraints import BallClosure, PrescribedJoint
from pliant.articulated.forces import BodyDamping, Cable, Explicit, JointSpring, PointSprings
from pliant.articulated.joints import Free3D, Revolute, Spherical

TIP = np.array([0.0, 0.1, -0.4])
ROD = cuboid((0.1, 0.2, 0.8), 500.0, at(0, 0, -0.4))


def forest(trees, *, joined=(), closed=False, unknown=False):
    """Three-link trees, every second one on a free joint; ``joined`` pairs of them are tied by springs."""
    links = []
    for k in range(trees):
        root = Free3D() if k % 2 else Spherical()
        links.append(Link(root, ROD, frame=at(2.0 * k, 0, 0), name=f"root{k}"))
        links.append(Link(Revolute((0, 1, 0)), ROD, f"root{k}", at(0, 0, -0.8), name=f"arm{k}"))
        links.append(Link(Revolute((1, 0, 0)), ROD, f"root{k}", at(0, 0.1, -0.8), name=f"leg{k}"))
    forces = [BodyDamping(0.3), *(JointSpring(f"arm{k}", 5.0, 0.1) for k in range(trees))]
    for a, b in joined:
        forces.append(PointSprings([f"arm{a}"], TIP, [f"leg{b}"], TIP, 40.0))
        path = ((f"root{a}", TIP), (None, np.array([1.0, 1, 1])), (f"arm{b}", TIP))
        forces.append(Explicit(Cable(path, 30.0, 0.5, rest=0.4)))
    if unknown:
        forces.append(Untold())
    constraints = []
    if closed:
        constraints = [PrescribedJoint("arm0", lambda t: 0.5, maximal=True), BallClosure("leg1", TIP, None, 3 * TIP)]
    return ArticulatedSystem(links, forces, constraints)


class Untold:
    """A force of a user that pulls the first and the last link together and says nothing about it."""

    def bind(self, tree):
        return self

    def add(self, loads, kin, t):
        d = kin.frames[-1, :3, 3] - kin.frames[0, :3, 3]
        loads.f[0, 3:] += 20.0 * kin.frames[0, :3, :3].T @ d
        loads.f[-1, 3:] -= 20.0 * kin.frames[-1, :3, :3].T @ d

    def potential(self, kin, t, quirks):
        return 0.0


def start(system, seed=5):
    rng = np.random.default_rng(seed)
    return 0.4 * rng.normal(size=system.tree.dof), rng.normal(size=system.tree.dof)


def differences(function, x, e=1e-6):
    columns = [(function(x + e * d) - function(x - e * d)) / (2 * e) for d in np.eye(len(x))]
    return np.stack(columns, axis=1)


CASES = {
    "apart": forest(3),
    "two joined": forest(4, joined=[(0, 2)]),
    "in a row": forest(3, joined=[(0, 1), (1, 2)]),
    "closed": forest(3, closed=True),
    "unknown": forest(3, unknown=True),
}


@pytest.mark.parametrize("case", CASES)
def test_coloured_matrices_are_the_finite_differences(case):
    system = CASES[case]
    (q, v), a = start(system), start(system, 6)[0]
    w = (1.0, 0.1, 0.01)
    wanted = {
        "K": (system.stiffness(q, v, 0.0), differences(lambda x: system.force(x, v, 0.0), q)),
        "D": (system.damping(q, v, 0.0), differences(lambda x: system.force(q, x, 0.0), v)),
        "M": (system.mass(q), differences(lambda x: system.inertia(q, x), a)),
        "A": (
            system.tangent(q, v, 0.0, w, psd=False, a=a),
            w[0] * differences(lambda x: system.inertia(q, x), a)
            - w[1] * differences(lambda x: system.force(q, x, 0.0), v)
            - w[2] * differences(lambda x: system.force(x, v, 0.0) - system.inertia(x, a), q),
        ),
    }
    for name, (found, exact) in wanted.items():
        assert np.allclose(found.toarray(), exact, atol=2e-7 * np.abs(exact).max()), name


def test_how_many_products_a_matrix_takes():
    assert [CASES[c].islands.colours for c in ("apart", "two joined", "in a row")] == [8, 10, 18]
    assert CASES["unknown"].islands.colours == CASES["unknown"].tree.dof
    free = ArticulatedSystem([Link(Free3D(), ROD, frame=at(k, 0, 0), name=f"{k}") for k in range(40)])
    calls = []
    free.islands.matrix(lambda d: calls.append(1) or d)
    assert len(calls) == 6


@pytest.mark.parametrize("case", CASES)
def test_the_projected_tangent_is_symmetric_and_positive_definite(case):
    system = CASES[case]
    (q, v), rng = start(system), np.random.default_rng(1)
    patterns = []
    for _ in range(2):
        A = system.tangent(q + 0.3 * rng.normal(size=len(q)), v, 0.0, (1.0, 0.1, 0.01))
        assert abs(A - A.T).max() < 1e-12 * abs(A).max()
        assert np.linalg.eigvalsh(A.toarray()).min() > 0.0
        patterns.append((A.indptr, A.indices))
    assert all(np.array_equal(x, y) for x, y in zip(*patterns, strict=True))  # solvers reuse the analysis


@pytest.mark.parametrize("case", ["apart", "in a row"])
def test_points_follow_the_coordinates(case):
    system = CASES[case]
    q, g = start(system)[0], np.random.default_rng(2).normal(size=system.positions(system.rest).size)
    J = system.point_jacobian(q)
    exact = differences(lambda x: system.positions(x).ravel(), q)
    assert np.allclose(J.toarray(), exact, atol=1e-8)
    assert system.trees.colours == 8  # springs do not bend kinematics
    H = system.curvature(q, g).toarray()
    assert np.allclose(H, differences(lambda x: system.point_jacobian(x).T @ g, q), atol=1e-7 * np.abs(H).max())
    assert np.allclose(H, H.T, atol=1e-12 * np.abs(H).max())


def test_closures_of_a_forest_are_those_of_their_differences():
    system = CASES["closed"]
    q, v = start(system)
    y, w = np.array([1.0, -2.0, 0.5, 3.0]), 20.0

    def at(x):
        return system.closures(x, v + w * (x - q), 0.0)

    curved, gaps = system.closure_tangent(q, v, 0.0, y, w)
    for found, exact in (
        (curved, differences(lambda x: at(x).G.T @ y, q)),
        (gaps, differences(lambda x: at(x).gap, q)),
    ):
        assert np.allclose(found.toarray(), exact, atol=2e-7 * np.abs(exact).max())


def test_colours_cost_the_same_for_any_number_of_trees():
    counts = [forest(n).islands.colours for n in (2, 4, 8)]
    assert all(a == b for a, b in pairwise(counts))
