"""The same swinging bar with two integrators: how much of the energy does each of them take for itself?

The ledger of a run books it in the column ``numerical``. The second-order BDF2 must take far less than BDF1.
"""

from dataclasses import replace

import pliant as pl
from pliant.scenes.basic import swinging_bar

scene = replace(swinging_bar(cells=1), duration=0.5)
choices = {"bdf1": pl.BDF1(), "bdf2": pl.BDF2()}
runs = {
    name: replace(scene, integrator=choice, name=name).run(f"runs/two-integrators/{name}", overwrite=True)
    for name, choice in choices.items()
}
taken = {name: run.ledger["numerical"].sum() for name, run in runs.items()}


def visualize() -> None:
    from pliant.plots import plot_runs

    print(f"plot: {plot_runs(list(runs.values()), 'runs/two-integrators/plot.png')}")


for name, energy in taken.items():
    print(f"{name} took {energy:.3g} J of {runs[name].ledger['kinetic'].max():.3g} J")
assert taken["bdf2"] < 0.25 * taken["bdf1"]

if __name__ == "__main__":
    visualize()
