"""conjac/muscle: a muscle bends an arm; four unknowns for flesh and bones together. [ConJac2020, Fig. 1d]"""

from typing import Any

import numpy as np

from pliant.bench.conjac.play import Moment, march
from pliant.bench.table import Claim, Table
from pliant.muscle import ConJacMuscle, FleshAndBones, stacked
from pliant.scenes.muscle import MuscleScene, muscle
from pliant.state import State
from pliant.velocity_step import project


def apart(arm: FleshAndBones, state: State) -> float:
    """Largest distance of an attached vertex to its place on the bone [m]."""
    (q, x), (qdot, _) = arm.split(state.q), arm.split(state.v)
    on_bone = arm.attachment(arm.bones.kinematics(q, qdot))[0]
    return float(abs(x.reshape(-1, 2)[arm.attached] - on_bone).max())


def imbalance(arm: FleshAndBones, state: State) -> float:
    """What is left of the forces on free flesh and of the joint torques at rest, as parts of those that balance."""
    q, x = arm.split(state.q)
    f = arm.at(state.t).force(x, 0.0 * x, state.t)
    J_a = arm.attachment(arm.bones.kinematics(q, 0.0 * q))[1]
    at = (2 * arm.attached[:, None] + np.arange(2)).ravel()
    torque = J_a.T @ f[at]
    total = torque + arm.bones.force(q, 0.0 * q, state.t)
    return max(float(abs(np.delete(f, at)).max() / abs(f).max()), float(abs(total).max() / abs(torque).max()))


def matrix(scene: MuscleScene) -> Any:
    """The matrix of the first step."""
    arm, step = scene.arm, scene.integrator
    state = arm.initial()
    f, K, condensed = step.condensed(arm, arm.at(0.0), state, 0.0, None)
    A, b, J = stacked(arm, arm.at(0.0), state, scene.h, (f, K, condensed.J), step.beta)
    return project(J, A, b)[0]


def last(scene: MuscleScene) -> Moment:
    return list(march(scene))[-1]


def run(*, quick: bool = False) -> Table:
    scene = muscle(duration=0.6 if quick else 1.0)
    arm, rows, gap = scene.arm, [], 0.0
    for k, moment in enumerate(march(scene)):
        gap = max(gap, apart(arm, moment.state))
        if k % 20 == 19:
            shoulder, elbow = np.degrees(moment.state.q[:2])
            rows.append({"t": moment.state.t, "shoulder deg": shoulder, "elbow deg": elbow, "energy J": moment.energy})
    A = matrix(scene)
    low = float(np.linalg.eigvalsh(A).min() / np.linalg.eigvalsh(A).max())
    node = scene.integrator.nodes
    damped = ConJacMuscle(node, beta=3.0)
    still = last(muscle(lambda t: 1.0, integrator=damped, duration=6.0))
    light, heavy = (
        float(np.degrees(last(muscle(lambda t: 1.0, density=rho, gravity=0.0, duration=0.005)).state.q[1]))
        for rho in (1000.0, 10000.0)
    )
    idle = last(muscle(lambda t: 0.0, gravity=0.0, duration=0.1))
    moved = float(abs(idle.state.q - arm.initial().q).max())
    left = imbalance(still.system, still.state)
    claims = [
        Claim(
            "CJ-7 reduced matrix 4 x 4, positive definite",
            "4 x 4",
            f"{A.shape[0]} x {A.shape[1]}, {low:.1e}",
            A.shape == (4, 4) and low > 0,
        ),
        Claim("CJ-7 attachments on the bones", "1e-12 m", f"{gap:.1e} m", gap <= 1e-12),
        Claim(
            "CJ-7 activation bends the elbow", "yes", f"{rows[-1]['elbow deg']:.1f} deg", rows[-1]["elbow deg"] > 5.0
        ),
        Claim(
            "CJ-7 a muscle ten times heavier moves the bones less",
            "visibly",
            f"{heavy:.2f} vs {light:.2f} deg",
            heavy < 0.7 * light,
        ),
        Claim("CJ-7 at rest all forces balance as in the full model", "1e-6", f"{left:.1e}", left <= 1e-6),
        Claim("CJ-7 nothing moves without weight and activation", "0", f"{moved:.1e}", moved < 1e-12),
    ]
    notes = [
        f"{len(arm.flesh.X)} vertices, {len(arm.cells()[0])} triangles, 1 dynamic node, {len(arm.attached)} attached"
    ]
    return Table("conjac/muscle", "MUSCLE", rows, claims, notes)
