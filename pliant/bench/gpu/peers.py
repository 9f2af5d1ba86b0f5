"""gpu/peers: the swinging bars of core/work_precision on one GPU, beside Newton (Warp): error against wall time.

Newton has the same vertices, tetrahedra, nodal masses, gravity and materials (its SemiImplicit solver the stable
neo-Hookean energy with the logarithm, its VBD the one without), in single precision, which is the only one it has. Each
of its solvers is measured against a converged run of ours with its own energy. Its steps are replayed from CUDA graphs.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.core.work_precision import BAR, BAR_SMALL, FRAMES, Case, center
from pliant.bench.gpu.bars import told
from pliant.bench.newton import peer, said
from pliant.bench.table import Claim, Table
from pliant.checkpoint import Checkpoint
from pliant.cuda.device import arrays, name, synchronized
from pliant.devices import placed
from pliant.integrators import BDF2, TRBDF2, Verlet
from pliant.materials import StableNeoHookeanLog
from pliant.materials.base import lame
from pliant.scene import Scene

TARGETS = (1.0, 5.0)  # % of error at which times are compared
VBD = (1, 20), (4, 20), (1, 100), (4, 100), (16, 20), (64, 10)  # steps per frame, iterations
EVERY = 2  # frames between two looks at the free end
Path = tuple[Array, float]  # the free end's center at every look, wall seconds


def ours(scene: Scene, frames: int, *, integrator: Any, per_frame: int = 1) -> Path:
    """A run of pliant on the GPU; the first steps, which compile, are taken twice."""
    h = 1.0 / FRAMES / per_frame
    system, start = placed("cuda", integrator, scene.system(), Checkpoint(0, scene.initial(scene.system())))
    state, memory = start.state, None
    for _ in range(3):
        step = integrator.step(system, state, h, memory)
        state, memory = step.state, step.memory
    state, memory, path = start.state, None, []
    synchronized()
    begun = perf_counter()
    for k in range(frames * per_frame):
        step = integrator.step(system, state, h, memory)
        state, memory = step.state, step.memory
        if not all(report.converged for report in step.reports):
            return np.full((frames // EVERY, 3), np.nan), perf_counter() - begun
        if (k + 1) % (EVERY * per_frame) == 0:
            path.append(center(scene, system.fetch(state.q)))
    return np.array(path), perf_counter() - begun


def theirs(scene: Scene, frames: int, *, make: Callable[[Any, Any], Any], log: bool, per_frame: int) -> Path:
    """A run of Newton with the solver that ``make(newton, model)`` gives."""
    found = peer()
    assert found is not None
    newton, wp = found
    system, body = scene.system(), scene.bodies[0]
    mass = system.nodal_mass[::3].copy()
    mass[np.unique(system.pins.prescribed // 3)] = 0.0
    mu, lam = (float(np.asarray(value).flat[0]) for value in lame(body.material.E, body.material.nu))
    mu, lam = (4.0 / 3.0 * mu, lam + 5.0 / 6.0 * mu) if log else (mu, lam)
    builder = newton.ModelBuilder(up_axis=newton.Axis.Y, gravity=(0.0, -9.81, 0.0))
    X = [wp.vec3(*x) for x in body.mesh.X.tolist()]
    builder.add_particles(pos=X, vel=[wp.vec3(0.0)] * len(X), mass=mass.tolist())
    for tet in body.mesh.T.tolist():
        builder.add_tetrahedron(*tet, k_mu=mu, k_lambda=lam, k_damp=0.0)
    if not log:
        builder.color()
    model = builder.finalize()
    model.particle_grid = None  # particles do not collide with each other
    solver, states, control = make(newton, model), [model.state(), model.state()], model.control()
    rest, h = states[0].particle_q.numpy().copy(), 1.0 / FRAMES / per_frame

    def advance(steps: int) -> None:
        for k in range(steps):
            states[k % 2].clear_forces()
            solver.step(states[k % 2], states[1 - k % 2], control, None, h)

    advance(2)
    launch, chunk = _replayed(wp, lambda: advance(EVERY * per_frame)), EVERY * per_frame
    assert chunk % 2 == 0  # so that a replay ends in the states it began with
    states[0].particle_q.assign(rest)
    states[0].particle_qd.zero_()
    path = []
    wp.synchronize()
    begun = perf_counter()
    for _ in range(frames // EVERY):
        launch()
        path.append(center(scene, states[0].particle_q.numpy().astype(np.float64).ravel()))
    return np.array(path), perf_counter() - begun


def _replayed(wp: Any, work: Callable[[], None]) -> Callable[[], None]:
    """The launches of ``work`` as one graph; the work itself where there is no GPU."""
    if not wp.get_preferred_device().is_cuda:
        return work
    with wp.ScopedCapture() as capture:
        work()
    return lambda: wp.capture_launch(capture.graph)


def semi_implicit(newton: Any, model: Any) -> Any:
    return newton.solvers.SolverSemiImplicit(model, enable_tri_contact=False)


def vbd(iterations: int) -> Callable[[Any, Any], Any]:
    return lambda newton, model: newton.solvers.SolverVBD(model, iterations=iterations)


def contestants(case: Case, quick: bool, beside: bool) -> Iterator[tuple[str, bool, int, Callable[[Scene, int], Path]]]:
    """Label, whether the energy is the one with the logarithm, steps per frame, and how they run."""
    n = case.explicit
    for substeps in (n, 2 * n):
        yield "pliant Verlet", False, substeps, partial(ours, integrator=Verlet(substeps=substeps))
    for method in (BDF2(), TRBDF2()):
        for k in (1,) if quick else (1, 2):
            yield f"pliant {type(method).__name__}", False, k, partial(ours, integrator=method, per_frame=k)
    for k in (n, 2 * n, 4 * n) if beside else ():
        yield "Newton SemiImplicit", True, k, partial(theirs, make=semi_implicit, log=True, per_frame=k)
    for k, iterations in (VBD[:2] if quick else VBD) if beside else ():
        label = f"Newton VBD, {iterations} iterations"
        yield label, False, k, partial(theirs, make=vbd(iterations), log=False, per_frame=k)


def compare(case: Case, quick: bool, beside: bool) -> list[dict[str, Any]]:
    """All of them on one bar."""
    plain, frames, rows = case.scene(), 6 if quick else FRAMES, []
    material = plain.bodies[0].material
    scenes = {False: plain}
    if beside:
        with_log = replace(plain.bodies[0], material=StableNeoHookeanLog(material.E, material.nu))
        scenes[True] = replace(plain, bodies=[with_log])
    exact = {log: ours(s, frames, integrator=Verlet(substeps=8 * case.explicit))[0] for log, s in scenes.items()}
    for label, log, per_frame, run_one in contestants(case, quick, beside):
        row: dict[str, Any] = {"case": case.name, "by": label, "h": f"1/{per_frame * FRAMES} s"}
        try:
            path, wall = run_one(scenes[log], frames)
        except Exception as failure:  # a peer that fails is a row, too
            rows.append(
                told({**row, "error %": np.nan, "ms_per_step": np.nan, "wall_s": np.nan, "said": repr(failure)[:60]})
            )
            continue
        moved = exact[log] - center(plain, plain.bodies[0].mesh.X.ravel())
        error = 100.0 * float(np.sqrt(((path - exact[log]) ** 2).sum() / (moved**2).sum()))
        steps = per_frame * frames
        rows.append(told({**row, "error %": error, "ms_per_step": 1e3 * wall / steps, "wall_s": wall, "said": ""}))
    return rows


def fastest(rows: list[dict[str, Any]], case: str, by: str, target: float) -> float | None:
    """Least wall time [s] of those who stay within an error, inf where none does; None where none has run."""
    mine = [r for r in rows if r["case"] == case and r["by"].startswith(by) and np.isfinite(r["error %"])]
    return min((r["wall_s"] for r in mine if r["error %"] <= target), default=np.inf) if mine else None


def run(*, quick: bool = False) -> Table:
    arrays()
    beside = peer() is not None
    cases = (BAR_SMALL,) if quick else (BAR_SMALL, BAR)
    rows = [row for case in cases for row in compare(case, quick, beside)]
    claims = []
    for case in dict.fromkeys(row["case"] for row in rows):
        for target in TARGETS if beside else ():
            for other in ("Newton SemiImplicit", "Newton VBD"):
                here, there = fastest(rows, case, "pliant", target), fastest(rows, case, other, target)
                known = here is not None and there is not None
                times = f"{here:.3g} s against {there:.3g} s" if known else "did not run"
                less = known and here < there  # type: ignore[operator]
                claims.append(Claim(f"{case}: wall time to {target:g} %, beside {other}", "less", times, less))
    notes = [
        f"Device: {name()}. {said()} One second of motion, wall time without compiling; error: RMS distance of the "
        "free end's center from a converged run, by RMS displacement. inf: no row within the error."
    ]
    return Table("gpu/peers", "Swinging bars beside Newton (Warp)", rows, claims, notes)
