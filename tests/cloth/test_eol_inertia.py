"""Eulerian-on-Lagrangian kinematics: velocities, inertia, forces and the quadratic-velocity vector."""

from dataclasses import replace

import numpy as np

from pliant.cloth.kinematics import corner_velocities, quadratic_velocity
from pliant.cloth.material import ClothMaterial
from pliant.cloth.sheet import Sheet, rectangle, sheet
from pliant.cloth.surroundings import Surroundings
from pliant.cloth.system import EolCloth
from pliant.state import State


def random_sheet(seed: int = 0, cells: tuple[int, int] = (3, 3), bend: float = 0.1) -> tuple[EolCloth, State]:
    rng = np.random.default_rng(seed)
    X, faces = rectangle((1.0, 1.0), cells)
    base = sheet(X, faces)
    x = np.column_stack([1.1 * X, bend * np.sin(3 * X[:, 0])]) + 0.02 * bend * rng.normal(size=(len(X), 3))
    feature = np.where((np.abs(X[:, 0] - 1 / 3) < 0.01), 0, -1)
    cloth = EolCloth(replace(base, feature=feature, x=x), ClothMaterial(rho=0.3, beta=0.01), Surroundings())
    q = cloth.pack(cloth.sheet, 0.0).q
    return cloth, State(q, rng.normal(size=len(q)), 0.0)


def world_point(s: Sheet, face: int, X: np.ndarray) -> np.ndarray:
    """Where the material point X is, by the barycentric coordinates in its face."""
    a, b, c = s.faces[face]
    w = np.linalg.solve(np.column_stack([s.X[b] - s.X[a], s.X[c] - s.X[a]]), X - s.X[a])
    return s.x[a] + w[0] * (s.x[b] - s.x[a]) + w[1] * (s.x[c] - s.x[a])


def test_material_velocity_is_the_derivative_of_the_world_position() -> None:
    cloth, state = random_sheet()
    eps = 1e-6
    now, ahead, behind = (cloth.unpack(state.q + s * eps * state.v, state.v) for s in (0, 1, -1))
    u = corner_velocities(now)
    for face in range(0, len(now.faces), 3):
        w = np.array([0.2, 0.5, 0.3])
        X = w @ now.X[now.faces[face]]
        numeric = (world_point(ahead, face, X) - world_point(behind, face, X)) / (2 * eps)
        assert np.allclose(w @ u[face], numeric, atol=1e-8)


def test_inertia_gives_the_kinetic_energy_by_quadrature_and_has_rank_nine_per_element() -> None:
    cloth, state = random_sheet()
    s = cloth.unpack(state.q, state.v)
    u = corner_velocities(s)
    A = 0.5 * np.abs(np.linalg.det(s.X[s.faces[:, 1:]] - s.X[s.faces[:, :1]]))
    mid = np.array([[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]])  # exact for quadratics
    T = 0.5 * 0.3 * np.sum(A / 3 * np.sum((mid @ u) ** 2, axis=(1, 2)))
    M = cloth.mass(state.q)
    assert np.isclose(0.5 * state.v @ (M @ state.v), T, rtol=1e-12)
    assert np.isclose(cloth.energies(state.q, state.v, 0)["kinetic"], T, rtol=1e-12)
    assert np.allclose(M @ state.v, cloth.momentum(state.q, state.v), atol=1e-14)
    one = sheet(np.array([[0.0, 0], [1, 0], [0, 1]]), np.array([[0, 1, 2]]))
    free = replace(one, feature=np.zeros(3, dtype=np.int64), fixed=np.zeros(3, dtype=bool))
    single = EolCloth(free, ClothMaterial(), Surroundings())
    rng = np.random.default_rng(3)
    q = single.pack(replace(free, x=rng.normal(size=(3, 3))), 0.0).q
    assert np.linalg.matrix_rank(single.mass(q).toarray(), tol=1e-12) == 9


def test_null_directions_are_two_per_flat_and_one_per_folded_vertex() -> None:
    for bend, expected in ((0.0, 2), (1.0, 1)):
        X, faces = rectangle((1.0, 1.0), (4, 4))
        x = np.column_stack([X, np.zeros(len(X))])
        if bend:
            over = X[:, 0] > 0.5
            x[over] = np.column_stack([np.full(over.sum(), 0.5), X[over, 1], 0.5 - X[over, 0]])
        feature = np.where((X[:, 0] == 0.5) & (X[:, 1] > 0) & (X[:, 1] < 1), 0, -1)
        cloth = EolCloth(replace(sheet(X, faces, x), feature=feature), ClothMaterial(), Surroundings())
        q = cloth.pack(cloth.sheet, 0.0).q
        A = cloth.mass(q) - 1e-4 * cloth.stiffness(q, 0 * q, 0, psd=True)
        w = np.linalg.eigvalsh(A.toarray())
        assert len(cloth.eol) == 3
        assert np.sum(w < 1e-11 * w[-1]) == expected * 3


def test_gravity_is_the_exact_derivative_of_its_energy_in_x_and_X() -> None:
    cloth, state = random_sheet(seed=2)
    q, eps = state.q, 1e-6
    stiff = cloth.material
    light = EolCloth(
        cloth.sheet, ClothMaterial(E=1e-9, beta=0.0, rho=stiff.rho), Surroundings(gravity=(1.0, -2.0, -9.8))
    )
    f = light.force(q, 0 * q, 0.0)
    numeric = np.array(
        [(light.potential(q - d, 0) - light.potential(q + d, 0)) / (2 * eps) for d in eps * np.eye(len(q))]
    )
    n = 3 * len(cloth.sheet.X)
    assert np.allclose(f[:n], numeric[:n], atol=1e-8)
    inner = ~np.isin(cloth.eol, np.flatnonzero(cloth.sheet.flags & 1))
    assert np.allclose(f[n:].reshape(-1, 2)[inner], numeric[n:].reshape(-1, 2)[inner], atol=1e-8)


def test_lagrangian_forces_and_stiffness_match_finite_differences() -> None:
    cloth, state = random_sheet(seed=4)
    q, v, eps, n = state.q, 0 * state.q, 1e-6, 3 * len(cloth.sheet.X)
    numeric = np.array(
        [(cloth.potential(q - d, 0) - cloth.potential(q + d, 0)) / (2 * eps) for d in eps * np.eye(len(q))]
    )
    assert np.allclose(cloth.force(q, v, 0)[:n], numeric[:n], atol=1e-7)
    K = cloth.stiffness(q, v, 0).toarray()
    columns = np.array(
        [(cloth.force(q + d, v, 0) - cloth.force(q - d, v, 0))[:n] / (2 * eps) for d in eps * np.eye(len(q))]
    )
    assert np.allclose(K[:n, :n], columns[:n].T, atol=1e-5 * np.abs(K).max())
    assert np.allclose(K, K.T)


def test_bending_does_no_work_on_cloth_that_slides_over_a_crease_between_faces_of_any_width() -> None:
    X, faces = rectangle((0.6, 1.0), (3, 4))
    crease = X[:, 1] == 0.5
    X = X + [[0.0, 0.15]] * np.sin(3 * X[:, 1:])  # rows of different widths
    s = X[:, 1] - X[crease, 1][0]
    x = np.column_stack([X[:, 0], np.maximum(s, 0.0), np.minimum(s, 0.0)])
    base = replace(sheet(X, faces, x), feature=np.where(crease, 0, -1))
    cloth = EolCloth(base, ClothMaterial(E=1e-12, beta=0.3, rho=1e-12), Surroundings(gravity=(0.0, 0.0, 0.0)))
    direction = np.column_stack([0 * s, s > 0, s < 0]).astype(float)  # up to the crease, then away from it
    sliding = replace(base, v=direction, V=np.where(crease[:, None], [0.0, -1.0], 0.0))
    q, v, _ = vars(cloth.pack(sliding, 0.0)).values()
    f, K = cloth.force(q, v, 0.0), cloth.stiffness(q, v, 0.0)
    assert np.abs(f).max() > 0.1
    assert abs(f @ v) < 1e-12 * np.abs(f).max()
    assert np.abs(K @ v).max() < 1e-10 * np.abs(K).max()


def test_quadratic_velocity_vector_is_that_of_lagrange() -> None:
    cloth, state = random_sheet(seed=5, cells=(2, 2))
    cloth = EolCloth(replace(cloth.sheet, feature=np.where(cloth.sheet.fixed, -1, 0)), cloth.material, Surroundings())
    q = cloth.pack(cloth.sheet, 0.0).q
    v = np.random.default_rng(1).normal(size=len(q))
    eps = 1e-6
    M = lambda q: cloth.mass(q).toarray()
    gradient = np.array([v @ (M(q + d) - M(q - d)) @ v / (4 * eps) for d in eps * np.eye(len(q))])
    rate = (M(q + eps * v) - M(q - eps * v)) / (2 * eps)
    assert np.allclose(cloth.quadratic_velocity(q, v), gradient - rate @ v, atol=1e-7)
    fx, fX = quadratic_velocity(replace(cloth.unpack(q, v), V=np.zeros_like(cloth.sheet.X)), 1.0)
    assert np.abs(fx).max() == 0.0  # nothing slides: the inertia of x is constant
