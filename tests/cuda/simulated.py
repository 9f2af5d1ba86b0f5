"""What the device computes beside what the CPU does; as a script, in Numba's simulator of one, it prints JSON.

The simulator must be chosen before Numba is loaded: test_simulated.py runs this file in a process of its own.
On a real device test_device.py calls the same functions.
"""

import json
import sys
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pliant.bodies import Membrane, Solid, SpringNet
from pliant.contact.distances import DistanceFormula, radial
from pliant.contact.obstacles import Bowl, Box, Cylinder, Plane, Sphere
from pliant.contact.sharp import NO_SURFACE
from pliant.contact.triangles import TriangleObstacle
from pliant.cuda.device import SIMULATED, to_device, to_host
from pliant.cuda.pcg import DevicePCG
from pliant.cuda.system import on_device
from pliant.errors import PliantError
from pliant.integrators import BDF1, BDF2, RK4, XPBD, Verlet
from pliant.maps.motions import Shake
from pliant.maps.pins import Pin
from pliant.materials import ARAP, AnisotropicStVK, StableNeoHookean
from pliant.mesh import bar, sheet, spring_net
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.solvers import PD, HybridL0, HybridL1
from pliant.state import State
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
            "between": relative(0.75 * (A @ z) + 0.25 * (C @ z), B.between(D, 0.25) @ zd),
        }
        if name != "springs":
            found[name]["det"] = abs(host.energy_terms[0].det(q).min() - float(device.energy_terms[0].det(qd).min()))
    solvers = [DevicePCG(tolerance=1e-6, coarse=device.linear.coarse, single=single) for single in (False, True)]
    found["membrane"]["solve"] = max(relative(z, D @ solver.factor(D).solve(zd)) for solver in solvers)
    return found


CUBE = bar(size=(0.1, 0.1, 0.1), cells=(1, 1, 1))
FLOOR = Plane((0.0, 0.0, LOW + 0.002))


STRIP = bar(size=(0.6, 0.05, 0.05), cells=(8, 1, 1))
BELOW = sheet(size=(0.2, 0.2), cells=(2, 2))  # with the same above it, closer than they are thick
LAYERS = replace(
    BELOW,
    X=np.vstack([BELOW.X, BELOW.X + (0.013, 0.011, 0.005)]),
    T=np.vstack([BELOW.T, BELOW.T + len(BELOW.X)]),
)


def rolled(rest):
    """The strip rolled up by more than a turn, so that one end is inside the other."""
    X = rest.reshape(-1, 3)
    r, angle = 0.07 - 0.9 * X[:, 2], X[:, 0] / 0.07
    return np.column_stack([r * np.sin(angle), X[:, 1] + 0.003 * angle, -r * np.cos(angle)]).ravel()


def ring(y, p):
    """The distance from a ring around the z axis; p: the radii of the ring and of its wire."""
    rho, out = radial((y[0], y[1], 0.0 * y[2]))
    r, n = radial((rho - p[0], 0.0 * rho, y[2]))
    return r - p[1], (n[0] * out[0], n[0] * out[1], n[2])


@dataclass(frozen=True)
class Ring:
    """An obstacle of a user's own."""

    name: str = "ring"
    motion: None = None
    container: ClassVar[bool] = False
    formula: ClassVar[DistanceFormula] = DistanceFormula(ring, None, (0.06, 0.05))

    def distance(self, x):
        return self.formula.distances(x)

    def curvature(self, x):
        return None

    def surface(self):
        return NO_SURFACE

    def inner_points(self):
        return np.zeros((0, 3))


def scenes_of_contact():
    """Every kind of obstacle, moving or thin; two bodies; a sheet on a body; friction that lags and that does not;
    layers of one body."""
    body = Solid(BAR, StableNeoHookean(1e5, 0.4), name="bar")
    top = replace(CUBE, X=CUBE.X + (0.013, 0.011, BAR.X[:, 2].max() - CUBE.X[:, 2].min() - 0.003))
    cloth = replace(SHEET, X=SHEET.X - SHEET.X.mean(axis=0) + (*BAR.X[:, :2].mean(axis=0) + 0.007, 0.0))
    cloth = replace(cloth, X=cloth.X + (0.0, 0.0, BAR.X[:, 2].max() - cloth.X[:, 2].min() + 5e-4))
    pair = [body, Solid(top, StableNeoHookean(1e5, 0.4), name="cube")]
    sheet_on = [body, Membrane(cloth, StableNeoHookean(1e5, 0.3), thickness=2e-3, name="sheet")]
    shake, middle = Shake((0.01, 0.0, 0.0), 3.0), BAR.X.mean(axis=0)
    solids = [
        FLOOR,
        Sphere(tuple(BAR.X[0] - (0.05, 0.0, 0.0)), 0.06, motion=shake),
        Box(tuple(BAR.X[-1] + (0.05, 0.0, 0.0)), (0.105, 0.1, 0.1), turn=(0.1, 0.2, 0.0)),
        Cylinder(tuple(middle + (0.0, 0.08, 0.0)), (1.0, 0.0, 0.1), 0.06, 0.3),
        Bowl(tuple(middle), 0.11),
        Ring(),
    ]
    thin = Box((0.0, 0.0, LOW - 0.06), (2.0, 2.0, 0.02), motion=shake)
    made = {
        "obstacles": (
            [body],
            PenaltyContact(mu={"plane": 0.5, "default": 0.2}, damping=0.5, friction_solves=3),
            solids,
        ),
        "thin": ([body], PenaltyContact(bodies=False), [thin]),
        "pair": (pair, PenaltyContact(mu=0.3, damping=0.5, friction_solves=3), []),
        "thick": (pair, PenaltyContact(mu=0.3, thickness=0.004), [FLOOR]),
        "not lagged": (pair, PenaltyContact(mu=0.3, lagged=False), [FLOOR]),
        "sheet": (sheet_on, PenaltyContact(mu=0.3), []),
        "itself": ([Solid(STRIP, StableNeoHookean(1e5, 0.4))], PenaltyContact(mu=0.3), []),
        "layers": ([Membrane(LAYERS, StableNeoHookean(1e5, 0.3), thickness=0.02)], PenaltyContact(mu=0.3), []),
    }
    return {name: Scene(b, contact=c, obstacles=o) for name, (b, c, o) in made.items()}


def contacts():
    """Contact in a stage, at a state on its way, and in the books, beside the CPU's."""
    found = {}
    for name, scene in scenes_of_contact().items():
        host, rng, dt = scene.system(), np.random.default_rng(0), 0.15 if name == "thin" else 1e-3
        device, t, weights = on_device(host), 0.3 + dt, (1.0, 0.01, 1e-4)
        noise = 1e-4 if name in ("thin", "sheet") else 1e-3
        q = (rolled(host.rest) if name == "itself" else host.rest) + noise * rng.standard_normal(len(host.rest))
        v, z = 0.5 * rng.standard_normal(len(q)), rng.standard_normal(len(host.free))
        v[2::3] -= 1.0
        x = q + 0.5 * dt * v
        qd, vd, xd, zd = (to_device(a) for a in (q, v, x, z))
        ours, theirs = host.at(State(q, v, 0.3), t, dt), device.at(State(qd, vd, 0.3), t, dt)
        exact, projected = (
            (ours.tangent(x, v, t, weights, psd=psd), theirs.tangent(xd, vd, t, weights, psd=psd))
            for psd in (False, True)
        )
        (A, B), (C, D) = exact, projected
        acted, others = ours.acting(x, v, t), theirs.acting(xd, vd, t)
        energies, there = host.energies(q, v, 0.3), device.energies(qd, vd, 0.3)
        known, lag = ours.potential(x, t), ours.relagged(x)
        touch = host.contacts(q, v, 0.3)
        found[name] = {
            "pressing": int((ours.energy_terms[-1].loads(x)[1] > 0.0).sum()),
            "contacts": [len(touch), len(device.contacts(qd, vd, 0.3))],
            "distances": [host.min_distance(q, 0.3), device.min_distance(qd, 0.3)],
            "force": relative(ours.force(x, v, t), theirs.force(xd, vd, t)),
            "tangents": max(relative(A @ z, B @ zd), relative(C @ z, D @ zd)),
            "between": relative(0.75 * (A @ z) + 0.25 * (C @ z), B.between(D, 0.25) @ zd),
            "potential": 0.0 if known is None else abs(theirs.potential(xd, t) / known - 1.0),
            "dissipation": abs(ours.dissipation(x, v) - theirs.dissipation(xd, vd)) / max(ours.dissipation(x, v), 1.0),
            "lag": 0.0 if lag is None else abs(lag[0] - theirs.relagged(xd)[0]),
            "energies": max(abs(energies[k] - there[k]) for k in energies) / sum(map(abs, energies.values())),
            "acted": max(relative(acted.contact, others.contact), relative(acted.x, others.x)),
            "live": max(
                (
                    relative(f.force(q, v, 0.3) + 1e-9, g.force(qd, vd, 0.3) + 1e-9)
                    for f, g in zip(host.force_terms, device.force_terms, strict=True)
                ),
                default=0.0,
            ),
        }
    return found


def agree(name, found, tolerance):
    """Assert that what `contacts` has found for one scene is the same on both, and that something touches in it."""
    numbers = {key: value for key, value in found.items() if isinstance(value, float)}
    assert max(numbers.values()) < tolerance, (name, numbers)
    assert found["pressing"] > 2 and found["contacts"][0] == found["contacts"][1], (name, found)
    here, there = found["distances"]
    assert here == there or abs(here - there) < 1e-12, (name, found)


def runs():
    """Steps, books and certificates of whole runs; and a run that goes on from a checkpoint."""
    body = Solid(BAR, StableNeoHookean(1e5, 0.4), pins=HELD)
    cell = Solid(CUBE, StableNeoHookean(1e5, 0.4), pins=Pin(CUBE.where(lambda X: X[:, 0] < 1e-9)))
    softer = replace(cell, material=StableNeoHookean(np.linspace(4e4, 8e4, len(CUBE.T)), 0.3), name="softer")
    onto = replace(CUBE, X=CUBE.X + (0.01, 0.01, 0.1 + 1e-4))
    fallen = replace(cell, mesh=onto, pins=(), velocity=(0.5, 0.0, -1.0), name="fallen")
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
        "contact, Verlet": Scene([falling], h=1e-3, duration=2e-3, integrator=Verlet(substeps=2), **floor),
        "contact of bodies": Scene(
            [cell, fallen], h=1e-3, duration=2e-3, integrator=BDF1(), contact=PenaltyContact(mu=0.3)
        ),
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
    solid, below = Solid(BAR, StableNeoHookean(1e5, 0.4)), replace(CUBE, X=CUBE.X - (0.0, 0.0, 1.0))
    scenes = {
        "RK4": Scene([solid], integrator=RK4()),
        "L1": Scene([solid], integrator=BDF1(HybridL1())),
        "barrier": Scene(
            [solid], contact=BarrierContact(), obstacles=[Plane((0.0, 0.0, LOW - 0.1))], integrator=BDF1()
        ),
        "consistent": Scene([replace(solid, lumped=False)]),
        "mesh": Scene([solid], contact=PenaltyContact(), obstacles=[TriangleObstacle(below)], integrator=BDF1()),
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
    print(
        json.dumps(
            {"evaluations": evaluations, "runs": runs, "contacts": contacts, "refusals": refusals}[sys.argv[1]]()
        )
    )
