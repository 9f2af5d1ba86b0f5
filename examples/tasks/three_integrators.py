"""A twisted bar is let go; three integrators lose different parts of its energy. The ledger says how much."""

from dataclasses import replace

import pliant as pl

scene = pl.load_scene("bar-twist", ["duration=0.5 s"]).scene
choices = {"bdf1": pl.BDF1(), "bdf2": pl.BDF2(), "midpoint": pl.ImplicitMidpoint()}
runs = [replace(scene, integrator=i, name=n).run(f"runs/{n}", overwrite=True) for n, i in choices.items()]
lost = {run.report["name"]: run.ledger["numerical"].sum() for run in runs}
print(", ".join(f"{name} loses {energy:.3g} J" for name, energy in lost.items()))
assert lost["bdf2"] < lost["bdf1"]
print(f"plot: {pl.plots.plot_runs(runs, 'runs/three.png')}")
