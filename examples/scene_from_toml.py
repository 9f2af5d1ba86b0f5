"""A scene file, changed from outside: a softer bar, a shorter run.

``pliant run examples/scenes/shaken_bar.toml --set ...`` does the same from the command line. The clamped end is shaken:
its height must be that of the script, 3 cm sin(2 pi 2 Hz t), whatever the rest of the bar does on the floor.
"""

from math import pi, sin
from pathlib import Path

import pliant as pl
from pliant.record import record

here = Path(__file__).parent
loaded = pl.load_scene(here / "scenes" / "shaken_bar.toml", ["duration=0.4 s", "material.E=50 kPa", "output.every=2"])
run = record(loaded.scene, "runs/scene-from-toml", output=loaded.output, origin=loaded.origin, overwrite=True)
held = loaded.scene.bodies[0].pins[0].vertices
raised = (run.frames[-1].points - run.frames[0].points)[held, 2].mean()
script = 0.03 * sin(2 * pi * 2 * 0.4)


def visualize() -> None:
    from pliant.export import Look, clip, write_film

    look = Look(size=(480, 270), channel="von_mises")
    film = write_film(clip(run, ("von_mises",)), run.folder / "shaken.mp4", look)
    print(f"film: {film}")


print(f"the clamped end is raised by {1e3 * raised:.3f} mm; deepest contact {1e3 * run.report['penetration']:.2f} mm")
assert abs(raised - script) < 1e-12

if __name__ == "__main__":
    visualize()
