"""An arm that swings into cloth: how much it is slowed, as h and the mass of the cloth go to zero.

A step in which the mesh of the cloth would break is taken in two pieces, and the arm with it. In two pieces the arm
alone goes elsewhere than in one, by the error of the method, whatever the cloth weighs: what the cloth does is the
difference from an arm alone that takes the same pieces.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pliant.bench.table import Claim, Plot, Table
from pliant.integrators import LinearlyImplicit
from pliant.scenes.eol.bodies import START, arm
from pliant.scenes.eol.variants import GRAVITY, RELEASED
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


def swing(cells: int, h: float, areal: float) -> dict[str, Any]:
    """One run: work of the cloth on the box [J], how far it turns the arm [rad], where the cloth's middle is [m]."""
    lost, got, worst, method = 0.0, 0.0, 0.0, Logged()
    scene = replace(arm_and_cloth(cells, END, h, areal), integrator=method)
    for step in simulate(scene):
        pairs = step.ledger.exchange
        lost -= pairs["cloth", "arm/box"]
        got += pairs["arm/box", "cloth"]
        worst = max(worst, step.report.penetration or 0.0)
    cloth, q = step.system.parts[0], step.state.q
    return {
        "h_ms": 1e3 * h,
        "areal": areal,
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


def run(*, quick: bool = False) -> Table:
    cells, steps = (6, (4e-3, 2e-3, 1e-3)) if quick else (8, (4e-3, 2e-3, 1e-3, 5e-4))
    shares = (1 / 4, 1 / 16) if quick else (1 / 4, 1 / 16, 1 / 64)
    rows = [swing(cells, h, RELEASED.rho) for h in steps]
    light = [swing(cells, steps[0], share * RELEASED.rho) for share in shares]
    count = round(END / steps[1])
    beside = [swing(cells, END / (count + k), RELEASED.rho) for k in (-2, -1, 1, 2)]
    scatter = np.ptp([r["loss_J"] for r in (rows[1], *beside)])
    apart = -np.diff([r["loss_J"] for r in rows])
    order = float(np.log2(abs(apart[-2] / apart[-1])))
    masses = [rows[0], *light]
    rates = [masses[k]["turned_rad"] / masses[k + 1]["turned_rad"] for k in range(len(light))]
    still = one_way(cells, steps[0])
    off = max(abs(light[-1][k] - still[k]) for k in still)
    way = abs(still["middle_y"])
    claims = [
        Claim(
            "the cloth slows the arm",
            "> 0",
            f"takes {1e3 * rows[-1]['loss_J']:.0f} mJ, turns it by {rows[-1]['turned_rad']:.1e} rad",
            rows[-1]["loss_J"] > 0,
        ),
        Claim(
            "its loss converges with h",
            "differences fall, order about 1",
            ", ".join(f"{r['loss_J']:.4f}" for r in rows) + f" J, order {order:.2f}",
            bool((np.abs(apart[1:]) < np.abs(apart[:-1])).all()) and order > 0.5,
        ),
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
    notes = [
        "the box reaches the cloth after 0.45 s; the stiffness of the cloth is in proportion to its mass",
        f"loss_J is no smooth function of h: in one or two steps more or less than {count} it differs by up to "
        f"{1e3 * scatter:.1f} mJ; the cloth meets the box, and is remeshed along its edges, at other times then",
    ]
    plot = Plot("h_ms", "loss_J", "areal")
    return Table("world/arm", "An arm swings into cloth", [*rows, *beside, *light], claims, notes, plot=plot)
