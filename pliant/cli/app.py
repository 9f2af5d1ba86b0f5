"""The commands and their help."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli.complete import formats, runs, scenes, settings

app = typer.Typer(
    name="pliant",
    help="Simulate soft bodies, cloth and articulated bodies, with a certificate for every step.\n\n"
    "Start with:  pliant list   then   pliant run cantilever   then   pliant advise cantilever",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

SceneArgument = Annotated[
    str, typer.Argument(help="a built-in scene (see `pliant list`), a .toml or a .py file", autocompletion=scenes)
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help='change the scene, e.g. --set integrator=bdf1 --set material.E="1 MPa"',
        metavar="PATH=VALUE",
        autocompletion=settings,
    ),
]
UseOption = Annotated[
    list[str] | None,
    typer.Option("--use", help="a Python file that registers parts of your own", metavar="FILE.py"),
]
StepOption = Annotated[str | None, typer.Option("--h", help='time step, e.g. 0.01 or "5 ms"')]
DurationOption = Annotated[str | None, typer.Option(help="simulated time")]
JsonOption = Annotated[bool, typer.Option("--json", help="print only the result, as JSON")]
HeadlessOption = Annotated[bool, typer.Option("--headless", help="no progress bar")]
TrustOption = Annotated[bool, typer.Option("--trust", help="allow the Python code that the folder's scene refers to")]
ThreadsOption = Annotated[int | None, typer.Option(help="number of threads (does not affect the result)")]


def _show_version(wanted: bool) -> None:
    if wanted:
        from pliant import __version__

        typer.echo(__version__)
        raise typer.Exit


def _settings(given: list[str] | None, files: list[str] | None) -> list[str]:
    """All settings; files with parts of the user's own are one of them."""
    return [*(f'extensions=["{file}"]' for file in files or []), *(given or [])]


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
    settings = _settings(set_, use) + [f"{name}={value}" for name, value in given.items() if value is not None]
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
    show_advice(scene, _settings(set_, use) + ([f"h={h}"] if h is not None else []), json=json)


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
def export(
    folder: Annotated[Path, typer.Argument(help="the folder of a run", autocompletion=runs)],
    to: Annotated[
        str, typer.Option(help="png, mp4, gif, webp, usd, vtk, obj, ply, gltf or npz", autocompletion=formats)
    ],
    out: Annotated[Path | None, typer.Option(help="file (or folder of a series); default inside the run")] = None,
    channel: Annotated[
        str | None, typer.Option(help="channel to colour by or export: a recorded one, or displacement")
    ] = None,
    embed: Annotated[Path | None, typer.Option(help="file with a fine surface to embed in the body")] = None,
    frame: Annotated[int | None, typer.Option(help="one frame only; negative numbers count from the end")] = None,
    every: Annotated[int | None, typer.Option(help="every k-th frame of a series (geometry)")] = None,
    size: Annotated[str | None, typer.Option(help="pixels: 960x540 (default), hd, fullhd, 4k")] = None,
    camera: Annotated[str | None, typer.Option(help="fit, front, side, back, top, iso, or a direction x,y,z")] = None,
    zoom: Annotated[float | None, typer.Option(help="zoom in (above 1) or out")] = None,
    moving: Annotated[bool | None, typer.Option("--moving", help="frame only what moves")] = None,
    colours: Annotated[str | None, typer.Option(help="colour map of the channel, by matplotlib's name")] = None,
    limits: Annotated[
        str | None, typer.Option(help="range of the colour scale, LOW,HIGH; default: range of the run")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="unit of the channel, for the legend")] = None,
    background: Annotated[str | None, typer.Option(help="colour of the background, such as white or #14171c")] = None,
    stamp: Annotated[bool | None, typer.Option("--stamp", help="show the time in the picture")] = None,
    wireframe: Annotated[bool | None, typer.Option("--wireframe", help="draw the edges of the mesh")] = None,
    beside: Annotated[
        list[Path] | None, typer.Option(help="another run, shown side by side with a common clock")
    ] = None,
    fps: Annotated[float | None, typer.Option(help="frames per second (films); default 30")] = None,
    speed: Annotated[
        float | None, typer.Option(help="playback speed of films relative to real time; 0.25 is slow motion")
    ] = None,
    orbit: Annotated[float | None, typer.Option(help="degrees that the camera orbits during a film")] = None,
    follow: Annotated[bool | None, typer.Option("--follow", help="keep the moving bodies centered (films)")] = None,
    trust: TrustOption = False,
) -> None:
    """Write a run as a picture, a film, or geometry for other programs."""
    from pliant.cli.export import check_format, draw_run, export_run
    from pliant.cli.run import trust_folder

    for one in (folder, *(beside or [])):
        trust_folder(one, trust)
    seen: dict[str, Any] = {
        "size": size,
        "camera": camera,
        "zoom": zoom,
        "moving": moving,
        "colours": colours,
        "limits": limits,
    }
    seen |= {"unit": unit, "background": background, "stamp": stamp, "wireframe": wireframe, "beside": beside or None}
    seen |= {"fps": fps, "speed": speed, "orbit": orbit, "follow": follow}
    if check_format(to, every=every, **seen):
        draw_run(folder, to, out, channel, embed, frame, seen)
    else:
        export_run(folder, to, out, channel, embed, frame, 1 if every is None else every)


@app.command()
def plot(
    folders: Annotated[list[Path], typer.Argument(help="folders of runs; several are compared", autocompletion=runs)],
    show: Annotated[list[str] | None, typer.Option(help="energy, dissipation, iterations, steps; default all")] = None,
    out: Annotated[Path | None, typer.Option(help="picture file; default plot.png in the first folder")] = None,
) -> None:
    """Draw energies, numerical dissipation and iterations per step."""
    from pliant.cli.plot import plot_folders

    plot_folders(folders, show or [], out)


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
    settings = _settings(set_, use) + ([] if device is None else [f"device={device}"])
    sweep_scene(scene, over, settings, out, workers=workers, cluster=cluster, batch=batch, metric=metric, json=json)


@app.command()
def fit(
    scene: SceneArgument,
    to: Annotated[Path, typer.Option(help="CSV file with columns t, tip.x, tip.y [mm], bar.57.z, ...")],
    vary: Annotated[str, typer.Option(help="parameters to fit, e.g. material.E,material.nu", metavar="PATH,...")],
    marker: Annotated[
        list[str] | None,
        typer.Option(help='where a marker is, e.g. tip="x == max" or tip="bar: x == max"', metavar="NAME=SENTENCE"),
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


@app.command()
def view(
    folder: Annotated[Path, typer.Argument(help="the folder of a run", autocompletion=runs)],
    compare: Annotated[
        list[Path] | None, typer.Option(help="another run, shown side by side with a common clock", autocompletion=runs)
    ] = None,
    port: Annotated[int, typer.Option(help="port of the server")] = 8080,
    host: Annotated[str, typer.Option(help="address to listen on; 0.0.0.0 accepts other machines")] = "127.0.0.1",
    play: Annotated[bool, typer.Option(help="start playing immediately")] = True,
    trust: TrustOption = False,
) -> None:
    """Replay a run in the browser: scrub, play, colour by a channel, plot energies."""
    from pliant.cli.run import trust_folder
    from pliant.cli.view import view_runs

    for one in (folder, *(compare or [])):
        trust_folder(one, trust)
    view_runs([folder, *(compare or [])], host, port, play=play)


@app.command()
def play(
    scene: SceneArgument,
    set_: SetOption = None,
    use: UseOption = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(help="a second run beside it with a common clock, e.g. integrator=siere", metavar="PATH=VALUE"),
    ] = None,
    port: Annotated[int, typer.Option(help="port of the server")] = 8080,
    host: Annotated[str, typer.Option(help="address to listen on; 0.0.0.0 accepts other machines")] = "127.0.0.1",
    trust: TrustOption = False,
) -> None:
    """Run a scene live in the browser: start, step, reset, drag with the mouse, change stiffness and integrator."""
    from pliant.cli.run import trust_source
    from pliant.cli.view import play_scene

    trust_source(scene, trust)
    play_scene(scene, _settings(set_, use), compare or [], host, port)
