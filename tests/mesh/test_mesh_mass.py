"""Mass: totals, lumped = row sums of consistent, exact integrals of linear fields, rotational inertia."""

import numpy as np
import pytest

from pliant import mesh
from pliant.errors import MeshError

BODIES = {
    "tets": (lambda: mesh.ball(cells=4), 1000.0),
    "planar": (lambda: mesh.rectangle((0.3, 0.1), (4, 3)), 2.0),
    "shell": (lambda: mesh.sheet((0.3, 0.1), (4, 3)), 0.2),
    "springs": (lambda: mesh.spring_net(3, 2), 0.01),
}


@pytest.mark.parametrize("name", BODIES)
def test_lumped_is_the_row_sum_of_consistent_and_holds_all_mass(name):
    make, rho = BODIES[name]
    body = make()
    per_element = rho * (1 + np.arange(len(body.T)) % 3)
    for density in (rho, per_element):
        m, M = mesh.lumped_mass(body, density), mesh.consistent_mass(body, density)
        assert m == pytest.approx(np.asarray(M.sum(axis=1)).ravel(), rel=1e-12)
        assert m.sum() == pytest.approx((density * body.measures()).sum(), rel=1e-12)
        assert abs(M - M.T).max() < 1e-14 * M.max()
        assert np.linalg.eigvalsh(M.toarray()).min() > 0
        assert M.has_sorted_indices


def test_consistent_mass_integrates_products_of_linear_fields_exactly():
    a, b, c, rho = 0.3, 0.1, 0.2, 700.0
    body = mesh.bar((a, b, c), (3, 2, 2))
    M = mesh.consistent_mass(body, rho)
    x, y, _ = body.X.T
    assert x @ M @ x == pytest.approx(rho * a**3 / 3 * b * c, rel=1e-12)
    assert x @ M @ y == pytest.approx(rho * a**2 / 2 * b**2 / 2 * c, rel=1e-12)
    plate = mesh.rectangle((a, b), (3, 2), "x")
    x, y = plate.X.T
    assert x @ mesh.consistent_mass(plate, rho) @ x == pytest.approx(rho * a**3 / 3 * b, rel=1e-12)
    chain = mesh.chain(4, a)
    x = chain.X[:, 0]
    assert x @ mesh.consistent_mass(chain, rho) @ x == pytest.approx(rho * a**3 / 3, rel=1e-12)


def test_lumped_mass_keeps_the_center_of_mass():
    body = mesh.duck()
    centers = body.X[body.T].mean(axis=1)
    volume = body.measures()
    m = mesh.lumped_mass(body, 1000)
    assert m @ body.X / m.sum() == pytest.approx(volume @ centers / volume.sum(), abs=1e-12)


@pytest.mark.parametrize("density", [0, -1, np.nan, np.inf, np.ones(3), np.zeros(4)])
def test_wrong_densities_are_refused(density):
    with pytest.raises(MeshError, match="density"):
        mesh.lumped_mass(mesh.chain(4), density)
