"""Bars of any size on the device, and how calls there are timed and told."""

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

from pliant.bench.output import cell
from pliant.bodies import Solid
from pliant.cuda.device import synchronized
from pliant.maps.pins import Pin
from pliant.materials import StableNeoHookean
from pliant.mesh import bar
from pliant.scene import Scene

H = 1e-2
SIZES = {"50k": (56, 14, 11), "1M": (148, 37, 30), "8M": (300, 75, 60)}  # cells, of six tetrahedra each


def hanging_bar(cells: tuple[int, int, int], **options: Any) -> Scene:
    """A bar of 1 x 0.25 x 0.25 m, E = 100 kPa, held at one end, that begins to swing down."""
    mesh = bar(size=(1.0, 0.25, 0.25), cells=cells)
    held = Pin(mesh.where(lambda X: X[:, 0] < 1e-9))
    return Scene([Solid(mesh, StableNeoHookean(1e5, 0.4), pins=held)], h=H, **options)


def seconds(call: Callable[[], Any], repeats: int = 5) -> float:
    """Least wall time of a call, with everything it started on the device; the first call may compile."""
    best = float("inf")
    for k in range(repeats + 1):
        synchronized()
        begun = perf_counter()
        call()
        synchronized()
        best = min(best, perf_counter() - begun) if k else best
    return best


def told(row: dict[str, Any]) -> dict[str, Any]:
    """The row, written to stderr as it comes."""
    sys.stderr.write(", ".join(f"{name} {cell(value)}" for name, value in row.items()) + "\n")
    sys.stderr.flush()
    return row
