"""The studio in which pictures are taken: light from a soft window, a floor without an end, one camera.

Drawn by VTK through pyvista: shadow maps of several lights that together make one soft shadow, ambient occlusion,
smooth shading, supersampling.
"""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.errors import MissingDependency
from pliant.export.camera import ANGLE, Bounds, Shot, frame_of
from pliant.export.clip import Picture
from pliant.export.colours import STEEL, STONE, magnitude, of_bodies, of_directions, palette
from pliant.export.look import Look
from pliant.export.obstacles import ObstacleShape

KEY, HEAD = 0.74, 0.32  # intensities of the window and of the light at the camera
AMBIENT, DIFFUSE = 0.30, 0.85
LIGHTS, SPREAD = 7, 0.09  # points of the window, and its radius seen from the scene [rad]
REACH, MAP = 1.7, 1200  # radius of the floor in sizes of the scene; pixels along a shadow map
OCCLUSION = 0.07  # radius of ambient occlusion, in sizes of the scene
BELOW = 0.06  # of the size: distance from what is shown to a floor that is only part of the picture
FEATURE = 60.0  # degrees: sharper edges stay sharp in smooth shading
TUBE = 0.0032  # radius of springs, in sizes of the scene
ROUNDING = 3  # of 255: what the floor may differ from the background in full light
LARGE = 2048  # pixels: larger pictures are drawn as they are, without supersampling
CHECK, INK, CLOTH = 0.05, (52, 92, 134), (238, 231, 214)  # squares [m] in two colours where the material is shown


class Studio:
    """A plotter with lights and floor. VTK looks up shadows as if windows were square: this one is, and is cropped.

    ``first`` is the colour of the first body. Close it when the pictures are taken.
    """

    def __init__(
        self, look: Look, box: Bounds, obstacles: list[ObstacleShape], limits: tuple[float, float], first: int
    ) -> None:
        self._pv, self._look, self._box, self._limits, self._first = pyvista(), look, box, limits, first
        self._scale = 1.0 if max(look.size) > LARGE else look.samples
        width, height = (round(self._scale * pixels) for pixels in look.size)
        self._size, self._side = (width, height), max(width, height)
        self._plotter = self._pv.Plotter(off_screen=True, window_size=[self._side] * 2, lighting="none")
        self._obstacles = [shape for shape in obstacles if shape.floor is None]
        floors = [shape.floor for shape in obstacles if shape.floor is not None]
        self._lamps = self._lights()
        self._key = self._directions(0)
        self._floor = self._lay_floor(max(floors) if floors else float(box.low[2]) - BELOW * box.size)
        self._passes = _passes(OCCLUSION * box.size)
        self._plotter.renderer.SetPass(self._passes)
        self._actors: dict[str, Any] = {}

    def close(self) -> None:
        self._passes.ReleaseGraphicsResources(self._plotter.render_window)
        self._plotter.close()

    def draw(self, picture: Picture, shot: Shot) -> Array:
        """The image (height, width, 3) of a picture as this camera sees it."""
        for k, shape in enumerate(self._obstacles):
            if shape.moves or f"obstacle{k}" not in self._actors:
                colour = STEEL if shape.thin else STONE
                grid = _grid(self._pv, shape.at(picture.t), shape.triangles)
                culled = {"culling": "front"} if shape.hollow else {}
                self._put(f"obstacle{k}", self._smooth(grid), color=colour, specular=0.05, **culled)
        self._bodies(picture)
        self._aim(shot)
        image = np.zeros((self._side, self._side, 3), dtype=np.float32)
        for k in range(self._look.exposures):
            image += self._exposure(k)[..., :3] / self._look.exposures
        width, height = self._size
        top, left = (self._side - height) // 2, (self._side - width) // 2
        return self._shown(np.rint(image[top : top + height, left : left + width]).astype(np.uint8))

    def _exposure(self, k: int) -> Array:
        """One of the images whose mean is shown: the lamps at their k-th places, the camera moved within a pixel."""
        for lamp, direction in zip(self._lamps, self._directions(k), strict=True):
            lamp.position = tuple(self._box.middle + 10.0 * self._box.size * direction)
        shift = (0.0, 0.0) if k == 0 else 2.0 * np.mod([0.7549 * k, 0.5698 * k], 1.0) / self._side
        self._plotter.camera.SetWindowCenter(*shift)
        self._plotter.render()
        return self._plotter.screenshot(return_img=True)

    def _shown(self, image: Array) -> Array:
        """The image in its size, with one background: what differs from it by less than anyone sees is rounding."""
        from PIL import Image

        small = Image.fromarray(image).resize(self._look.size, Image.Resampling.BOX, reducing_gap=None)
        pixels = np.asarray(small).astype(np.int64)
        paper = np.array(self._plotter.background_color.int_rgb)
        same = np.abs(pixels - paper).max(axis=2) <= ROUNDING
        return np.where(same[..., None], paper, pixels).astype(np.uint8)

    def _bodies(self, picture: Picture) -> None:
        """The surfaces of all bodies, their springs as tubes, vertices without either as balls."""
        look, pv = self._look, self._pv
        thick = TUBE * self._box.size
        colours = self._colours(picture)
        if len(picture.triangles):
            grid = _grid(pv, picture.points, picture.triangles)
            grid.point_data["colour"] = colours
            options: dict[str, Any] = {"scalars": "colour", "rgb": True}
            if look.channel == "material" and picture.uv is not None:
                grid.active_texture_coordinates = picture.uv / (2 * CHECK)
                options = {"texture": _checks(pv)}
            edges = {"show_edges": look.wireframe, "edge_color": (40, 44, 52), "line_width": 1}
            self._put("bodies", self._smooth(grid), specular=0.18, specular_power=24, **options, **edges)
        if len(picture.lines):
            cells = np.column_stack([np.full(len(picture.lines), 2), picture.lines]).ravel()
            springs = pv.PolyData(picture.points, lines=cells)
            springs.point_data["colour"] = colours
            self._put("springs", springs.tube(radius=thick, n_sides=8), scalars="colour", rgb=True)
        if not len(picture.triangles) and not len(picture.lines):
            dots = pv.PolyData(picture.points)
            dots.point_data["colour"] = colours
            ball = pv.Sphere(radius=3 * thick, theta_resolution=12, phi_resolution=12)
            self._put("dots", dots.glyph(geom=ball, scale=False, orient=False), scalars="colour", rgb=True)

    def _colours(self, picture: Picture) -> Any:
        channel = self._look.channel
        if channel is None or channel == "material":
            return of_bodies(picture.bodies, len(picture.points), self._first)
        if channel == "fibre":
            return of_directions(picture.values[channel])
        return palette(magnitude(picture.values[channel]), self._limits, self._look.colours)[:, :3]

    def _smooth(self, grid: Any) -> Any:
        """The surface with normals, split along its sharp edges."""
        return grid.compute_normals(
            cell_normals=False, split_vertices=True, feature_angle=FEATURE, consistent_normals=False
        )

    def _put(self, name: str, grid: Any, **options: Any) -> None:
        """Add a surface, or move the one of that name."""
        if name in self._actors:
            self._actors[name].mapper.SetInputData(grid)
            return
        shading = {"ambient": AMBIENT, "diffuse": DIFFUSE, "lighting": True, "reset_camera": False}
        self._actors[name] = self._plotter.add_mesh(grid, name=name, **shading, **options)
        self._actors[name].prop.interpolation = "Phong"

    def _lights(self) -> list[Any]:
        """The lamps of the window, and a light at the camera."""
        lamps = []
        for direction in self._directions(0):
            position = self._box.middle + 10.0 * self._box.size * direction
            lamp = self._pv.Light(position=tuple(position), focal_point=tuple(self._box.middle), intensity=KEY / LIGHTS)
            lamp.positional = False
            self._plotter.add_light(lamp)
            lamps.append(lamp)
        self._plotter.add_light(self._pv.Light(light_type="headlight", intensity=HEAD))
        return lamps

    def _directions(self, exposure: int) -> list[Array]:
        """Towards the lamps of one exposure (3,): the window, above the left shoulder of the camera, is a disc.

        All exposures together have their lamps on a sunflower, which covers a disc evenly.
        """
        right, _ = frame_of(self._look.away / np.linalg.norm(self._look.away))
        back = np.cross(right, (0.0, 0.0, 1.0))  # level, towards the camera
        key = -0.62 * right + 0.30 * back + np.array([0.0, 0.0, 1.0])
        key /= np.linalg.norm(key)
        u, v = frame_of(key)
        count, found = self._look.exposures * LIGHTS, []
        for k in range(exposure, count, self._look.exposures):
            r, phi = SPREAD * np.sqrt((k + 0.5) / count), 2.39996 * k
            direction = key + r * (np.cos(phi) * u + np.sin(phi) * v)
            found.append(direction / np.linalg.norm(direction))
        return found

    def _lay_floor(self, z: float) -> Any:
        middle = (*self._box.middle[:2], z - 1e-3 * self._box.size)  # what lies on it does not flicker
        radius = REACH * self._box.size
        disc = self._pv.Disc(inner=0.0, outer=radius, c_res=64, center=middle)
        rim = self._pv.Disc(
            inner=radius, outer=1.1 * radius, c_res=64, center=middle
        )  # without light: no shadow ends here
        self._rim = self._plotter.add_mesh(rim, ambient=1.0, diffuse=0.0, specular=0.0, reset_camera=False)
        return self._plotter.add_mesh(disc, ambient=AMBIENT, diffuse=DIFFUSE, specular=0.0, reset_camera=False)

    def _aim(self, shot: Shot) -> None:
        """Set the camera, and the floor's light so that it has the colour of the background: it has no end."""
        camera, distance = self._plotter.camera, float(np.linalg.norm(shot.position - shot.focus))
        camera.position, camera.focal_point, camera.up = tuple(shot.position), tuple(shot.focus), tuple(shot.up)
        wide = np.tan(np.radians(ANGLE / 2)) * self._side / self._size[1]
        camera.view_angle = float(np.degrees(2.0 * np.arctan(wide)))
        camera.clipping_range = (0.05 * distance, distance + 4.0 * REACH * self._box.size)
        up = np.array([0.0, 0.0, 1.0])
        seen = float((shot.position - shot.focus) @ up) / distance
        lit = DIFFUSE * (KEY * float(np.mean([d @ up for d in self._key])) + HEAD * max(seen, 0.0))
        self._floor.prop.ambient = max(1.0 - lit, 0.0)
        paper = self._pv.Color(self._look.background)
        self._floor.prop.color = self._rim.prop.color = self._plotter.background_color = paper
        for actor in (self._floor, self._rim):
            actor.SetVisibility(bool(seen > 0.0))


def _passes(radius: float) -> Any:
    """Shadow maps, then the scene in their light, darker in corners within ``radius`` [m]."""
    from vtkmodules import vtkRenderingOpenGL2 as gl

    shadows = gl.vtkShadowMapPass()
    shadows.GetShadowMapBakerPass().SetResolution(MAP)
    steps = gl.vtkRenderPassCollection()
    for step in (shadows.GetShadowMapBakerPass(), shadows):
        steps.AddItem(step)
    sequence, camera, occlusion = gl.vtkSequencePass(), gl.vtkCameraPass(), gl.vtkSSAOPass()
    sequence.SetPasses(steps)
    camera.SetDelegatePass(sequence)
    occlusion.SetRadius(radius)
    occlusion.SetBias(0.1 * radius)
    occlusion.SetKernelSize(24)
    occlusion.BlurOn()
    occlusion.SetDelegatePass(camera)
    return occlusion


def _grid(pv: Any, points: Array, triangles: Any) -> Any:
    return pv.PolyData(points, faces=np.column_stack([np.full(len(triangles), 3), triangles]).ravel())


def _checks(pv: Any) -> Any:
    """Two by two squares, repeated: what is printed on the cloth."""
    squares = np.kron(np.array([[1, 0], [0, 1]]), np.ones((32, 32), dtype=np.int64))
    texture = pv.Texture(np.array([INK, CLOTH], dtype=np.uint8)[squares])
    texture.repeat = True
    return texture


def pyvista() -> Any:
    try:
        import pyvista
        from vtkmodules.vtkCommonCore import vtkLogger
    except ImportError as error:
        raise MissingDependency("pyvista is not installed", where="export", remedy="pip install pyvista") from error
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)  # without a display VTK finds its way, and would say so
    return pyvista
