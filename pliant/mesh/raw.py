"""Arrays as they stand in a file, before anybody asked whether they make sense."""

from dataclasses import dataclass

from pliant.arrays import Array, IntArray


@dataclass(frozen=True, eq=False)
class RawMesh:
    """Positions ``X (n, d)``, elements ``T (m, k)``, optional ``region (m,)``, and the lines of the file."""

    X: Array
    T: IntArray
    region: IntArray | None = None
    lines: IntArray | None = None  # (m,) line numbers from 1, for text formats that have one element per line
