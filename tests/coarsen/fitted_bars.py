"""The bar of the EigenFit tests: a coarse and a fine mesh of it, bodies and fits."""

import numpy as np
import scipy.sparse as sp

from pliant.coarsen import fit, prolongation
from pliant.energies.elastic import Elastic
from pliant.energies.gravity import Gravity
from pliant.forces.rayleigh import RayleighForce
from pliant.maps.pins import Pin
from pliant.materials import Linear
from pliant.mesh import bar, consistent_mass
from pliant.state import State
from pliant.systems.elastodynamics import Elastodynamics

SIZE = (0.4, 0.1, 0.1)
COARSE, FINE = bar(SIZE, (4, 1, 1)), bar(SIZE, (8, 2, 2))


def body(mesh, material=None, gravity=False, pinned=True, beta=0.0, motion=None):
    material = material or Linear(E=1e5, nu=0.45)
    mass = consistent_mass(mesh, 1000.0)
    pins = [Pin(mesh.where(lambda X: X[:, 0] < 1e-9), motion)] if pinned else []
    energies = [Elastic(mesh.X, mesh.T, material)]
    if gravity:
        energies.append(Gravity(np.asarray(mass.sum(axis=1)).ravel(), np.array([0, 0, -9.81])))
    M = sp.kron(mass, sp.identity(3), format="csr")
    forces = [RayleighForce(mesh.X, M, energies[:1], 0.0, beta)] if beta else []
    return Elastodynamics(mesh.X, mass, energies, forces, pins)


B = prolongation(COARSE, FINE)
FIT = fit(body(COARSE), body(FINE), B, 8)


def rough(system, seed=0, size=0.003):
    rng = np.random.default_rng(seed)
    q = system.prescribe(system.X.ravel() + size * rng.normal(size=system.X.size), 0.0)
    v = np.zeros(q.size)
    v[system.free] = rng.normal(size=len(system.free))
    return State(q, v)


def bent(system, size=0.15, speed=2.0):
    """A smooth state far from rest: bent and twisted, and moving on."""
    x = system.X.copy()
    s = x[:, 0] / SIZE[0]
    x[:, 2] += size * SIZE[0] * s**2
    x[:, 1] += 0.3 * size * (x[:, 2] - 0.05) * s
    v = np.zeros_like(x)
    v[:, 1] = speed * s**2
    return State(system.prescribe(x.ravel(), 0.0), v.ravel())
