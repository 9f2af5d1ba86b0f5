"""world/classics: rolling, sliding, collisions and tops against their closed forms, with orders in h.

    a ball on an incline     rolls with 5/7 g sin a where mu >= 2/7 tan a, else slides with g (sin a - mu cos a)
    a ball with backspin w   slides until v = (5 v0 - 2 R w)/7, for 2 (v0 + R w)/(7 mu g)
    two blocks, face to face part with (m1 v1 + m2 v2 +- e m (v1 - v2))/(m1 + m2); rows: e = 0, springs: e = 1
    heavy top                cos(theta) and its azimuth from the equations of the symmetric top in Euler angles
    Dzhanibekov's flip       w_2 = B sn(w_p t, k), one flip each 2 K(k)/w_p [Landau and Lifshitz, Mechanics, sec. 37]

Chains and a pile of boxes stand beside MuJoCo where it is installed.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj, ellipkinc

from pliant.arrays import Array
from pliant.articulated import Articulated, Link, Rigid, at, cuboid, cylinder, sphere
from pliant.articulated.constraints import FloorContact
from pliant.articulated.joints import Free3D, Spherical
from pliant.bench.table import Claim, Table
from pliant.bench.world import mujoco_beside
from pliant.bench.world.mixtures import STILL, TIGHT
from pliant.contact.obstacles import Plane
from pliant.integrators import BDF1, BDF2, RK4, SDIRK2, TRBDF2, ImplicitMidpoint, LinearlyImplicit
from pliant.mesh import box
from pliant.scene import Scene
from pliant.simulate import TimeStep, simulate
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.row_contact import RowContact

G, R = 9.81, 0.1
METHODS: dict[str, tuple[Any, float]] = {
    "velocity step": (LinearlyImplicit(), 1.0),
    "BDF1": (BDF1(TIGHT), 1.0),
    "BDF2": (BDF2(TIGHT), 2.0),
    "SDIRK2": (SDIRK2(TIGHT), 2.0),
    "TR-BDF2": (TRBDF2(TIGHT), 2.0),
    "midpoint": (ImplicitMidpoint(TIGHT), 2.0),
    "RK4": (RK4(), 4.0),
}
# steps [s] of methods of first order and of the others: so small that the error is in proportion to a power of h
TOP = ((1e-4, 5e-5, 2.5e-5), (2e-3, 1e-3, 5e-4))
FLIP = ((1e-3, 5e-4, 2.5e-4), (4e-3, 2e-3, 1e-3))
Errors = list[tuple[float, float]]  # h and the error


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    claims: list[Claim] = []

    def book(case: str, method: str, errors: Errors, order: float, bound: float) -> None:
        """Rows for every h, and a claim on the order, or on the size where an error is down to rounding."""
        rows.extend({"case": case, "method": method, "h [ms]": 1e3 * h, "error": e} for h, e in errors)
        hs, es = (np.array(column) for column in zip(*errors, strict=True))
        if es.max() < 1e-9:
            claims.append(Claim(f"{case}, {method}: exact", "1e-9", f"{es.max():.1e}", True))
            return
        found = float(np.polyfit(np.log(hs), np.log(np.maximum(es, 1e-16)), 1)[0])
        shown = f"{found:.2f}, {es[-1]:.1e} at the smallest h"
        claims.append(
            Claim(f"{case}, {method}: order in h", f"{order:g}", shown, found > order - 0.3 and es[-1] < bound)
        )

    fine = (5e-3, 2.5e-3) if quick else (4e-3, 2e-3, 1e-3)
    for case, scene, measure in _rubbing():
        book(case, "velocity step", [(h, measure(_last(scene, h))) for h in fine], 1.0, 1e-2)
    book("two blocks, rows", "velocity step", [(h, _plastic(h)) for h in fine[:2]], 1.0, 1e-9)
    hs: tuple[float, ...] = (4e-4, 2e-4) if quick else (4e-4, 2e-4, 1e-4)
    book("two blocks, springs", "BDF2", [(h, _elastic(h)) for h in hs], 2.0, 1e-2)
    names = ("velocity step", "BDF2", "RK4") if quick else tuple(METHODS)
    for name in names:
        method, order = METHODS[name]
        for case, error, steps in (("heavy top", _top, TOP), ("Dzhanibekov", _flip, FLIP)):
            hs = steps[order > 1.0][: 2 if quick else 3]
            book(case, name, [(h, error(method, h)) for h in hs], order, 0.1)
    notes = [
        "errors are relative; of tops and flips those of the axis and the angular velocity at the end",
        "the top turns by 20 rad at 100 rad/s; a method of first order loses a part h 100/s / 2 of the spin per radian",
    ]
    beside, told = mujoco_beside.compare(quick=quick)
    return Table("world/classics", "Classical motions against their closed forms", rows + beside, claims, notes + told)


# ---------------------------------------------------------------------------------------------------- rolling


def _rubbing() -> list[tuple[str, Scene, Callable[[TimeStep], float]]]:
    """Balls and a block on floors with friction: scenes and the relative errors of their ends."""
    T, a = 0.4, np.arctan(0.7)
    tilted = (G * np.sin(a), 0.0, -G * np.cos(a))
    rolls, slides = 5 / 7 * G * np.sin(a), G * (np.sin(a) - 0.15 * np.cos(a))
    way = lambda distance: lambda step: abs(step.state.q[0] / distance - 1.0)
    end = lambda speed: lambda step: float(np.hypot(step.state.v[0] - speed, R * step.state.v[4] - speed) / abs(speed))
    v0 = 1.0
    return [
        ("ball rolls down", _ball(0.8, tilted, duration=T), way(0.5 * rolls * T * T)),
        ("ball slides down", _ball(0.15, tilted, duration=T), way(0.5 * slides * T * T)),
        ("ball starts to roll", _ball(0.2, v=v0, duration=T), end(5 / 7 * v0)),
        ("backspin, returns", _ball(0.4, v=v0, spin=-4.0 * v0 / R, duration=0.6), end(-3 / 7 * v0)),
        ("block sticks", _block(0.25, 0.3), lambda step: float(np.abs(step.state.v).max())),
        ("block slides", _block(0.5, 0.3), _slid(0.5, 0.3)),
    ]


def _ball(
    mu: float, gravity: Any = (0.0, 0.0, -G), *, v: float = 0.0, spin: float = 0.0, duration: float = 0.4
) -> Scene:
    """A ball on the floor; spin [rad/s] about y, v along x."""
    body = Articulated(
        [Link(Free3D(), sphere(R, 1000.0), name="ball")],
        constraints=[FloorContact(0, mu=mu)],
        q=[0.0, 0.0, R - 1e-9, 0.0, 0.0, 0.0],
        v=[v, 0.0, 0.0, 0.0, spin, 0.0],
    )
    return Scene([body], integrator=LinearlyImplicit(), gravity=gravity, duration=duration)


def _block(slope: float, mu: float) -> Scene:
    """A rigid block on a floor, gravity tilted, in contact by rows."""
    a = np.arctan(slope)
    mesh = box((0.2, 0.2, 0.05), (1, 1, 1)).transformed(translate=(-0.1, -0.1, 1e-5))
    contact = RowContact(mu=mu, thickness=1e-5)
    gravity = (G * np.sin(a), 0.0, -G * np.cos(a))
    block = Rigid(mesh, 500.0, name="block")
    return Scene(
        [block], contact=contact, obstacles=[Plane()], integrator=LinearlyImplicit(), gravity=gravity, duration=0.4
    )


def _slid(slope: float, mu: float) -> Callable[[TimeStep], float]:
    a, T = np.arctan(slope), 0.4
    distance = 0.5 * G * (np.sin(a) - mu * np.cos(a)) * T * T

    def error(step: TimeStep) -> float:
        middle = step.system.positions(step.state.q).mean(axis=0)
        return abs(float(middle[0]) / distance - 1.0)

    return error


def _last(scene: Scene, h: float) -> TimeStep:
    *_, last = simulate(replace(scene, h=h))
    return last


# ---------------------------------------------------------------------------------------------------- collisions


def _two_blocks(contact: Any, integrator: Any, *, h: float, duration: float) -> tuple[Scene, Array]:
    """A block of 1 m/s meets a larger, lighter one at rest, face to face; and their masses."""
    small = box((0.06,) * 3, (1, 1, 1)).transformed(translate=(-0.061, -0.03, -0.03))
    large = box((0.1,) * 3, (1, 1, 1)).transformed(translate=(0.0, -0.05, -0.05))
    first = Rigid(small, 4000.0, velocity=(1.0, 0.0, 0.0), name="first")
    second = Rigid(large, 500.0, name="second")
    masses = np.array([first.body().mass, second.body().mass])
    return Scene([first, second], contact=contact, integrator=integrator, gravity=STILL, h=h, duration=duration), masses


def _speeds(scene: Scene) -> Array:
    """Velocities (2, 3) of the centers of mass at the end."""
    last = _last(scene, float(scene.h))
    (part,) = last.system.parts
    twists, frames = (lambda kin: (kin.twists, kin.frames))(part.kinematics(last.state.q, last.state.v))
    return np.einsum("kij,kj->ki", frames[:, :3, :3], twists[:, 3:])


def _plastic(h: float) -> float:
    scene, m = _two_blocks(RowContact(mu=0.0, thickness=1e-4), LinearlyImplicit(), h=h, duration=0.02)
    common = m[0] / m.sum()
    return float(np.abs(_speeds(scene) - [common, 0.0, 0.0]).max())


def _elastic(h: float) -> float:
    contact = PenaltyContact(k=2e5, mu=0.0, thickness=1e-4)
    scene, m = _two_blocks(contact, BDF2(TIGHT), h=h, duration=0.02)
    after = np.array([m[0] - m[1], 2.0 * m[0]]) / m.sum()
    return float(np.abs(_speeds(scene)[:, 0] - after).max())


# ---------------------------------------------------------------------------------------------------- tops


def _top(method: Any, h: float, duration: float = 0.2) -> float:
    """The axis of a disc on a rod that spins about its foot, against the symmetric top in Euler angles."""
    reach, spin, lean = 0.05, 100.0, 0.6
    disc = cylinder(0.05, 0.02, 1000.0, at(0.0, 0.0, reach))
    tilt = np.array([lean, 0.0, 0.0])
    top = Articulated([Link(Spherical(), disc)], q=tilt, v=_rates(tilt, np.array([0.0, 0.0, spin])))
    scene = Scene([top], integrator=method, gravity=(0.0, 0.0, -G), h=h, duration=duration)
    last = _last(scene, h)
    axis = last.system.kinematics(last.state.q, last.state.v).frames[0][:3, 2]
    inertia, m = disc.inertia[:3], disc.mass
    across, along = float(inertia[0]) + m * reach * reach, float(inertia[2])
    L = along * spin  # about the axis, for ever; about the vertical, it is its share at the start
    vertical = L * np.cos(lean)

    def rate(t: float, y: Array) -> Array:
        theta, dtheta, _ = y
        s, c = np.sin(theta), np.cos(theta)
        phi = (vertical - L * c) / (across * s * s)
        return np.array([dtheta, (phi * s * (phi * c * across - L) + m * G * reach * s) / across, phi])

    theta, _, phi = solve_ivp(rate, (0.0, duration), (lean, 0.0, 0.0), method="DOP853", rtol=1e-12, atol=1e-13).y[:, -1]
    x, y = np.sin(theta) * np.sin(phi), -np.sin(theta) * np.cos(phi)  # leaning about x turns z towards -y
    return float(np.linalg.norm(axis - [x, y, np.cos(theta)]))


def _rates(r: Array, omega: Array) -> Array:
    """Rates of exponential coordinates r for the angular velocity omega (3,) in the body."""
    S = Spherical().subspace(r)[:3]
    return np.asarray(np.linalg.solve(S, omega), dtype=np.float64)


def _flip(method: Any, h: float, duration: float = 0.32) -> float:
    """The angular velocity of a free box that turns about its middle axis, nearly, against elliptic functions."""
    plate = cuboid((0.1, 0.06, 0.02), 1000.0)  # moments in rising order
    omega = np.array([6.0, 30.0, 4.0])
    body = Articulated([Link(Free3D(), plate)], v=[0.0, 0.0, 0.0, *omega])
    last = _last(Scene([body], integrator=method, gravity=STILL, h=h, duration=duration), h)
    w = last.system.kinematics(last.state.q, last.state.v).twists[0][:3]
    I1, I2, I3 = plate.inertia[:3]
    exact = _free_rotation((I1, I2, I3), omega, duration)
    assert exact[1] < 0.0, "it has not flipped"
    return float(np.linalg.norm(w - exact) / np.linalg.norm(exact))


def _free_rotation(inertia: tuple[float, float, float], w: Array, t: float) -> Array:
    """Euler's equations in closed form: moments in rising order, components of w (3,) at the start not negative.

    The body stays near the axis of I3 where L^2 > 2 E I2; else the same holds with 1 and 3 exchanged.
    """
    E2, L2 = float(np.dot(inertia, w * w)), float(np.dot(np.square(inertia), w * w))
    near = E2 * inertia[1] < L2
    I1, I2, I3 = inertia if near else inertia[::-1]
    u = w if near else w[::-1]
    A = np.sqrt((E2 * I3 - L2) / (I1 * (I3 - I1)))
    B = np.sqrt((E2 * I3 - L2) / (I2 * (I3 - I2)))
    C = np.sqrt((L2 - E2 * I1) / (I3 * (I3 - I1)))
    rate = np.sqrt((I3 - I2) * (L2 - E2 * I1) / (I1 * I2 * I3))
    k2 = (I2 - I1) * (E2 * I3 - L2) / ((I3 - I2) * (L2 - E2 * I1))
    phase = float(ellipkinc(np.arctan2(u[1] / B, u[0] / A), k2))  # where sn = w_2/B and cn = w_1/A
    sn, cn, dn, _ = ellipj(phase + rate * t, k2)
    found = np.array([A * cn, B * sn, C * dn])
    return found if near else found[::-1]
