"""Failure bundles: a folder from which a failed step can be repeated exactly.

``scene.toml`` and its files, ``checkpoint.h5`` (state and memory before the step), ``report.json`` (what went wrong,
iteration by iteration), ``offending.vtu`` (the offending vertices and elements).
"""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant import checkpoint, ledger
from pliant.arrays import Array, IntArray
from pliant.attempt import Failure, StepFailed, attempt, take
from pliant.certificate import deforming, plain
from pliant.errors import PliantError, RunError
from pliant.ledger import prescribed
from pliant.origin import Origin
from pliant.simulate import beginning, booked, gain_of
from pliant.state import SolveReport, State, Step
from pliant.systems.base import System

BUNDLE = "failure"  # its folder within a run
SHOWN = 20  # vertices that are shown when none is plainly wrong


def write_bundle(folder: str | Path, failure: Failure, origin: Origin) -> Path:
    """Write the bundle of a failure; returns its folder."""
    folder = Path(folder)
    origin.write(folder)
    checkpoint.save(folder / "checkpoint.h5", failure.before)
    vertices, elements = offenders(failure)
    energies: list[tuple[int, Any, slice]] = list(deforming(failure.system))
    document = {
        "step": failure.step,
        "t": failure.before.state.t,
        "h": failure.h,
        "reason": failure.reason,
        "whole": failure.whole,
        "replay": f"pliant replay {folder}",
        "certificate": failure.report.as_json() if failure.report else None,
        "solves": [_told(solve) for solve in failure.solves],
        "vertices": vertices.tolist(),
        "elements": [
            {"energy": k, "name": energy.name, "elements": elements[k].tolist()}
            for k, energy, _ in energies
            if k in elements
        ],
    }
    try:
        (folder / "report.json").write_text(json.dumps(plain(document), indent=1), encoding="utf-8")
        _write_picture(folder / "offending.vtu", failure, vertices, elements)
    except OSError as error:
        raise RunError(f"cannot write {folder}: {error}", where="bundle") from error
    return folder


def _told(solve: SolveReport) -> dict[str, Any]:
    """A solve without the forces it found, which may be as large as the scene."""
    return asdict(replace(solve, reactions=None, acted=None))


@dataclass(frozen=True)
class Repeated:
    """A repeated step: what it reports now, what it reported then, and whether both are the same to the last bit."""

    step: int
    reason: str
    then: str
    solves: tuple[SolveReport, ...]
    same: bool


def replay(folder: str | Path, scene: Any = None) -> Repeated:
    """Repeat the failed step of a bundle; pass ``scene`` only if the scene was built in Python."""
    from pliant.scene_file import load_scene

    folder = Path(folder)
    if (folder / BUNDLE / "report.json").is_file():  # the run that left it
        folder = folder / BUNDLE
    try:
        told = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        h, step, then = float(told["h"]), int(told["step"]), str(told["reason"])
        whole, before = bool(told["whole"]), [solve["history"] for solve in told["solves"]]
    except (OSError, KeyError, TypeError, ValueError) as error:
        remedy = "give the folder that the error named, or the run it lies in"
        raise RunError(f"{folder} is not a failure bundle", where="replay", remedy=remedy) from error
    scene = load_scene(folder / "scene.toml").scene if scene is None else scene
    system, point = beginning(scene, checkpoint.load(folder / "checkpoint.h5"))
    try:
        if whole:
            taken, reason = take(scene, system, point, step, h)
            row = ledger.opening(point.step, system, point.state, scene.integrator)
            reason = reason or gain_of(scene, booked(row, system, point.state, taken, scene.integrator.order))
            made: Step | None = taken[-1]
        else:
            made, reason = attempt(scene, system, point, h)
    except StepFailed as failed:
        made, reason = None, failed.failure.reason
    except PliantError:
        raise
    except Exception as error:  # a defect, as when it happened
        made, reason = None, f"{type(error).__name__}: {error}"
    solves = () if made is None else made.reports
    tables = [[dict(line) for line in solve.history] for solve in solves]
    same = bool(plain(tables) == before) and bool(reason) and then.endswith(reason)
    return Repeated(step, reason or "the step converges", then, solves, same)


def offenders(failure: Failure) -> tuple[IntArray, dict[int, IntArray]]:
    """Vertices that are not finite, or else those with the largest unbalanced force; inverted elements of each energy,
    by its place among the system's."""
    if failure.attempt is None:
        return np.zeros(0, dtype=np.int64), {}
    system, state = failure.system, failure.attempt
    with np.errstate(all="ignore"):
        n = len(system.positions(failure.before.state.q))
        wrong = ~(np.isfinite(state.q) & np.isfinite(state.v))
        if len(state.q) % max(n, 1):
            return np.zeros(0, dtype=np.int64), {}
        if not wrong.any():
            unbalanced = _unbalanced(system, failure.before.state, state, failure.h)
            largest = np.argsort(-np.nan_to_num(np.abs(unbalanced.reshape(n, -1)).max(axis=1), nan=np.inf))
            vertices = np.sort(largest[:SHOWN])
        else:
            vertices = np.flatnonzero(wrong.reshape(n, -1).any(axis=1))
        elements = {k: np.flatnonzero(~(energy.det(state.q[own]) > 0.0)) for k, energy, own in deforming(system)}
    return vertices.astype(np.int64), elements


def _unbalanced(system: System, before: State, after: State, h: float) -> Array:
    """M dv / h - f on the free coordinates: what a solved step has small."""
    r = system.mass(after.q) @ (after.v - before.v) / h - system.force(after.q, after.v, after.t)
    r[prescribed(system, len(r))] = 0.0
    return r


def _write_picture(path: Path, failure: Failure, vertices: IntArray, elements: dict[int, IntArray]) -> None:
    """A VTK file of the offending vertices (as points) and elements, at the positions before the step."""
    import meshio

    points = failure.system.positions(failure.before.state.q)
    cells: list[tuple[str, Any]] = [("vertex", vertices[:, None])] if len(vertices) else []
    for k, energy, _ in deforming(failure.system):
        bad = elements.get(k, np.zeros(0, dtype=np.int64))
        if len(bad):
            nodes = energy.elements.nodes[bad]
            cells.append(({3: "triangle", 4: "tetra"}[nodes.shape[1]], nodes))
    if cells:
        meshio.Mesh(points, cells).write(path)
