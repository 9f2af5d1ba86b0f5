"""gradient/control: a soft ball is thrown so that it bounces once and then is where a bowl's center is.

Newton's method on the velocity of the throw: the derivative of the ball's center at the end by that velocity comes from
three gradients, one per component, through the impact with its friction.
"""

from typing import Any

import numpy as np

from pliant.adjoint import CustomLoss, gradient
from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.bodies import Rayleigh, Solid
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF2
from pliant.materials import StableNeoHookean
from pliant.mesh import ball
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.penalty_contact import PenaltyContact

MOST = 0.5  # m/s from one throw to the next, so that the ball still bounces
RADIUS, H, BOWL = 0.05, 4e-3, np.array([0.40, 0.06, 0.15])


def thrown(velocity: Array, steps: int, cells: int) -> Scene:
    mesh = ball(RADIUS, cells).transformed(translate=(0.0, 0.0, 0.25))
    body = Solid(mesh, StableNeoHookean(5e4, 0.4), damping=Rayleigh(beta=1e-3), velocity=tuple(velocity), name="ball")
    contact = PenaltyContact(k=300.0, mu=0.3)
    return Scene([body], BDF2(), h=H, duration=H * steps, contact=contact, obstacles=[Plane()])


def center(scene: Scene, steps: int) -> tuple[Array, Array]:
    """The center of mass at the end (3,), and its derivative by the velocity of the throw (3, 3)."""
    system: Any = scene.system()
    share = system.nodal_mass / (system.nodal_mass.sum() / 3.0)
    where, slopes = np.zeros(3), np.zeros((3, 3))
    for axis in range(3):
        along = np.where(np.arange(len(share)) % 3 == axis, share, 0.0)
        last = lambda k, q, v, a=along: (float(a @ q), a, None) if k == steps else (0.0, None, None)
        found = gradient(scene, CustomLoss(last), ["bodies.ball.velocity"])
        where[axis], slopes[axis] = found.value, found["bodies.ball.velocity"]
    return where, slopes


def _nearer(velocity: Array, change: Array, off: float, steps: int, cells: int) -> Array:
    """The velocity changed by as much of ``change`` as leads nearer to the bowl; runs without gradients tell."""
    for _ in range(3):
        *_, last = simulate(thrown(velocity + change, steps, cells))
        system: Any = last.system
        where = (system.nodal_mass * last.state.q).reshape(-1, 3).sum(axis=0) / system.total_mass
        if float(np.linalg.norm(where - BOWL)) < off:
            break
        change = 0.5 * change
    return velocity + change


def bounces(scene: Scene) -> int:
    """How often the ball's center turns from falling to rising."""
    heights = [step.system.positions(step.state.q)[:, 2].mean() for step in simulate(scene)]
    up = np.diff(heights) > 0.0
    return int(np.count_nonzero(up[1:] & ~up[:-1]))


def run(*, quick: bool = False) -> Table:
    steps, cells = 85, 3 if quick else 5
    velocity, evaluations = np.array([1.0, 0.0, 0.0]), 0
    rows: list[dict[str, Any]] = []
    for k in range(6):
        scene = thrown(velocity, steps, cells)
        where, J = center(scene, steps)
        evaluations += 3
        off = float(np.linalg.norm(where - BOWL))
        shown = ", ".join(f"{v:.4f}" for v in velocity)
        rows.append({"throw": k, "v [m/s]": shown, "gradients": evaluations, "off [mm]": 1e3 * off})
        if off < 1e-4:
            break
        change = -np.linalg.solve(J, where - BOWL)
        velocity = _nearer(velocity, change * min(1.0, MOST / float(np.linalg.norm(change))), off, steps, cells)
    count = bounces(scene)
    claims = [
        Claim(f"center of the bowl, after {evaluations} gradients", "1 mm in <= 20", f"{1e3 * off:.2g} mm", off < 1e-3),
        Claim("bounces on the way", "1", str(count), count == 1),
    ]
    return Table("gradient/control", "A soft ball thrown into a bowl over the floor", rows, claims)
