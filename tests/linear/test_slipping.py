"""Friction with limits that follow the rows: what is found satisfies Coulomb's law, and is what turns converge to."""

import numpy as np
import pytest
import scipy.sparse as sp

import pliant.linear.staggered as staggered
from pliant.linear import Cholesky
from pliant.linear.inverse import Inverse
from pliant.linear.staggered import Staggered, coulomb


def pushed(seed, contacts=12, bodies=6, mu=0.4):
    """Boxes pushed against walls at random: inverse mass matrix, momentum, rows, slips."""
    rng = np.random.default_rng(seed)
    n = 6 * bodies
    M = rng.normal(size=(n, n))
    A = sp.csr_matrix(M @ M.T + n * np.eye(n))
    body = rng.integers(0, bodies, contacts)
    G, T = np.zeros((contacts, n)), np.zeros((2 * contacts, n))
    for c, b in enumerate(body):
        own = slice(6 * b, 6 * b + 6)
        G[c, own] = rng.normal(size=6)
        T[2 * c : 2 * c + 2, own] = rng.normal(size=(2, 6))
    b = 20.0 * rng.normal(size=n)
    slip = coulomb(T, np.zeros(2 * contacts), np.repeat(np.arange(contacts), 2), np.full(2 * contacts, mu))
    return A, b, (sp.csr_matrix(G), np.zeros(contacts), np.zeros(contacts)), slip


def obeys(A, b, rows, slip, found):
    """Momentum, nothing pulls or enters, friction within its limits (a pyramid's) and never along the slip."""
    G, e, _ = rows
    size = np.abs(found.u).max()
    assert np.allclose(A @ found.u, b + G.T @ found.y + slip.T.T @ found.z, atol=1e-9 * np.abs(b).max())
    apart = G @ found.u - e
    assert found.y.min() >= -1e-9 and apart.min() >= -1e-6 * size and np.abs(found.y * apart).max() <= 1e-6 * size
    z, v, limit = (x.reshape(-1, 2) for x in (found.z, slip.T @ found.u, slip.mu * found.y[slip.rows]))
    pressed = np.linalg.norm(z, axis=1)
    assert np.all(pressed <= np.sqrt(2.0) * limit[:, 0] + 1e-9)
    assert np.all((z * v).sum(axis=1) <= 1e-7 * size)
    sticks = pressed < (1.0 - 1e-6) * limit[:, 0]
    assert np.abs(v[sticks]).max(initial=0.0) <= 1e-6 * size


@pytest.mark.parametrize("seed", range(20))
def test_newton_finds_what_the_turns_converge_to(seed, monkeypatch):
    A, b, rows, slip = pushed(seed)
    found = Staggered().solve(Inverse(A, Cholesky()), b, rows, slip)
    monkeypatch.setattr(staggered.Slipping, "solve", lambda *a: None)
    turned = Staggered(iterations=300, give=(0.0,)).solve(Inverse(A, Cholesky()), b, rows, slip)
    assert found.converged
    obeys(A, b, rows, slip, found)
    if turned.converged:
        assert np.allclose(found.u, turned.u, rtol=0, atol=1e-6 * np.abs(turned.u).max())


def test_newton_is_used_and_ends_where_turns_would_go_on(monkeypatch):
    solved, original = [], staggered.Slipping.solve
    monkeypatch.setattr(staggered.Slipping, "solve", lambda *a: solved.append(original(*a)) or solved[-1])
    for seed in range(20):
        A, b, rows, slip = pushed(seed)
        Staggered().solve(Inverse(A, Cholesky()), b, rows, slip)
    assert sum(s is not None for s in solved) == 20 and len(solved) < 30


@pytest.mark.parametrize("push", [0.5, 2.0])
def test_a_block_on_the_ground_sticks_or_slips(push):
    """Pressed down with 1 N s, pushed aside: at mu = 1 it stays below 1 N s, and keeps the rest above."""
    A, G, T = sp.identity(3, format="csr"), sp.csr_matrix([[0.0, 0.0, 1.0]]), np.eye(3)[:2]
    slip = coulomb(T, np.zeros(2), np.zeros(2, dtype=int), np.ones(2))
    found = Staggered().solve(Inverse(A, Cholesky()), np.array([push, 0.0, -1.0]), (G, np.zeros(1), np.zeros(1)), slip)
    assert found.converged
    assert np.allclose(found.u, [max(push - 1.0, 0.0), 0.0, 0.0], atol=1e-9)
    assert np.allclose(found.z, [-min(push, 1.0), 0.0], atol=1e-9)


def test_redundant_contacts_share_what_one_could_carry():
    """The same contact twice: W is singular, the motion is not affected."""
    A, b, (G, e, lower), slip = pushed(3)
    once = Staggered().solve(Inverse(A, Cholesky()), b, (G, e, lower), slip)
    twice = coulomb(np.vstack([slip.T] * 2), np.zeros(48), np.repeat(np.arange(24), 2), np.tile(slip.mu, 2))
    rows = sp.csr_matrix(sp.vstack([G, G])), np.zeros(24), np.zeros(24)
    both = Staggered().solve(Inverse(A, Cholesky()), b, rows, twice)
    assert both.converged
    assert np.allclose(both.u, once.u, rtol=0, atol=1e-6 * np.abs(once.u).max())


def test_the_last_step_is_a_start_and_changes_nothing():
    A, b, rows, slip = pushed(7)
    first = Staggered().solve(Inverse(A, Cholesky()), b, rows, slip)
    again = Staggered().solve(Inverse(A, Cholesky()), b, rows, slip, first.last)
    assert again.iterations <= first.iterations
    assert np.allclose(again.u, first.u, rtol=0, atol=1e-7 * np.abs(first.u).max())
