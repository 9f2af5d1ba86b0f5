"""conjac/muscle: a muscle bends an arm; four unknowns for flesh and bones together. [ConJac2020, Fig. 1d]"""

import numpy as np
import scipy.linalg

from pliant.arrays import Array
from pliant.bench.conjac.play import ShownStep, march
from pliant.bench.race import no_inversion
from pliant.bench.table import Claim, Table
from pliant.scene import Scene
from pliant.scenes.muscle import muscle
from pliant.state import State
from pliant.systems.coupled import Coupled
from pliant.velocity_step import Linearisation


def apart(system: Coupled, state: State) -> float:
    """Largest distance of an attached vertex to its place on the bone [m]."""
    closures = system.closures(state.q, state.v, state.t)
    assert closures is not None
    return float(abs(closures.gap).max())


def imbalance(system: Coupled, state: State) -> float:
    """What the ties cannot balance of the forces on flesh and joints at rest, as a part of those they do."""
    rest = np.zeros_like(state.v)
    f, closures = system.force(state.q, rest, state.t), system.closures(state.q, rest, state.t)
    assert closures is not None
    carried = closures.G.toarray().T @ scipy.linalg.lstsq(closures.G.toarray().T, f)[0]
    return float(abs(f - carried).max() / abs(carried).max())


def matrix(scene: Scene) -> Array:
    """The matrix of the first step over the velocities that the ties leave free."""
    system = scene.system()
    how = Linearisation(scene.integrator.beta)  # type: ignore[attr-defined]
    block = system.prepare(scene.initial(system), float(scene.h), None, how).block
    Z = scipy.linalg.null_space(block.equality[0].toarray())
    A = Z.T @ (block.A @ Z)
    return 0.5 * (A + A.T)


def last(scene: Scene) -> ShownStep:
    return list(march(scene))[-1]


def elbow(state: State) -> float:
    """The angle of the elbow [degrees]; the joints are the last coordinates."""
    return float(np.degrees(state.q[-1]))


def run(*, quick: bool = False) -> Table:
    scene = muscle(duration=0.6 if quick else 1.0)
    system = scene.system()
    rows, gap, least = [], 0.0, 1.0
    for k, moment in enumerate(march(scene)):
        gap, least = max(gap, apart(system, moment.state)), min(least, moment.det)
        if k % 20 == 19:
            shoulder = float(np.degrees(moment.state.q[-2]))
            angles = {"shoulder deg": shoulder, "elbow deg": elbow(moment.state)}
            rows.append({"t": moment.state.t, **angles, "energy J": moment.energy})
    A = matrix(scene)
    low = float(np.linalg.eigvalsh(A).min() / np.linalg.eigvalsh(A).max())
    still = last(muscle(lambda t: 1.0, beta=3.0, duration=6.0))
    light, heavy = (
        elbow(last(muscle(lambda t: 1.0, density=rho, gravity=0.0, duration=0.005)).state) for rho in (1000.0, 10000.0)
    )
    idle = last(muscle(lambda t: 0.0, gravity=0.0, duration=0.1))
    moved = float(abs(idle.state.q - system.rest).max())
    left = imbalance(still.system, still.state)
    size = f"{A.shape[0]} x {A.shape[1]}, {low:.1e}"
    claims = [
        Claim("CJ-7 reduced matrix 4 x 4, positive definite", "4 x 4", size, A.shape == (4, 4) and low > 0),
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
        no_inversion({"the run": least}),
    ]
    flesh, held = scene.bodies[0].mesh, sum(len(a.vertices) for a in scene.attachments)
    notes = [f"{len(flesh.X)} vertices, {len(flesh.T)} triangles, 1 dynamic node, {held} attached"]
    return Table("conjac/muscle", "MUSCLE", rows, claims, notes)
