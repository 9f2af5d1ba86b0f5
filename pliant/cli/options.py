"""Arguments and options that several commands share."""

from typing import Annotated

import typer

from pliant.cli.complete import scenes, settings

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
PortOption = Annotated[int, typer.Option(help="port of the server")]
HostOption = Annotated[str, typer.Option(help="address to listen on; 0.0.0.0 accepts other machines")]


def all_settings(given: list[str] | None, files: list[str] | None) -> list[str]:
    """All settings; files with parts of the user's own are one of them."""
    return [*(f'extensions=["{file}"]' for file in files or []), *(given or [])]
