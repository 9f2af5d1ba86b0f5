"""Pictures and films without a screen, drawn by VTK through pyvista."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.errors import MissingDependency, RunError
from pliant.export.clip import Clip, Picture, ranges
from pliant.export.colours import MAP, magnitude
from pliant.export.obstacles import Shape, scene_of, shapes_of

BODY, EDGES, STONE, BACKGROUND = "#6f9bd1", "#27405e", "#c9c4b8", "white"
FINE = 6000  # triangles; finer surfaces are drawn without their edges
AWAY = np.array([-0.55, -1.0, 0.5]) / np.linalg.norm([-0.55, -1.0, 0.5])  # from the body to the camera; z is up
CHECK, INK, PAPER = 0.05, (54, 86, 140), (232, 226, 208)  # squares [m] in two colours where the material is shown
LABELS = 120  # pixels kept for the colour bar and its numbers
ANGLE, MARGIN = 30.0, 1.08  # field of view [degrees], and what is left around the body in it


@dataclass(frozen=True)
class Look:
    """How a picture looks: ``size`` in pixels, colours of ``channel`` (None: one colour), films at ``fps`` [1/s].

    The channel ``material`` is shown as squares printed on the cloth, which slide with it through its mesh.
    """

    size: tuple[int, int] = (960, 540)
    channel: str | None = None
    fps: float = 30.0

    def __post_init__(self) -> None:
        if min(self.size) < 16 or max(self.size) > 8192:
            raise RunError(
                f"a picture of {self.size[0]}x{self.size[1]}", where="--size", remedy="use 16 to 8192 pixels"
            )
        if not 0.1 <= self.fps <= 240:
            raise RunError(f"{self.fps:g} frames per second", where="--fps", remedy="use 0.1 to 240")


PLAIN = Look()


def write_png(clip: Clip, path: Path, look: Look = PLAIN) -> Path:
    """One picture: the last of the clip's frames."""
    with _stage(clip, look, "ssaa") as draw:
        image = draw(clip.picture(clip.numbers[-1]))
    _imageio().imwrite(path, image)
    return path


def write_film(clip: Clip, path: Path, look: Look = PLAIN) -> Path:
    """A film (.mp4 or .gif) in real time: for every moment shown, the last frame recorded before it."""
    times = clip.times
    count = int(np.floor((times[-1] - times[0]) * look.fps + 1e-6)) + 1
    shown = clip.at(times[0] + np.arange(count) / look.fps)
    options = {"duration": 1000.0 / look.fps, "loop": 0} if path.suffix == ".gif" else _video(look)
    with _stage(clip, look, "msaa") as draw, _writer(path, options) as film:
        for picture in shown:
            film.append_data(draw(picture))
    return path


@contextmanager
def _stage(clip: Clip, look: Look, smoothing: str) -> Iterator[Any]:
    """A function Picture -> image (height, width, 3), with one camera and one colour scale for the whole clip."""
    pv = _pyvista()
    low, high, least, most = ranges(clip, look.channel)
    plotter = pv.Plotter(off_screen=True, window_size=list(look.size))
    plotter.background_color = BACKGROUND
    plotter.enable_anti_aliasing(smoothing)
    _aim(plotter, low, high, look.size[0] / look.size[1])
    obstacles = shapes_of(scene_of(clip.run), low, high)

    def draw(picture: Picture) -> Array:
        for k, shape in enumerate(obstacles):
            _place_obstacle(plotter, f"obstacle{k}", _grid(pv, shape.at(picture.t), shape), shape)
        _place(plotter, _grid(pv, picture.points, picture), picture, look.channel, (least, most))
        return plotter.screenshot(return_img=True)

    try:
        yield draw
    finally:
        plotter.close()


def _aim(plotter: Any, low: Array, high: Array, aspect: float) -> None:
    """Look at the middle of everything that ever is in the picture, from the front, left and above, and see it all."""
    middle = 0.5 * (low + high)
    distance = _distance(0.5 * (high - low), aspect)
    plotter.camera_position = [middle + distance * AWAY, middle, (0.0, 0.0, 1.0)]
    plotter.camera.view_angle = ANGLE
    plotter.camera.clipping_range = (0.01 * distance, 100.0 * distance)


def _distance(half: Array, aspect: float) -> float:
    """How far a camera stands from a box of half size ``half (3,)`` [m] so that ANGLE, its upright view, holds it."""
    right = np.cross((0.0, 0.0, 1.0), AWAY)
    right /= np.linalg.norm(right)
    up = np.cross(AWAY, right)
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    reach = np.maximum(np.abs(corners @ up), np.abs(corners @ right) / aspect) / np.tan(np.radians(ANGLE / 2))
    return max(float((corners @ AWAY + MARGIN * reach).max()), 1e-6)


def _grid(pv: Any, points: Array, shape: Picture | Shape) -> Any:
    cells = {}
    if len(shape.triangles):
        cells["faces"] = np.column_stack([np.full(len(shape.triangles), 3), shape.triangles]).ravel()
    if len(shape.lines):
        cells["lines"] = np.column_stack([np.full(len(shape.lines), 2), shape.lines]).ravel()
    return pv.PolyData(points, **cells)  # without cells every vertex is a dot


def _place_obstacle(plotter: Any, name: str, grid: Any, shape: Shape) -> None:
    if name not in plotter.actors or shape.moves:
        options = {"color": STONE, "opacity": 0.6, "line_width": 4, "point_size": 10}
        plotter.add_mesh(grid, name=name, reset_camera=False, render_points_as_spheres=True, **options)


def _place(plotter: Any, grid: Any, picture: Picture, channel: str | None, limits: tuple[float, float]) -> None:
    options: dict[str, Any] = {"color": BODY}
    if channel == "material" and picture.uv is not None:
        grid.active_texture_coordinates = picture.uv / (2 * CHECK)
        options = {"texture": _checks()}
    elif channel is not None:
        grid.point_data[channel] = magnitude(picture.values[channel])
        left = min(0.86, 1.0 - LABELS / plotter.window_size[0])
        bar = {"title": channel, "color": "black", "vertical": True, "position_x": left, "position_y": 0.2}
        bar |= {"fmt": "%.3g", "width": 0.08}
        options = {"scalars": channel, "clim": limits, "cmap": MAP, "scalar_bar_args": bar}
    if len(picture.triangles):
        options |= {"show_edges": len(picture.triangles) < FINE, "edge_color": EDGES, "line_width": 1}
        options |= {"ambient": 0.2, "specular": 0.2, "smooth_shading": len(picture.triangles) >= FINE}
    else:
        options |= {"line_width": 3, "point_size": 8, "render_points_as_spheres": True}
    plotter.add_mesh(grid, name="body", reset_camera=False, **options)


def _checks() -> Any:
    """Two by two squares, repeated: what is printed on the cloth."""
    squares = np.kron(np.array([[1, 0], [0, 1]]), np.ones((32, 32), dtype=np.int64))
    texture = _pyvista().Texture(np.array([INK, PAPER], dtype=np.uint8)[squares])
    texture.repeat = True
    return texture


def _video(look: Look) -> dict[str, Any]:
    return {"fps": look.fps, "macro_block_size": 2, "quality": 7, "ffmpeg_log_level": "error"}


@contextmanager
def _writer(path: Path, options: dict[str, Any]) -> Iterator[Any]:
    try:
        film = _imageio().get_writer(path, mode="I", **options)
    except (ImportError, ValueError) as error:
        remedy = "pip install 'imageio[ffmpeg]'"
        raise MissingDependency(f"cannot write {path.suffix} films", where="export", remedy=remedy) from error
    try:
        yield film
    finally:
        film.close()


def _imageio() -> Any:
    try:
        import imageio.v2 as imageio
    except ImportError as error:
        raise MissingDependency("imageio is not installed", where="export", remedy="pip install imageio") from error
    return imageio


def _pyvista() -> Any:
    try:
        import pyvista
        from vtkmodules.vtkCommonCore import vtkLogger
    except ImportError as error:
        raise MissingDependency("pyvista is not installed", where="export", remedy="pip install pyvista") from error
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)  # without a display VTK finds its way, and would say so
    return pyvista
