"""Small random mixtures in contact by rows: a swinging arm, boxes, soft cubes and cloth on a floor. All finish."""

import numpy as np
import pytest

from pliant.articulated import Articulated, Link, Rigid, at, cuboid
from pliant.articulated.joints import Revolute
from pliant.bodies import Solid
from pliant.cloth.body import Cloth
from pliant.cloth.material import ClothMaterial
from pliant.contact.obstacles import Plane
from pliant.integrators import LinearlyImplicit
from pliant.materials import StableNeoHookean
from pliant.mesh import Mesh, box, sheet
from pliant.scene import Scene
from pliant.simulate import simulate
from pliant.systems.row_contact import RowContact

FABRIC = ClothMaterial(E=200.0, nu=0.2, beta=1e-5, rho=0.2)


def arm(rng, z):
    """Two bars on hinges about y that swing down."""
    bar, y = cuboid((0.2, 0.03, 0.03), 1000.0, at(0.1, 0.0, 0.0)), np.array([0.0, 1.0, 0.0])
    links = [
        Link(Revolute(y), bar, frame=at(-0.1, 0.0, z), name="upper"),
        Link(Revolute(y), bar, parent=0, frame=at(0.2, 0.0, 0.0), name="lower"),
    ]
    return Articulated(links, q=0.1 * rng.random(2), v=2.0 + 4.0 * rng.random(2), name="arm")


def mixture(seed):
    rng = np.random.default_rng(seed)
    bodies, z = [], 1e-3
    for k in range(int(rng.integers(2, 4))):
        side, place = rng.uniform(0.05, 0.09, 3), rng.uniform(-0.03, 0.03, 2)
        kind = int(rng.integers(3))
        if kind == 0:
            mesh = box(tuple(side), (1, 1, 1)).transformed(translate=(*place, z))
            bodies.append(Rigid(mesh, 500.0, name=f"box {k}"))
        elif kind == 1:
            mesh = box(tuple(side), (2, 2, 2)).transformed(translate=(*place, z))
            soft = StableNeoHookean(10.0 ** rng.uniform(4.5, 6.0), 0.4)
            bodies.append(Solid(mesh, soft, density=500.0, name=f"cube {k}"))
        else:
            flat = sheet((0.15, 0.15), (3, 3))
            mesh = Mesh(flat.X + np.array([*(place - 0.04), z + 2e-3]), flat.T)
            bodies.append(Cloth(mesh, FABRIC, thickness=1e-3, name=f"cloth {k}"))
        z += 5e-3 if kind == 2 else side[2] + 1e-3
    contact = RowContact(mu=float(rng.choice([0.0, 0.3, 0.8])))
    h = float(rng.choice([2e-3, 5e-3, 1e-2]))
    bodies.append(arm(rng, z + 0.06))
    floor = [Plane(name="floor")]
    return Scene(bodies, contact=contact, obstacles=floor, integrator=LinearlyImplicit(), h=h, duration=20 * h)


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(k, marks=pytest.mark.slow) for k in range(8, 30))])
def test_mixtures_by_rows_finish(seed):
    """Rows that say the same or contradict each other are no failures, whatever the friction."""
    scene = mixture(seed)
    steps = list(simulate(scene))
    assert len(steps) == 20 and max(s.report.contacts or 0 for s in steps) > 0
    assert steps[-1].ledger.total < steps[0].ledger.total + 1e-9  # gravity aside nothing drives them
