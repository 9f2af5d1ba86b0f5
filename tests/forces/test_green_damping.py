"""Green damping: dissipative, blind to rigid motion, exact derivatives, on solids, planar solids and membranes."""

import numpy as np
import pytest
from scipy.spatial import Delaunay

from pliant.errors import MaterialError
from pliant.forces.green import GreenDamping


def body(kind):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 3 if kind == "tets" else 2))
    T = Delaunay(X).simplices
    volume = np.abs(np.linalg.det(X[T[:, 1:]] - X[T[:, :1]]))
    T = T[volume > 0.05 * np.median(volume)]
    if kind == "membrane":
        X = np.column_stack([X, 0.3 * np.sin(3 * X[:, 0])])
    return X, T


@pytest.fixture(params=["tets", "planar", "membrane"])
def damper(request):
    X, T = body(request.param)
    mu = np.random.default_rng(1).uniform(1.0, 5.0, size=len(T))
    damping = GreenDamping(X, T, mu, thickness=None if request.param != "membrane" else 0.01)
    rng = np.random.default_rng(2)
    return damping, (X + 0.05 * rng.normal(size=X.shape)).ravel(), rng.normal(size=X.size), X.shape[1]


def test_rigid_motion_is_not_damped(damper):
    damping, x, v, d = damper
    p = x.reshape(-1, d)
    spin = np.random.default_rng(3).normal(size=(d, d))
    rigid = (p @ (spin - spin.T) + np.arange(d)).ravel()
    assert np.abs(damping.force(x, rigid)).max() <= 1e-13 * np.abs(damping.force(x, v)).max()


def test_power_is_never_positive_and_matches_the_dissipation(damper):
    damping, x, v, d = damper
    F, rate = damping.elements.deformation(x), damping.elements.deformation(v)
    S = np.einsum("mic,mid->mcd", F, rate)
    strain_rate = 0.5 * (S + S.swapaxes(1, 2))
    phi = (damping._mu * damping.elements.volumes * (strain_rate**2).sum(axis=(1, 2))).sum()
    assert v @ damping.force(x, v) == pytest.approx(-2 * phi, rel=1e-12)
    assert v @ damping.force(x, v) < 0


def test_damping_matrix_is_exact_symmetric_and_semidefinite(damper):
    damping, x, v, d = damper
    D = damping.damping(x, v)
    assert np.allclose(D @ v, damping.force(x, v), rtol=1e-12, atol=1e-12 * abs(D).max())
    dense = D.toarray()
    assert np.abs(dense - dense.T).max() <= 1e-13 * np.abs(dense).max()
    assert np.linalg.eigvalsh(dense)[-1] <= 1e-12 * np.abs(dense).max()
    assert damping.damping(x + 1, v).indices is D.indices


def test_exact_stiffness_by_differences(damper):
    damping, x, v, d = damper
    h = 1e-6
    direction = np.random.default_rng(4).normal(size=x.size)
    K = damping.exact_stiffness(x, v)
    difference = (damping.force(x + h * direction, v) - damping.force(x - h * direction, v)) / (2 * h)
    assert np.linalg.norm(difference - K @ direction) <= 1e-8 * np.linalg.norm(difference)
    assert abs(K - K.T).max() > 0.1 * abs(K).max()
    assert damping.stiffness(x, v).nnz == 0


def test_wrong_viscosity_is_refused():
    X, T = body("planar")
    with pytest.raises(MaterialError, match="negative"):
        GreenDamping(X, T, -1.0)
    with pytest.raises(MaterialError, match="2 values"):
        GreenDamping(X, T, [1.0, 2.0])
