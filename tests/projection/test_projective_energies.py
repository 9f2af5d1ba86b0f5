"""The squared-distance energies: derivatives, the projections they stand for, their bounds, their refusals."""

import numpy as np
import pytest
from scipy.optimize import minimize

from pliant.energies.bending import QuadraticBending
from pliant.energies.elastic import Elastic
from pliant.energies.projective import HingeBending, PlaneCollision, StrainLimit, VolumeRange
from pliant.errors import MaterialError, SceneError
from pliant.materials import ARAP
from pliant.mesh import bar, sheet


def numeric(function, x, eps=1e-6):
    rows = []
    for k in range(len(x)):
        e = np.zeros_like(x)
        e[k] = eps
        rows.append((function(x + e) - function(x - e)) / (2 * eps))
    return np.array(rows)


def curved():
    """A sheet rolled to a quarter cylinder."""
    mesh = sheet(size=(1.0, 1.0), cells=(3, 2))
    angle = mesh.X[:, 0] * np.pi / 2
    X = np.column_stack([np.sin(angle), mesh.X[:, 1], 1 - np.cos(angle)])
    return X, mesh.T


def cases():
    box = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
    flat = sheet(size=(1.0, 1.0), cells=(2, 2))
    X, T = curved()
    return {
        "strain limit": (Elastic(box.X, box.T, StrainLimit(3.0, 0.95, 1.05)), box.X, 0.02),
        "volume": (Elastic(box.X, box.T, VolumeRange(3.0, 0.98, 1.02)), box.X, 0.01),
        "membrane limit": (Elastic(flat.X, flat.T, StrainLimit(3.0), thickness=0.01), flat.X, 0.1),
        "bending flat": (HingeBending(flat.X, flat.T, beta=2.0), flat.X, 0.1),
        "bending curved": (HingeBending(X, T, beta=2.0), X, 0.05),
        "plane": (PlaneCollision(len(flat.X), np.arange(5), (0, 0, 0.02), (0.1, 0, 1), 7.0), flat.X, 0.1),
    }


@pytest.mark.parametrize("name", cases())
def test_derivatives(name):
    energy, X, size = cases()[name]
    x = X.ravel() + size * np.random.default_rng(0).normal(size=X.size)
    g, H = energy.gradient(x), energy.hessian(x).toarray()
    assert abs(g).max() > 0
    assert abs(g - numeric(energy.value, x)).max() < 1e-7 * max(abs(g).max(), 1e-3)
    assert abs(H - numeric(energy.gradient, x)).max() < 1e-6 * abs(H).max()
    P = energy.hessian(x, psd=True).toarray()
    assert np.linalg.eigvalsh(P).min() > -1e-10 * abs(P).max()


def test_strain_limit_of_one_is_arap():
    rng = np.random.default_rng(1)
    F = np.eye(3) + 0.3 * rng.normal(size=(20, 3, 3))
    assert np.allclose(StrainLimit(2.0, 1.0, 1.0).psi(F), ARAP(2.0).psi(F), rtol=1e-9, atol=1e-12)
    assert np.allclose(StrainLimit(2.0, 1.0, 1.0).piola(F), ARAP(2.0).piola(F), rtol=1e-8, atol=1e-8)


def test_admissible_states_cost_nothing():
    F = np.tile(np.diag([1.04, 0.98, 1.0]), (1, 1, 1))
    assert StrainLimit(1.0, 0.95, 1.05).psi(F)[0] == 0.0
    assert not StrainLimit(1.0, 0.95, 1.05).piola(F).any()
    assert VolumeRange(1.0, 0.95, 1.05).psi(F)[0] < 1e-30


@pytest.mark.parametrize("stretches", [(1.1, 1.0, 1.2), (0.9, 0.8, 1.0), (1.3, 0.9, 0.6)])
def test_volume_projection_is_the_nearest_point(stretches):
    s = np.array(stretches)
    bounds = (0.98, 1.02)
    found = minimize(
        lambda p: ((p - s) ** 2).sum(),
        s,
        method="SLSQP",
        constraints=[
            {"type": "ineq", "fun": lambda p: p.prod() - bounds[0]},
            {"type": "ineq", "fun": lambda p: bounds[1] - p.prod()},
        ],
        options={"ftol": 1e-15},
    )
    assert VolumeRange(2.0, *bounds).psi(np.diag(s)[None])[0] == pytest.approx(found.fun, rel=1e-6)


def test_flat_bending_is_the_quadratic_one():
    mesh = sheet(size=(1.0, 1.0), cells=(3, 3))
    ours, quadratic = HingeBending(mesh.X, mesh.T, beta=0.3), QuadraticBending(mesh.X, mesh.T, beta=0.3)
    x = mesh.X.ravel() + 0.1 * np.random.default_rng(2).normal(size=mesh.X.size)
    assert not ours.rest.any()
    assert ours.value(x) == pytest.approx(quadratic.value(x), rel=1e-12)
    assert abs((ours.hessian(x) - quadratic.hessian(x)).toarray()).max() < 1e-12


def test_curved_rest_shape_is_at_rest():
    X, T = curved()
    energy = HingeBending(X, T, beta=2.0)
    assert energy.rest.any()
    assert abs(energy.gradient(X.ravel())).max() < 1e-12


def test_nonsense_is_refused():
    for bad in ((1.0, 1.1, 0.9), (1.0, -0.1, 1.0), (-1.0, 0.9, 1.1)):
        with pytest.raises(MaterialError):
            StrainLimit(*bad)
        with pytest.raises(MaterialError):
            VolumeRange(*bad)
    flat = sheet(size=(1.0, 1.0), cells=(1, 1))
    with pytest.raises(MaterialError, match="membrane"):
        Elastic(flat.X, flat.T, VolumeRange(), thickness=0.01)
    with pytest.raises(SceneError, match="normal"):
        PlaneCollision(3, np.arange(3), (0, 0, 0), (0, 0, 0), 1.0)
    with pytest.raises(MaterialError, match="beta"):
        HingeBending(flat.X, flat.T, beta=0.0)
