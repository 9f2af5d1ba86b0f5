"""Progress on standard error: kernels while they are compiled, then simulated time, iterations, energy, time left."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pliant.simulate import TimeStep

COMPILED = "compiling kernels; this happens once, they are kept"
# CPU seconds of compilation of a first scene by what it has, see `pliant bench studio/first_run`
EXPECTED = {"deformable": 20.0, "articulated": 12.0, "contact": 10.0}


@contextmanager
def watching(scene: Any, quiet: bool) -> Iterator["Callable[[TimeStep], None] | None"]:
    """Progress of a run: bars on terminals and in notebooks, else a line on compilation; nothing if quiet."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet:
        yield None
    elif not (console.is_terminal or console.is_jupyter):
        with _one_line(scene):
            yield None
    else:
        with _bars(scene, console) as watch:
            yield watch


def expected_seconds(scene: Any) -> float:
    """About how long the kernels of a scene take to compile [CPU s]."""
    from pliant.articulated.body import Articulated, Rigid
    from pliant.bodies import bodies_of

    bodies = bodies_of(scene)
    links = any(isinstance(body, Articulated | Rigid) for body in bodies)
    soft = any(not isinstance(body, Articulated | Rigid) for body in bodies) or not bodies
    has = {"deformable": soft, "articulated": links, "contact": scene.contact is not None}
    return sum(seconds for kind, seconds in EXPECTED.items() if has[kind])


@contextmanager
def _one_line(scene: Any) -> Iterator[None]:
    """Say once that kernels are compiled, when the first one is."""
    from pliant.kernels.compiling import announced

    said: list[str] = []

    def began(name: str) -> None:
        if not said:
            sys.stderr.write(f"{COMPILED} (about {expected_seconds(scene):.0f} s)\n")
            sys.stderr.flush()
        said.append(name)

    with announced(began, lambda name, seconds: None):
        yield


@contextmanager
def _bars(scene: Any, console: Any) -> "Iterator[Callable[[TimeStep], None]]":
    """A bar for kernels, shown when there are any to compile, and one for steps."""
    from rich.progress import BarColumn, Progress, TextColumn

    from pliant.kernels.compiling import announced
    from pliant.units import energy_unit

    unit, started = energy_unit(scene), monotonic()
    columns = TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[told]}")
    with Progress(*columns, console=console) as progress:
        kernels = progress.add_task("kernels", total=expected_seconds(scene), visible=False, told=COMPILED)
        steps = progress.add_task(str(scene.name), total=scene.steps, told="")
        spent: list[float] = []
        first: list[float] = []

        def began(name: str) -> None:
            first[:] = first or [monotonic()]
            progress.update(kernels, visible=True, told=f"{COMPILED}: {name}{_left(progress, kernels, first[0])}")

        def ended(name: str, seconds: float) -> None:
            spent.append(seconds)
            progress.update(kernels, completed=min(sum(spent), 0.98 * expected_seconds(scene)))

        def watch(step: "TimeStep") -> None:
            progress.update(kernels, visible=False)
            rate = step.index / max(monotonic() - started, 1e-9)
            left = (scene.steps - step.index) / rate
            told = f"t {step.state.t:.4g} s  {rate:.3g} steps/s  {step.report.iterations} it"
            told += f"  E {step.ledger.total:.4g} {unit}  {_clock(left)} left"
            progress.update(steps, completed=step.index, told=told)

        with announced(began, ended):
            yield watch


def _left(progress: Any, task: Any, start: float) -> str:
    """The time left, by how fast it went so far; nothing before there is anything to go by."""
    done = progress.tasks[task].completed / progress.tasks[task].total
    return "" if done < 0.02 else f", {_clock((monotonic() - start) * (1.0 - done) / done)} left"


def _clock(seconds: float) -> str:
    """3.2 -> 0:03, 4000 -> 1:06:40."""
    minutes, s = divmod(round(seconds), 60)
    hours, m = divmod(minutes, 60)
    return f"{hours}:{m:02}:{s:02}" if hours else f"{m}:{s:02}"
