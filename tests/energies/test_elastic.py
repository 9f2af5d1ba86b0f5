"""Elastic energy on irregular meshes: differences, equilibrium, projection, planar and membrane elements."""

import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial import Delaunay

from pliant.energies.elastic import Elastic
from pliant.errors import MaterialError, MeshError
from pliant.materials import AnisotropicStVK, Corotational, Linear, NeoHookean, StableNeoHookean

E, NU = 1e5, 0.4
BODY = StableNeoHookean(E, NU)
TURNED = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])  # a rotation


def mesh(dim, count=60, seed=0):
    """Irregular triangulation of random points, without slivers."""
    X = np.random.default_rng(seed).uniform(size=(count, dim))
    T = Delaunay(X).simplices.astype(np.int64)
    volume = np.abs(np.linalg.det(X[T[:, 1:]] - X[T[:, :1]]))
    return X, T[volume > 0.1 * np.median(volume)]


def sheet(seed=0):
    """A curved triangle mesh in space."""
    X, T = mesh(2, seed=seed)
    return np.column_stack([X, 0.3 * np.sin(3 * X[:, 0]) + 0.2 * X[:, 1] ** 2]), T


def deformed(X, size=0.05, seed=1):
    rng = np.random.default_rng(seed)
    A = np.eye(X.shape[1]) + 0.2 * rng.normal(size=(X.shape[1],) * 2)
    return (X @ A.T + size * rng.normal(size=X.shape)).ravel()


CASES = {
    "tets": lambda: Elastic(*mesh(3), BODY),
    "tets with fibres": lambda: Elastic(*mesh(3), BODY + AnisotropicStVK((1, 2, 2), E)),
    "plane strain": lambda: Elastic(*mesh(2), BODY),
    "plane stress": lambda: Elastic(*mesh(2), Corotational(E, NU), plane="stress"),
    "membrane": lambda: Elastic(*sheet(), BODY, thickness=1e-3),
    "membrane with fibres": lambda: Elastic(*sheet(), BODY + AnisotropicStVK((1, 1, 0), E), thickness=0.1),
}


def rest(energy):
    cases = {2: mesh(2)[0], 3: mesh(3)[0]}
    return sheet()[0] if energy.elements.axes is not None else cases[energy.dim]


@pytest.fixture(params=CASES, ids=str)
def energy(request):
    return CASES[request.param]()


def test_derivatives(energy):
    X = rest(energy)
    x = deformed(X)
    rng = np.random.default_rng(2)
    h = 1e-6
    for _ in range(3):
        d = rng.normal(size=x.shape)
        slope = (energy.value(x + h * d) - energy.value(x - h * d)) / (2 * h)
        g = energy.gradient(x)
        assert abs(slope - g @ d) <= 1e-7 * np.linalg.norm(g) * np.linalg.norm(d)
        Hd = energy.hessian(x) @ d
        difference = (energy.gradient(x + h * d) - energy.gradient(x - h * d)) / (2 * h)
        assert np.linalg.norm(difference - Hd) <= 1e-7 * np.linalg.norm(Hd)


def test_rest_has_no_energy_and_no_force(energy):
    x = rest(energy).ravel()
    assert abs(energy.value(x)) <= 1e-12 * E * energy.volumes.sum()
    assert np.abs(energy.gradient(x)).max() <= 1e-11 * E * energy.volumes.sum()


def test_internal_forces_have_no_resultant(energy):
    x = deformed(rest(energy))
    f = energy.gradient(x).reshape(-1, energy.dim)
    p = x.reshape(-1, energy.dim)
    scale = np.abs(f).sum()
    assert np.abs(f.sum(axis=0)).max() <= 1e-12 * scale
    torque = np.cross(p, f) if energy.dim == 3 else p[:, 0] * f[:, 1] - p[:, 1] * f[:, 0]
    assert np.abs(torque.sum(axis=0)).max() <= 1e-12 * scale


def test_hessian_is_symmetric_sorted_and_shares_its_pattern(energy):
    x = deformed(rest(energy))
    A, B = energy.hessian(x), energy.hessian(rest(energy).ravel(), psd=True)
    assert A.indptr is B.indptr and A.indices is B.indices and A.data is not B.data
    assert abs(A - A.T).max() <= 1e-13 * abs(A).max()
    assert all((np.diff(A.indices[a:b]) > 0).all() for a, b in zip(A.indptr[:-1], A.indptr[1:]))


@pytest.mark.parametrize("material", [BODY, Corotational(E, NU)], ids=["SNH", "corotational"])
@pytest.mark.parametrize("kind", ["plane", "membrane"])
def test_planar_projection_equals_brute_force(material, kind):
    """With a rest triangle of shape gradients e_a the Hessian of nodes 1, 2 is the tangent in F itself."""
    rng = np.random.default_rng(5)
    X = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])[:, : 2 if kind == "plane" else 3]
    energy = Elastic(X, np.arange(3)[None], material, thickness=2.0)
    d = energy.dim
    for k in range(40):
        F = np.eye(d)[:, :2] + (0.6 if k % 2 else 0.15) * rng.normal(size=(d, 2))
        if k % 4 == 1:
            F[:, 1] *= -1.0
        x = np.concatenate([np.zeros(d), F[:, 0], F[:, 1]])
        H = energy.hessian(x).toarray()[d:, d:]
        w, Q = np.linalg.eigh(H)
        projected = energy.hessian(x, psd=True).toarray()[d:, d:]
        assert np.abs(projected - Q @ np.diag(np.maximum(w, 0)) @ Q.T).max() <= 1e-8 * np.abs(w).max()


def test_plane_strain_equals_a_slab_of_tets():
    """A 3-D body whose vertices keep their height has the in-plane energy of plane strain."""
    X, T = mesh(2)
    x = deformed(X)
    planar = Elastic(X, T, BODY).density(x)
    F = Elastic(X, T, BODY).deformation(x)
    slab = np.zeros((len(F), 3, 3))
    slab[:, :2, :2] = F
    slab[:, 2, 2] = 1.0
    assert np.allclose(planar, BODY.psi(slab), rtol=1e-12, atol=1e-12 * E)


def test_plane_stress_has_the_uniaxial_modulus():
    """Pulling a plane-stress square in x while y relaxes: stress E * strain, contraction nu * strain."""
    X = np.array([[0.0, 0], [1, 0], [0, 1], [1, 1]])
    T = np.array([[0, 1, 2], [1, 3, 2]])
    energy = Elastic(X, T, BODY, plane="stress", thickness=0.5)
    strain = 1e-6
    x = (X * [1 + strain, 1 - NU * strain]).ravel()
    s = energy.stress(x)
    assert np.allclose(s[:, 0, 0], E * strain, rtol=1e-5)
    assert np.abs(s[:, 1, 1]).max() <= 1e-5 * E * strain
    assert np.abs(s[:, 2]).max() == 0.0


def test_membrane_does_not_feel_rotation_and_scales_with_thickness():
    X, T = sheet()
    thin, thick = Elastic(X, T, BODY, thickness=1e-3), Elastic(X, T, BODY, thickness=2e-3)
    x = deformed(X)
    turned = (x.reshape(-1, 3) @ TURNED.T).ravel()
    assert thin.value(turned) == pytest.approx(thin.value(x), rel=1e-11)
    assert thick.value(x) == pytest.approx(2 * thin.value(x), rel=1e-13)


def test_read_out_of_uniaxial_tension():
    X, T = mesh(3)
    energy = Elastic(X, T, Linear(E, NU))
    strain = 1e-3
    x = (X * [1 + strain, 1 - NU * strain, 1 - NU * strain]).ravel()
    s = energy.stress(x)
    assert np.allclose(s[:, 0, 0], E * strain, rtol=1e-2)
    assert np.allclose(energy.von_mises(x), E * strain, rtol=1e-2)
    assert np.allclose(energy.det(x), (1 + strain) * (1 - NU * strain) ** 2)
    assert np.allclose(energy.density(x), 0.5 * E * strain**2, rtol=1e-9)
    assert energy.element_energies(x).sum() == pytest.approx(energy.value(x), rel=1e-14)


def test_cauchy_stress_turns_with_the_body():
    X, T = mesh(3)
    energy = Elastic(X, T, BODY)
    x = deformed(X)
    turned = (x.reshape(-1, 3) @ TURNED.T).ravel()
    assert np.allclose(energy.stress(turned), TURNED @ energy.stress(x) @ TURNED.T, atol=1e-8 * E)
    assert np.allclose(energy.stress(x), energy.stress(x).swapaxes(1, 2), atol=1e-9 * E)


def test_limit_is_nine_tenths_of_the_first_collapse():
    X, T = mesh(3)
    energy = Elastic(X, T, NeoHookean(E, NU))
    x, dx = X.ravel(), np.random.default_rng(3).normal(size=X.size)
    t = energy.limit(x, dx) / 0.9
    assert energy.det(x).min() > 0
    assert abs(energy.det(x + t * dx) / energy.det(x)).min() <= 1e-9
    assert (energy.det(x + 0.999 * t * dx) * energy.det(x) > 0).all()
    assert np.isfinite(energy.value(x + 0.9 * t * dx))
    assert energy.limit(x, X.ravel()) == np.inf
    assert Elastic(X, T, BODY).limit(x, dx) == np.inf


@pytest.mark.parametrize("dim", [2, 3])
def test_the_first_collapse_is_the_least_real_eigenvalue(dim):
    """det(F + t dF) = det F det(1 + t F^-1 dF) vanishes at t = -1/lam; one element at a time, some never collapse."""
    X, T = mesh(dim)
    energy = Elastic(X, T, NeoHookean(E, NU))
    rng = np.random.default_rng(5)
    found = []
    for size in np.geomspace(1e-3, 1e3, 40):
        x, dx = X.ravel() + 0.02 * rng.normal(size=X.size), size * rng.normal(size=X.size)
        whole = energy.det(x) > 0.0  # the others have collapsed already
        lam = np.linalg.eigvals(np.linalg.solve(energy.deformation(x)[whole], energy.deformation(dx)[whole]))
        real = lam.real[(abs(lam.imag) < 1e-12 * abs(lam)) & (lam.real < 0.0)]
        assert energy.limit(x, dx) == pytest.approx(0.9 * (-1.0 / real).min(), rel=1e-9)
        found.append(Elastic(X, T[:1], NeoHookean(E, NU), n=len(X)).limit(x, dx))
    assert 0 < np.isinf(found).sum() < len(found)  # the plane: pairs of complex eigenvalues; space: three positive ones


@pytest.mark.parametrize("material", [BODY, BODY + AnisotropicStVK((1, 0, 0), E)], ids=["one", "sum"])
def test_march_is_symplectic_euler(material):
    X, T = mesh(3)
    energy = Elastic(X, T, material)
    rng = np.random.default_rng(4)
    x, v = deformed(X, 0.01), 0.1 * rng.normal(size=X.size)
    inverse = np.full(X.size, 1e3)
    inverse[:9] = 0.0
    load = rng.normal(size=X.size)
    h = 1e-7
    y, w = x.copy(), v.copy()
    for _ in range(20):
        w = w + h * inverse * (load - energy.gradient(y))
        y = y + h * w
    marched = energy.march(x, v, inverse, load, h, 20)
    assert np.allclose(marched[0], y, rtol=0, atol=1e-13)
    assert np.allclose(marched[1], w, rtol=0, atol=1e-9)


def test_with_material_only_changes_parameters():
    X, T = mesh(3)
    soft = Elastic(X, T, BODY)
    stiff = soft.with_material(StableNeoHookean(2 * E, NU))
    x = deformed(X)
    assert stiff.value(x) == pytest.approx(2 * soft.value(x), rel=1e-13)
    assert stiff.hessian(x).indices is soft.hessian(x).indices


def test_vertex_order_and_extra_vertices_do_not_matter():
    X, T = mesh(3)
    x = deformed(X)
    plain = Elastic(X, T, BODY)
    shuffled = Elastic(X, T[:, [2, 0, 3, 1]], BODY)
    assert shuffled.value(x) == pytest.approx(plain.value(x), rel=1e-13)
    more = Elastic(np.vstack([X, X[:2]]), T, BODY)
    g = more.gradient(np.concatenate([x, np.zeros(6)]))
    assert np.array_equal(g[:-6], plain.gradient(x)) and not g[-6:].any()
    assert more.hessian(np.concatenate([x, np.zeros(6)])).shape == (x.size + 6,) * 2


PROBE = """
import hashlib, numpy as np
from scipy.spatial import Delaunay
from pliant.energies.elastic import Elastic
from pliant.materials import StableNeoHookean
X = np.random.default_rng(0).uniform(size=(1500, 3))
energy = Elastic(X, Delaunay(X).simplices, StableNeoHookean())
assert energy.elements.place.parallel
x = X.ravel() + 0.02 * np.random.default_rng(1).normal(size=X.size)
results = [np.float64(energy.value(x)), energy.gradient(x), energy.hessian(x, psd=True).data]
print(hashlib.sha1(b"".join(np.ascontiguousarray(r).tobytes() for r in results)).hexdigest())
"""


def test_results_do_not_depend_on_the_number_of_threads():
    def digest(threads):
        env = {**os.environ, "NUMBA_NUM_THREADS": str(threads)}
        return subprocess.run([sys.executable, "-c", PROBE], env=env, capture_output=True, check=True).stdout

    assert digest(1) == digest(2) == digest(3)


def test_nonsense_is_refused():
    X, T = mesh(3)
    with pytest.raises(MeshError, match="makes no element"):
        Elastic(X, T[:, :2], BODY)
    with pytest.raises(MeshError, match="without volume, the first is 1"):
        Elastic(np.eye(4, 3), [[0, 1, 2, 3], [0, 1, 2, 2]], BODY)
    with pytest.raises(MeshError, match="vertex 99"):
        Elastic(np.eye(4, 3), [[0, 1, 2, 99]], BODY)
    with pytest.raises(MeshError, match="thickness"):
        Elastic(*sheet(), BODY)
    with pytest.raises(MaterialError, match="rotation invariant"):
        Elastic(*sheet(), Linear(), thickness=1e-3)
    with pytest.raises(MaterialError, match='plane = "sideways"'):
        Elastic(*mesh(2), BODY, plane="sideways")
    with pytest.raises(ValueError, match="coordinates"):
        Elastic(X, T, BODY).value(np.zeros(7))
