"""Planar inverse dynamics of pinned bars by the equations of each free body: what joint reactions are checked against.

Shares nothing with the recursions: three equations per bar in the plane (x, z), the pin forces as unknowns.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pliant.arrays import Array
from pliant.scenes.redmax.klann import CENTRE, LOWER, SCALE, THICK, UPPER, pose

GROUND = -1
GRAVITY = 980.0  # cm/s^2


@dataclass(frozen=True)
class Bar:
    """Mass, moment of inertia, center (2,), its acceleration (2,), and the angular acceleration, x towards z."""

    mass: float
    inertia: float
    center: Array
    acceleration: Array
    spin_up: float


@dataclass(frozen=True)
class GroundPin:
    """A point (2,) where bar ``a`` is pinned to bar ``b`` or to the ground; the force acts on ``a``, opposite on b."""

    a: int
    b: int
    point: Array


def pin_forces(
    bars: Sequence[Bar],
    tree: Sequence[GroundPin],
    closing: Sequence[GroundPin],
    *,
    gravity: float,
    motor: int | None = None,
    couples: Array | None = None,
) -> tuple[Array, Array, float]:
    """(forces of the pins of the tree, of those that close loops (k, 2), couple of a motor from the ground to a bar).

    Where closing pins are redundant their forces have the smallest norm. ``couples`` act on the bars.
    """
    weight = np.array([0.0, -gravity])
    rows = [[*(m.mass * (m.acceleration - weight)), m.inertia * m.spin_up] for m in bars]
    load = np.array(rows)
    if couples is not None:
        load[:, 2] -= couples
    P, C = _columns(bars, tree), _columns(bars, closing)
    if motor is not None:
        turn = np.zeros((len(P), 1))
        turn[3 * motor + 2] = 1.0
        P = np.concatenate([P, turn], axis=1)
    U, s, _ = np.linalg.svd(P)
    Z = U[:, int(np.sum(s > 1e-10 * s[0])) :]
    c = np.linalg.lstsq(Z.T @ C, Z.T @ load.ravel(), rcond=1e-10)[0]
    p = np.linalg.lstsq(P, load.ravel() - C @ c, rcond=1e-10)[0]
    n = 2 * len(tree)
    return p[:n].reshape(-1, 2), c.reshape(-1, 2), float(p[n]) if motor is not None else 0.0


def _columns(bars: Sequence[Bar], pins: Sequence[GroundPin]) -> Array:
    """What unit forces at the pins do in the equations of the bars (3 bars, 2 pins)."""
    A = np.zeros((3 * len(bars), 2 * len(pins)))
    for k, pin in enumerate(pins):
        for body, sign in ((pin.a, 1.0), (pin.b, -1.0)):
            if body == GROUND:
                continue
            r = pin.point - bars[body].center
            A[3 * body, 2 * k] += sign
            A[3 * body + 1, 2 * k + 1] += sign
            A[3 * body + 2, 2 * k : 2 * k + 2] += sign * np.array([-r[1], r[0]])
    return A


# ---------------------------------------------------------------------------------------------------- Klann's leg

CRANK, ROD, LEG, LOW, UP = range(5)


def _ends(turn: float) -> Array:
    """Both ends (5, 2, 2) of the bars of the leg [cm]."""
    p = pose(turn)
    return SCALE * np.array([[CENTRE, p.pin], [p.pin, p.knee], [p.hip, p.foot], [LOWER, p.elbow], [UPPER, p.hip]])


def _angles(turn: float) -> Array:
    d = np.diff(_ends(turn), axis=1)[:, 0]
    return np.arctan2(d[:, 1], d[:, 0])


def leg_torque(mu: float, turn: float, rate: float, radius: float = THICK) -> float:
    """Driving torque [dyn cm] of the leg's crank at an angle and a constant rate, with friction in all seven pins.

    The cylinder of a pin is touched on four sides, so its friction is mu r (|F_1| + |F_2|), with the components of the
    pin's force along the two axes of the cylinder.
    """
    e = 1e-4
    second = lambda f: (f(turn + e) - 2.0 * f(turn) + f(turn - e)) * (rate / e) ** 2
    ends = _ends(turn)
    spin = np.append(rate * _wrapped(_angles(turn + e) - _angles(turn - e)) / (2.0 * e), 0.0)
    spin_up = rate**2 * _wrapped(_angles(turn + e) - 2.0 * _angles(turn) + _angles(turn - e)) / e**2
    acceleration = second(_ends).mean(axis=1)
    lengths = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    masses = lengths * THICK**2
    bars = [
        Bar(m, m * (length**2 + THICK**2) / 12.0, x.mean(axis=0), a, w)
        for m, length, x, a, w in zip(masses, lengths, ends, acceleration, spin_up, strict=True)
    ]
    p = pose(turn)
    at = lambda x: SCALE * np.asarray(x)
    tree = [
        GroundPin(CRANK, GROUND, at(CENTRE)),
        GroundPin(ROD, CRANK, at(p.pin)),
        GroundPin(LEG, ROD, at(p.knee)),
        GroundPin(LOW, GROUND, at(LOWER)),
        GroundPin(UP, GROUND, at(UPPER)),
    ]
    closing = [GroundPin(ROD, LOW, at(p.elbow)), GroundPin(LEG, UP, at(p.hip))]
    turned = np.append(_angles(turn) - _angles(0.0), _angles(turn)[[ROD, LEG]])  # of the cylinders' axes
    torque, couples = 0.0, np.zeros(5)
    for _ in range(200):
        held, closed, new = pin_forces(bars, tree, closing, gravity=GRAVITY, motor=CRANK, couples=couples)
        couples = np.zeros(6)
        for pin, F, angle in zip((*tree, *closing), np.concatenate([held, closed]), turned, strict=True):
            c, s = np.cos(angle), np.sin(angle)
            pressed = abs(c * F[0] + s * F[1]) + abs(-s * F[0] + c * F[1])
            rub = -mu * radius * pressed * np.sign(spin[pin.a] - spin[pin.b])
            couples[[pin.a, pin.b]] += rub, -rub
        couples = couples[:5]
        if abs(new - torque) <= 1e-9 * abs(new):
            break
        torque = new
    return new


def _wrapped(angle: Array) -> Array:
    return (angle + np.pi) % (2.0 * np.pi) - np.pi


def mean_leg_torque(mu: float, rate: float = 2.0 * np.pi, samples: int = 720) -> float:
    """Mean over one turn, by the midpoint rule."""
    turns = 2.0 * np.pi * (np.arange(samples) + 0.5) / samples
    return float(np.mean([leg_torque(mu, float(turn), rate) for turn in turns]))
