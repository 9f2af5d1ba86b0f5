"""The commands and their help; those that show something are in `showing`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from pliant.cli.complete import runs, scenes
from pliant.cli.options import (
    DurationOption,
    HeadlessOption,
    JsonOption,
    SceneArgument,
    SetOption,
    StepOption,
    ThreadsOption,
    TrustOption,
    UseOption,
    all_settings,
)
from pliant.cli.showing import export, play, plot, view

app = typer.Typer(
    name="pliant",
    help="Simulate soft bodies, cloth and articulated bodies, with a certificate for every step.\n\n"
    "Start with:  pliant list   then   pliant run cantilever   then   pliant advise cantilever",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from pliant import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _common(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="show the traceback of errors")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="print the version", is_eager=True, callback=_show_version)
    ] = False,
) -> None:
    if verbose:
        os.environ["PLIANT_VERBOSE"] = "1"


@app.command()
def run(
    scene: SceneArgument,
    set_: SetOption = None,
    use: UseOption = None,
    h: StepOption = None,
    duration: DurationOption = None,
    out: Annotated[Path | None, typer.Option(help="folder to record into; default runs/SCENE")] = None,
    overwrite: Annotated[bool, typer.Option(help="replace an existing run")] = False,
    headless: HeadlessOption = False,
    json: JsonOption = False,
    threads: ThreadsOption = None,
    device: Annotated[str | None, typer.Option(help="device to simulate on: cpu or cuda")] = None,
    trust: TrustOption = False,
) -> None:
    """Simulate a scene and record it: frames, ledger, report, checkpoint. Ctrl-C saves and stops."""
    from pliant.cli.run import run_scene, trust_source, use_threads

    use_threads(threads)
    trust_source(scene, trust)
    given = {"h": h, "duration": duration, "device": device}
    settings = all_settings(set_, use) + [f"{name}={value}" for name, value in given.items() if value is not None]
    run_scene(scene, settings, out, overwrite=overwrite, quiet=headless or json, json=json)


@app.command()
def resume(
    folder: Annotated[Path, typer.Argument(help="the folder of an interrupted run", autocompletion=runs)],
    set_: SetOption = None,
    out: Annotated[Path | None, typer.Option(help="folder of the fork; default FOLDER-fork")] = None,
    headless: HeadlessOption = False,
    json: JsonOption = False,
    threads: ThreadsOption = None,
    trust: TrustOption = False,
) -> None:
    """Continue an interrupted run; the result is the same, bit for bit, as if it had never stopped.

    With --set a new run begins at its last checkpoint, in a folder of its own.
    """
    from pliant.cli.run import fork_run, resume_run, trust_folder, use_threads

    use_threads(threads)
    trust_folder(folder, trust)
    if set_ or out:
        fork_run(folder, set_ or [], out, quiet=headless or json, json=json)
    else:
        resume_run(folder, quiet=headless or json, json=json)


@app.command()
def replay(
    bundle: Annotated[Path, typer.Argument(help="the failure folder of a run")],
    json: JsonOption = False,
    trust: TrustOption = False,
) -> None:
    """Repeat the failed step exactly and print its iterations; exit code 1 if it is not the same any more."""
    from pliant.cli.replay import show_replay
    from pliant.cli.run import trust_folder

    trust_folder(bundle, trust)
    if not show_replay(bundle, json=json):
        raise typer.Exit(1)


@app.command("list")
def list_(
    word: Annotated[
        str | None, typer.Argument(help="a word to search for, or a scene to show in full", autocompletion=scenes)
    ] = None,
    to: Annotated[Path | None, typer.Option(help="write the scene file and its meshes into this folder")] = None,
    json: JsonOption = False,
) -> None:
    """List what can be chosen: scenes, integrators, solvers, materials, channels.

    With a word only what has it in its name or description; with the name of a scene, that scene as a scene file.
    """
    from pliant.cli.catalogue import is_scene, show_catalogue, show_scene

    if word is not None and (to is not None or is_scene(word)):
        show_scene(word, to, json=json)
    else:
        show_catalogue(word or "", json=json)


@app.command()
def new(
    what: Annotated[str, typer.Argument(help="material, integrator, force or scene")],
    name: Annotated[str, typer.Argument(help="its name, e.g. my-rubber")],
    out: Annotated[Path | None, typer.Option(help="file to write; default NAME.py")] = None,
) -> None:
    """Write a template for a part of your own that works, passes its checks, and is known by its name."""
    from pliant.cli.new import write_start

    write_start(what, name, out)


@app.command()
def doctor(
    mesh: Annotated[Path | None, typer.Argument(help="the mesh file to check; without it, the installation")] = None,
    picture: Annotated[Path | None, typer.Option(help="picture of the problem areas; default MESH-doctor.png")] = None,
    json: JsonOption = False,
) -> None:
    """Check a mesh (exit code 1 if scenes would reject it), or this machine and its speed."""
    from pliant.cli.doctor import examine_machine, examine_mesh

    if mesh is None:
        examine_machine(json=json)
    else:
        raise typer.Exit(examine_mesh(mesh, picture, json=json))


@app.command()
def coarsen(
    mesh: Annotated[Path, typer.Argument(help="a file with tetrahedra")],
    target: Annotated[int | None, typer.Option(help="approximate number of vertices; default: a tenth")] = None,
    out: Annotated[Path | None, typer.Option(help="output file; default MESH-coarse.vtu")] = None,
    json: JsonOption = False,
) -> None:
    """Make a coarse mesh of a body, and show the error of its frequencies with and without EigenFit and DAC."""
    from pliant.cli.coarsen import coarsen_mesh

    coarsen_mesh(mesh, target, out, json=json)


@app.command()
def advise(
    scene: SceneArgument,
    set_: SetOption = None,
    use: UseOption = None,
    h: StepOption = None,
    json: JsonOption = False,
    trust: TrustOption = False,
) -> None:
    """Report frequencies, time-step limits and numerical damping of a scene, and what to change."""
    from pliant.cli.advise import show_advice
    from pliant.cli.run import trust_source

    trust_source(scene, trust)
    show_advice(scene, all_settings(set_, use) + ([f"h={h}"] if h is not None else []), json=json)


@app.command()
def bench(
    id: Annotated[str | None, typer.Argument(help="paper/figure; without it, the list of all")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="a smaller version")] = False,
    out: Annotated[Path, typer.Option(help="folder for the figure (PNG) and the table (CSV, JSON, Markdown)")] = Path(
        "runs/bench"
    ),
    part: Annotated[
        str | None, typer.Option(help="only a part, CASE:K/N, stored in --out (contests of solvers)")
    ] = None,
    join: Annotated[Path | None, typer.Option(help="folder of stored parts, read instead of played")] = None,
    json: JsonOption = False,
) -> None:
    """Reproduce a table or figure of a paper: the paper's numbers, ours, and whether each claim holds."""
    from pliant.cli.bench import list_benches, run_bench

    if id is None:
        list_benches(json=json)
    else:
        run_bench(id, out, quick=quick, json=json, part=part, join=join)


@app.command()
def sweep(
    scene: SceneArgument,
    over: Annotated[
        list[str],
        typer.Option(help="a parameter and its values, e.g. --over material.E=1e4,1e5", metavar="PATH=A,B,..."),
    ],
    set_: SetOption = None,
    use: UseOption = None,
    out: Annotated[Path | None, typer.Option(help="folder of the sweep; default runs/SCENE-sweep")] = None,
    workers: Annotated[int, typer.Option(help="number of processes")] = 2,
    cluster: Annotated[str | None, typer.Option(help="dask scheduler to use instead, e.g. tcp://host:8786")] = None,
    device: Annotated[str | None, typer.Option(help="device to simulate on: cpu or cuda")] = None,
    batch: Annotated[
        int | None,
        typer.Option(help="simulate this many points together as one scene; records only their final states"),
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="column to plot against the parameters: a curve, or a heat map for two")
    ] = None,
    json: JsonOption = False,
    trust: TrustOption = False,
) -> None:
    """Run a scene with every combination of some settings; repeat the command to continue after an interruption."""
    from pliant.cli.run import trust_source
    from pliant.cli.sweep import sweep_scene

    trust_source(scene, trust)
    settings = all_settings(set_, use) + ([] if device is None else [f"device={device}"])
    sweep_scene(scene, over, settings, out, workers=workers, cluster=cluster, batch=batch, metric=metric, json=json)


@app.command()
def fit(
    scene: SceneArgument,
    to: Annotated[Path, typer.Option(help="CSV file with columns t, tip.x, tip.y [mm], bar.57.z, ...")],
    vary: Annotated[str, typer.Option(help="parameters to fit, e.g. material.E,material.nu", metavar="PATH,...")],
    marker: Annotated[
        list[str] | None,
        typer.Option(help='where a marker is, e.g. tip="x == max" or tip="bar: x == max"', metavar="NAME=CONDITION"),
    ] = None,
    set_: SetOption = None,
    runs: Annotated[int, typer.Option(help="maximum number of runs")] = 15,
    out: Annotated[Path | None, typer.Option(help="folder of fit.png and fit.json; default runs/SCENE-fit")] = None,
    headless: HeadlessOption = False,
    json: JsonOption = False,
    trust: TrustOption = False,
) -> None:
    """Find materials and other numbers of a scene from a measured motion, with 95 % confidence intervals."""
    from pliant.cli.fit import fit_scene
    from pliant.cli.run import trust_source

    trust_source(scene, trust)
    quiet = headless or json
    fit_scene(scene, to, vary, marker or [], list(set_ or []), out, runs=runs, quiet=quiet, json=json)


for command in (export, plot, view, play):
    app.command()(command)
