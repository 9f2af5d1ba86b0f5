"""A benchmark returns a Table: rows, and the claims it exists for. A claim that fails stays in the table."""

import os
import platform
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Claim:
    """One statement of a paper (or one of our targets), our number, and whether it holds."""

    name: str
    paper: str
    measured: str
    holds: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "holds", bool(self.holds))  # comparisons of NumPy numbers give NumPy booleans


@dataclass(frozen=True)
class Table:
    """The result of ``run(quick)`` in a benchmark module; ``id`` is paper/figure, rows are flat dicts of one shape."""

    id: str
    title: str
    rows: list[dict[str, Any]]
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "machine": machine(),
            "rows": self.rows,
            "claims": [vars(c) for c in self.claims],
            "notes": self.notes,
            "figures": self.figures,
        }


def machine() -> dict[str, Any]:
    """What a reader needs to judge the times: processor kind, cores, versions."""
    import numba
    import numpy
    import scipy

    return {
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "numba": numba.__version__,
    }
