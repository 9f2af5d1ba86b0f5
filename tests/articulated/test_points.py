"""Points on links of every kind of joint: first and second derivatives, against complex steps through the tree."""

import numpy as np
import pytest
from articulated_samples import zoo

from pliant.articulated import ArticulatedSystem, Link, at, cuboid
from pliant.articulated.islands import complex_step
from pliant.articulated.joints import examples

ROD = cuboid((0.1, 0.2, 0.3), 1.0, at(0.05, 0.02, 0.01))


def many():
    """Two links of every kind, on different trees: joints of a kind are evaluated together."""
    links = [Link(j, ROD, frame=at(i, k, 0), name=f"{i} {k}") for k in range(2) for i, j in enumerate(examples())]
    system = ArticulatedSystem(links)
    return system, np.random.default_rng(3).uniform(0.1, 0.9, system.tree.dof)


def columns(function, q):
    """The derivative of a function of complex coordinates, coordinate by coordinate."""
    step = complex_step(function)
    return np.stack([step(e) for e in np.eye(len(q))], axis=1)


def by_complex_steps(system, q, g):
    """d(J^T g)/dq through the wrenches of g on the links."""

    def generalised(e):
        kin = system.kinematics(q + e, np.zeros_like(q))
        f = np.einsum("pji,pj->pi", kin.frames[system.points.link, :3, :3], g.reshape(-1, 3))
        wrenches = np.zeros((len(system.tree), 6), dtype=f.dtype)
        np.add.at(wrenches, system.points.link, np.concatenate([np.cross(system.points.x, f), f], axis=1))
        return kin.apply_transpose(wrenches)

    return columns(generalised, q)


@pytest.mark.parametrize("case", ["zoo", "many"])
def test_derivatives_of_points_are_those_of_complex_steps(case):
    system, q = zoo()[:2] if case == "zoo" else many()
    g = np.random.default_rng(1).normal(size=3 * len(system.points.x))
    J = columns(lambda e: system.positions(q + e).ravel(), q)
    assert np.allclose(system.point_jacobian(q).toarray(), J, atol=1e-13 * np.abs(J).max())
    H = by_complex_steps(system, q, g)
    assert np.allclose(system.curvature(q, g).toarray(), H, atol=1e-12 * np.abs(H).max())


def test_nothing_is_lost_far_from_the_origin():
    """A kilometre away, the curvature keeps the digits that the positions have."""
    far = [Link(j, ROD, frame=at(1e3, -2e3, i), name=f"{i}") for i, j in enumerate(examples())]
    near = [Link(j, ROD, frame=at(0, 0, i), name=f"{i}") for i, j in enumerate(examples())]
    q = np.random.default_rng(3).uniform(0.1, 0.9, sum(j.dof for j in examples()))
    systems = [ArticulatedSystem(links) for links in (near, far)]
    g = np.random.default_rng(1).normal(size=3 * len(systems[0].points.x))
    H = [s.curvature(q, g).toarray() for s in systems]
    assert np.allclose(*H, atol=1e-11 * np.abs(H[0]).max())
