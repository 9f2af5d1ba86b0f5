"""pliant coarsen: a coarse mesh and what coarsening does to the frequencies."""

import json as json_module
from pathlib import Path

from rich.console import Console
from rich.table import Table


def coarsen_mesh(file: Path, target: int, out: Path | None, *, json: bool) -> None:
    """Write the coarse mesh and show the relative frequency errors before and after the corrections."""
    from pliant.coarsen import coarsen
    from pliant.mesh import read, write

    mesh = read(file)
    coarse = coarsen(mesh, target)
    out = out or file.with_name(f"{file.stem}-coarse.vtu")
    write(coarse.mesh, out)
    counts = {"vertices": len(coarse.mesh.X), "tetrahedra": len(coarse.mesh.T), "matched modes": coarse.matched}
    if json:
        print(json_module.dumps({"mesh": str(out), **counts, "rows": coarse.rows()}))
        return
    table = Table(title=f"relative errors of the frequencies, {len(mesh.X)} -> {counts['vertices']} vertices")
    for column in coarse.rows()[0]:
        table.add_column(column, justify="right")
    for row in coarse.rows():
        table.add_row(str(row["mode"]), *(f"{row[name]:+.1%}" for name in ("coarse", "DAC", "EigenFit")))
    console = Console()
    console.print(table)
    console.print(f"{out}: {counts['tetrahedra']} tetrahedra, {coarse.matched} modes of the same shape")
