"""``pliant plot``: ledger and iterations of one or several runs."""

from collections.abc import Sequence
from pathlib import Path


def plot_folders(folders: Sequence[Path], panels: Sequence[str], out: Path | None) -> None:
    from pliant.plots import plot_runs
    from pliant.record import load

    runs = [load(folder) for folder in folders]
    print(plot_runs(runs, out or folders[0] / "plot.png", panels))
