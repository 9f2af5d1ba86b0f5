"""The velocities of a step under its contact rows, and the impulses as the guess for the next step."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array, IntArray
from pliant.cloth.constraints import PUSHES, Pushes, Rows
from pliant.linear.kkt import Point
from pliant.linear.qp import Clarabel, QPSolver
from pliant.velocity_step import Block, VelocitySolution, velocity_step


def remembered_impulses(z: Array, pushes: Pushes, n: int) -> Array:
    """Impulses of the first PUSHES rows of each vertex (n, PUSHES), -1 where there was no row: the memory of a step."""
    pressed = np.full((n, PUSHES), -1.0)
    pressed[pushes.vertex, pushes.ordinals] = z
    return pressed


def expected_impulses(memory: Array | None, origin: IntArray, bound: Rows) -> Array | None:
    """The impulses of the last step at the same vertices; rows that are new press when their bound is touched."""
    if memory is None:
        return None
    before = origin[bound.pushes.vertex]
    kept = np.where(before >= 0, memory[before, bound.pushes.ordinals], -1.0)
    return np.where(kept >= 0, kept, np.where(bound.right > -1e-6, 1.0, 0.0))


def solve(block: Block, guess: Array | None, vertices: IntArray, qp: QPSolver) -> VelocitySolution:
    """The velocity step by a quadratic programme solver, from a guess of the impulses at the ``vertices``.

    Obstacles that contradict each other have no solution: then the rows are relaxed, and the report names the vertices.
    """
    assert block.equality is not None and block.inequality is not None
    equality, inequality = block.equality, block.inequality
    warm = None if guess is None else Point(np.zeros(len(block.b)), np.zeros(len(equality[1])), guess)
    solution = velocity_step(block.A, block.b, equality=equality, inequality=inequality, qp=qp, memory=warm)
    if solution.report.converged or not solution.report.message.startswith("infeasible"):
        return solution
    return relaxed(block.A, block.b, equality, inequality, vertices)


def relaxed(
    A: sp.csr_matrix, b: Array, equality: tuple[Any, Array], inequality: tuple[Any, Array], vertices: IntArray
) -> VelocitySolution:
    """The step with C u + s >= d, s >= 0 and a stiff price on s: contradicting contacts share what they cannot have."""
    (E, e), (C, d) = equality, inequality
    n, m = len(b), len(d)
    price = 1e4 * float(A.diagonal().max())
    P = sp.block_diag([A, price * sp.identity(m)], format="csr")
    slack = sp.identity(m, format="csr")
    rows = sp.vstack([sp.hstack([C, slack]), sp.hstack([sp.csr_matrix((m, n)), slack])], format="csr")
    wide = sp.hstack([E, sp.csr_matrix((E.shape[0], m))], format="csr")
    solution = velocity_step(
        *(P, np.concatenate([b, np.zeros(m)])),
        equality=(wide, e),
        inequality=(rows, np.concatenate([d, np.zeros(m)])),
        qp=Clarabel(),
    )
    given = np.flatnonzero(solution.u[n:] > 1e-6)
    names = ", ".join(str(v) for v in np.unique(vertices[given])[:8])
    report = replace(solution.report, message=f"relaxed {len(given)} contradicting contact rows at vertices {names}")
    return VelocitySolution(solution.u[:n], solution.equality, solution.inequality[:m], report)
