"""What the device computes beside what the CPU does; as a script, in Numba's simulator of one, it prints JSON.

The simulator must be chosen before Numba is loaded: test_simulated.py runs this file in a process of its own.
On a real device test_device.py calls the same functions.
"""

import json
import sys
from dataclasses import replace

import numpy as np

from pliant.bodies import Membrane, Solid, SpringNet
from pliant.contact.obstacles import Plane
from pliant.cuda.device import SIMULATED, to_device, to_host
from pliant.cuda.pcg import DevicePCG
from pliant.cuda.system import on_device
from pliant.errors import PliantError
from pliant.integrators import BDF1, BDF2, RK4, XPBD, Verlet
from pliant.maps.pins import Pin
from pliant.materials import ARAP, AnisotropicStVK, StableNeoHookean
from pliant.mesh import bar, sheet, spring_net
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import PD, HybridL0, HybridL1
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact

BAR = bar(size=(0.2, 0.1, 0.1), cells=(2, 1, 1))
SHEET = sheet(size=(0.2, 0.1), cells=(2, 1))
LOW = float(BAR.X[:, 2].min())
HELD = Pin(BAR.where(lambda X: X[:, 0] < 1e-9))
MATERIALS = {
    "neo-hookean": StableNeoHookean(np.linspace(1e5, 2e5, len(BAR.T)), 0.4),
    "fibres": ARAP(1e5) + AnisotropicStVK((1.0, 0.0, 0.0), 5e4),
}


def relative(a, b):
    """The largest difference of what the CPU and the device have found, by size."""
    return float(np.abs(a - to_host(b)).max() / np.abs(a).max())


def evaluations(materials=MATERIALS):
    """Energy, gradient, tangents and solves of solids, springs and a membrane."""
    bodies = {name: Solid(BAR, material, pins=HELD) for name, material in materials.items()}
    bodies["springs"] = SpringNet(spring_net(2, 1, (0.2, 0.1)), k=50.0, mass=0.01)
    bodies["membrane"] = Membrane(SHEET, StableNeoHookean(1e5, 0.3), thickness=1e-3)
    found = {}
    for name, body in bodies.items():
        host = Scene([body]).system()
        device, rng = on_device(host), np.random.default_rng(1)
        q = host.rest + 0.01 * rng.standard_normal(len(host.rest))
        v, z = rng.standard_normal(len(q)), rng.standard_normal(len(host.free))
        weights = (1.0, 0.0, 1e-4)
        qd, vd, zd = (to_device(a) for a in (q, v, z))
        exact, projected = (
            (host.restrict(host.tangent(q, v, 0.0, weights, psd=psd)), device.tangent(qd, vd, 0.0, weights, psd=psd))
            for psd in (False, True)
        )
        (A, B), (C, D) = exact, projected
        found[name] = {
            "energy": abs(host.potential(q, 0.0) / device.potential(qd, 0.0) - 1.0),
            "force": relative(host.force(q, v, 0.0), device.force(qd, vd, 0.0)),
            "tangent": relative(A @ z, B @ zd),
            "projected": relative(C @ z, D @ zd),
            "sizes": relative(abs(A) @ abs(z), abs(B) @ abs(zd)),
            "shifted": relative(A @ z + z, B.plus_diagonal(to_device(np.ones(len(z)))) @ zd),
        }
        if name != "springs":
            found[name]["det"] = abs(host.energy_terms[0].det(q).min() - float(device.energy_terms[0].det(qd).min()))
    factor = DevicePCG(tolerance=1e-6, coarse=device.linear.coarse).factor(D)
    found["membrane"]["solve"] = relative(z, D @ factor.solve(zd))
    return found


def runs():
    """Steps, books and certificates of whole runs; and a run that goes on from a checkpoint."""
    body = Solid(BAR, StableNeoHookean(1e5, 0.4), pins=HELD)
    cube = bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
    cell = Solid(cube, StableNeoHookean(1e5, 0.4), pins=Pin(cube.where(lambda X: X[:, 0] < 1e-9)))
    softer = replace(cell, material=StableNeoHookean(np.linspace(4e4, 8e4, len(cube.T)), 0.3), name="softer")
    falling = replace(body, pins=(), velocity=(0.0, 0.0, -1.0))
    floor = {"contact": PenaltyContact(mu=0.3), "obstacles": [Plane((0.0, 0.0, LOW - 1e-4))]}
    scenes = {
        "BDF2": Scene([body], h=2e-3, duration=4e-3, integrator=BDF2()),
        "Verlet": Scene([body], h=1e-3, duration=2e-3, integrator=Verlet(substeps=2)),
        "XPBD": Scene([cell], h=2e-3, duration=4e-3, integrator=XPBD(1, 2, damping=1e-3)),
        "XPBD by colours": Scene([cell], h=2e-3, duration=4e-3, integrator=XPBD(1, patch=1)),
        "PD": Scene([replace(cell, material=ARAP(1e5))], h=2e-3, duration=4e-3, integrator=BDF1(PD(m=1, fixed=2))),
        "HYBRID-L0": Scene([cell], h=2e-3, duration=4e-3, integrator=BDF1(HybridL0(quasi=1))),
        "two bodies": Scene([cell, softer], h=2e-3, duration=4e-3, integrator=BDF1()),
        "contact": Scene([falling], h=1e-3, duration=2e-3, integrator=BDF1(), **floor),
    }
    found = {}
    for name, scene in scenes.items():
        there = replace(scene, device="cuda")
        ours, theirs = list(simulate(scene)), list(simulate(there))
        resumed = list(simulate(there, start=theirs[0].checkpoint()))
        last, other = ours[-1], theirs[-1]
        found[name] = {
            "positions": float(np.abs(last.state.q - other.state.q).max()),
            "energies": max(abs(last.ledger.energies[k] - other.ledger.energies[k]) for k in last.ledger.energies)
            / last.ledger.scale,
            "total": abs(last.ledger.total - other.ledger.total) / last.ledger.scale,
            "work": abs(sum(last.ledger.work.values()) - sum(other.ledger.work.values())) / last.ledger.scale,
            "verdicts": [last.report.verdict, other.report.verdict],
            "contacts": [last.report.contacts, other.report.contacts],
            "resumed": bool(np.array_equal(resumed[-1].state.q, other.state.q)),
        }
    return found


def refusals():
    """What has no place on the device, and the line it gets."""
    solid = Solid(BAR, StableNeoHookean(1e5, 0.4))
    scenes = {
        "RK4": Scene([solid], integrator=RK4()),
        "L1": Scene([solid], integrator=BDF1(HybridL1())),
        "barrier": Scene(
            [solid], contact=BarrierContact(), obstacles=[Plane((0.0, 0.0, LOW - 0.1))], integrator=BDF1()
        ),
        "consistent": Scene([replace(solid, lumped=False)]),
    }
    found = {}
    for name, scene in scenes.items():
        try:
            next(simulate(replace(scene, device="cuda")))
        except PliantError as error:
            found[name] = str(error)
    return found


if __name__ == "__main__":
    assert SIMULATED
    print(json.dumps({"evaluations": evaluations, "runs": runs, "refusals": refusals}[sys.argv[1]]()))
