"""Bodies whose support is shaken, with EigenFit, DAC and without: the content of Figures 3.9 to 3.12. [Chen2019]

Shaken as all bodies of the chapter are, and by a tenth of that: ratios measured at rest are right near rest.
"""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.bench.chen.coarse import error_rows, simulate, systems, velocity_errors
from pliant.bench.chen.play import plot
from pliant.bench.table import Claim, Table
from pliant.integrators import LinearlyImplicit
from pliant.scenes.chen_coarse import SHAKE, H, notes, pair

SIZES = {"shaken": 1.0, "a tenth": 0.1}


def two_shakes(id: str, title: str, name: str, material: Any, frames: int, remark: str) -> Table:
    """The pair ``name`` of ``material`` (or of a function of the mesh), 10 modes, linearly implicit steps."""
    rows: list[dict[str, Any]] = []
    claims, figures, grown = [], [], []
    for label, size in SIZES.items():
        x, y, z = SHAKE
        body = pair(name, material, shaken=True, shake=(size * x, size * y, size * z), beta=0.0)
        built = systems(body, 10, False)
        runs = simulate(body, built, LinearlyImplicit(), frames)
        found, errors = error_rows(body, runs, shake=label)
        speeds = velocity_errors(body, runs)
        rows += [{**row, "mean velocity error [m/s]": float(speeds[row["method"]].mean())} for row in found]
        mean = {n: float(e.mean()) for n, e in errors.items()}
        text = ", ".join(f"{n} {m:.2g}" for n, m in mean.items())
        claims.append(Claim(f"{label}: EigenFit below coarse [m]", "improves", text, mean["EigenFit"] < mean["coarse"]))
        fitted = built["EigenFit"]
        seen = [frame[0] for frame in runs["EigenFit"].path[::20]]
        grown.append(max(float(fitted.spectrum(q).lam[0] / fitted.fit.coarse[0]) for q in seen))
        stem = f"{id.split('/')[1]}_{label.replace(' ', '_')}"
        figures += [drawn(stem, title, errors, "largest distance [m]"),
                    drawn(f"{stem}_velocity", title, speeds, "largest difference of velocities [m/s]")]  # fmt: skip
    change = (
        f"the lowest eigenvalue grows to {grown[0]:.2f} times that at rest, where the ratios were measured "
        f"({grown[1]:.2f} times by a tenth of the shake)"
    )
    return Table(id, title, rows, claims, [*notes(name), remark, change], figures)


def drawn(stem: str, title: str, series: dict[str, Array], label: str) -> str:
    return plot(stem, title, {n: (H * np.arange(1.0, len(e) + 1.0), e) for n, e in series.items()}, label)
