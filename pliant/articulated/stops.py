"""Joint limits for methods that see no inequalities: stiff springs instead."""

from copy import copy
from dataclasses import replace

import numpy as np

from pliant.articulated.closures import refuse_inequalities
from pliant.articulated.constraints.joints import JointLimit
from pliant.articulated.forces.stops import JointStop, excess
from pliant.articulated.system import ArticulatedSystem
from pliant.errors import SceneError

START = 1e-6  # rad or m beyond a limit: springs as stiff as a step resolves would throw it back within one


def stopped(system: ArticulatedSystem, h: float, where: str) -> ArticulatedSystem:
    """The same system with a `JointStop` for every `JointLimit`; what else acts one way only is refused.

    Unless the limit has a stiffness, k = 1 / (h^2 (M^-1)_ii) at rest: a joint that arrives with the rate w goes about
    h w beyond it, and explicit methods that step by h are stable.
    """
    limits = [c for c in system.constraints if isinstance(c, JointLimit)]
    others = tuple(c for c in system.constraints if not isinstance(c, JointLimit))
    refuse_inequalities(others, where)
    if not limits:
        return system
    held = copy(system)
    held.constraints = others
    held.forces = (*system.forces, *(_stop(system, limit, h) for limit in limits))
    return held


def _stop(system: ArticulatedSystem, limit: JointLimit, h: float) -> JointStop:
    stop = JointStop(limit.link, limit.lower, limit.upper, 1.0, limit.coordinate).bind(system.tree)
    i = stop.place(system.tree)
    start = float(system.rest[i])
    if limit.stiffness is None and abs(float(excess(system.rest[i], limit.lower, limit.upper))) > START:
        what = f"it starts at {start:g}, outside its limits {limit.lower:g} and {limit.upper:g}"
        where = f"joint of '{system.tree.names[int(limit.link)]}'"
        raise SceneError(what, where=where, remedy="give q within them, or the limit a stiffness that pulls it back")
    mobility = float(system.accelerated(system.rest, np.eye(system.tree.dof)[i])[i])
    k = 1.0 / (h * h * mobility) if limit.stiffness is None else limit.stiffness
    return replace(stop, stiffness=k).bind(system.tree)
