"""Checks of scenes: whatever they hold, they step, are certified, balance, are recorded, played and exported."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from pliant.contact.pose import pose_at
from pliant.export import clip, write_vtk
from pliant.export.obstacles import obstacles_of, shapes_of
from pliant.integrators.base import Staged
from pliant.origin import origin_of
from pliant.record import Interrupted, Output, record, resume
from pliant.scene_file import load_scene
from pliant.scene_file.choices import NotDescribable
from pliant.scene_file.describe import describe
from pliant.simulate import TimeStep, simulate
from pliant.solvers.base import Tolerance
from pliant.systems.observed import Touching
from pliant.testing.differences import same_bytes
from pliant.view.player import Player


def check_scene(scene: Any, folder: Path, *, steps: int = 3) -> None:
    """All checks below, with files in ``folder``."""
    taken = list(islice(simulate(scene), steps))
    check_certificates(scene, taken)
    check_books(taken)
    check_recording(scene, folder / "record")
    check_export(scene, folder / "record" / "whole", folder / "export")
    check_description(scene, folder / "described")
    check_play(scene, steps=steps)


def check_certificates(scene: Any, steps: list[TimeStep]) -> None:
    """Every step has converged; what is unknown is None, and what is said of contact is true of the points.

    The depth of every point in every obstacle is found here anew: a certificate may say nothing of contact, but not
    that nothing touches while a point is inside an obstacle.
    """
    for step in steps:
        report = step.report
        assert report.verdict != "failed", f"step {step.index}: {report.message}"
        known = isinstance(step.system, Touching) and step.system.contacts(step.state.q, step.state.v, step.state.t)
        if known is None or known is False:
            said = (report.contacts, report.penetration, report.distance)
            assert said == (None, None, None), f"step {step.index}: no contacts are known, but it says {said}"
        for name in ("min_det", "penetration", "distance"):
            value = report.as_json()[name]
            assert value == "unknown" or isinstance(value, float), f"step {step.index}: {name} is {value!r}"
        if report.penetration is not None:
            deep = deepest(step)
            what = f"step {step.index}: a point is {deep:.3g} m inside an obstacle, the certificate says {report}"
            assert deep <= report.penetration + 1e-9, what
            assert report.contacts or deep <= 1e-9, what


def deepest(step: TimeStep) -> float:
    """How far a point is inside an obstacle at most [m]; 0 when none is."""
    x, t, depth = step.system.positions(step.state.q), step.state.t, 0.0
    for obstacle in obstacles_of(step.scene):
        gaps = obstacle.distance(pose_at(obstacle.motion, t).local(x))[0]
        depth = max(depth, -float(gaps.min()))
    return depth


def check_books(steps: list[TimeStep]) -> None:
    """Every column has a name of its own, parts sum to totals, and momenta are those of the system.

    kinetic = 1/2 v^T M v; total = kinetic + potentials; D = E0 - E1 + work between two neighbouring rows of one mesh.
    """
    for step in steps:
        row, (q, v) = step.ledger, (step.state.q, step.state.v)
        columns = row.flat()
        count = 3 + len(row.energies) + len(row.work) + len(row.exchange) + 7
        assert len(columns) == count, f"step {step.index}: {len(columns)} columns for {count} entries"
        assert np.isfinite(list(row.energies.values())).all(), f"step {step.index}: energies {row.energies}"
        kinetic = 0.5 * float(v @ (step.system.mass(q) @ v))
        assert abs(row.energies["kinetic"] - kinetic) <= 1e-9 * max(kinetic, 1e-12), f"step {step.index}: kinetic"
    for a, b in zip(steps[:-1], steps[1:], strict=True):
        if a.state.q.shape != b.state.q.shape:
            continue
        left = a.ledger.total - b.ledger.total + sum(b.ledger.work.values()) - b.ledger.numerical
        size = max(a.ledger.scale, b.ledger.scale, 1e-12)
        assert abs(left) <= 1e-9 * size, f"step {b.index}: the energy balance is off by {left:.3g} J"


def check_balance(scene: Any, *, h: float = 5e-4, warm: int = 2, most: float = 0.35) -> None:
    """What the integrator took falls faster than the step: D(h/2) <= ``most`` D(h) for one step from one state.

    A force that is missing in the books, or booked twice, leaves an error proportional to h. Not for steps with
    impacts, which dissipate.
    """
    start = list(islice(simulate(scene), warm))[-1]
    integrator: Any = scene.integrator
    if isinstance(integrator, Staged):  # what is left of the residual does work too
        solver = replace(integrator.solver, tolerance=Tolerance(1e-12, 1e-15))
        integrator = replace(integrator, solver=solver)  # type: ignore[type-var]
    lost = []
    for size in (h, 0.5 * h):
        fine = replace(scene, h=size, duration=10.0, integrator=integrator)
        step = next(simulate(fine, start=replace(start.checkpoint(), memory=None, step=0)))
        lost.append(abs(step.ledger.numerical) / max(step.ledger.scale, 1e-300))
    small = 1e-8  # what is left of residuals, and the jump of velocities where a method starts anew
    assert lost[1] <= max(most * lost[0], small), (
        f"the energy balance is off by {lost[0]:.3g} and {lost[1]:.3g} at h and h/2"
    )


def check_recording(scene: Any, folder: Path) -> None:
    """A run that was interrupted and resumed has the frames and the ledger of one that was not, bit for bit."""
    whole = record(scene, folder / "whole", overwrite=True)
    stop_at = max(1, scene.steps // 2)

    def stop(step: TimeStep) -> None:
        if step.index == stop_at:
            raise Interrupted

    try:
        record(scene, folder / "half", output=Output(checkpoint_every=1), watch=stop, overwrite=True)
    except Interrupted:
        pass
    else:
        raise AssertionError("the run was not interrupted")
    half = resume(folder / "half", scene)
    assert list(half.ledger) == list(whole.ledger), "the columns of the ledger differ after a restart"
    for name, column in whole.ledger.items():
        if name != "seconds":
            same_bytes(f"ledger, {name}", half.ledger[name], column)
    assert len(half.frames) == len(whole.frames), f"{len(half.frames)} frames, not {len(whole.frames)}"
    for k in range(len(whole.frames)):
        same_bytes(f"frame {k}", half.frames[k].points, whole.frames[k].points)
    same_bytes("the last state", half.checkpoint.state.q, whole.checkpoint.state.q)


def check_export(scene: Any, run: Path, folder: Path) -> None:
    """The frames as files of another program, read again; every obstacle of the scene has a shape."""
    import meshio

    pictures = list(clip(run))
    write_vtk(clip(run), folder)
    for k, picture in enumerate(pictures):
        read = meshio.read(folder / f"frame.{k:04d}.vtu")
        assert np.array_equal(read.points, picture.points), f"frame {k} has other points in the file"
        assert len(picture.points) and np.isfinite(picture.points).all(), f"frame {k} is empty, or not finite"
    x = pictures[0].points
    drawn, given = shapes_of(scene, x.min(axis=0), x.max(axis=0)), list(scene.obstacles)
    assert len(drawn) >= len(given), f"{len(drawn)} of {len(given)} obstacles are drawn"
    for shape in drawn:
        assert len(shape.at(0.0)) and np.isfinite(shape.at(0.0)).all(), "an obstacle has no points to draw"


def check_description(scene: Any, folder: Path) -> bool:
    """Either a document that loads to the same first step, bit for bit, or `NotDescribable`; which of both it was."""
    try:
        describe(scene)
    except NotDescribable:
        return False
    origin_of(scene).write(folder)
    again = load_scene(folder / "scene.toml").scene
    a, b = next(iter(simulate(scene))), next(iter(simulate(again)))
    same_bytes("q of the first step of the described scene", b.state.q, a.state.q)
    same_bytes("v of the first step of the described scene", b.state.v, a.state.v)
    return True


def check_play(scene: Any, *, steps: int = 3) -> None:
    """A player takes some steps, with a hand where one can pull, shows every channel, and goes back to the start."""
    player = Player(scene)
    t, x = player.state.t, player.points
    for k in range(steps):
        if player.holdable and k == 1:
            _pull(player)
        player.take()
        assert player.last is not None and player.last.report.verdict != "failed", "a step of the player fails"
        assert np.isfinite(player.points).all(), "the player shows points that are not finite"
    for channel, values in _channels(player):
        assert len(values) == len(player.picture().points), f"channel {channel} has {len(values)} values"
        assert np.isfinite(values).any(), f"channel {channel} is nowhere finite"
    player.pull(None)
    player.take()
    player.reset()
    assert player.state.t == t and np.array_equal(player.points, x), "reset does not go back to the start"


def _pull(player: Player) -> None:
    vertex = int(player.skin.vertices.ravel()[0])
    player.pull((player.hold(vertex), player.points[vertex] + np.array([0.0, 0.0, 1e-4]), player.grip))
    assert player.hand is not None and player.hand.shape == (2, 3), "a hand that pulls is not shown"


def _channels(player: Player) -> Iterator[tuple[str, Any]]:
    for channel in player.channels():
        yield channel, player.picture((channel,)).values[channel]
