"""trust/barrier: a thousand small scenes thrown at each other: no step that is certified lets anything cross.

Two to four lumps of one to six soft tetrahedra fly into each other, and onto a floor, at up to 10 m/s with steps that
are far too long for it. A step may fail, and say so. What the certificates say is checked against every edge and
triangle of the scene in exact arithmetic, sorted along an axis and not by the broad phase that the barrier uses.
"""

from collections import Counter
from typing import Any

import numpy as np

import pliant as pl
from pliant.attempt import StepFailed
from pliant.bench.table import Claim, Table
from pliant.bench.workers import spread
from pliant.contact.intersect import intersections
from pliant.errors import PliantError
from pliant.mesh import Mesh, bar
from pliant.mesh.topology import edges
from pliant.simulate import simulate

STEPS = 25


def run(*, quick: bool = False) -> Table:
    seeds = range(60 if quick else 1000)
    told: Counter[str] = Counter()
    steps = pierced = closest = 0
    least = np.inf
    for end, done, crossed, distance in map(play, seeds) if quick else spread(play, seeds, chunk=10):
        told[end] += 1
        steps, pierced = steps + done, pierced + crossed
        least, closest = min(least, distance), closest + (distance < 1e-9)
    rows = [{"ended": end, "scenes": count} for end, count in sorted(told.items())]
    claims = [
        Claim("certified steps in which something crosses", "0", f"{pierced} of {steps}", pierced == 0),
        Claim("tracebacks", "0", str(told["traceback"]), not told["traceback"]),
    ]
    notes = [f"Least distance in a certificate {least:.2g} m; below 1 nm in {closest} of {len(seeds)} scenes."]
    return Table("trust/barrier", "Nothing crosses under a certificate", rows, claims, notes)


def play(seed: int) -> tuple[str, int, int, float]:
    """How a scene ended, its certified steps, those of them in which something crosses, and the least distance [m]."""
    done = crossed = 0
    least = np.inf
    try:
        scene = thrown(seed)
        for step in simulate(scene):
            done += bool(step.report.converged)
            crossed += bool(step.report.converged) and pierced(scene, step.state.q.reshape(-1, 3))
            least = min(least, np.inf if step.report.distance is None else step.report.distance)
    except StepFailed:
        return "failed step", done, crossed, least
    except PliantError:
        return "refused", done, crossed, least
    except Exception:
        return "traceback", done, crossed, least
    return "finished", done, crossed, least


def pierced(scene: Any, x: np.ndarray) -> bool:
    """Whether an edge of the surfaces passes through a triangle, or a vertex is below the floor, at points x (n, 3)."""
    faces, first = [], 0
    for body in scene.bodies:
        faces.append(body.mesh.surface() + first)
        first += len(body.mesh.X)
    F = np.concatenate(faces)
    return bool(len(intersections(x, edges(F), F))) or bool(scene.obstacles and x[:, 2].min() <= -1.0)


def thrown(seed: int) -> pl.Scene:
    """The scene of a seed."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 5))
    E, h = 10.0 ** rng.uniform(1, 5), 10.0 ** rng.uniform(-3.5, -2.0)
    bodies = []
    for k in range(count):
        at = np.array([1.3 * k, 0.0, 0.0]) + rng.uniform(-0.1, 0.1, 3)
        way = np.array([0.5 * (count - 1) * 1.3, 0.0, 0.0]) - at
        speed = rng.uniform(1.0, 10.0)
        velocity = speed * way / max(float(np.linalg.norm(way)), 1e-3) + rng.uniform(-0.5, 0.5, 3)
        material = pl.StableNeoHookean(E=E, nu=0.4)
        bodies.append(pl.Solid(lump(rng, at), material, density=1000.0, velocity=tuple(velocity), name=f"lump {k}"))
    floor = [pl.Plane(point=(0, 0, -1.0), normal=(0, 0, 1))] if rng.random() < 0.5 else []
    gravity = (0.0, 0.0, float(-rng.choice([0.0, 9.81, 100.0])))
    solver = pl.QLB() if rng.random() < 0.25 else pl.Newton()
    integrator = (pl.BDF1, pl.BDF2)[int(rng.integers(2))](solver=solver)
    contact = pl.BarrierContact(mu=float(rng.choice([0.0, 0.5])))
    return pl.Scene(
        bodies=bodies, obstacles=floor, contact=contact, gravity=gravity, integrator=integrator, h=h, duration=STEPS * h
    )


def lump(rng: np.random.Generator, at: np.ndarray) -> Mesh:
    """One to six tetrahedra of about half a metre at ``at``, turned at random."""
    cube = bar(size=(0.6, 0.6, 0.6), cells=(1, 1, 1))
    T = cube.T[: int(rng.integers(1, len(cube.T) + 1))]
    used = np.unique(T)
    X = cube.X[used] - cube.X[used].mean(axis=0)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    Q[:, 0] *= np.sign(np.linalg.det(Q))
    return Mesh(X @ Q.T + at, np.searchsorted(used, T))
