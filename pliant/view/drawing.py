"""How a picture is drawn in the browser's scene, and what its colours mean."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.export.clip import Picture
from pliant.export.colours import linear, magnitude, of_bodies, palette
from pliant.mesh.topology import edges


@dataclass(frozen=True)
class Style:
    """``channel`` with its ``limits`` for colours (None: one colour for each body), edges instead of faces.

    ``hidden`` are the numbers of bodies that are not drawn; ``clip`` (axis, share) leaves out what lies beyond that
    share of the way through the picture along an axis.
    """

    channel: str | None = None
    limits: tuple[float, float] = (0.0, 1.0)
    wireframe: bool = False
    hidden: frozenset[int] = frozenset()
    clip: tuple[int, float] | None = None


class Drawing:
    """One run in the browser's scene; only what changed is sent. ``grabbed`` hears of drags by the mouse.

    Runs that are compared begin with different colours: ``first`` is that of body 0.
    """

    def __init__(
        self,
        server: Any,
        name: str,
        offset: Array,
        grabbed: Callable[[Any], Any] | None = None,
        first: int = 0,
    ) -> None:
        self._server, self._name, self.offset, self._grabbed, self._first = server, name, offset, grabbed, first
        self._handle: Any = None
        self._kept: tuple[Any, ...] = (None, None)

    def show(self, picture: Picture, style: Style) -> None:
        """Replace what is there by this picture."""
        x = (picture.points + self.offset).astype(np.float32)
        triangles = visible(picture, style)
        plain = style.channel is None and not style.wireframe and style.clip is None and _single(picture)
        made = (picture.triangles, (plain, len(triangles), style.wireframe))
        same = made[0] is self._kept[0] and made[1] == self._kept[1] and len(triangles) > 0
        if same and plain:
            self._handle.vertices = x
        elif same and not style.wireframe:
            self._handle.glb_data = _coloured(x, triangles, self._colours(picture, style))
        else:
            self._handle = self._made(picture, x, triangles, style, plain)
            if self._grabbed is not None and hasattr(self._handle, "on_drag"):
                self._handle.on_drag(self._grabbed)
        self._kept = made

    def _colours(self, picture: Picture, style: Style) -> Any:
        if style.channel is None:
            return of_bodies(picture.bodies, len(picture.points), self._first)
        return palette(magnitude(picture.values[style.channel]), style.limits)[:, :3]

    def _made(self, picture: Picture, x: Any, triangles: Any, style: Style, plain: bool) -> Any:
        scene, colours = self._server.scene, self._colours(picture, style)
        if style.wireframe or not len(picture.triangles):
            lines = edges(triangles) if len(picture.triangles) else picture.lines
            return self._lines_or_dots(x, lines, colours)
        if not plain:
            return scene.add_glb(self._name, _coloured(x, triangles, colours))
        options = {"color": tuple(int(c) for c in colours[0]), "side": "double", "flat_shading": False}
        return scene.add_mesh_simple(self._name, x, triangles.astype(np.uint32), **options)

    def _lines_or_dots(self, x: Any, lines: Any, colours: Any) -> Any:
        scene = self._server.scene
        if len(lines):
            look = {"thickness": 2.0, "thickness_units": "screen"}
            return scene.add_line_segments(self._name, x[lines], colours[lines], **look)
        size = 0.01 * max(float(np.ptp(x, axis=0).max()), 1e-3)
        return scene.add_point_cloud(self._name, x, colours, point_size=size, point_shape="circle", precision="float32")


def visible(picture: Picture, style: Style) -> Any:
    """The triangles (k, 3) of bodies that are shown, on the near side of the clip plane."""
    F, x = picture.triangles, picture.points
    keep = np.ones(len(F), dtype=bool)
    if style.hidden and picture.bodies is not None:
        keep &= ~np.isin(picture.bodies[F[:, 0]], list(style.hidden))
    if style.clip is not None and len(x):
        axis, share = style.clip
        low, high = float(x[:, axis].min()), float(x[:, axis].max())
        keep &= x[F, axis].mean(axis=1) <= low + share * (high - low)
    return F if keep.all() else F[keep]


def _single(picture: Picture) -> bool:
    return picture.bodies is None or len(picture.bodies) == 0 or bool((picture.bodies == picture.bodies[0]).all())


def legend(style: Style) -> str:
    """The colours as a bar with its ends (HTML); nothing when there are none."""
    if style.channel is None:
        return ""
    stops = ", ".join(f"rgb({r},{g},{b})" for r, g, b, _ in palette(np.linspace(0.0, 1.0, 9), (0.0, 1.0)))
    least, most = style.limits
    bar = f'<div style="height:0.9em;background:linear-gradient(90deg,{stops})"></div>'
    ends = f"<span>{least:.3g}</span><span>{escape(style.channel)}</span><span>{most:.3g}</span>"
    row = f'<div style="display:flex;justify-content:space-between">{ends}</div>'
    return f'<div style="padding:0 1em;font-size:0.8em">{bar}{row}</div>'


def _coloured(x: Any, triangles: Any, colours: Any) -> bytes:
    """A GLB of a surface with sRGB colours (n, 3) at its vertices, which the format wants as amounts of light."""
    import trimesh

    light = np.round(255.0 * linear(colours)).astype(np.uint8)
    mesh = trimesh.Trimesh(x, triangles, vertex_colors=light, process=False)
    glb: Any = mesh.export(file_type="glb")
    return glb
