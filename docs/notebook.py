"""The notebook of the docs: ``python docs/notebook.py`` runs its cells and writes first_steps.ipynb with their outputs.

A test runs the cells and compares them with the file.
"""

import ast
import contextlib
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "first_steps.ipynb"
CELLS: list[tuple[str, str]] = [
    ("markdown", "# First steps\n\nA soft bar, held at one end, sags under its weight. The outputs below are those of the executed notebook."),
    ("code", "import pliant as pl\n\nmesh = pl.mesh.bar(size=(0.3, 0.1, 0.1), cells=(6, 2, 2))\nmesh"),
    ("code", 'held = pl.Pin(mesh.where(lambda X: X[:, 0] < 1e-9))\nbody = pl.Solid(mesh, pl.materials.preset("ecoflex-00-10"), density=1040, pins=held)\nscene = pl.Scene([body], pl.BDF2(), h="10 ms", duration=0.5, name="bar")\nscene'),
    ("markdown", "`progress=True` shows a progress bar. The run is recorded in a folder, from which it can be loaded, resumed and exported."),
    ("code", 'run = scene.run("runs/bar", progress=True, overwrite=True)\nrun'),
    ("markdown", "The ledger accounts for the energy, one column per form (`run.dataframe()` returns it as a pandas DataFrame)."),
    ("code", 'run.plot("energy", "dissipation")'),
    ("markdown", "`run.show()` shows a film, coloured by any channel; here only the last frame."),
    ("code", 'run.show("displacement", to="png", size=(480, 270))'),
    ("markdown", "Every step has a certificate: what is known about it, and what is not."),
    ("code", "step = next(iter(pl.simulate(scene)))\nstep.report"),
]  # fmt: skip


def executed(*, film: bool = True) -> list[list[dict[str, Any]]]:
    """The outputs of all code cells, run one after the other; without ``film`` pictures of the run are left out."""
    names: dict[str, Any] = {}
    return [_outputs(text, names) for kind, text in CELLS if kind == "code" and (film or ".show(" not in text)]


def _outputs(text: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """What a cell shows: what it prints, and the value of its last line."""
    tree = ast.parse(text)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        exec(compile(tree, "cell", "exec"), names)
        value = None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    found: list[dict[str, Any]] = []
    if printed.getvalue():
        found.append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
    if value is not None:
        data = {"text/plain": type(value).__name__, "text/html": value._repr_html_()}
        found.append({"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": data})
    return found


def notebook() -> dict[str, Any]:
    """The notebook in format 4, with outputs."""
    outputs = iter(executed())
    cells = []
    for kind, text in CELLS:
        cell: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True)}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": next(outputs)}
        cells.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        text = json.dumps(notebook(), indent=1)
    FILE.write_text(text + "\n", encoding="utf-8")
