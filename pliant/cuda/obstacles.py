"""Contact with obstacles on the device: one thread per vertex, which looks at all obstacles.

What a vertex gets from obstacles is its own alone, so nothing has to be gathered: forces and diagonal blocks are added
where they belong.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from pliant.contact.distances import Analytic, DistanceFormula
from pliant.contact.pose import Passage
from pliant.cuda import _obstacle_kernels as kernels
from pliant.cuda._matrix_kernels import SLICE
from pliant.cuda._obstacle_kernels import PLANE, ROWS
from pliant.cuda.device import arrays, launch, to_device
from pliant.cuda.matrix import BlockRows
from pliant.cuda.translate import kernel
from pliant.errors import SceneError
from pliant.systems.penalty_contact import PenaltyModel

NO_PLANES = (1, 1, 1)


@cache
def _gaps(distance: Any, bend: Any) -> Any:
    """The pass over the gaps from one kind of obstacle; each compiles on its first launch in a process."""
    bound = {"bend": bend, "BENDS": 1} if bend is not None else {"bend": distance}  # which is not called then
    return kernel(kernels.gap_pass, distance=distance, **bound)


@cache
def _entries(distance: Any) -> Any:
    return kernel(kernels.entry_pass, distance=distance)


@cache
def _kernel(name: str) -> Any:
    return kernel(vars(kernels)[name])


class DeviceObstacles:
    """The obstacles of a scene and the vertices ``skin`` that can touch them."""

    def __init__(self, model: PenaltyModel, rows: BlockRows) -> None:
        setting = model.setting
        self._formulas = tuple(formula_of(obstacle) for obstacle in setting.obstacles)
        self._parameters = tuple(to_device(np.array(f.parameters, dtype=np.float64)) for f in self._formulas)
        self.skin, self._model = to_device(setting.skin), model
        at_skin = (model.k, model.against, model.law.k_t, model.k_d, 0.5 * model.smoothing * model.k)
        self._k, self._margin, self._stick, self._k_d, self._full = (to_device(a[setting.skin]) for a in at_skin)
        first = setting.body[setting.skin]
        mu = model.mu.table[first[None, :], len(setting.meshes) + np.arange(len(setting.obstacles))[:, None]]
        self._mu = to_device(mu)
        places = rows.place(setting.skin, setting.skin)
        self._places = to_device(places[None, :] + SLICE * np.arange(9)[:, None])

    def __len__(self) -> int:
        return len(self._formulas)

    def ways(self, passages: Sequence[Passage]) -> Any:
        """The passages as one table (obstacles, 31)."""
        return to_device(np.array([_numbers(way) for way in passages]).reshape(len(self), -1))

    def planes(self, x: Any, dx: Any, ways: Any) -> Any:
        """Planes in place of obstacles that vertices would pass through with the displacements ``dx (3n,)``."""
        planes = arrays().zeros((PLANE, len(self), len(self.skin)))
        for k, (formula, parameters) in enumerate(zip(self._formulas, self._parameters, strict=True)):
            arguments = (x, dx, self.skin, parameters, ways, k, self._model.margin, planes)
            launch(_entries(formula.distance), len(self.skin), arguments)
        return planes

    def table(self, x: Any, ways: Any, planes: Any) -> Any:
        """Gap, normal, velocity and curvature (ROWS, obstacles, vertices)."""
        table = arrays().empty((ROWS, len(self), len(self.skin)))
        for k, (formula, parameters) in enumerate(zip(self._formulas, self._parameters, strict=True)):
            arguments = (x, self.skin, self._margin, parameters, ways, k, planes, table)
            launch(_gaps(formula.distance, formula.bend), len(self.skin), arguments)
        return table

    def penalty(self, table: Any, psd: bool = True) -> "AtSkin":
        """Energy, push and Hessian of the springs."""
        out = self._empty()
        arguments = (table, self._k, self._model.smoothing, psd, out.energy, out.push, out.block)
        launch(_kernel("penalty_pass"), len(self.skin), arguments)
        return out

    def loads(self, table: Any) -> Any:
        """Normal forces (obstacles, vertices) [N]."""
        out = arrays().empty(table.shape[1:])
        launch(_kernel("load_pass"), len(self.skin), (table, self._k, self._model.smoothing, out))
        return out

    def friction(self, table: Any, load: Any, v: Any) -> "AtSkin":
        """Dissipation, force and -df/dv with the normal forces ``load`` of a ``table``."""
        out, creep = self._empty(), self._model.law.creep
        arguments = (table, load, self._mu, self._stick, creep, self.skin, v, out.energy, out.push, out.block)
        launch(_kernel("friction_pass"), len(self.skin), arguments)
        return out

    def damping(self, table: Any, v: Any, weights: tuple[float, float] = (1.0, 0.0)) -> "AtSkin":
        """Force of the dampers, and -df/dv and, from the changing load, -df/dx, times ``weights``."""
        out = self._empty()
        laws = (self._k, self._model.smoothing, self._k_d, self._full)
        launch(_kernel("damping_pass"), len(self.skin), (table, *laws, *weights, self.skin, v, out.push, out.block))
        return out

    def _empty(self) -> "AtSkin":
        return AtSkin(self.skin, self._places)


class AtSkin:
    """What obstacles do to the vertices that can touch: energy (v,), push (3, v) on them, block (9, v)."""

    def __init__(self, skin: Any, places: Any) -> None:
        xp, count = arrays(), len(skin)
        self.energy, self.push, self.block = xp.empty(count), xp.empty((3, count)), xp.empty((9, count))
        self._skin, self._places = skin, places

    def add_push(self, out: Any) -> None:
        """out (3n,) += push; no vertex occurs twice."""
        out.reshape(-1, 3)[self._skin] += self.push.T

    def add_block(self, weight: float, values: Any) -> None:
        """values += weight times the block, in its place of the matrix."""
        values[self._places] += weight * self.block


def formula_of(obstacle: Any) -> DistanceFormula:
    """The formula of an obstacle; refuses those that have none, by name."""
    if not isinstance(obstacle, Analytic):
        what = f"{obstacle.name!r}: the device has no distance function for a {type(obstacle).__name__}"
        remedy = 'use Plane, Sphere, Box, Cylinder or Bowl, a body with all vertices pinned, or device="cpu"'
        raise SceneError(what, where='device="cuda"', remedy=remedy)
    return obstacle.formula


def _numbers(way: Passage) -> list[float]:
    """Both poses, and 1/dt; 0 where nothing moves."""
    rate = 0.0 if way.before is way.pose else 1.0 / way.dt
    poses = [np.concatenate([p.R.ravel(), p.origin, p.pivot]) for p in (way.pose, way.before)]
    return [*np.concatenate(poses).tolist(), rate]
