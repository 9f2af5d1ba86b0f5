"""What a picture of a run looks like: size, camera, colours, background. One description for files and for pages."""

from dataclasses import dataclass

import numpy as np

from pliant.errors import RunError

SIZES = {"hd": (1280, 720), "fullhd": (1920, 1080), "4k": (3840, 2160)}
CAMERAS = {  # from the middle of what is shown towards the camera; z is up
    "fit": np.array([-0.55, -1.0, 0.5]),
    "front": np.array([0.0, -1.0, 0.12]),
    "side": np.array([1.0, 0.0, 0.12]),
    "back": np.array([0.0, 1.0, 0.12]),
    "top": np.array([0.0, -1e-3, 1.0]),
    "iso": np.array([1.0, -1.0, 1.0]),
}
PAPER = "#ebe8e2"


@dataclass(frozen=True)
class Look:
    """The style of a picture or film.

    ``size`` in pixels. ``channel`` colours the bodies (None: one colour per body) with the colour map ``colours`` over
    ``limits`` (None: the range over all frames), labelled with ``unit``; the channel ``material`` is shown as squares
    printed on the cloth, which slide with it through its mesh, ``fibre`` by direction: red along x, green along y, blue
    along z. ``camera`` is one of `CAMERAS` or a direction from the center towards the camera, ``zoom`` moves it closer,
    ``orbit`` [degrees] rotates it around the center during a film, ``follow`` keeps the moving bodies centered,
    ``moving`` frames only the moving bodies. Films have ``fps`` pictures per second and run at ``speed`` times real
    time. ``samples`` are drawn along each side of a pixel, which smooths edges. A picture is the mean of several
    ``exposures`` with the lamps in different places, which softens shadows; films have one.
    """

    size: tuple[int, int] = (960, 540)
    channel: str | None = None
    fps: float = 30.0
    camera: str | tuple[float, float, float] = "fit"
    zoom: float = 1.0
    orbit: float = 0.0
    follow: bool = False
    moving: bool = False
    colours: str = "viridis"
    limits: tuple[float, float] | None = None
    unit: str = ""
    background: str = PAPER
    stamp: bool = False
    wireframe: bool = False
    speed: float = 1.0
    samples: float = 1.5
    exposures: int = 5

    def __post_init__(self) -> None:
        if len(self.size) != 2 or not all(isinstance(n, int) and 16 <= n <= 8192 for n in self.size):
            remedy = "give width and height, 16 to 8192 pixels, as (640, 360)"
            raise RunError(f"a picture of {self.size!r}", where="--size", remedy=remedy)
        for name, value, low, high in (
            ("fps", self.fps, 0.1, 240.0),
            ("speed", self.speed, 1e-4, 1e4),
            ("zoom", self.zoom, 0.1, 20.0),
            ("samples", self.samples, 1.0, 4.0),
            ("exposures", self.exposures, 1, 64),
        ):
            if not low <= value <= high:
                raise RunError(f"{value:g}", where=f"--{name}", remedy=f"use {low:g} to {high:g}")
        if isinstance(self.camera, str) and self.camera not in CAMERAS:
            remedy = f"use {', '.join(CAMERAS)}, or a direction such as -1,-1,0.5"
            raise RunError(f"unknown camera {self.camera!r}", where="--camera", remedy=remedy)
        if not np.linalg.norm(self.away) > 0.0:
            raise RunError(f"camera {self.camera}", where="--camera", remedy="give a direction that is not zero")
        if self.limits is not None and not self.limits[0] < self.limits[1]:
            raise RunError(f"limits {self.limits}", where="--limits", remedy="give the lower one first")
        self._known_names()

    def _known_names(self) -> None:
        import matplotlib
        from matplotlib.colors import is_color_like

        if self.colours not in matplotlib.colormaps:
            remedy = "use a colour map of matplotlib, such as viridis, magma, cividis, turbo, coolwarm"
            raise RunError(f"unknown colour map {self.colours!r}", where="--colours", remedy=remedy)
        if not is_color_like(self.background):
            remedy = "write it like white or #ebe8e2"
            raise RunError(f"unknown colour {self.background!r}", where="--background", remedy=remedy)

    @property
    def away(self) -> np.ndarray:
        """From the middle of what is shown towards the camera."""
        return CAMERAS[self.camera] if isinstance(self.camera, str) else np.asarray(self.camera, dtype=np.float64)


PLAIN = Look()
