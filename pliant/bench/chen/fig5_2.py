"""chen/fig5_2: the stiff pendulum by MSSI, SI and BE. [Chen2019, Figure 5.2]"""

from typing import Any

import numpy as np

from pliant.bench.chen.play import energy_plot, play
from pliant.bench.table import Claim, Table
from pliant.integrators import BDF1, MSSI, LinearlyImplicit
from pliant.scenes.chen_springs import pendulum


def run(*, quick: bool = False) -> Table:
    """Twenty seconds either way: the run takes a fraction of one."""
    scene = pendulum()
    system, h = scene.system(), float(scene.h)
    methods: dict[str, Any] = {
        "MSSI": MSSI(),
        "MSSI as printed": MSSI(variant="printed"),
        "SI": LinearlyImplicit(),
        "BE": BDF1(),
    }
    runs = [play(n, system, scene.initial(system), i, h, scene.steps) for n, i in methods.items()]
    peaks = {r.name: [float(q.max()) for q in np.array_split(r.series("kinetic"), 4)] for r in runs}
    rows = [
        {"method": n, **{f"peak, quarter {k + 1} [J]": round(p, 3) for k, p in enumerate(v)}} for n, v in peaks.items()
    ]
    keep = lambda name: peaks[name][3] / peaks[name][0]
    claims = [
        Claim("MSSI keeps swinging: last over first quarter", ">= 0.5", f"{keep('MSSI'):.2f}", keep("MSSI") >= 0.5),
        Claim("SI does not", "<= 0.01", f"{keep('SI'):.1e}", keep("SI") <= 0.01),
    ]
    return Table(
        "chen/fig5_2",
        "Kinetic energy of a stiff pendulum",
        rows,
        claims,
        figures=[energy_plot("fig5_2", "Stiff pendulum", runs, "kinetic")],
    )
