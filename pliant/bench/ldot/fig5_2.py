"""ldot/fig5_2: entries of L over a simulation, frozen and extrapolated by Ldot. [Weidner2022, Fig. 5.2]

A bar falls over its clamped end; L is the factor of M + h^2 K after every half step. From each of these times the
factor is held (frozen) or carried on by L + dt Ldot (extrapolated) for a number of half steps, and compared with the
one that was found there. The figure shows the entry that changes most, and both from two of the times.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.bodies import Solid
from pliant.integrators import BDF2
from pliant.linear.dchol import dchol
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene

H = 0.01  # s, of the matrix; the states are half as far apart
AHEAD = (1, 2, 4, 8, 16, 32)  # half steps
EPSILON = 1e-6  # s, of the difference that gives Adot


def factors(steps: int, cells: tuple[int, int, int]) -> tuple[Array, Array]:
    """The values of L and of Ldot [1/s] after every half step, (steps, nnz)."""
    mesh = bar((0.3, 0.1, 0.1), cells)
    body = Solid(mesh, StableNeoHookean(E=2e4, nu=0.45), pins=Pin(mesh.where(lambda X: X[:, 0] < 1e-9)))
    scene = Scene([body], BDF2(), h=0.5 * H)
    system = scene.system()
    state, memory, analysis = scene.initial(system), None, None
    L, rates = [], []
    for _ in range(steps):
        step = scene.integrator.step(system, state, 0.5 * H, memory)
        state, memory = step.state, step.memory
        A, ahead = (system.restrict(system.tangent(q, state.v, state.t, (1.0, H, H * H), psd=True))
                    for q in (state.q, state.q + EPSILON * state.v))  # fmt: skip
        Adot = sp.csr_matrix(((ahead.data - A.data) / EPSILON, A.indices, A.indptr), shape=A.shape)
        found = dchol(A, Adot, analysis)
        analysis = found.memory
        L.append(found.L.data)
        rates.append(found.Ldot.data)
    return np.array(L), np.array(rates)


def errors(L: Array, rates: Array, ahead: int) -> tuple[Array, Array]:
    """|L(t + dt) - frozen| and |L(t + dt) - extrapolated| over |L(t + dt)|, for every t that has both."""
    now, rate, then = L[:-ahead], rates[:-ahead], L[ahead:]
    size = np.linalg.norm(then, axis=1)
    dt = 0.5 * H * ahead
    return tuple(np.linalg.norm(then - guess, axis=1) / size for guess in (now, now + dt * rate))  # type: ignore[return-value]


def run(*, quick: bool = False) -> Table:
    steps, cells = (50, (4, 2, 2)) if quick else (120, (12, 4, 4))
    L, rates = factors(steps, cells)
    rows: list[dict[str, Any]] = []
    for ahead in AHEAD:
        frozen, extrapolated = errors(L, rates, ahead)
        rows.append({
            "ahead [s]": 0.5 * H * ahead, "frozen off by": float(np.median(frozen)),
            "extrapolated off by": float(np.median(extrapolated)),
            "extrapolated closer, of all times": float(np.mean(extrapolated < frozen)),
        })  # fmt: skip
    near, next_, far = rows[0], rows[1], rows[-1]
    grows = {k: next_[f"{k} off by"] / near[f"{k} off by"] for k in ("frozen", "extrapolated")}
    closer = "extrapolated closer, of all times"
    claims = [
        Claim("one step ahead: extrapolation is closer", "(a), most times", f"{next_[closer]:.0%}",
              next_[closer] > 0.5),
        Claim("far ahead: it overshoots, frozen is closer", "(b), at times, >= 5 %", f"{1 - far[closer]:.0%}",
              far[closer] < 0.95),
        Claim("twice as far ahead: error of the frozen factor", "x 2", f"x {grows['frozen']:.2f}",
              1.7 < grows["frozen"] < 2.3),
        Claim("twice as far ahead: error of the extrapolated", "x 4", f"x {grows['extrapolated']:.2f}",
              3.2 < grows["extrapolated"] < 4.8),
    ]  # fmt: skip
    note = f"a bar of {cells} cells, {steps} half steps of {0.5 * H:g} s, median over them; {L.shape[1]} entries of L"
    return Table("ldot/fig5_2", "Factors over time", rows, claims, [note], [picture(L, rates)])


def picture(L: Array, rates: Array) -> str:
    """The entry that changes most, with both guesses from a time where each of them is the better."""
    from pliant.bench.chen.play import FOLDER
    from pliant.plots import save, sheet

    k = int(np.argmax(np.ptp(L, axis=0)))
    t, ahead = 0.5 * H * np.arange(1.0, len(L) + 1.0), AHEAD[-1]
    off = [np.abs(L[ahead:, k] - g) for g in (L[:-ahead, k], L[:-ahead, k] + 0.5 * H * ahead * rates[:-ahead, k])]
    figure, ((left, right),) = sheet(columns=2, size=(10.0, 3.8))
    for axes, n in ((left, int(np.argmax(off[0] - off[1]))), (right, int(np.argmax(off[1] - off[0])))):
        span = t[n : n + ahead + 1]
        axes.plot(t, L[:, k], color="black", label="L")
        axes.axvline(t[n], color="tab:green", linewidth=0.8)
        axes.plot(span, np.full(len(span), L[n, k]), color="tab:red", label="frozen")
        axes.plot(span, L[n, k] + rates[n, k] * (span - t[n]), color="tab:orange", label="extrapolated")
        axes.set_xlabel("t [s]")
        axes.legend()
    return str(save(figure, FOLDER / "ldot_fig5_2.png"))
