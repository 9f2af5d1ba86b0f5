"""EDGE: six discretisations of a cloth pulled over the edge of a box [Weidner2022, Fig. 2.6]."""

from dataclasses import dataclass, field

import numpy as np

from pliant.arrays import Array
from pliant.bench.table import Claim, Table
from pliant.cloth.collide import mesh_edges
from pliant.cloth.scene import Moment
from pliant.cloth.sheet import Sheet
from pliant.scenes import eol

TOP, SIDE = -0.01, 0.51  # the box is z < TOP, y > SIDE
PULL, SPEED, START = 0.3, 0.5, 0.1


def crossing(sheet: Sheet) -> float:
    """Material length that hangs: mean material y where the cloth crosses the diagonal plane through the edge."""
    ends = mesh_edges(sheet.faces)
    y, Y = sheet.x[:, 1] - SIDE + sheet.x[:, 2] - TOP - 1e-9, sheet.X
    cut = ends[(y[ends[:, 0]] > 0) != (y[ends[:, 1]] > 0)]
    a, b = cut[:, 0], cut[:, 1]
    s = (y[a] / (y[a] - y[b]))[:, None]
    points = (1 - s) * Y[a] + s * Y[b]
    order = np.argsort(points[:, 0])
    u, w = points[order, 0], points[order, 1]
    return float(np.trapezoid(w, u) / (u[-1] - u[0])) if len(u) > 1 else float("nan")


def outside(x: Array) -> Array:
    """Signed distance from the box planes (outside positive)."""
    return np.maximum(x[:, 2] - TOP, SIDE - x[:, 1])


@dataclass
class Watch:
    """What is measured while the cloth is pulled."""

    lift: float = 0.0
    depth: float = 0.0
    speeds: list[float] = field(default_factory=list)
    hanging: list[float] = field(default_factory=list)
    hands: list[float] = field(default_factory=list)
    faces: int = 0

    def look(self, moment: Moment) -> None:
        sheet = moment.sheet
        gap = outside(sheet.x)
        near = np.hypot(sheet.x[:, 1] - SIDE, sheet.x[:, 2] - TOP) < 0.05
        hem = sheet.X[:, 1] == 0
        self.faces = max(self.faces, len(sheet.faces))
        self.depth = max(self.depth, float(-gap.min()))
        if moment.state.t < START:
            return
        self.lift = max(self.lift, float(gap[near].max(initial=0.0)))
        if START + 0.2 < moment.state.t < START + PULL / SPEED:
            self.speeds.append(float(sheet.v[hem, 2].mean()))
        self.hanging.append(crossing(sheet))
        self.hands.append(float(sheet.x[sheet.fixed & (sheet.X[:, 1] == 1), 1].mean()))

    def row(self, name: str, h: float) -> dict[str, object]:
        jitter = float(np.std(np.diff(self.speeds, 2)) / h**2)
        pulled = self.hands[-1] - self.hands[0]
        slid = self.hanging[0] - self.hanging[-1]
        return {
            "variant": name,
            "faces": self.faces,
            "pulled_m": pulled,
            "slide": slid / pulled,
            "lift_mm": 1e3 * self.lift,
            "depth_mm": 1e3 * self.depth,
            "jitter": jitter,
        }


def measure(variant: eol.Variant, cells: int) -> dict[str, object]:
    """One variant pulled by 0.3 m."""
    scene = eol.draped_edge(variant, cells, SPEED, PULL)
    watch = Watch()
    for moment in scene.march():
        watch.look(moment)
    return watch.row(variant.name, scene.h)


def run(*, quick: bool = False) -> Table:
    cells = 8 if quick else 16
    rows = [measure(v, cells) for v in eol.VARIANTS]
    by = {str(r["variant"]): r for r in rows}
    get = lambda name, key: float(by[name][key])  # type: ignore[arg-type]
    e, c = "EOL", "conformal"
    ratio = lambda name, key: get(name, key) / get(e, key)
    static = min(ratio(v, "lift_mm") for v in ("regular", "irregular", "non-conformal"))
    shaking = min(ratio(v, "jitter") for v in ("regular", "irregular", "non-conformal"))
    slide, locked = get(e, "slide"), get("conformal cone", "slide")
    claims = [
        Claim("A4 EOL slides", ">= 95 % of the pull", f"{100 * slide:.1f} %", slide >= 0.95),
        Claim("A4 EOL lift within 5 cm", "<= 2 thr = 10 mm", f"{get(e, 'lift_mm'):.2f} mm", get(e, "lift_mm") <= 10),
        Claim("A4 EOL penetration", "<= thr = 5 mm", f"{get(e, 'depth_mm'):.3f} mm", get(e, "depth_mm") <= 5),
        Claim("A5 conformal cone locks: slide", "<= 1 %", f"{100 * locked:.1f} %", locked <= 0.01),
        Claim("A5 averaged normals lift (no conformal mesh)", ">= 3 x EOL", f"{static:.1f} x", static >= 3),
        Claim("A5 averaged normals jitter (no conformal mesh)", ">= 10 x EOL", f"{shaking:.1f} x", shaking >= 10),
        Claim(
            "A5 averaged normals lift (conformal)",
            ">= 3 x EOL",
            f"{ratio(c, 'lift_mm'):.1f} x",
            ratio(c, "lift_mm") >= 3,
        ),
        Claim(
            "A5 averaged normals jitter (conformal)",
            ">= 10 x EOL",
            f"{ratio(c, 'jitter'):.1f} x",
            ratio(c, "jitter") >= 10,
        ),
    ]
    notes = ["slide: loss of hanging material over the pull of the hands; jitter: second difference of the hem speed"]
    return Table("eol/edge", "Six discretisations of EDGE", rows, claims, notes)
