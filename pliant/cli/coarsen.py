"""pliant coarsen: a coarse mesh and what coarsening does to the frequencies."""

import json as json_module
from pathlib import Path

from rich.console import Console
from rich.table import Table


def coarsen_mesh(file: Path, target: int | None, out: Path | None, *, json: bool) -> None:
    """Write the coarse mesh and show the relative frequency errors before and after the corrections."""
    from pliant.coarsen import coarsen
    from pliant.errors import MeshError
    from pliant.mesh import read, write

    out = out or file.with_name(f"{file.stem}-coarse.vtu")
    if not out.parent.is_dir():
        raise MeshError(f"no folder {out.parent}", where=str(out), remedy="create it first")
    mesh = read(file)
    coarse = coarsen(mesh, max(len(mesh.X) // 10, 8) if target is None else target)
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
