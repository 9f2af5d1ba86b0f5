"""Inverse statics: the rest shape of a body that is in equilibrium, under its weight, exactly as it was drawn.

    f(x*; X) = 0   for the rest positions X of the vertices, where x* are the wanted positions

Newton's method on X: (df/dX) dX = -f, solved by GMRES with -df/dx as a preconditioner, which equals df/dX in the
undeformed state. For bodies that bend far the weight is applied in increments. A shape whose stiffness is not positive
definite is not a stable equilibrium, which is reported.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.linalg import LinearOperator, gmres

from pliant.adjoint.elements import RestShape
from pliant.adjoint.moment import Moment
from pliant.arrays import Array
from pliant.errors import ConvergenceError, MeshError, NotPositiveDefinite, SceneError
from pliant.linear.cholesky import Cholesky
from pliant.mesh import Mesh
from pliant.scene import Scene
from pliant.state import State
from pliant.systems.base import System
from pliant.systems.elastodynamics import Elastodynamics

TRIES = 8  # Newton steps per part of the weight
LEAST = 1 / 64  # part of the weight


@dataclass(frozen=True, eq=False)
class RestFound:
    """The mesh at rest, the number of Newton steps, and the remaining forces [relative to the weight].

    ``stable`` says whether the wanted shape is a minimum of the energy: otherwise the body buckles out of it.
    """

    mesh: Mesh
    steps: int
    residual: float
    stable: bool


def rest_shape(scene: Scene, body: str, *, tolerance: float = 1e-10) -> RestFound:
    """The rest shape for which ``body`` is in equilibrium in the shape of its mesh; pinned vertices stay in place."""
    k = scene.number(body, "rest_shape")
    if len(scene.bodies) > 1 or scene.contact is not None or scene.forces:
        raise SceneError("more than one body under its weight", where="rest_shape", remedy="give one body and its pins")
    chosen = scene.bodies[k]
    wanted, mesh = chosen.mesh.X, chosen.mesh
    carried, part, steps = 0.0, 1.0, 0
    while carried < 1.0:
        load = min(carried + part, 1.0)
        now = replace(scene, gravity=tuple(load * g for g in scene.gravity))
        found, taken = _balanced(now.with_body(k, replace(chosen, mesh=mesh, positions=wanted)), k, wanted, tolerance)
        steps += taken
        if found is not None:
            mesh, carried, part = found, load, 2.0 * part
        elif part > LEAST:
            part = 0.5 * part
        else:
            remedy = "give a stiffer material, or more pins"
            what = f"no rest shape carries more than {carried:.2g} of the weight"
            raise ConvergenceError(what, where="rest_shape", remedy=remedy)
    system = scene.with_body(k, replace(chosen, mesh=mesh, positions=wanted)).system()
    x = wanted.ravel()
    residual = float(np.linalg.norm(system.force(x, 0.0 * x, 0.0)[system.free])) / _weight(system, scene)
    return RestFound(mesh, steps, residual, _stable(system, x))


def _weight(system: Elastodynamics, scene: Scene) -> float:
    return float(np.linalg.norm(system.nodal_mass[system.free])) * float(np.linalg.norm(scene.gravity))


def _balanced(scene: Scene, k: int, wanted: Array, tolerance: float) -> tuple[Mesh | None, int]:
    """The mesh at rest that balances the scene's weight, and Newton's steps; None where they lead nowhere."""
    x = wanted.ravel()
    still, last = np.zeros_like(x), np.inf
    for taken in range(TRIES + 1):
        system = scene.system()
        f = system.force(x, still, 0.0)[system.free]
        residual = float(np.linalg.norm(f)) / _weight(system, scene)
        if residual <= tolerance:
            return scene.bodies[k].mesh, taken
        if taken == TRIES:
            return None, taken
        try:
            mesh = _moved(scene, k, system, x, f)
        except MeshError:  # an element would be inverted
            return None, taken + 1
        way = float(np.linalg.norm(mesh.X - scene.bodies[k].mesh.X))
        if way > 2.0 * last:  # steps must become shorter; forces grow first where slender bodies turn
            return None, taken + 1
        last, scene = way, scene.with_body(k, replace(scene.bodies[k], mesh=mesh))
    raise AssertionError("all cases return")


def _moved(scene: Scene, k: int, system: System, x: Array, f: Array) -> Mesh:
    """The mesh after one Newton step."""
    mesh, free, still = scene.bodies[k].mesh, system.free, np.zeros_like(x)
    shape = RestShape(scene, f"bodies.{k}.mesh.X", system)
    at = Moment(State(x, still), x, still, 0.0, 1.0, still)

    def product(y: Array) -> Array:
        rates = np.zeros((len(x), 1))
        rates[free, 0] = y
        return np.asarray(shape.along(at, rates)[free, 0])

    factor = Cholesky().factor(system.restrict(system.tangent(x, still, 0.0, (0.0, 0.0, 1.0), psd=True)))
    n = len(free)
    dX, _ = gmres(LinearOperator((n, n), product), -f, rtol=1e-8, M=LinearOperator((n, n), factor.solve), maxiter=20)
    X = mesh.X.copy()
    X.ravel()[free] += dX
    return replace(mesh, X=X)


def _stable(system: System, x: Array) -> bool:
    """Whether the stiffness at x is positive definite."""
    try:
        Cholesky().factor(system.restrict(system.tangent(x, np.zeros_like(x), 0.0, (0.0, 0.0, 1.0), psd=False)))
    except NotPositiveDefinite:
        return False
    return True
