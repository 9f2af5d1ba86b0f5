"""An empty figure without a screen, and how it becomes a file."""

from pathlib import Path
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pliant.errors import RunError


def sheet(
    rows: int = 1, columns: int = 1, size: tuple[float, float] = (6.4, 3.8), **options: Any
) -> tuple[Figure, Any]:
    """A figure and its axes, (rows, columns); ``size`` is that of the whole figure [inch]."""
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure into a .png, .svg or .pdf file, making its folder."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise RunError(f"cannot write {path}: {error.strerror}", where="plot", remedy="choose another place") from error
    except ValueError as error:
        raise RunError(f"cannot write {path}: {error}", where="plot", remedy="use a .png, .svg or .pdf file") from error
    return path
