"""gradient/fit: materials recovered from recorded motions.

The recordings are made with known materials, and then noise: the truth is known, and so is how often a 95 % interval
has to contain it. A last recording has been made with steps of an eighth, which no fit with whole steps can follow.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.adjoint import Fitted, Observations, Regions, fit
from pliant.arrays import Array, IntArray
from pliant.bench.table import Claim, Table
from pliant.bodies import Rayleigh, Solid
from pliant.integrators import BDF2
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, bar
from pliant.scene import Scene
from pliant.simulate import simulate

H = 0.01
NAMES = ["bodies.body.material.E", "bodies.body.material.nu", "bodies.body.damping.beta"]
TRUE, GUESS = np.array([1e5, 0.4, 4e-3]), np.array([5e4, 0.3, 1e-3])
NOISE = 3e-4  # m, of a bar of 0.3 m
FAINT = 2e-5  # m, of a block of 0.2 m


def shaken(mesh: Mesh, E: Any, nu: float, beta: float, *, h: float = H, duration: float = 0.8) -> Scene:
    """A body whose left end is moved to and fro along two axes while it hangs under its weight."""
    path = Keyframes((0.0, 0.1, 0.2, 0.4), ((0.0, 0.0, 0.0), (0.03, 0.0, 0.0), (0.0, 0.02, 0.0), (0.0, 0.0, 0.0)))
    held = Pin(np.flatnonzero(mesh.X[:, 0] < 1e-9), path)
    body = Solid(mesh, StableNeoHookean(E, nu), pins=held, damping=Rayleigh(beta=beta), name="body")
    return Scene([body], BDF2(), h=h, duration=duration)


def recorded(scene: Scene, points: IntArray, noise: float, seed: int, every: int = 1) -> Observations:
    """The motion of some points, with noise, at every so many steps."""
    clean: Array = np.array(
        [step.system.positions(step.state.q)[points] for step in simulate(scene)][every - 1 :: every]
    )
    seen = clean + noise * np.random.default_rng(seed).normal(size=clean.shape)
    times = every * float(scene.h) * np.arange(1.0, len(clean) + 1.0)
    return Observations([np.array([p]) for p in points], times, seen)


def row(case: str, found: Fitted, true: Array) -> dict[str, Any]:
    """What was found, against the truth."""
    assert found.interval is not None and found.noise is not None
    low, high = found.interval.T
    return {
        "case": case,
        "numbers": len(true),
        "runs": found.runs,
        "worst error [%]": 100.0 * float(np.abs(found.values / true - 1.0).max()),
        "widest interval [%]": 100.0 * float((0.5 * (high - low) / true).max()),
        "intervals with the truth": int(np.count_nonzero((low <= true) & (true <= high))),
        "noise found [mm]": 1e3 * found.noise,
        "converged": found.converged,
    }


def tips(quick: bool) -> list[dict[str, Any]]:
    """E, nu and damping from the four corners of the free end."""
    mesh = bar((0.3, 0.1, 0.1), (3, 1, 1) if quick else (6, 2, 2))
    corner = (mesh.X[:, 0] > 0.299) & (np.abs(mesh.X[:, 1:] - 0.05) > 0.049).all(axis=1)
    points = np.flatnonzero(corner)
    begun: Callable[[], Scene] = lambda: shaken(mesh, *GUESS)
    rows = [row("bar, no noise", fit(begun(), recorded(shaken(mesh, *TRUE), points, 0.0, 0), NAMES), TRUE)]
    for seed in range(2 if quick else 10):
        seen = recorded(shaken(mesh, *TRUE), points, NOISE, seed)
        rows.append(row(f"bar, noise 0.3 mm, {seed}", fit(begun(), seen, NAMES), TRUE))
    finer = recorded(shaken(mesh, *TRUE, h=H / 8), points, NOISE, 0, every=8)
    rows.append(row("bar, noise 0.3 mm, recorded with h/8", fit(begun(), finer, NAMES), TRUE))
    return rows


def blocks(quick: bool) -> dict[str, Any]:
    """A modulus for each of 4 x 4 x 4 regions, eight of which are inside, from the motion of the surface."""
    regions, cells = (2, 4) if quick else (4, 8)
    mesh = bar((0.2, 0.2, 0.2), (cells, cells, cells))
    place = np.floor(regions * mesh.X[mesh.T].mean(axis=1) / 0.2).astype(np.int64)
    labels = place @ np.array([1, regions, regions**2])
    true = 1e5 * np.exp(0.5 * np.random.default_rng(2).normal(size=regions**3))
    surface = np.flatnonzero(((mesh.X < 1e-9) | (mesh.X > 0.2 - 1e-9)).any(axis=1))
    seen = recorded(shaken(mesh, true[labels], 0.4, 1e-3, duration=0.3), surface, FAINT, 0)
    begun = shaken(mesh, 1e5, 0.4, 1e-3, duration=0.3)
    return row("block, noise 0.02 mm", fit(begun, seen, [Regions(NAMES[0], labels)]), true)


def run(*, quick: bool = False) -> Table:
    rows = [*tips(quick), blocks(quick)]
    noisy = [r for r in rows[:-2] if r["case"] != "bar, no noise"]
    worst, most = max(r["worst error [%]"] for r in noisy), max(r["runs"] for r in noisy)
    inside = sum(r["intervals with the truth"] for r in noisy) / (3 * len(noisy))
    exact, block = rows[0]["worst error [%]"], rows[-1]
    held = block["intervals with the truth"] / block["numbers"]
    claims = [
        Claim("E, nu and damping from a noisy tip, worst", "1 %", f"{worst:.2g} %", worst <= 1.0),
        Claim("runs for it, most", "<= 15", str(most), most <= 15),
        Claim("the same without noise, worst", "1e-4 %", f"{exact:.1e} %", exact <= 1e-4),
        Claim("95 % intervals that contain the truth", ">= 0.8", f"{inside:.2f}", inside >= 0.8),
        Claim(
            f"{block['numbers']} regional moduli from the motion of the surface, worst",
            "recovered (5 %)",
            f"{block['worst error [%]']:.2g} %",
            block["worst error [%]"] <= 5.0 and block["converged"],
        ),
        Claim("of these, intervals that contain the truth", ">= 0.8", f"{held:.2f}", held >= 0.8),
    ]
    notes = [
        "Noise is on every coordinate of every marker at every step. Eight of the block's 64 regions are inside.",
        "A recording with steps of h/8 is fitted with steps of h: the fit makes up for the damping of the method.",
    ]
    return Table("gradient/fit", "Materials recovered from recorded motions", rows, claims, notes)
