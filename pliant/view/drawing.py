"""How a picture is drawn in the browser's scene, and what its colours mean."""

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.export.clip import Picture
from pliant.export.colours import magnitude, palette

BODY = (111, 155, 209)


@dataclass(frozen=True)
class Style:
    """``channel`` with its ``limits`` for colours (None: one colour), wireframe instead of faces."""

    channel: str | None = None
    limits: tuple[float, float] = (0.0, 1.0)
    wireframe: bool = False


class Drawing:
    """One body in the browser's scene; only what changed is sent. ``grabbed`` hears of drags by the mouse."""

    def __init__(self, server: Any, name: str, offset: Array, grabbed: Callable[[Any], Any] | None = None) -> None:
        self._server, self._name, self.offset, self._grabbed = server, name, offset, grabbed
        self._handle: Any = None
        self._kept: tuple[Any, ...] = (None, None, None)

    def show(self, picture: Picture, style: Style) -> None:
        """Replace what is there by this picture."""
        x = (picture.points + self.offset).astype(np.float32)
        made = (picture.triangles, style.channel, style.wireframe)
        same = made[0] is self._kept[0] and made[1:] == self._kept[1:] and len(picture.triangles) > 0
        if same and style.channel is None:
            self._handle.vertices = x
        elif same:
            self._handle.glb_data = _coloured(picture, x, style)
        else:
            self._handle = self._made(picture, x, style)
            if self._grabbed is not None and hasattr(self._handle, "on_drag"):
                self._handle.on_drag(self._grabbed)
        self._kept = made

    def _made(self, picture: Picture, x: Any, style: Style) -> Any:
        scene = self._server.scene
        if not len(picture.triangles):
            return self._lines_or_dots(picture, x, style)
        if style.channel is not None:
            return scene.add_glb(self._name, _coloured(picture, x, style))
        options = {"color": BODY, "side": "double", "wireframe": style.wireframe, "flat_shading": not style.wireframe}
        return scene.add_mesh_simple(self._name, x, picture.triangles.astype(np.uint32), **options)

    def _lines_or_dots(self, picture: Picture, x: Any, style: Style) -> Any:
        scene, colours = self._server.scene, np.tile(np.array(BODY, dtype=np.uint8), (len(x), 1))
        if style.channel is not None:
            colours = palette(magnitude(picture.values[style.channel]), style.limits)[:, :3]
        if len(picture.lines):
            ends = colours[picture.lines]
            return scene.add_line_segments(self._name, x[picture.lines], ends, thickness=2.0, thickness_units="screen")
        size = 0.01 * max(float(np.ptp(x, axis=0).max()), 1e-3)
        return scene.add_point_cloud(self._name, x, colours, point_size=size, point_shape="circle", precision="float32")


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


def _coloured(picture: Picture, x: Any, style: Style) -> bytes:
    import trimesh

    assert style.channel is not None
    colours = palette(magnitude(picture.values[style.channel]), style.limits)
    mesh = trimesh.Trimesh(x, picture.triangles, vertex_colors=colours, process=False)
    glb: Any = mesh.export(file_type="glb")
    return glb
