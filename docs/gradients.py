"""Draw the pictures of docs/gradients.md into docs/images/gradients: ``python docs/gradients.py``."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.collections import PolyCollection
from scipy.optimize import minimize

import pliant as pl
from pliant import adjoint
from pliant.adjoint.inverse_statics import rest_shape
from pliant.arrays import Array
from pliant.bench.gradient import control, design
from pliant.bench.gradient import fit as fits
from pliant.maps.functions import Series
from pliant.plots.fit import plot_fit
from pliant.plots.sheet import save, sheet

FOLDER = Path(__file__).parent / "images" / "gradients"


def side(axes: Any, mesh: Any, x: Array, colour: str, alpha: float = 1.0, label: str | None = None) -> None:
    """The surface of a body seen along y."""
    faces = mesh.surface()
    seen = PolyCollection(x[faces][:, :, [0, 2]], facecolors=colour, edgecolors="k", linewidths=0.2, alpha=alpha)
    axes.add_collection(seen)
    if label:
        axes.plot([], [], color=colour, label=label, linewidth=6, alpha=alpha)


def finished(axes: Any, title: str) -> None:
    axes.set_aspect("equal")
    axes.autoscale_view()
    axes.set_title(title, fontsize="medium")
    axes.set_xlabel("x [m]")
    axes.set_ylabel("z [m]")
    axes.legend(fontsize="small")


def swinging_bar() -> Path:
    """Tip of a shaken bar: measured, first guess, fit."""
    mesh = pl.mesh.bar((0.3, 0.1, 0.1), (3, 1, 1))
    tip = np.array([int(np.argmax(mesh.X.sum(axis=1)))])
    seen = fits.recorded(fits.shaken(mesh, *fits.TRUE), tip, 2e-3, 0)
    found = adjoint.fit(fits.shaken(mesh, *fits.GUESS), seen, fits.NAMES)
    return plot_fit(seen.times, seen.places, found.before, found.after, ["tip"], FOLDER / "bar.png")


def thrown_ball(throws: Sequence[tuple[float, ...]] = ((1.0, 0.0, 0.0), (1.3687, 0.2014, 0.1994))) -> Path:
    """The first throw and the last of ``gradient/control``."""
    figure, grid = sheet(1, 1, (8.0, 3.6))
    axes = grid[0, 0]
    for velocity, colour, label in zip(throws, ("C7", "C0"), ("first throw", "last throw"), strict=True):
        scene = control.thrown(np.array(velocity), 85, 3)
        mesh = scene.bodies[0].mesh
        centers = [mesh.X.mean(axis=0)]
        for step in pl.simulate(scene):
            x = step.system.positions(step.state.q)
            centers.append(x.mean(axis=0))
            if step.index % 17 == 0:
                side(axes, mesh, x, colour, 0.5, label if step.index == 17 else None)
        axes.plot(*np.array(centers)[:, [0, 2]].T, color=colour)
    axes.plot(*control.BOWL[[0, 2]], "x", color="C3", markersize=12, label="center of the bowl")
    axes.axhline(0.0, color="k")
    finished(axes, "A soft ball that is to be at the center of a bowl at the end, after one bounce")
    return save(figure, FOLDER / "ball.png")


def muscle(iterations: int = 30) -> Path:
    """An arm of flesh with a muscle above and one below: their activations over time are found."""
    mesh, steps = pl.mesh.bar((0.3, 0.06, 0.06), (6, 1, 2)), 40
    above = mesh.X[mesh.T].mean(axis=1)[:, 2] > 0.03
    times, low = (0.0, 0.1, 0.2, 0.3, 0.4), tuple(np.full(5, 0.2))
    muscles = [
        pl.Activation((1.0, 0.0, 0.0), np.where(above == up, 5e4, 0.0), Series(times, low)) for up in (True, False)
    ]
    held = pl.Pin(np.flatnonzero(mesh.X[:, 0] < 1e-9))
    body = pl.Solid(mesh, pl.StableNeoHookean(1e5, 0.4), pins=held, damping=pl.Rayleigh(beta=5e-3), name="arm")
    scene = pl.Scene([body], pl.BDF2(), h=0.01, duration=0.01 * steps, forces=muscles)
    tip, target = int(np.argmax(mesh.X.sum(axis=1))), np.array([0.25, 0.12])  # in the plane of the picture
    chosen = np.array([3 * tip, 3 * tip + 2])

    def reached(k: int, q: Array, v: Array) -> tuple[float, Array | None, None]:
        if k < steps:
            return 0.0, None, None
        slope = np.zeros_like(q)
        slope[chosen] = 1e4 * (q[chosen] - target)
        return 0.5e4 * float(np.sum((q[chosen] - target) ** 2)), slope, None

    wrt = ["forces.0.signal.values", "forces.1.signal.values"]
    f, x0 = adjoint.objective(scene, adjoint.CustomLoss(reached), wrt)
    bounds = [(0.01, 1.0)] * len(x0)  # at 0, where muscles would push on one side, there is no derivative
    found = minimize(f, x0, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": iterations})
    figure, grid = sheet(1, 2, (9.0, 3.6))
    axes = grid[0, 0]
    for x, colour, label in ((x0, "C7", "activations of 0.2"), (found.x, "C0", "activations found")):
        active = adjoint.written(adjoint.written(scene, wrt[0], tuple(x[:5])), wrt[1], tuple(x[5:]))
        *_, last = pl.simulate(active)
        places = last.system.positions(last.state.q)
        side(axes, mesh, places, colour, 0.6, label)
    axes.plot(*target, "x", color="C3", markersize=10, label="target")
    off = 1e3 * float(np.linalg.norm(last.state.q[chosen] - target))
    finished(axes, f"Muscles reach a target: {off:.2g} mm off after {found.nfev} gradients")
    for k, name in enumerate(("above", "below")):
        grid[0, 1].plot(times, found.x[5 * k : 5 * k + 5], "o-", label=name)
    grid[0, 1].set(xlabel="time [s]", ylabel="activation", ylim=(-0.05, 1.05))
    grid[0, 1].legend(fontsize="small")
    return save(figure, FOLDER / "muscle.png")


def hanging_bar() -> Path:
    """The rest shape, and how bodies made in either shape hang."""
    scene = design.straight(2e5, (12, 2, 2))
    mesh = scene.bodies[0].mesh
    found = rest_shape(scene, "bar")
    figure, grid = sheet(1, 1, (7.0, 4.2))
    axes = grid[0, 0]
    *_, last = pl.simulate(scene)
    side(axes, mesh, last.state.q.reshape(-1, 3), "C7", 0.6, "made straight, hanging")
    side(axes, mesh, found.mesh.X, "C1", 0.6, "rest shape")
    begun = replace(scene.bodies[0], mesh=found.mesh, positions=mesh.X)
    *_, last = pl.simulate(scene.with_body(0, begun))
    side(axes, mesh, last.state.q.reshape(-1, 3), "C0", 0.8, "made in the rest shape, hanging")
    finished(axes, "A bar that hangs straight")
    return save(figure, FOLDER / "hanging.png")


PICTURES = (hanging_bar, muscle, swinging_bar, thrown_ball)

if __name__ == "__main__":
    for draw in PICTURES:
        draw()
