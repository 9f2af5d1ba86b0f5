"""A scene of your own: a bar that is held at one end.

pliant run my_scene.py --set parameters.E="50 kPa"
"""

import pliant as pl


def scene(E: str = "100 kPa", cells: int = 3) -> pl.Scene:
    """A bar under gravity, held at its left end."""
    bar = pl.mesh.bar(size=(0.3, 0.1, 0.1), cells=(3 * cells, cells, cells))
    held = pl.Pin(bar.where(lambda X: X[:, 0] < 1e-9))
    body = pl.Solid(bar, pl.StableNeoHookean(E=E, nu=0.45), density=1000, pins=held)
    return pl.Scene([body], integrator=pl.BDF2(), h="10 ms", duration=1)


if __name__ == "__main__":
    print(scene().run("runs/my-scene").report["iterations"], "iterations")
