"""The velocity step: one quadratic programme behind every linearly implicit method.

    min_u  1/2 u^T A u - u^T b      s.t.  Aeq u = beq,  C u >= d
    A = J^T (M - h D - beta h^2 K) J,      b = J^T (M v + h (f - D v - M Jdot u0))

J maps the velocities that are really free to those of the material: the identity for VANILLA [Weidner2022, App. C],
the condensation Jacobian for ConJac [ConJac2020, Eq. 10], joint rates for RedMax [Weidner2022, Eq. 3.6], Lagrangian and
Eulerian cloth velocities for EOL [Weidner2022, Eq. 2.12]. A coupled scene stacks blocks of J.
D v is subtracted because the damping force at the new velocity is already on the left.

A part prepares its `Block`, `solve_block` finds the velocities, the part finishes with them. With friction the rows and
the slip directions take turns on the same matrix (`pliant.linear.staggered`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.linear.base import LinearSolver
from pliant.linear.bordered import Bordered
from pliant.linear.cholesky import Cholesky
from pliant.linear.inverse import Matrix
from pliant.linear.qp import QPSolver
from pliant.linear.staggered import Slip, Staggered
from pliant.state import State
from pliant.velocity_programme import Rows, VelocitySolution, velocity_step


class MatrixChoice(Protocol):
    """How joints represent their velocity matrix, as a frozen dataclass: an array, a sparse matrix, a `Solvable`."""

    def prepare(self, at: Any, h: float, beta: float = 1.0) -> Matrix: ...


@dataclass(frozen=True)
class Linearisation:
    """How parts linearise a step: ``beta`` weighs K, ``psd`` projects it, ``ahead`` takes it at q + h v instead of q.

    ``matrix`` says how parts that move on joints represent theirs (`Dense`, `Sparse`, `MatrixFree`).
    Without ``points`` a part may leave out its points and their Jacobian, which cost a long chain more than its step.

    ``span`` [s] is the length of the longest step shortly before this one. The gaps and penetrations that a step finds
    are as large as the steps before made them. If a step undid its part of them however short it is, at gap / h, a
    thousandth of a step, where a mesh would break or a step failed, would throw bodies apart. So rows correct positions
    at gap / `closing`, and the steps after a short one do the rest.
    """

    beta: float = 1.0
    psd: bool = True
    ahead: bool = False
    matrix: MatrixChoice | None = None
    points: bool = True
    span: float = 0.0

    def closing(self, h: float) -> float:
        """The time [s] in which a step of h corrects what a step as long as it, or as those before it, would."""
        return max(h, self.span)

    def span_after(self, h: float) -> float:
        """``span`` for the step after one of h: shorter steps are the rule where they go on for ten spans.

        It shrinks no faster than the penetrations that are undone by a tenth per step, so these never speed up.
        """
        return max(h, self.span - 0.1 * h)


@dataclass(frozen=True)
class Relief:
    """How fast contacts must part, at least, in a step of ``h`` [s]. Open ones may close their gap exactly; of a
    penetration the part ``gamma`` is undone in ``closing`` [s] (see `Linearisation`), at most at ``fastest`` [m/s].
    """

    h: float
    closing: float
    gamma: float
    fastest: float = np.inf

    def __call__(self, gap: Array) -> Array:
        """Normal velocities [m/s] for signed gaps [m]."""
        return np.where(gap < 0.0, np.minimum(-self.gamma * gap / self.closing, self.fastest), -gap / self.h)


class Forced(Protocol):
    """What the assembly asks of a system: its matrices and forces over all coordinates."""

    def mass(self, q: Array) -> sp.csr_matrix: ...

    def force(self, q: Array, v: Array, t: float) -> Array: ...

    def damping(self, q: Array, v: Array, t: float) -> sp.csr_matrix: ...


def change_of_momentum(system: Forced, A: Matrix, q: Array, v: Array, t: float, h: float) -> Array:
    """b - A v = M v + h (f - D v) - A v: the right-hand side for v_new - v, with forces at (q, v, t).

    A = M - h D - beta h^2 K, or with only a part of K: what A leaves out is explicit.
    """
    return h * system.force(q, v, t) + (system.mass(q) @ v - h * (system.damping(q, v, t) @ v) - A @ v)


@dataclass(frozen=True, eq=False)
class Live:
    """Rows of a block that push against another part: the body ``body (k,)`` of those it was shown, at the points
    ``x (k, 3)`` along ``normal (k, 3)``. The rows ``rows (k,)`` (equalities first, then inequalities) bound
    normal . (own velocity - velocity of the body at x); the block's own matrix holds the first term only.
    """

    rows: IntArray
    body: IntArray
    x: Array
    normal: Array


@dataclass(frozen=True, eq=False)
class Block:
    """A part's share of a velocity step: 1/2 y^T A y - y^T b over y = u - ``origin``, its own rows on u, its points.

    ``x (p, 3)`` are its points where the step linearises, ``J (3 p, n)`` and ``w (3 p,)`` give their velocities J u + w
    (w: of prescribed points; None for 0). ``origin (n,)`` None is 0; from the old velocities a body at rest stays there
    to the last bit. ``slip`` are the friction directions of its own inequality rows, as they are numbered here, and
    ``rubbing`` those of them that rub against another part, like ``live`` rows.
    ``guess (n,)`` are the old velocities: contact is looked for where they lead, iterations start from them.

    A part with many contacts may ask for a quadratic programme solver, ``qp``, and expect ``impulses (m,)`` [N s] of
    its inequality rows to start it with; ``pushed (m,)`` are the points these rows push at, for messages. ``seconds``
    are what it took to prepare, by phase. ``border (k,)`` are the unknowns of dense blocks within a sparse A.
    """

    A: Matrix
    b: Array
    x: Array
    J: sp.csr_matrix
    equality: Rows | None = None
    inequality: Rows | None = None
    live: Live | None = None
    origin: Array | None = None
    w: Array | None = None
    slip: Slip | None = None
    guess: Array | None = None
    qp: QPSolver | None = None
    impulses: Array | None = None
    pushed: IntArray | None = None
    seconds: Mapping[str, float] = field(default_factory=dict)
    rubbing: Live | None = None
    border: IntArray | None = None


@dataclass(frozen=True, eq=False)
class Moved:
    """A part after a velocity step: its state, its new system if its mesh changed, its memory, work [J] by name."""

    state: State
    memory: Any = None
    system: Any = None
    start: State | None = None  # where it set out from in the coordinates of the new system
    work: Mapping[str, float] = field(default_factory=dict)
    notes: Mapping[str, float] = field(default_factory=dict)  # of the step, for the history of its report


class Prepared(Protocol):
    """A part in the middle of a velocity step."""

    @property
    def block(self) -> Block: ...

    def reach(self, u: Array, h: float) -> float:
        """How much of h the part may move with u before its mesh would break; h when there is no limit."""
        ...

    def finish(self, u: Array, equality: Array, inequality: Array, h: float) -> Moved:
        """The part moved for h [s] with its velocities u; the impulses [N s] of its own rows."""
        ...


@runtime_checkable
class Remeshing(Protocol):
    """A prepared part whose block may be that of another mesh than its system's."""

    @property
    def remeshed(self) -> tuple[Any, State] | None:
        """The new system and the state it sets out from; None where the mesh is still the same."""
        ...


@runtime_checkable
class Trading(Protocol):
    """A prepared whole whose parts do work on each other."""

    def exchanged(self, found: VelocitySolution) -> Mapping[tuple[str, str], float]:
        """(a, b) -> the work [J] that a does on b: impulses times the new velocities of b where they act."""
        ...

    def dragged(self, found: VelocitySolution) -> float:
        """The work [J] of what moves by script against the impulses of contacts and attachments."""
        ...


@runtime_checkable
class Telling(Protocol):
    """A prepared whole that knows its contact forces."""

    def acted(self, found: VelocitySolution) -> Any:
        """They in the step with these velocities, as `pliant.systems.acted.Acted`; None without contact."""
        ...


@runtime_checkable
class Carrying(Protocol):
    """A prepared part with bodies that others push at: links."""

    def carried(self, body: IntArray, x: Array) -> sp.csr_matrix:
        """(3 k, n): the velocities of the material of bodies ``body (k,)`` at the points ``x (k, 3)``."""
        ...


def solve_block(
    block: Block,
    *,
    linear: LinearSolver | None = None,
    qp: QPSolver | None = None,
    friction: Staggered = Staggered(),  # noqa: B008  (a frozen value)
    memory: Any = None,
) -> VelocitySolution:
    """The velocities of a block and the impulses of its rows; ``qp`` None is what the block asks for."""
    u0 = block.origin
    equality, inequality, slip = block.equality, block.inequality, block.slip
    if u0 is not None:
        equality, inequality = (None if r is None else (r[0], r[1] - r[0] @ u0) for r in (equality, inequality))
        slip = None if slip is None else replace(slip, drift=slip.drift - slip.T @ u0)
    rubs = slip is not None and len(slip) > 0
    if block.impulses is not None and len(block.impulses) and not rubs:
        memory = (np.zeros(len(block.b)), np.zeros(0 if equality is None else len(equality[1])), block.impulses)
    if block.border is not None and len(block.border):
        linear = Bordered(block.border, linear or Cholesky(), definite=True)
    found = velocity_step(
        block.A,
        block.b,
        equality=equality,
        inequality=inequality,
        slip=slip,
        linear=linear,
        qp=block.qp if qp is None else qp,
        friction=friction,
        memory=memory,
        guess=block.guess,
        pushed=block.pushed,
    )
    return found if u0 is None else replace(found, u=u0 + found.u)
