"""Steps in frames that turn with the bodies: rigid motion is exact, only the deformation is linearised.

Every free body has its center c, the velocity V of it and an angular velocity omega = I^-1 L, with the inertia as a
rigid body would have it in the middle of the step. Its frame moves with V and turns with omega, R(t) = exp(t Omega), so
with x = c + t V + R y and v = V + R (Omega y + d) the motion seen from it is

    M ddot = R^T f - 2 M Omega d - M Omega^2 y - M Omegadot y,    ydot = d

The integrator inside sees y and d: its forces are the system's own, which for everything that deforms are the same in
both frames, and two loads that are constant over the step, the centrifugal one and the difference that turning makes to
all others (gravity, drag). Omegadot is that of a rigid body, which tumbles: it takes away the torque -omega x I omega
of the centrifugal load, and d is what is left of v without the rigid motion at the start. A linear step inside would
take that rotation, of the order of the square of the angle of a step, for a stretch. The Coriolis term turns d by -2
omega; one half of that is done before the step and one after it (Strang), which keeps order 2. The momentum and the
angular momentum of a body change by the impulses of the forces in this step, M (d_1 - d_0) without the centrifugal
part, with their arms in the middle of it, and by nothing else: the last correction is a rigid one.

Where nothing turns the step is that of the integrator inside; a body that turns like a rigid one turns exactly, which
no linearisation in a frame at rest can do: a rotation by theta is to it a stretch of theta^2 / 2. Bodies with
prescribed vertices have frames that rest.
"""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from pliant.arrays import Array, IntArray
from pliant.errors import SceneError
from pliant.integrators.base import Integrator
from pliant.integrators.bdf2 import BDF2
from pliant.integrators.quasistatic import Quasistatic
from pliant.integrators.siere import SIERE
from pliant.state import SolveReport, State, Step
from pliant.systems.elastodynamics import Elastodynamics
from pliant.systems.projected_contact import Projecting

TURNS = 10  # of the fixed point for omega: each gains a factor of the angle of a step
WIDE = 0.7  # [rad]: bodies that turn further in a step gain energy where they are soft


@dataclass(frozen=True)
class Corotated:
    """A linearized integrator in frames that rotate with the bodies: angular momentum is conserved.

    ``integrator`` is applied in the rotating frames of the free bodies: `SIERE`, `ERE`, `LinearlyImplicit`, and others.
    It is for deformable bodies without contact within steps (`ProjectedContact` acts after them), and costs two more
    evaluations of the forces per step.
    """

    integrator: Integrator = field(default_factory=SIERE)
    order: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if isinstance(self.integrator, BDF2 | Quasistatic | Corotated):
            what = f"{type(self.integrator).__name__} does not work in rotating frames"
            remedy = "give a dynamic one-step integrator, such as SIERE() or ERE()"
            raise SceneError(what, where="Corotated.integrator", remedy=remedy)
        object.__setattr__(self, "order", self.integrator.order)  # each has its integrator's

    def step(self, system: Elastodynamics, state: State, h: float, memory: Any = None) -> Step:
        frames = TurningFrames.of(require_free(system), state, h)
        if not frames.moving.any():
            return self.integrator.step(system, state, h, memory)
        y, d = frames.seen(state)
        d = frames.turned(-h, d)
        load, centrifugal = frames.loads(system, state, (y, d), h)
        inside = system.loaded(frames.flat(load + centrifugal))
        step = self.integrator.step(inside, State(state.q, frames.flat(d), state.t), h, memory)
        a, d1 = frames.spatial(step.state.q - state.q), frames.spatial(step.state.v)
        impulse = frames.spatial(system.inertia(state.q, frames.flat(d1 - d))) - h * centrifugal
        x, v = frames.carried(y, a, (d, d1), impulse, h)
        q = system.prescribe(frames.flat(x), state.t + h)
        return replace(step, state=State(q, frames.flat(v), state.t + h), reports=frames.judged(step.reports, h))


@dataclass(frozen=True, eq=False)
class TurningFrames:
    """The frames of all vertices for one step: ``c, V, omega (n, 3)``, equal for those of one body.

    ``piece (n,)`` is the body of every vertex, ``m (n,)`` its mass [kg], ``moving (n,)`` whether its frame does, ``L``
    its body's angular momentum about the center; ``dim`` is 2 or 3.
    """

    piece: IntArray
    m: Array
    moving: NDArray[np.bool_]
    dim: int
    c: Array
    V: Array
    omega: Array
    L: Array

    @staticmethod
    def of(system: Elastodynamics, state: State, h: float) -> "TurningFrames":
        n, dim = system.X.shape
        piece = pieces(system)
        held = np.ones(n * dim, dtype=bool)
        held[system.free] = False
        moving = ~np.isin(piece, piece[held.reshape(n, dim).any(axis=1)])
        zero = np.zeros((n, 3))
        still = TurningFrames(piece, system.nodal_mass[::dim], moving, dim, zero, zero, zero, zero)
        x, v = still.spatial(state.q), still.spatial(state.v)
        c, V = (np.where(moving[:, None], still.mean(z), 0.0) for z in (x, v))
        r = x - c
        frames = replace(still, c=c, V=V, L=still.moment(r, v))
        for _ in range(TURNS):
            frames = replace(frames, omega=frames.turned(0.5 * h, frames.spin(r, frames.turned(-0.5 * h, frames.L))))
        return frames

    def judged(self, reports: tuple[SolveReport, ...], h: float) -> tuple[SolveReport, ...]:
        """The reports of a step, not converged where a body turns too far in it."""
        angle = h * float(np.linalg.norm(self.omega, axis=1).max())
        if angle <= WIDE:
            return reports
        message = f"a body rotates by {angle:.2g} rad in a step, more than {WIDE:g}; reduce h"
        return tuple(replace(report, converged=False, message=message) for report in reports)

    def total(self, values: Array) -> Array:
        """The sums of ``values (n, ...)`` over the bodies, at every vertex of them."""
        sums = np.zeros((self.piece.max() + 1, *values.shape[1:]))
        np.add.at(sums, self.piece, values)
        return sums[self.piece]

    def moment(self, r: Array, v: Array) -> Array:
        """Angular momenta (n, 3) for arms ``r`` and velocities ``v``."""
        return self.total(np.cross(r, self.m[:, None] * v))

    def mean(self, values: Array) -> Array:
        """The means, by mass."""
        return self.total(self.m[:, None] * values) / self.total(self.m)[:, None]

    def spin(self, r: Array, L: Array) -> Array:
        """I^-1 L (n, 3) for arms ``r`` from the centers; of a rod not about itself, and none of what rests."""
        outer = (r * r).sum(axis=1)[:, None, None] * np.eye(3) - r[:, :, None] * r[:, None, :]
        _, first = np.unique(self.piece, return_index=True)  # one vertex of every body
        inertia = self.total(self.m[:, None, None] * outer)[first]
        omega = np.einsum("bij,bj->bi", np.linalg.pinv(inertia, rcond=1e-10, hermitian=True), L[first])
        return np.where(self.moving[:, None], omega[self.piece], 0.0)

    def seen(self, state: State) -> tuple[Array, Array]:
        """(y, d): positions and velocities in the frames."""
        y = self.spatial(state.q) - self.c
        return y, self.spatial(state.v) - self.V - np.cross(self.spin(y, self.L), y)

    def turned(self, t: float, y: Array) -> Array:
        """R(t) y."""
        from scipy.spatial.transform import Rotation

        return Rotation.from_rotvec(t * self.omega).apply(y)

    def loads(self, system: Elastodynamics, state: State, seen: tuple[Array, Array], h: float) -> tuple[Array, Array]:
        """What turning makes of forces that do not turn, and the centrifugal load, in the middle of the step (n, 3)."""
        y, d = seen
        middle = y + 0.5 * h * d
        rigid = np.cross(self.omega, middle)
        x = self.c + 0.5 * h * self.V + self.turned(0.5 * h, y)
        v = self.V + self.turned(0.5 * h, rigid + d)
        t = state.t + 0.5 * h
        there = self.spatial(system.force(self.flat(x), self.flat(v), t))
        here = self.spatial(system.force(state.q, self.flat(d), t))
        outward = -np.cross(self.omega, rigid)
        outward -= np.cross(self.spin(middle, self.moment(middle, outward)), middle)
        return self.turned(-0.5 * h, there) - here, self.spatial(system.inertia(state.q, self.flat(outward)))

    def carried(self, y: Array, a: Array, d: tuple[Array, Array], impulse: Array, h: float) -> tuple[Array, Array]:
        """(x, v) at the end, from displacements ``a``, velocities ``d`` before and after, impulses seen in the frames.

        Centers move as the integrator inside says, by axes of the middle of the step. A rotation that is left in ``a``
        is made a true one, from the mean of the angular velocities at both ends.
        """
        from scipy.spatial.transform import Rotation

        shift, drift = (np.where(self.moving[:, None], self.mean(z), 0.0) for z in (a, d[1]))
        rotated = Rotation.from_rotvec(0.5 * h * self.spin(y, self.moment(y, d[0] + d[1])))
        r = y + a - shift - np.cross(self.spin(y, self.moment(y, a)), y)
        r = self.turned(h, rotated.apply(r))
        u = np.cross(self.omega, r) + d[1] - drift
        torque = self.total(np.cross(y + 0.5 * (a - shift), impulse))
        L = self.L + self.turned(0.5 * h, torque)
        u += np.cross(self.spin(r, L - self.moment(r, u)), r)
        x = self.c + h * self.V + self.turned(0.5 * h, shift) + r
        return x, self.V + self.turned(0.5 * h, drift) + u

    def spatial(self, q: Array) -> Array:
        """Coordinates (N,) as (n, 3)."""
        x = q.reshape(len(self.piece), -1)
        return x if x.shape[1] == 3 else np.column_stack([x, np.zeros(len(x))])

    def flat(self, x: Array) -> Array:
        return x[:, : self.dim].ravel()


def pieces(system: Elastodynamics) -> IntArray:
    """The body of every vertex (n,): what energies connect."""
    n, dim = system.X.shape
    pattern = system.pattern
    blocks = sp.csr_matrix((np.ones(pattern.nnz), pattern.indices // dim, pattern.indptr), shape=(n * dim, n))[::dim]
    label: IntArray = sp.csgraph.connected_components(blocks, directed=False)[1]
    return label


def require_free(system: Elastodynamics) -> Elastodynamics:
    """Refuse what the frames do not know."""
    if not isinstance(system, Elastodynamics):
        remedy = "use the integrator without Corotated"
        raise SceneError(f"{type(system).__name__} has no rotating frames", where="Corotated", remedy=remedy)
    if system.contact is not None and not isinstance(system.contact, Projecting):
        remedy = "use ProjectedContact, or the integrator without Corotated"
        raise SceneError("contact within the step does not rotate with a body", where="Corotated", remedy=remedy)
    return system
