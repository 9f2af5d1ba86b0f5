"""``pliant run`` and ``pliant resume``: the run, its progress bar, and what is said at its end."""

import json as js
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pliant.progress import watching

if TYPE_CHECKING:
    from pliant.record import Run


INTERRUPTED = 130  # the exit code of what Ctrl-C has stopped


def use_threads(threads: int | None) -> None:
    """Fix the number of kernel threads; must come before the kernels are loaded."""
    if threads is not None:
        from pliant.errors import SceneError

        if threads < 1:
            raise SceneError(f"{threads} threads", where="--threads", remedy="use at least 1")
        os.environ["NUMBA_NUM_THREADS"] = str(threads)


def run_scene(
    source: str, settings: Sequence[str], out: Path | None, *, overwrite: bool, quiet: bool, json: bool
) -> None:
    from pliant.record import Interrupted, record
    from pliant.scene_file import load_scene

    loaded = load_scene(source, settings)
    path = Path(source)
    usual = Path("runs") / (path.stem if path.is_file() else path.resolve().name if path.is_dir() else source)
    folder = out or (usual if overwrite else _free_folder(usual))
    try:
        with watching(loaded.scene, quiet) as watch:
            made = record(
                loaded.scene, folder, output=loaded.output, origin=loaded.origin, overwrite=overwrite, watch=watch
            )
    except Interrupted as stop:
        print(f"{stop}; continue with: pliant resume {folder}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    _say(made, json)


def resume_run(folder: Path, *, quiet: bool, json: bool) -> None:
    from pliant.record import Interrupted, load, resume
    from pliant.scene_file import load_scene

    load(folder)  # is it a run at all?
    loaded = load_scene(folder / "scene.toml")
    try:
        with watching(loaded.scene, quiet) as watch:
            made = resume(folder, watch=watch)
    except Interrupted as stop:
        print(f"{stop}; continue with: pliant resume {folder}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    _say(made, json)


def fork_run(folder: Path, settings: Sequence[str], out: Path | None, *, quiet: bool, json: bool) -> None:
    from pliant.record import Interrupted, fork, load
    from pliant.scene_file import load_scene

    load(folder)
    loaded = load_scene(folder / "scene.toml", settings)
    target = out or _free_folder(folder.with_name(f"{folder.resolve().name}-fork"))
    try:
        with watching(loaded.scene, quiet) as watch:
            made = fork(folder, settings, target, watch=watch)
    except Interrupted as stop:
        print(f"{stop}; continue with: pliant resume {target}", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    _say(made, json)


def trust_folder(folder: Path, trusted: bool) -> None:
    """Refuse a folder whose scene names Python files unless their code may run: it may come from somebody else."""
    from pliant.errors import RunError
    from pliant.scene_file.load import read_toml

    for scene in (folder / "scene.toml", folder / "failure" / "scene.toml"):
        document = read_toml(scene) if scene.is_file() and not trusted else {}
        named = document.get("python") or document.get("extensions")
        if named:
            remedy = "inspect it, then add --trust"
            raise RunError(f"{scene} runs the Python code of {named!r}", where="trust", remedy=remedy)


def trust_source(source: str, trusted: bool) -> None:
    """The same for what names a scene, if it is a folder; a file or a built-in scene is the user's own choice."""
    if Path(source).is_dir():
        trust_folder(Path(source), trusted)


def _say(made: "Run", json: bool) -> None:
    from pliant.alarms import spoken

    report = made.report
    if json:
        print(js.dumps({"folder": str(made.folder), **report}))
        return
    seconds = report["seconds"].get("step", 0.0)
    print(f"{made.folder}: {report['done']} steps in {seconds:.3g} s, {report['iterations']} iterations")
    unit, energy = made.energy_unit, sum(report["energies"].values())
    print(f"energy {energy:.6g} {unit}; numerical dissipation {report['numerical']:.3g} {unit}")
    told = {
        "unconverged": "did not converge",
        "uncertified": "are not certified",
        "substepped": "were cut into substeps",
    }
    for name, what in told.items():
        if report[name]:
            print(f"{report[name]} steps {what}")
    for kind, tally in report["alarms"].items():
        print(spoken(kind, tally), file=sys.stderr)


def _free_folder(folder: Path) -> Path:
    """The folder, or the first of folder-2, folder-3, ... that does not exist."""
    k, free = 1, folder
    while free.exists():
        k += 1
        free = folder.with_name(f"{folder.name}-{k}")
    return free
