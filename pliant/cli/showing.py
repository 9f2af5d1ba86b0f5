"""The commands that show runs and scenes: pictures, films, plots, the browser."""

from pathlib import Path
from typing import Annotated, Any

import typer

from pliant.cli.complete import formats, runs
from pliant.cli.options import HostOption, PortOption, SceneArgument, SetOption, TrustOption, UseOption, all_settings


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


def plot(
    folders: Annotated[list[Path], typer.Argument(help="folders of runs; several are compared", autocompletion=runs)],
    show: Annotated[list[str] | None, typer.Option(help="energy, dissipation, iterations, steps; default all")] = None,
    out: Annotated[Path | None, typer.Option(help="picture file; default plot.png in the first folder")] = None,
) -> None:
    """Draw energies, numerical dissipation and iterations per step."""
    from pliant.cli.plot import plot_folders

    plot_folders(folders, show or [], out)


def view(
    folder: Annotated[Path, typer.Argument(help="the folder of a run", autocompletion=runs)],
    compare: Annotated[
        list[Path] | None, typer.Option(help="another run, shown side by side with a common clock", autocompletion=runs)
    ] = None,
    port: PortOption = 8080,
    host: HostOption = "127.0.0.1",
    play: Annotated[bool, typer.Option(help="start playing immediately")] = True,
    trust: TrustOption = False,
) -> None:
    """Replay a run in the browser: scrub, play, colour by a channel, plot energies."""
    from pliant.cli.run import trust_folder
    from pliant.cli.view import view_runs

    for one in (folder, *(compare or [])):
        trust_folder(one, trust)
    view_runs([folder, *(compare or [])], host, port, play=play)


def play(
    scene: SceneArgument,
    set_: SetOption = None,
    use: UseOption = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(help="a second run beside it with a common clock, e.g. integrator=siere", metavar="PATH=VALUE"),
    ] = None,
    port: PortOption = 8080,
    host: HostOption = "127.0.0.1",
    trust: TrustOption = False,
) -> None:
    """Run a scene live in the browser: start, step, reset, drag with the mouse, change stiffness and integrator."""
    from pliant.cli.run import trust_source
    from pliant.cli.view import play_scene

    trust_source(scene, trust)
    play_scene(scene, all_settings(set_, use), compare or [], host, port)
