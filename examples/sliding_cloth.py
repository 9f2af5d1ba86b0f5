"""A cloth drawn over the edge of a table: vertices stay on the edge, the cloth slides past them.

The channel ``material`` records where every vertex is in the cloth. Exporters write it as texture coordinates
(``pliant export RUN --to usd``), and pictures with ``--channel material`` show squares printed on the cloth.
"""

import pliant as pl
from pliant.cloth.eulerian import Eulerian
from pliant.cloth.remesh import Remesher
from pliant.maps.motions import Phase, Phases
from pliant.record import Output

SPEED = 0.3  # of the hands [m/s]
net = pl.mesh.sheet(size=(0.3, 0.6), cells=(4, 8))
hem = net.where(lambda X: X[:, 1] > 0.6 - 1e-9)
hands = pl.Pin(hem, motion=Phases((Phase(0.3, 1.0, (0.0, SPEED, 0.0)),)))
cloth = pl.Cloth(net, pins=hands, eulerian=Eulerian(Remesher(0.03, 0.08)))
scene = pl.Scene(
    [cloth],
    pl.LinearlyImplicit(),
    h="5 ms",
    duration=0.6,
    obstacles=[pl.Box((0.13, 0.8, -0.255), (1.0, 1.0, 0.5), name="table")],
    contact=pl.RowContact(mu=0.1, thickness="5 mm"),
    on_failure="substep",
    name="sliding cloth",
)
run = scene.run("runs/sliding-cloth", output=Output(channels=("material", "eulerian")), overwrite=True)


def hanging(k: int) -> float:
    """How much of the cloth [m] hangs from the edge in a frame: where its vertices on the edge are in the material."""
    values = run.frames[k].point_values
    return float(values["material"][values["eulerian"].ravel() > 0, 1].mean())


def visualize() -> None:
    from pathlib import Path

    from pliant.export import Look, clip, write_png

    file = Path("runs/sliding-cloth/picture.png")
    print(f"picture: {write_png(clip(run, ('material',)), file, Look(channel='material'))}")


first, last = (round(t / 5e-3) for t in (0.4, 0.6))
slid = hanging(first) - hanging(last)
print(f"{1e3 * slid:.0f} mm of cloth have passed the edge while the hands moved by {1e3 * SPEED * 0.2:.0f} mm")
assert abs(slid / (SPEED * 0.2) - 1) < 0.25

if __name__ == "__main__":
    visualize()
