"""``pliant replay``: the iteration table of a failed step, repeated."""

import json as js
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from pliant.cli.console import console


def show_replay(folder: Path, *, json: bool) -> bool:
    """Print it; whether it is the same as then."""
    from pliant.bundle import replay
    from pliant.certificate import plain, readable

    made = replay(folder)
    if json:
        print(js.dumps(plain(asdict(made))))
        return made.same
    out = console()
    for k, solve in enumerate(made.solves):
        table = Table(title=f"step {made.step}, solve {k + 1}", title_justify="left")
        for name in solve.history[0] if solve.history else ():
            table.add_column(name, justify="right")
        for line in solve.history:
            table.add_row(*(f"{value:.6g}" for value in line.values()))
        out.print(table)
        out.print(f"residual {solve.residual:.6g}, tolerance {readable(solve.tolerance)} {solve.message}")
    out.print(f"then: {made.then}\nnow:  {made.reason}")
    out.print("the same to the last bit" if made.same else "NOT the same as then")
    return made.same
