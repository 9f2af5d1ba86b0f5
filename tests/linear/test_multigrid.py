"""Multigrid against dense algebra: Galerkin products, rigid motions, a symmetric positive definite cycle."""

import numba
import numpy as np
import pytest
import scipy.sparse as sp

import pliant as pl
from pliant.errors import NotPositiveDefinite, PliantError, SceneError
from pliant.linear import PCG, Cholesky, Multigrid, hierarchy
from pliant.linear.base import Places
from pliant.linear.hierarchy import Motions, dense
from pliant.scene_file import describe, dumps, load_scene
from pliant.solvers import QLB, HybridLP, Newton


def bar_scene(cells=(9, 4, 4), E=1e6, nu=0.4, solver=None, pins=True, axis=None):
    mesh = pl.mesh.bar(size=(0.3, 0.1, 0.1), cells=cells)
    held = mesh.where(lambda X: X[:, 0] < 1e-9)
    pin = () if not pins else pl.Pin(held) if axis is None else pl.Pin(held, axes=axis)
    body = pl.Solid(mesh, pl.StableNeoHookean(E=E, nu=nu), density=1000, pins=pin)
    return pl.Scene([body], h=0.01, duration=0.05, integrator=pl.BDF1(solver or Newton()))


def matrix(weights=(1.0, 0.0, 1e-4), turn=0.0, **options):
    """The matrix of a step of a twisted bar, and where its rows are."""
    system = bar_scene(**options).system()
    X = system.X - [0.0, 0.05, 0.05]
    a = turn * X[:, 0] / 0.3
    x = np.stack([X[:, 0], np.cos(a) * X[:, 1] - np.sin(a) * X[:, 2], np.sin(a) * X[:, 1] + np.cos(a) * X[:, 2]], 1)
    A = system.restrict(system.tangent(x.ravel(), np.zeros(x.size), 0.0, weights, psd=True))
    return A, Places(system.free, x)


def factor_of(A, places):
    return Multigrid().placed(places).factor(A)


def as_array(grid, P):
    """P as a dense matrix."""
    n, B = len(grid.ptr) - 1, grid.block
    out = np.zeros((n, B, len(grid.members), 6))
    out[np.repeat(np.arange(n), np.diff(grid.P[0])), :, grid.P[1], :] = P.reshape(-1, B, 6)
    return out.reshape(B * n, -1)


@pytest.fixture
def deep(monkeypatch):
    """Three levels on a mesh that dense algebra can take."""
    monkeypatch.setattr(hierarchy, "COARSEST", 5)


def test_coarse_matrices_are_galerkin_products(deep):
    A, places = matrix(turn=1.0)
    h = factor_of(A, places).hierarchy
    assert len(h.levels) == 3
    fine = A.toarray()
    for k, grid in enumerate(h.grids):
        assert np.allclose(
            dense(grid.block, *h.levels[k].pattern, h.levels[k].val), fine, rtol=0, atol=1e-12 * fine.max()
        )
        P = as_array(grid, h.P[k])
        fine = P.T @ fine @ P
    last = h.levels[-1]
    A_last = dense(6, *last.pattern, last.val)
    assert np.abs(A_last - fine).max() <= 1e-12 * np.abs(fine).max()
    assert np.array_equal(A_last, A_last.T)


def test_rigid_motions_of_a_free_body_are_in_the_range_of_every_prolongator(deep):
    A, places = matrix(weights=(0.0, 0.0, 1.0), pins=False)  # stiffness alone, at rest
    shift = 1e-9 * A.diagonal().mean() * sp.eye_array(A.shape[0], format="csr")
    h = factor_of(sp.csr_matrix(A + shift), places).hierarchy
    rng = np.random.default_rng(0)
    speed, turn = rng.normal(size=3), rng.normal(size=3)
    motions = [Motions(places.x, np.zeros(len(places.x)))]
    for grid in h.grids:
        motions.append(motions[-1].gathered(grid)[0])
    moving = [speed + np.cross(turn, m.x) for m in motions]
    coarse = [np.hstack([v, m.radius[:, None] * turn]).ravel() for v, m in zip(moving[1:], motions[1:], strict=True)]
    fine = [moving[0].ravel(), *coarse]
    for k, grid in enumerate(h.grids):
        assert np.abs(as_array(grid, h.P[k]) @ fine[k + 1] - fine[k]).max() < 1e-7 * np.abs(fine[k]).max()


@pytest.mark.parametrize("options", [{}, {"turn": 2.0, "nu": 0.49}, {"axis": "x", "E": 1e8}])
def test_a_cycle_is_symmetric_positive_definite_and_near_the_inverse(deep, options):
    A, places = matrix(**options)
    V = factor_of(A, places).solve(np.eye(A.shape[0]))
    assert np.abs(V - V.T).max() <= 1e-10 * np.abs(V).max()
    L = np.linalg.cholesky(A.toarray())
    values = np.linalg.eigvalsh(L.T @ (0.5 * (V + V.T)) @ L)
    assert values.min() > 0.02 and values.max() < 1.5


def test_products_by_blocks_are_those_of_the_matrix():
    for axis in (None, "x"):
        A, places = matrix(axis=axis)
        x = np.random.default_rng(0).normal(size=A.shape[0])
        assert np.abs(factor_of(A, places) @ x - A @ x).max() <= 1e-13 * np.abs(A @ x).max()


def iterations(A, places, tolerance=1e-6):
    b = np.random.default_rng(0).normal(size=A.shape[0])
    solved = PCG(tolerance, preconditioner=Multigrid()).placed(places).factor(A)
    x = solved.solve(b)
    assert np.linalg.norm(A @ x - b) <= 2 * tolerance * np.linalg.norm(b)
    return solved.inner


def test_iterations_depend_little_on_size_and_stiffness():
    counts = [iterations(*matrix(cells=(3 * c, c, c), E=E)) for c in (3, 6, 9) for E in (1e4, 1e8)]
    assert max(counts) <= 30
    assert iterations(*matrix(cells=(18, 6, 6), turn=6.0)) <= 30
    assert iterations(*matrix(cells=(18, 6, 6), axis="x")) <= 30


def test_knowing_the_places_pays_where_parts_turn():
    A, places = matrix(cells=(18, 6, 6), E=1e8)
    nowhere = PCG(1e-6, preconditioner=Multigrid()).factor(A)
    nowhere.solve(np.random.default_rng(0).normal(size=A.shape[0]))
    assert iterations(A, places) < 0.7 * nowhere.inner


def test_any_number_of_threads_gives_the_same_bytes():
    A, places = matrix(cells=(27, 9, 9))
    b = np.random.default_rng(0).normal(size=A.shape[0])
    found = []
    for threads in (1, numba.config.NUMBA_NUM_THREADS):
        numba.set_num_threads(threads)
        found.append(PCG(1e-8, preconditioner=Multigrid()).placed(places).factor(A).solve(b).tobytes())
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)
    assert found[0] == found[1]


def test_grids_are_made_once_per_pattern_and_old_factors_stay_right():
    A, places = matrix()
    b = np.ones(A.shape[0])
    first = factor_of(A, places)
    before = first.solve(b)
    B = A.copy()
    B.data = 2.0 * A.data
    second = Multigrid().placed(places).factor(B, first.memory)
    assert first.analysed and not second.analysed and second.memory is first.memory
    assert np.array_equal(first.solve(b), before)
    assert np.allclose(second.solve(b), 0.5 * before, rtol=1e-10)
    assert Multigrid().placed(Places(np.arange(A.shape[0]), places.x)).factor(A, first.memory).analysed


@pytest.mark.parametrize(
    "solver",
    [
        Newton(linear=PCG(preconditioner=Multigrid())),
        QLB(linear=Multigrid()),
        QLB(linear=Multigrid(), reuse="steps"),
        HybridLP(linear=Multigrid()),
    ],
    ids=["newton", "qlb", "qlb kept", "hybrid"],
)
def test_solvers_find_the_same_motion_as_with_a_factor(solver):
    q = [[*pl.simulate(bar_scene((9, 3, 3), solver=s))][-1].state.q for s in (Newton(linear=Cholesky()), solver)]
    assert np.abs(q[1] - q[0]).max() < 1e-6


def test_a_scene_file_names_it(tmp_path):
    solver = Newton(linear=PCG(preconditioner=Multigrid(3)))
    path = tmp_path / "bar.toml"
    document, files = describe(bar_scene((3, 1, 1), solver=solver))
    path.write_text(dumps(document))
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    assert 'kind = "multigrid"' in path.read_text()
    assert load_scene(path).scene.integrator.solver == solver


def test_refusals():
    A, places = matrix(cells=(3, 2, 2))
    with pytest.raises(SceneError, match="degree"):
        Multigrid(degree=0)
    with pytest.raises(PliantError, match="square"):
        Multigrid().factor(A[:6])
    with pytest.raises(PliantError, match="places"):
        Multigrid().placed(Places(places.rows[:-3], places.x)).factor(A)
    with pytest.raises(PliantError, match="right-hand side"):
        factor_of(A, places).solve(np.ones(5))
    for bad in (-1.0, 0.0, np.nan):
        B = A.copy()
        B.data = bad * A.data
        with pytest.raises(NotPositiveDefinite):
            factor_of(B, places)


def test_materials_of_very_different_stiffness_do_not_share_aggregates():
    mesh = pl.mesh.bar(size=(0.3, 0.1, 0.1), cells=(18, 6, 6))
    soft = mesh.X[mesh.T].mean(axis=1)[:, 0] % 0.1 < 0.05
    material = pl.StableNeoHookean(E=np.where(soft, 1e4, 1e8), nu=0.4)
    system = pl.Scene([pl.Solid(mesh, material, density=1000)], h=0.01, duration=0.01).system()
    A = system.tangent(mesh.X.ravel(), np.zeros(mesh.X.size), 0.0, (1.0, 0.0, 1e-4), psd=True)
    assert iterations(A, Places(system.free, mesh.X)) <= 30
