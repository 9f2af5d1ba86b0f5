"""A shirt: four flat panels, sewn together around a figure by seams that draw them to each other."""

import numpy as np

from pliant.arrays import Array, IntArray
from pliant.attachments import Attachment
from pliant.bodies import Rayleigh
from pliant.cloth.body import Cloth
from pliant.cloth.material import ClothMaterial
from pliant.contact.obstacles import Cylinder, Obstacle, Sphere
from pliant.integrators import BDF1
from pliant.maps.motions import Phase, Phases
from pliant.mesh import Mesh, sheet
from pliant.scene import Scene
from pliant.systems.penalty_contact import PenaltyContact

WIDTH, HEIGHT, HOLE, LENGTH, NECK = 0.40, 0.48, 0.16, 0.20, 0.08  # panel, armhole, sleeve, half of the neck [m]
APART = 0.11  # of front and back from the middle of the figure [m]
ARM, SHOULDER = 0.035, HEIGHT - 0.5 * HOLE  # radius of an arm, and its height over the hem [m]
SIDES = ((-1.0, "left"), (1.0, "right"))
COTTON = ClothMaterial(E=300.0, nu=0.2, beta=2e-5, rho=0.15)


def figure(turn: float, start: float, stop: float) -> list[Obstacle]:
    """Torso, arms, neck and head, which turn about the upright axis with ``turn`` [rad/s] from start to stop [s]."""
    motion = Phases((Phase(start, stop, spin=(0.0, 0.0, turn)),), (0.0, 0.0, 0.0)) if turn else None
    top = HEIGHT - 0.035
    return [
        Cylinder((0.0, 0.0, 0.5 * top - 0.1), (0.0, 0.0, 1.0), 0.085, top + 0.2, motion, "torso"),
        Cylinder((0.0, 0.0, SHOULDER), (1.0, 0.0, 0.0), ARM, 0.9, motion, "arms"),
        *(Sphere((sign * 0.1, 0.0, SHOULDER), 0.06, motion, f"{name} shoulder") for sign, name in SIDES),
        Cylinder((0.0, 0.0, top), (0.0, 0.0, 1.0), 0.04, 0.18, motion, "neck"),
        Sphere((0.0, 0.0, HEIGHT + 0.12), 0.085, motion, "head"),
    ]


def panel(y: float, cell: float) -> Mesh:
    """The flat front or back, upright at y."""
    count = round(WIDTH / cell), round(HEIGHT / cell)
    flat = sheet((WIDTH, HEIGHT), count)
    return Mesh(np.column_stack([flat.X[:, 0] - 0.5 * WIDTH, np.full(len(flat.X), y), flat.X[:, 1]]), flat.T)


def sleeve(sign: float, cell: float) -> tuple[Mesh, Array]:
    """A flat rectangle, and where it starts: rolled around an arm, open below. Its y is the way around the arm."""
    flat = sheet((LENGTH, 2 * HOLE), (round(LENGTH / cell), 2 * round(HOLE / cell)))
    r, angle = HOLE / np.pi, flat.X[:, 1] * np.pi / HOLE
    x = sign * (0.5 * WIDTH + 0.02 + flat.X[:, 0])
    return flat, np.column_stack([x, -r * np.sin(angle), SHOULDER - r * np.cos(angle)])


def seams(front: Mesh, back: Mesh, sleeves: dict[str, Mesh], stiffness: float) -> list[Attachment]:
    """Shoulders, sides, and sleeves into armholes and along their lower edge; vertices meet one by one."""

    def sew(a: str, mine: IntArray, b: str, others: IntArray) -> Attachment:
        return Attachment(a, mine, b, others=others, stiffness=stiffness)

    found, w, low = [], 0.5 * WIDTH, HEIGHT - HOLE
    for sign, side in SIDES:
        x, rolled, arm = sign * w, sleeves[side], f"{side} sleeve"
        for start, end in (((sign * NECK, HEIGHT), (x, HEIGHT)), ((x, 0.0), (x, low))):  # shoulder, side
            found.append(sew("front", _upright(front, start, end), "back", _upright(back, start, end)))
        before, behind = (rolled.line((0.0, y, 0.0), (0.0, HOLE, 0.0)) for y in (0.0, 2 * HOLE))
        found.append(sew("front", _upright(front, (x, low), (x, HEIGHT)), arm, before))
        found.append(sew("back", _upright(back, (x, low), (x, HEIGHT)), arm, behind))
        lower, upper = (rolled.line((0.0, y, 0.0), (LENGTH, y, 0.0)) for y in (0.0, 2 * HOLE))
        found.append(sew(arm, lower, arm, upper))
    return found


def _upright(mesh: Mesh, start: tuple[float, float], end: tuple[float, float]) -> IntArray:
    """The vertices of an upright panel between two points (x, z)."""
    y = float(mesh.X[0, 1])
    return mesh.line((start[0], y, start[1]), (end[0], y, end[1]))


def shirt(
    cell: float = 0.04, *, stiffness: float = 20.0, turn: float = 2.0, h: float = 5e-3, duration: float = 1.2
) -> Scene:
    """A shirt of cotton is sewn on a figure, which then turns around.

    The seams are springs of ``stiffness`` [N/m] at every vertex; they draw the panels together from where these hang.
    """
    front, back = panel(-APART, cell), panel(APART, cell)
    sleeves = {side: sleeve(sign, cell) for sign, side in SIDES}
    damping = Rayleigh(alpha=2.0, beta=2e-3)
    cloths = [Cloth(front, COTTON, damping=damping, name="front"), Cloth(back, COTTON, damping=damping, name="back")]
    for side, (flat, x) in sleeves.items():
        cloths.append(Cloth(flat, COTTON, positions=x, damping=damping, name=f"{side} sleeve"))
    return Scene(
        cloths,
        attachments=seams(front, back, {side: flat for side, (flat, _) in sleeves.items()}, stiffness),
        obstacles=figure(turn, 0.5 * duration, duration),
        contact=PenaltyContact(k=200.0, mu=0.3, thickness=4e-3, bodies=False, self_contact=False),
        integrator=BDF1(),
        h=h,
        duration=duration,
        on_failure="substep",
        name="shirt",
    )
