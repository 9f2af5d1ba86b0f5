"""Cloth with other simulated things: tracked bodies as obstacles, Lagrangian cloth as a body of any scene."""

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pliant.bench.eol.march import march
from pliant.cloth.body import Cloth
from pliant.cloth.material import ClothMaterial, from_fabric
from pliant.cloth.sheet import rectangle
from pliant.cloth.sheet import sheet as flat_sheet
from pliant.cloth.surroundings import Surroundings
from pliant.cloth.system import EolCloth
from pliant.contact.obstacles import Box
from pliant.deformable import Placed
from pliant.errors import SceneError
from pliant.events import PlaneCut
from pliant.integrators import BDF1, LinearlyImplicit
from pliant.loads import Wind
from pliant.maps.motions import Track
from pliant.maps.pins import Pin
from pliant.mesh import Mesh, sheet
from pliant.scene import Scene
from pliant.scenes import eol
from pliant.simulate import simulate


def frames(n: int) -> np.ndarray:
    out = np.tile(np.eye(4), (n, 1, 1))
    for k in range(n):
        out[k, :3, :3] = Rotation.from_rotvec([0.1 * k, 0.02 * k * k, 0.3]).as_matrix()
        out[k, :3, 3] = [0.1 * k, 0.0, -0.01 * k * k]
    return out


def test_tracked_obstacle_passes_through_its_frames_and_moves_with_its_twist() -> None:
    times, E = 0.05 * np.arange(6), frames(6)
    world = Surroundings((Box(size=(0.4, 0.2, 0.3), motion=Track(times, E)),))
    for t, frame in zip(times, E, strict=True):
        expected = world.rest.corner_x @ frame[:3, :3].T + frame[:3, 3]
        assert np.allclose(world.at(t).corner_x, expected, atol=1e-12)
    t, eps = 0.12, 1e-6
    now, ahead, behind = (world.at(t + d) for d in (0.0, eps, -eps))
    rate = (ahead.corner_x - behind.corner_x) / (2 * eps)
    assert np.allclose(now.velocity(now.corner_body, now.corner_x), rate, atol=1e-7)
    plane = np.repeat(now.plane_body, np.diff(now.plane_start))
    assert len(plane) == 6
    assert np.allclose(np.sort(np.abs(now.corner_x @ now.planes[:, :3].T - now.planes[:, 3]), axis=1)[:, :3], 0)
    after = world.at(9.0)
    assert np.allclose(after.corner_x, world.at(times[-1]).corner_x) and not after.body_v.any()


def test_jointed_box_swings_into_the_cloth_and_never_through_it() -> None:
    scene = eol.swing(cells=6, duration=0.68)
    met = 0
    for moment in march(scene):
        assert moment.reports[-1].converged
        met = max(met, len(moment.cloth.eol))
        planes = moment.cloth.around.at(moment.state.t).planes
        inside = (moment.sheet.x @ planes[:, :3].T - planes[:, 3]).max(axis=1)
        assert inside.min() > -scene.contact.thickness
    assert met > 3
    assert moment.sheet.x[:, 1].max() > 0.2  # pushed out of its plane


def test_cloth_as_a_body_has_the_forces_of_the_cloth_without_features() -> None:
    mesh = sheet(size=(1.0, 1.0), cells=(4, 4))
    fabric = ClothMaterial(E=30.0, nu=0.2, beta=0.02, rho=0.3)
    body = Cloth(mesh, fabric)
    X, faces = rectangle((1.0, 1.0), (4, 4))
    other = EolCloth(flat_sheet(X, faces), fabric, Surroundings(gravity=(0.0, 0.0, 0.0)))
    same = np.array([np.argmin(np.linalg.norm(mesh.X[:, :2] - p, axis=1)) for p in X])
    x = mesh.X + 0.05 * np.sin(7 * mesh.X[:, [1, 2, 0]] + 1.0)
    energies = body.energies(Placed(mesh.X, mesh.T, 0, body.masses()))
    f = -sum(e.gradient(x.ravel()) for e in energies).reshape(-1, 3)
    expected = other.force(x[same].ravel(), np.zeros(3 * len(X)), 0.0).reshape(-1, 3)
    assert np.allclose(f[same], expected, atol=1e-10)
    assert np.isclose(body.masses().diagonal().sum(), 0.3)
    with pytest.raises(SceneError, match="thickness"):
        replace(body, thickness=0.0)


def test_cloth_drapes_over_a_soft_block_without_crossing_it() -> None:
    scene = eol.drape(cells=4)
    last = list(islice(simulate(scene), 30))[-1]
    x = last.system.positions(last.state.q)
    block, cloth = x[: len(scene.bodies[0].mesh.X)], x[len(scene.bodies[0].mesh.X) :]
    over = (np.abs(cloth[:, :2]) < 0.1).all(axis=1)
    assert last.report.converged and last.report.contacts > 0
    assert cloth[over, 2].min() > block[:, 2].max() - 0.02
    assert block[:, 2].max() < 0.15  # pressed down by the cloth


def test_fabric_and_cloth_read_units() -> None:
    """The same numbers, given in SI and as they stand on a data sheet."""
    X, faces = rectangle((1.0, 1.0), (2, 2))
    flat = Mesh(np.column_stack([X, 0 * X[:, 0]]), faces)
    given = Cloth(flat, ClothMaterial(E="50 N/m", beta="10 uN*m", rho="50 g/m^2"), "1 mm", velocity=("1 m/s", 0.0, 0.0))
    assert given.fabric == ClothMaterial(50.0, 0.01, 1e-5, 0.05) and given.thickness == 1e-3
    assert given.velocity == (1.0, 0.0, 0.0)
    assert from_fabric("1 MPa", 0.3, 1000.0, "1 mm") == from_fabric(1e6, 0.3, "1 g/cm^3", 1e-3)
    with pytest.raises(SceneError, match="fabric is"):
        Cloth(flat, "cotton")


def test_eulerian_cloth_starts_where_its_positions_say() -> None:
    """As Lagrangian cloth does; its pins hold the vertices where they start."""
    flat = sheet(size=(0.5, 0.5), cells=(4, 4))
    held = Pin(flat.where(lambda X: X[:, 0] < 1e-9))
    bent = flat.X * (0.9, 1.0, 0.0) + (0.0, 0.0, 0.3)
    cloth = Cloth(flat, ClothMaterial(), pins=held, positions=bent, eulerian=True)
    first, *_, last = simulate(Scene([cloth], integrator=LinearlyImplicit(), h=0.005, duration=0.02))
    x = last.system.positions(last.state.q)
    assert np.abs(first.system.positions(first.state.q) - bent).max() < 0.03
    assert np.abs(x[held.vertices] - bent[held.vertices]).max() < 1e-12
    with pytest.raises(SceneError, match="cloth.positions: positions have shape"):
        replace(cloth, positions=bent[:-1])
    with pytest.raises(SceneError, match="leave out `eulerian`"):
        Scene([cloth], forces=[Wind()], integrator=LinearlyImplicit())


def test_cut_cloth_comes_apart() -> None:
    """A hanging cloth cut across: the lower half falls freely, the upper one stays; its mass is the same."""
    X, faces = rectangle((1.0, 1.0), (4, 4))
    flat = Mesh(np.column_stack([X[:, 0], 0 * X[:, 0], X[:, 1]]), faces)
    cloth = Cloth(flat, ClothMaterial(E=500.0, rho=0.2), pins=Pin(np.flatnonzero(flat.X[:, 2] > 0.99)))
    cuts = [PlaneCut(0.1, (0.0, 0.0, 0.5), (0.0, 0.0, 1.0))]
    cut = Scene([cloth], integrator=BDF1(), h=0.01, duration=0.2, gravity=(0.0, 0.0, -9.81), events=cuts)
    steps = list(simulate(cut))
    assert steps[-1].system.total_mass == pytest.approx(0.2)
    x = steps[-1].system.positions(steps[-1].state.q)
    low = steps[-1].system.X[:, 2] < 0.49
    fallen = (steps[-1].system.X[low, 2] - x[low, 2]).min()
    assert 0.5 * 9.81 * 0.1**2 < fallen < 0.5 * 9.81 * 0.2**2
    with pytest.raises(SceneError, match="the time -1"):
        PlaneCut(-1.0, (0.0, 0.0, 0.5), (0.0, 0.0, 1.0))
