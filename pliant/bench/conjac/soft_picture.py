"""The bodies of conjac/soft side by side: what the full mesh does, the paper's step, and ours."""

import os
import tempfile
from pathlib import Path

from pliant.arrays import Array
from pliant.mesh import Mesh

Shapes = dict[str, dict[str, Array]]  # method -> label of the moment -> positions (n, 3)


def picture(mesh: Mesh, cases: dict[str, tuple[Shapes, tuple[int, int]]], name: str) -> str:
    """One row per case (its shapes and the two coordinates to look at), one column per method; the file's path."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    columns = list(next(iter(cases.values()))[0])
    sheet = Figure(figsize=(4.0 * len(columns), 3.6 * len(cases)), layout="constrained")
    FigureCanvasAgg(sheet)
    axes = sheet.subplots(len(cases), len(columns), sharex="row", sharey="row", squeeze=False)
    faces = mesh.surface()
    for row, (case, (shapes, (a, b))) in enumerate(cases.items()):
        for column, method in enumerate(columns):
            axis = axes[row, column]
            for k, (moment, x) in enumerate(shapes[method].items()):
                axis.triplot(1e2 * x[:, a], 1e2 * x[:, b], faces, lw=0.5, color=f"C{k}")
                axis.plot([], [], color=f"C{k}", label=moment)
            axis.set_aspect("equal")
            axis.set_title(f"{case}: {method}", fontsize="small")
            axis.set_xlabel(f"{'xyz'[a]} [cm]")
            axis.set_ylabel(f"{'xyz'[b]} [cm]")
        axes[row, 0].legend(fontsize="x-small")
    folder = Path(os.environ.get("PLIANT_FIGURES", tempfile.gettempdir()))
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.png"
    sheet.savefig(path, dpi=120)
    return str(path)
