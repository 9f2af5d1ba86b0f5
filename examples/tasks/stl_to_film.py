"""A closed surface from a file becomes a soft body, falls on the floor, and is filmed."""

import pliant as pl
from pliant.export import Look, clip, write_film

duck = pl.mesh.duck(length=0.2)
pl.mesh.write(duck, "duck.stl")  # or the file you have

surface = pl.mesh.read_raw("duck.stl")
solid = pl.mesh.tetrahedralise(surface.X, surface.T, edge_length=0.05)
body = pl.Solid(solid.transformed(translate=(0, 0, 0.1)), pl.materials.preset("ecoflex-00-30"), density=1070)
scene = pl.Scene([body], pl.BDF1(), h="10 ms", duration=0.3, obstacles=[pl.Plane()], contact=pl.PenaltyContact())
run = scene.run("runs/duck", overwrite=True)

film = write_film(clip(run), run.folder / "duck.mp4", Look(size=(320, 180)))
print(f"film: {film}")
