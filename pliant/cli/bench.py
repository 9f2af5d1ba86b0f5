"""``pliant bench``: the table of a paper, our column, and whether its claims hold."""

import ast
import importlib
import json as js
import os
import pkgutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rich.table import Table as Grid

from pliant.cli.console import console

if TYPE_CHECKING:
    from pliant.bench.table import Table


def benches() -> dict[str, str]:
    """All benchmarks (paper/figure) with the first line of their docstring; none is imported for that."""
    import pliant.bench

    found = {}
    for info in pkgutil.walk_packages(pliant.bench.__path__, "pliant.bench."):
        parts = info.name.removeprefix("pliant.bench.").split(".")
        if len(parts) != 2 or info.ispkg or parts[1].startswith("_"):
            continue
        tree = ast.parse(Path(pliant.bench.__path__[0], *parts).with_suffix(".py").read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in tree.body):
            name = "/".join(parts)
            found[name] = (ast.get_docstring(tree) or "").split("\n")[0].removeprefix(f"{name}: ")
    return found


def list_benches(*, json: bool) -> None:
    known = benches()
    if json:
        print(js.dumps(known))
        return
    grid = Grid(show_header=False, box=None, padding=(0, 2, 0, 0))
    for name, text in known.items():
        grid.add_row(name, text)
    console().print(grid)


def run_bench(
    id: str, out: Path, *, quick: bool, json: bool, part: str | None = None, join: Path | None = None
) -> None:
    from pliant.bench.output import write
    from pliant.bench.parts import FOLDER
    from pliant.errors import SceneError
    from pliant.linear.threads import one_thread
    from pliant.scene_file.choices import nearest

    known = benches()
    if id not in known:
        raise SceneError(f"no benchmark is called {id!r}", where="bench", remedy=nearest(id, known))
    os.environ.setdefault("PLIANT_FIGURES", str(out))
    if join is not None:
        os.environ[FOLDER] = str(join)
    module = importlib.import_module("pliant.bench." + id.replace("/", "."))
    if part is not None:
        print(play_share(module, part, out, quick))
        return
    with one_thread():  # solvers and systems that a benchmark calls by itself, too
        table = module.run(quick=quick)
    files = write(table, out, _own_figure(module))
    if json:
        print(js.dumps(table.as_json(), default=float))
    else:
        show(table)
        print(*files, sep="\n")


def play_share(module: ModuleType, part: str, out: Path, quick: bool) -> Path:
    """Play a part ("case:k/n") of a benchmark that is made of contests; the file it is stored in."""
    from pliant.bench.parts import play_part
    from pliant.errors import SceneError
    from pliant.linear.threads import one_thread

    contests = vars(module).get("contests")
    if contests is None:
        what = f"{module.__name__.removeprefix('pliant.bench.').replace('.', '/')} has no parts"
        raise SceneError(what, where="bench --part", remedy="run the whole benchmark; it is not made of contests")
    with one_thread():
        return play_part(contests(quick), part, out)


def _own_figure(module: ModuleType) -> "Callable[[Table], Any] | None":
    """The drawing of a benchmark, its own or one of another benchmark; `pliant.mesh.figure` is none."""
    found = vars(module).get("figure")
    return found if callable(found) and found.__module__.startswith("pliant.bench.") else None


def show(table: "Table") -> None:
    """Print rows, claims and notes."""
    from pliant.bench.output import cell

    out = console()
    if table.rows:
        grid = Grid(title=f"{table.id}: {table.title}", title_justify="left")
        for name in table.columns:
            grid.add_column(name, justify="right")
        for row in table.rows:
            grid.add_row(*(cell(row.get(name)) for name in table.columns))
        out.print(grid)
    if table.claims:
        grid = Grid("claim", "paper", "ours", "holds?")
        for claim in table.claims:
            texts = (claim.name, claim.paper, claim.measured, "yes" if claim.holds else "NO")
            grid.add_row(*texts)
        out.print(grid)
    for line in table.notes:
        out.print(line)
