"""Contact energies and forces: finite differences, signs, bounds, momentum, the persistent part."""

import numpy as np
import pytest
import scipy.sparse as sp

from pliant.bodies import Solid
from pliant.contact.obstacles import Bowl, Plane, Sphere
from pliant.energies.barrier import barrier
from pliant.energies.penalty import AnchoredPenalty
from pliant.maps.motions import Shake
from pliant.materials import StableNeoHookean
from pliant.mesh import box
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

LOWER = box(size=(0.2, 0.2, 0.1), cells=(2, 2, 1))
UPPER = box(size=(0.1, 0.1, 0.1), cells=(1, 1, 1)).transformed(translate=(0.043, 0.057, 0.096))
MATERIAL = StableNeoHookean(1e5, 0.4)
FLOOR = (Plane((0, 0, 0.004), (0.1, 0.2, 1.0)),)


def scene(contact, obstacles=FLOOR, gap=0.0):
    upper = UPPER.transformed(translate=(0, 0, gap))
    return Scene([Solid(LOWER, MATERIAL), Solid(upper, MATERIAL)], contact=contact, obstacles=obstacles)


def system_of(contact, obstacles=FLOOR, seed=0, gap=0.0, noise=1e-3):
    system = scene(contact, obstacles, gap).system()
    rng = np.random.default_rng(seed)
    q = system.X.ravel() + noise * rng.normal(size=system.X.size)
    v = rng.normal(size=len(q))
    return system, q, v


def central(function, x, e):
    out = []
    for k in range(len(x)):
        d = np.zeros_like(x)
        d[k] = e
        out.append((function(x + d) - function(x - d)) / (2 * e))
    return np.array(out).T


CASES = {
    "plane": PenaltyContact(mu=0.5, damping=0.5, smoothing=0.0),
    "smoothed": PenaltyContact(mu=0.5, damping=0.5, smoothing=5e-3),
    "anchored": PenaltyContact(mu=0.5, anisotropy=0.1),
}
PLACES = {
    "plane": FLOOR,
    "sphere": (Sphere((0.1, 0.1, -0.995), 1.0),),
    "bowl": (Bowl((0.1, 0.1, 0.11), 0.17),),
    "moving": (Plane((0, 0, 0.004), motion=Shake((0.01, 0.0, 0.002), 2.0)),),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("case", CASES)
def test_penalty_energy_derivatives(case, place):
    system, q, v = system_of(CASES[case], PLACES[place])
    terms = system.contact.at(State(q, v, 0.1), 0.1)
    for energy in terms.energies:
        contacts, f_n = energy.loads(q)
        g = central(lambda x, e=energy: np.array([e.value(x)]), q, 1e-7)[0]
        scale = max(abs(g).max(), 1.0)
        assert abs(energy.gradient(q) - g).max() < 1e-5 * scale
        H = energy.hessian(q).toarray()
        fd = central(energy.gradient, q, 1e-7)
        assert abs(H - fd).max() < 1e-5 * max(abs(H).max(), 1.0)
        psd = energy.hessian(q, psd=True).toarray()
        assert np.linalg.eigvalsh(psd).min() > -1e-9 * max(abs(psd).max(), 1.0)
        assert (f_n >= 0).all()
    assert sum((e.loads(q)[1] > 0).sum() for e in terms.energies) > 3


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("speed", [1e-4, 1.0])
def test_friction_bounds_power_and_derivative(case, speed):
    system, q, v = system_of(CASES[case])
    v = speed * v
    for force in system.contact.at(State(q, v, 0.0), 0.0).forces:
        f = force.force(q, v, 0.0)
        assert v @ f <= 1e-14
        D = force.damping(q, v, 0.0).toarray()
        fd = central(lambda u, force=force: force.force(q, u, 0.0), v, 1e-7 * max(speed, 1e-2))
        assert abs(D - fd).max() < 2e-5 * max(abs(D).max(), 1e-9)
        assert np.linalg.eigvalsh(0.5 * (D + D.T)).max() < 1e-9 * max(abs(D).max(), 1.0)
        if force.name == "friction":
            contacts, f_n, f_t = force.contact_forces(q, v)
            assert (np.linalg.norm(f_t, axis=1) <= 0.5 * f_n * (1 + 1e-12)).all()
            assert abs((f_t * contacts.normals).sum(axis=1)).max() <= 1e-9 * max(abs(f_t).max(), 1e-30)
        else:
            contacts, f_n = force._springs.loads(q)
            assert (force._normal(q, v)[1] + f_n >= -1e-12).all()  # contact never pulls


def test_pair_forces_sum_to_zero():
    contact = PenaltyContact(mu=0.4, damping=0.5)
    system, q, v = system_of(contact, obstacles=())
    terms = system.contact.at(State(q, v, 0.0), 0.0)
    forces = [-e.gradient(q) for e in terms.energies] + [f.force(q, v, 0.0) for f in terms.forces]
    assert max(abs(f).max() for f in forces) > 1e-3
    for f in forces:
        assert abs(f.reshape(-1, 3).sum(axis=0)).max() < 1e-12 * abs(f).max() * len(f)
    touch = system.contacts(q, v, 0.0)
    upon, rub = touch.between(0, 1)
    back, rub_back = touch.between(1, 0)
    assert np.allclose(upon, -back, atol=1e-12) and np.allclose(rub, -rub_back, atol=1e-12)
    body0 = forces[0].reshape(-1, 3)[: len(LOWER.X)].sum(axis=0)
    assert np.allclose(upon, body0, atol=1e-9)
    assert set(map(tuple, touch.bodies)) <= {(0, 1), (1, 0)} and (touch.gaps < 0).all()


@pytest.mark.parametrize(
    "contact, gap",
    [
        (PenaltyContact(mu=0.4, damping=0.5, thickness=5e-3), 0.0),
        (PenaltyContact(mu=0.4, lagged=True), 0.0),
        (BarrierContact(dhat=8e-3, mu=0.4), 0.007),
    ],
    ids=["penalty", "lagged penalty", "barrier"],
)
def test_pair_forces_have_no_torque(contact, gap):
    """Where a stage ends, with the contacts found where it set out from, after a turn of the whole and a shift."""
    system, q, v = system_of(contact, obstacles=(), gap=gap)
    terms = system.contact.at(State(q, 0.01 * v, 0.0), 1e-4)
    c, s = np.cos(0.3), np.sin(0.3)
    rng = np.random.default_rng(5)
    x = (q + 1e-4 * rng.normal(size=len(q))).reshape(-1, 3) @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    x = x @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    forces = [-e.gradient(x.ravel()) for e in terms.energies] + [f.force(x.ravel(), v, 0.0) for f in terms.forces]
    assert max(abs(f).max() for f in forces) > 1e-3
    for f in forces:
        f = f.reshape(-1, 3)
        assert abs(f.sum(axis=0)).max() < 1e-12 * abs(f).sum()
        assert abs(np.cross(x, f).sum(axis=0)).max() < 1e-12 * abs(f).sum() * abs(x).max()


def test_anchored_penalty_has_the_papers_stiffness():
    system, q, v = system_of(PenaltyContact(mu=0.0, anisotropy=0.1, bodies=False, k=50.0), (Plane((0, 0, 0.004)),))
    anchors = next(e for e in system.contact.at(State(q, v, 0.0), 0.0).energies if isinstance(e, AnchoredPenalty))
    vertex = anchors.contacts(q).nodes[0, 0]
    block = anchors.hessian(q)[3 * vertex : 3 * vertex + 3, 3 * vertex : 3 * vertex + 3].toarray()
    assert np.allclose(np.linalg.eigvalsh(block), [5.0, 5.0, 50.0])
    assert np.allclose(block[2, 2], 50.0)


def test_persistent_part_is_definite_and_within_the_mesh_pattern():
    for seed in range(5):
        system, q, v = system_of(PenaltyContact(mu=0.5, damping=0.5), seed=seed, noise=4e-3)
        stage = system.at(State(q, v, 0.0), 0.0)
        full = stage.tangent(q, v, 0.0, (1.0, 0.01, 1e-4))
        part = stage.persistent_tangent(q, v, 0.0, (1.0, 0.01, 1e-4))
        assert part.indices is system.pattern.indices and part.indptr is system.pattern.indptr
        assert full.nnz > part.nnz
        assert np.linalg.eigvalsh(part.toarray()).min() > 0
        n = 3 * len(LOWER.X)
        assert abs(part[:n, n:]).sum() == 0 and abs(full[:n, n:]).sum() > 0
        reference = system.persistent_tangent(q, v, 0.0, (1.0, 0.01, 1e-4))
        assert abs(part - reference).max() == 0


def test_persistent_part_of_random_pairs_stays_semidefinite():
    """Also for pairs that share entries of the mesh pattern: dropping only some cross blocks would be indefinite."""
    from pliant.contact.contacts import Contacts

    rng = np.random.default_rng(3)
    for _ in range(30):
        nodes = np.array([rng.permutation(8)[:4] for _ in range(6)])
        w = rng.dirichlet((1, 1, 1), size=6)
        n = rng.normal(size=(6, 3))
        n /= np.linalg.norm(n, axis=1)[:, None]
        weights = np.column_stack([np.ones(6), -w])
        still, flat, none = np.zeros((6, 3)), np.zeros((6, 3, 3)), np.full((6, 3), -1)
        c = Contacts(nodes, weights, n, -np.ones(6), still, flat, np.zeros(6, np.int64), none)
        B = n[:, :, None] * n[:, None, :]
        full, part = c.assemble(B, 8).toarray(), c.assemble(B, 8, coupled=False).toarray()
        assert np.linalg.eigvalsh(part).min() > -1e-12 and np.linalg.eigvalsh(full).min() > -1e-12
        G = np.zeros((6, 24))
        for i in range(6):
            for r in range(4):
                G[i, 3 * nodes[i, r] : 3 * nodes[i, r] + 3] += weights[i, r] * n[i]
        assert np.allclose(full, G.T @ G)
        assert np.allclose(full.reshape(8, 3, 8, 3).sum(axis=2), 0.0, atol=1e-12)  # block rows sum to zero


def test_barrier_function_derivatives():
    d, e, dhat = np.linspace(0.05, 0.99, 40) * 1e-2, 1e-8, 1e-2
    b, db, ddb = barrier(d, dhat)
    assert (b > 0).all() and (db < 0).all() and (ddb > 0).all()
    assert np.allclose((barrier(d + e, dhat)[0] - barrier(d - e, dhat)[0]) / (2 * e), db, rtol=1e-5)
    assert np.allclose((barrier(d + e, dhat)[1] - barrier(d - e, dhat)[1]) / (2 * e), ddb, rtol=1e-5)
    assert all(abs(k[0]) == 0 for k in barrier(np.array([dhat * 1.1]), dhat))


@pytest.mark.parametrize("place", ["plane", "sphere", "bowl"])
def test_barrier_energy_derivatives(place):
    places = {
        "plane": Plane((0, 0, -0.003), (0.01, 0.02, 1.0)),
        "sphere": Sphere((0.1, 0.1, -1.003), 1.0),
        "bowl": Bowl((0.1, 0.1, 0.11), 0.182),
    }
    contact = BarrierContact(dhat=8e-3, mu=0.3)
    system, q, v = system_of(contact, (places[place],), gap=0.007, noise=2e-4)
    assert 0 < system.min_distance(q, 0.0) < 8e-3
    terms = system.contact.at(State(q, v, 0.0), 0.0)
    pressing = 0
    for energy in terms.energies:
        contacts, f_n = energy.loads(q)
        pressing += len(f_n)
        g = central(lambda x, e=energy: np.array([e.value(x)]), q, 1e-8)[0]
        G = energy.gradient(q)
        assert abs(G - g).max() < 1e-4 * max(abs(g).max(), 1e-6)
        assert np.allclose(
            contacts.spread(-f_n[:, None] * contacts.normals, len(q) // 3), G, atol=1e-8 * abs(G).max() + 1e-12
        )
        H, fd = energy.hessian(q).toarray(), central(energy.gradient, q, 1e-8)
        assert abs(H - fd).max() < 1e-4 * max(abs(H).max(), 1e-6)
        psd = energy.hessian(q, psd=True).toarray()
        assert np.linalg.eigvalsh(psd).min() > -1e-9 * max(abs(psd).max(), 1.0)
        part = getattr(energy, "persistent_hessian", energy.hessian)(q, psd=True)
        assert sp.issparse(part) and system.pattern.find(part) is not None
    assert pressing > 3
    (friction,) = terms.forces
    assert friction.lagged and v @ friction.force(q, v, 0.0) < 0
    D = friction.damping(q, v, 0.0).toarray()
    assert abs(D - central(lambda u: friction.force(q, u, 0.0), v, 1e-5)).max() < 1e-5 * abs(D).max()
    P = central(lambda u: np.array([friction.dissipation(q, u)]), v, 1e-5)[0]
    assert abs(P + friction.force(q, v, 0.0)).max() < 1e-5 * abs(P).max()
