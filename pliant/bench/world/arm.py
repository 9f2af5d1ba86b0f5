"""An arm that swings into cloth: how much it is slowed, as h and the mass of the cloth go to zero.

A step in which the mesh of the cloth would break is taken in two pieces, and the arm with it. In two pieces the arm
alone goes elsewhere than in one, by the error of the method, whatever the cloth weighs: what the cloth does is the
difference from an arm alone that takes the same pieces.

Beside it stands Lagrangian cloth whose mesh stays as it is: what differs between neighbouring numbers of steps there is
due to h alone, what differs more with Eulerian cloth to its remeshing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from pliant.bench.table import Claim, Plot, Table
from pliant.bench.workers import spread
from pliant.integrators import LinearlyImplicit
from pliant.scenes.eol.bodies import START, arm
from pliant.scenes.eol.variants import EOL, GRAVITY, REGULAR, RELEASED, Variant
from pliant.scenes.world_cloth import arm_and_cloth
from pliant.simulate import simulate
from pliant.state import State, Step

END = 0.52  # [s]: the box reaches the cloth after 0.45 s


@dataclass(frozen=True)
class Logged(LinearlyImplicit):
    """The velocity step, with the lengths [s] of the pieces that steps were taken in."""

    pieces: list[float] = field(default_factory=list, compare=False)

    def step(self, system: Any, state: State, h: float, memory: Any = None) -> Step:
        step = super().step(system, state, h, memory)
        if len(step.reports) == 1:  # else its pieces have been here
            self.pieces.append(h)
        return step


def alone(pieces: Sequence[float]) -> np.ndarray:
    """The angles of the arm at the end when no cloth is there."""
    system, state, memory = arm().system(GRAVITY), State(np.array(START), np.zeros(2)), None
    for h in pieces:
        step = LinearlyImplicit().step(system, state, h, memory)
        state, memory = step.state, step.memory
    return state.q


class Swing(NamedTuple):
    """A run: cells along a side of the cloth, h [s], mass per area [kg/m^2], how the cloth is discretised."""

    cells: int
    h: float
    areal: float = RELEASED.rho
    variant: Variant = EOL


def swing(case: Swing) -> dict[str, Any]:
    """One run: work of the cloth on the box [J], how far it turns the arm [rad], where the cloth's middle is [m]."""
    lost, got, worst, method = 0.0, 0.0, 0.0, Logged()
    scene = replace(arm_and_cloth(case.cells, END, case.h, case.areal, variant=case.variant), integrator=method)
    for step in simulate(scene):
        pairs = step.ledger.exchange
        lost -= pairs["cloth", "arm/box"]
        got += pairs["arm/box", "cloth"]
        worst = max(worst, step.report.penetration or 0.0)
    cloth, q = step.system.parts[0], step.state.q
    return {
        "cloth": case.variant.name,
        "h_ms": 1e3 * case.h,
        "areal": case.areal,
        "loss_J": lost,
        "cloth_J": got,
        "turned_rad": float(np.abs(q[-2:] - alone(method.pieces)).max()),
        "pieces": len(method.pieces),
        "penetration_m": worst,
        **_middle(cloth.unpack(q[:-2], step.state.v[:-2])),
    }


def one_way(cells: int, h: float) -> dict[str, Any]:
    """The same with the box as an obstacle that moves by itself."""
    *_, step = simulate(arm_and_cloth(cells, END, h, one_way=True))
    return _middle(step.system.unpack(step.state.q, step.state.v))


def _middle(sheet: Any) -> dict[str, float]:
    """The center of the cloth's mass."""
    e1, e2 = (sheet.X[sheet.faces[:, k]] - sheet.X[sheet.faces[:, 0]] for k in (1, 2))
    area = e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0]
    x = area @ sheet.x[sheet.faces].mean(axis=1) / area.sum()
    return {f"middle_{axis}": float(value) for axis, value in zip("xyz", x, strict=True)}


@dataclass(frozen=True)
class Losses:
    """Losses (k, j) [J] for k step sizes and j neighbouring numbers of steps each, the largest h first."""

    values: np.ndarray

    @staticmethod
    def of(groups: Sequence[Sequence[dict[str, Any]]]) -> "Losses":
        return Losses(np.array([[row["loss_J"] for row in group] for group in groups]))

    @property
    def means(self) -> np.ndarray:
        return np.asarray(self.values.mean(axis=1))

    @property
    def scatter(self) -> np.ndarray:
        return np.asarray(np.ptp(self.values, axis=1))

    def order(self) -> float:
        apart = np.diff(self.means)
        return float(np.log2(abs(apart[-2] / apart[-1])))

    def falling(self) -> bool:
        apart = np.abs(np.diff(self.means))
        return bool((apart[1:] < apart[:-1]).all())


def neighbours(cells: int, h: float, beside: Sequence[int], variant: Variant = EOL) -> list[Swing]:
    """Runs with about h, whose numbers of steps differ by ``beside``."""
    return [Swing(cells, END / (round(END / h) + k), variant=variant) for k in beside]


def run(*, quick: bool = False) -> Table:
    cells, steps = (6, (4e-3, 2e-3, 1e-3)) if quick else (8, (4e-3, 2e-3, 1e-3, 5e-4))
    shares = (1 / 4, 1 / 16) if quick else (1 / 4, 1 / 16, 1 / 64)
    beside, near = ((0, 1), (0, 1)) if quick else ((-2, -1, 0, 1, 2), (-1, 0, 1))
    plan = [neighbours(cells, h, beside) for h in steps]
    plan += [neighbours(2 * cells, h, near, REGULAR) for h in steps[:3]]
    plan.append([Swing(cells, steps[0], share * RELEASED.rho) for share in shares])
    found = spread(swing, [case for group in plan for case in group])
    runs = [[next(found) for _ in group] for group in plan]
    groups, fixed, light = runs[: len(steps)], runs[len(steps) : -1], runs[-1]
    rows = [group[beside.index(0)] for group in groups]
    losses, twin = Losses.of(groups), Losses.of(fixed)
    claims = [*slowed(rows[-1], losses), *beside_lagrangian(losses, twin, fixed[-1][0])]
    claims += as_light([rows[0], *light], one_way(cells, steps[0]))
    told = [", ".join(f"{1e3 * s:.1f}" for s in kind.scatter) for kind in (losses, twin)]
    deepest = lambda group: f"{1e3 * max(row['penetration_m'] for row in group):.1f}"
    deep = [", ".join(deepest(group) for group in kind) for kind in (groups, fixed)]
    notes = [
        "the box reaches the cloth after 0.45 s; the stiffness of the cloth is in proportion to its mass",
        "loss_J is no smooth function of h: vertex after vertex is hit, each hit loses energy, and which vertices "
        "there are depends on the steps in which the cloth was remeshed before. Over numbers of steps side by side it "
        f"differs by {told[0]} mJ at most, the largest h first; on a mesh that stays as it is by {told[1]} mJ",
        "penetration_m is the longest way that a vertex, edge or face of the cloth has to go to be out of the box. "
        f"In Eulerian cloth, {deep[0]} mm, the largest h first, it is that of single steps: a corner comes through, or "
        "cloth that leans on a face turns about its edge, and vertices are put there in the next step; and a new edge "
        f"may cut one of the box short by half the thickness. In Lagrangian cloth, {deep[1]} mm, it stays: rows hold "
        "the point of a cell that is at a corner of the box, but the cell slides on and rises over the corner",
    ]
    table = [row for group in runs for row in group]
    return Table("world/arm", "An arm swings into cloth", table, claims, notes, plot=Plot("h_ms", "loss_J", "areal"))


def slowed(finest: dict[str, Any], losses: Losses) -> list[Claim]:
    """The cloth takes energy from the arm, and as much as the limit of h -> 0 says."""
    order = losses.order()
    return [
        Claim(
            "the cloth slows the arm",
            "> 0",
            f"takes {1e3 * finest['loss_J']:.0f} mJ, turns it by {finest['turned_rad']:.1e} rad",
            finest["loss_J"] > 0,
        ),
        Claim(
            f"its loss converges with h (means over {losses.values.shape[1]} numbers of steps side by side)",
            "differences fall, order about 1",
            ", ".join(f"{mean:.4f}" for mean in losses.means) + f" J, order {order:.2f}",
            losses.falling() and order > 0.5,
        ),
    ]


def beside_lagrangian(losses: Losses, twin: Losses, finest: dict[str, Any]) -> list[Claim]:
    """Eulerian cloth beside Lagrangian cloth with cells of half the size, at the smallest h that both have."""
    last = len(twin.values) - 1
    limit, at = abs(twin.means[last] / losses.means[last] - 1), f"{finest['h_ms']:.0f} ms"
    return [
        Claim(
            "neighbours scatter less on a mesh that stays as it is (Lagrangian, cells of half the size)",
            f"less than half at {at}",
            f"{1e3 * twin.scatter[last]:.1f} mJ, {1e3 * losses.scatter[last]:.1f} mJ with remeshing",
            bool(twin.scatter[last] < 0.5 * losses.scatter[last]),
        ),
        Claim(
            "Lagrangian cloth takes as much",
            "within 5 %",
            f"{twin.means[last]:.4f} J at {at}, {100 * limit:.1f} % from Eulerian cloth",
            bool(limit < 0.05),
        ),
    ]


def as_light(masses: list[dict[str, Any]], still: dict[str, float]) -> list[Claim]:
    """What is left of the coupling as the cloth gets lighter, four times from run to run."""
    rates = [heavy["turned_rad"] / light["turned_rad"] for heavy, light in pairwise(masses)]
    off, way = max(abs(masses[-1][k] - still[k]) for k in still), abs(still["middle_y"])
    return [
        Claim(
            "light cloth: the arm moves as alone, in proportion to the mass",
            "4 times less for a quarter",
            ", ".join(f"{r:.2f}" for r in rates),
            all(3.5 < r < 4.6 for r in rates),
        ),
        Claim(
            "light cloth moves as with the box on rails (eol/swing)",
            "middle within a tenth of its displacement",
            f"{1e3 * off:.1f} mm of {1e3 * way:.0f} mm",
            off < 0.1 * way,
        ),
    ]
