"""A soft bar clamped at one end comes to rest where the forces balance; the solver is QLB.

Backward Euler damps the ringing, so that after three seconds nothing moves. The tip must then be where a quasistatic
solution by another solver puts it.
"""

import pliant as pl
from pliant.simulate import simulate

bar = pl.mesh.bar(size=(0.3, 0.1, 0.1), cells=(6, 2, 2))
body = pl.Solid(
    bar, pl.StableNeoHookean(E="100 kPa", nu=0.45), density=1000, pins=pl.Pin(bar.where(lambda X: X[:, 0] < 1e-9))
)
tip = bar.where(lambda X: X[:, 0] > 0.3 - 1e-9)

scene = pl.Scene([body], integrator=pl.BDF1(solver=pl.QLB(m=10)), h="50 ms", duration=3, name="bar")
run = scene.run("runs/bar-under-gravity", overwrite=True)
sag = run.frames[0].points[tip, 2].mean() - run.frames[-1].points[tip, 2].mean()

*_, balanced = simulate(pl.Scene([body], integrator=pl.Quasistatic(), h=1, duration=1))
exact = bar.X[tip, 2].mean() - balanced.state.q.reshape(-1, 3)[tip, 2].mean()


def visualize() -> None:
    from pliant.export import Look, clip, write_film

    look = Look(size=(480, 270), channel="displacement")
    film = write_film(clip(run, ("displacement",)), run.folder / "bar.mp4", look)
    print(f"film: {film}")


print(f"the tip sags by {1e3 * sag:.3f} mm, in equilibrium by {1e3 * exact:.3f} mm")
assert abs(sag - exact) < 1e-3 * exact

if __name__ == "__main__":
    visualize()
