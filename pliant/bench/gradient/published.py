"""gradient/published: a published example of a differentiable simulator, set up again from its numbers.

Newton's ball (newton-physics/newton, newton/examples/diffsim/example_diffsim_ball.py): a particle is thrown at the
floor, bounces off it and off a wall, and is to be at a target after 0.6 s. Gradient descent on the velocity of the
throw. Its steps are those of symplectic Euler, its contacts springs with damping on the way in, without friction.
Published are the set-up and what its own test demands; the numbers that it prints are not.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.adjoint import CustomLoss, gradient
from pliant.arrays import Array
from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import SpringNet
from pliant.deformable import Placed
from pliant.integrators import SymplecticEuler
from pliant.mesh import Mesh
from pliant.scene import Scene

START, THROW, TARGET = np.array([0.0, -0.5, 1.0]), np.array([0.0, 5.0, -5.0]), np.array([0.0, -2.0, 1.5])
FRAMES, SUBSTEPS, H = 36, 8, 1.0 / 60.0
RADIUS, STIFF, DAMPING = 0.1, 1e4, 1e1  # m, N/m, N s/m
PLANES = ((np.array([0.0, 0.0, 1.0]), 0.0), (np.array([0.0, -1.0, 0.0]), -1.75))  # floor, and wall: n . x = d
RATE = 0.02  # of the descent
TESTED = 4  # iterations of its own test
VELOCITY = "bodies.ball.velocity"


@dataclass(frozen=True, eq=False)
class Bounces:
    """f = -n (k_e c + k_d min(n . v, 0)) of every vertex whose distance c = n . x - d - radius from a plane is < 0."""

    n: int
    name = "bounces"

    def _pressed(self, x: Array, v: Array) -> list[tuple[Array, Array, Array, Array]]:
        """For every plane its normal, the depths of vertices in it, their speeds into it, and where that is so."""
        out = []
        for normal, d in PLANES:
            c = np.minimum(x.reshape(-1, 3) @ normal - d - RADIUS, 0.0)
            speed = np.where(c < 0.0, np.minimum(v.reshape(-1, 3) @ normal, 0.0), 0.0)
            out.append((normal, c, speed, np.outer(normal, normal)))
        return out

    def force(self, x: Array, v: Array, t: float) -> Array:
        pushes = [-np.outer(STIFF * c + DAMPING * s, n) for n, c, s, _ in self._pressed(x, v)]
        return np.asarray(sum(pushes)).ravel()

    def stiffness(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._blocks([(np.where(c < 0.0, STIFF, 0.0), N) for _, c, _, N in self._pressed(x, v)])

    def damping(self, x: Array, v: Array, t: float) -> sp.csr_matrix:
        return self._blocks([(np.where(s < 0.0, DAMPING, 0.0), N) for _, _, s, N in self._pressed(x, v)])

    def _blocks(self, parts: list[tuple[Array, Array]]) -> sp.csr_matrix:
        return sp.csr_matrix(-sum((sp.kron(sp.diags(w), N) for w, N in parts), sp.csr_matrix((3 * self.n, 3 * self.n))))


@dataclass(frozen=True)
class Walls:
    """The floor and the wall as a load of a scene."""

    body: int | str = 0

    def force(self, placed: Placed) -> Bounces:
        return Bounces(len(placed.X))


def thrown(velocity: Array = THROW) -> Scene:
    """The particle with a twin 1 m beside it, which moves alike: the spring between them, which a net needs, rests."""
    net = Mesh(np.array([START, START + [1.0, 0.0, 0.0]]), np.array([[0, 1]]))
    ball = SpringNet(net, 1.0, 1.0, velocity=tuple(velocity), name="ball")
    return Scene([ball], SymplecticEuler(SUBSTEPS), h=H, duration=H * FRAMES, forces=[Walls()])


def missed(k: int, q: Array, v: Array) -> tuple[float, Array | None, None]:
    """|x - target|^2 of the particle at the end."""
    if k < FRAMES:
        return 0.0, None, None
    slope, off = np.zeros_like(q), q[:3] - TARGET
    slope[:3] = 2.0 * off
    return float(off @ off), slope, None


def reckoned(velocity: Array) -> float:
    """The same loss by a loop over the published formulas alone."""
    x, v, dt = START.copy(), np.array(velocity, dtype=float), H / SUBSTEPS
    for _ in range(FRAMES * SUBSTEPS):
        f = np.array([0.0, 0.0, -9.81])
        for n, d in PLANES:
            c = n @ x - d - RADIUS
            if c < 0.0:
                f -= n * (STIFF * c + DAMPING * min(float(n @ v), 0.0))
        v = v + dt * f
        x = x + dt * v
    return float((x - TARGET) @ (x - TARGET))


def differenced(velocity: Array, e: float = 1e-6) -> Array:
    """Central differences of `reckoned` by the velocity."""
    return np.array([(reckoned(velocity + e * a) - reckoned(velocity - e * a)) / (2.0 * e) for a in np.eye(3)])


def descended(iterations: int) -> list[dict[str, Any]]:
    """Gradient descent, each row with the loss before its step."""
    velocity, rows = THROW.copy(), []
    for k in range(iterations):
        found = gradient(thrown(velocity), CustomLoss(missed), [VELOCITY])
        slope = found[VELOCITY]
        far = differenced(velocity)
        row = {"iteration": k, "v [m/s]": ", ".join(f"{v:.4f}" for v in velocity), "loss [m^2]": found.value}
        row["the formulas alone [m^2]"] = reckoned(velocity)
        rows.append(
            {**row, "gradient off": float(np.abs(slope - far).max()), "|gradient|": float(np.linalg.norm(slope))}
        )
        velocity = velocity - RATE * slope
    return rows


def run(*, quick: bool = False) -> Table:
    rows = descended(10 if quick else 150)
    losses = np.array([row["loss [m^2]"] for row in rows])
    same = max(abs(row["loss [m^2]"] - row["the formulas alone [m^2]"]) for row in rows)
    off, least = max(row["gradient off"] for row in rows), float(-np.diff(losses[:TESTED]).max())
    near = float(np.sqrt(losses.min()))
    claims = [
        Claim("the motion is that of the published formulas: loss, most apart", "1e-9 m^2", f"{same:.1e}", same < 1e-9),
        Claim("gradient against differences, most apart", "5e-2 (its test)", f"{off:.1e}", off <= 5e-2),
        Claim("all losses [m^2], largest", "< 10 (its test)", f"{losses.max():.3g}", losses.max() < 10.0),
        Claim(
            f"loss falls in each of {TESTED} iterations, by at least", "1e-3 (its test)", f"{least:.2g}", least > 1e-3
        ),
        Claim("nearest to the target, whose mark is 0.1 m to either side", "it is hit", f"{near:.2g} m", near < 0.1),
    ]
    notes = [
        "Newton's example_diffsim_ball: set-up and demands as in newton-physics/newton. Its gradient is that of a tape "
        "in single precision. Beyond 150 iterations the descent with a constant rate leaves the target again: we think "
        "because the number of substeps in contact changes from one throw to the next there.",
    ]
    title = "Newton's ball: thrown against floor and wall, to be at a target"
    plot = Plot("iteration", "loss [m^2]", log="y")
    return Table("gradient/published", title, rows if quick else rows[:10] + rows[10::10], claims, notes, plot=plot)
