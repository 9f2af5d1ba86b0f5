"""``pliant advise``: frequencies, limits, numerical damping, suggestions."""

import json as js
from collections.abc import Sequence
from dataclasses import asdict
from math import isfinite, isnan

from rich.table import Table

from pliant.cli.console import console


def show_advice(source: str, settings: Sequence[str], *, json: bool) -> None:
    from pliant.advise import advise
    from pliant.certificate import plain
    from pliant.scene_file import load_scene

    advice = advise(load_scene(source, settings).scene)
    if json:
        print(js.dumps(plain(asdict(advice))))
        return
    out = console()
    table = Table(title=f"{advice.integrator} at h = {advice.h:g} s", title_justify="left")
    for name in ("mode", "frequency [Hz]", "h omega", "damping ratio", "amplitude left per period"):
        table.add_column(name, justify="right")
    for k, mode in enumerate((*advice.modes, advice.top)):
        name = "stiffest" if k == len(advice.modes) else str(k + 1)
        measured = "-" if isnan(mode.rho) else f"{mode.zeta:.3g}", "-" if isnan(mode.rho) else f"{mode.left:.3g}"
        table.add_row(name, f"{mode.frequency:.4g}", f"{mode.theta:.3g}", *measured)
    out.print(table)
    if advice.rigid:
        out.print(f"{advice.rigid} zero-energy modes at rest (rigid or slack)")
    if isfinite(advice.cfl):
        out.print(f"pressure waves cross the shortest edge in {advice.cfl:.3g} s (wave CFL)")
    out.print(f"explicit methods need h < {advice.explicit_limit:.3g} s")
    out.print(f"condition of an implicit step's matrix: about {advice.condition:.2g}")
    if advice.linear is not None:
        out.print(advice.linear)
    for sentence in advice.suggestions:
        out.print("- " + sentence)
    if advice.accuracy:
        out.print("- " + advice.accuracy)
