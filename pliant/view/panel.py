"""Controls that both pages have: how the picture is drawn, screenshots and films of the browser's view."""

from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

from pliant.arrays import Array
from pliant.view.drawing import Style

PLAIN = "none"
AXES = ("x", "y", "z")
LISTED = 24  # bodies with a switch of their own
SHOT, FILM = (720, 1280), (360, 640)  # height and width of what is saved [pixels]
PACE = 12.0  # pictures per second of films


def chosen(control: Any) -> Any:
    """The value of a drop-down or a group of buttons; the first one where the page sent what is not among them."""
    return control.value if control.value in control.options else control.options[0]


class Appearance:
    """How bodies are drawn: coloured by a channel, as wireframe, with marks, up to a clip plane, each with a switch.

    ``bodies`` are their names; ``changed`` is called when one of the controls is used.
    """

    def __init__(self, gui: Any, channels: Sequence[str], bodies: Sequence[str], changed: Callable[[Any], Any]) -> None:
        self.channels = gui.add_dropdown("colours", (PLAIN, *channels), initial_value=PLAIN)
        self.legend = gui.add_html("")
        self.wireframe = gui.add_checkbox("wireframe", False)
        self.marks = gui.add_checkbox("marks", True, hint="joints, Eulerian vertices, contact points and normals")
        self._axis = gui.add_dropdown("clip", ("off", *AXES), initial_value="off", hint="hide what lies beyond a plane")
        self._share = gui.add_slider("clip at", 0.0, 1.0, 0.01, 0.5)
        self._switches: list[Any] = []
        if 1 < len(bodies) <= LISTED:
            with gui.add_folder("bodies", expand_by_default=False):
                self._switches = [gui.add_checkbox(name, True) for name in bodies]
        for control in (self.channels, self.wireframe, self.marks, self._axis, self._share, *self._switches):
            control.on_update(changed)

    @property
    def channel(self) -> str | None:
        """The channel that gives the colours; None where every body has one."""
        name = chosen(self.channels)
        return None if name == PLAIN else name

    def style(self, limits: dict[str, tuple[float, float]]) -> Style:
        """With the ``limits`` of the channels."""
        channel, axis = self.channel, chosen(self._axis)
        used = (0.0, 1.0) if channel is None else limits[channel]
        hidden = frozenset(k for k, switch in enumerate(self._switches) if not switch.value)
        clip = (AXES.index(axis), float(self._share.value)) if axis in AXES else None
        return Style(channel, used, bool(self.wireframe.value), hidden, clip)


class Saving:
    """A button that saves what one browser sees as a picture, and a switch that records it while it is on."""

    def __init__(self, gui: Any) -> None:
        self._client: Any = None
        self._images: list[Array] = []
        gui.add_button("screenshot", hint="save this view as a PNG file").on_click(self._screenshot)
        self._switch = gui.add_checkbox("record", False, hint="save what happens from now on as a looping film")
        self._switch.on_update(self._switched)

    def _screenshot(self, event: Any) -> None:
        image = event.client.get_render(*SHOT)
        event.client.send_file_download("pliant.png", encoded([image], "PNG"), save_immediately=True)

    def _switched(self, event: Any) -> None:
        if self._switch.value:
            self._client, self._images = event.client, []
        elif self._images:
            images, client = self._images, self._client
            self._client, self._images = None, []
            client.send_file_download("pliant.webp", encoded(images, "WEBP"), save_immediately=True)

    @property
    def recording(self) -> bool:
        """Whether a film is being made."""
        return self._client is not None and bool(self._switch.value)

    def take(self) -> None:
        """Add a picture to the film that is being recorded, if there is one."""
        client = self._client
        if client is not None and self._switch.value:
            self._images.append(client.get_render(*FILM))


def encoded(images: list[Array], format: str) -> bytes:
    """A picture file, or a film that loops, of images (height, width, 3)."""
    from PIL import Image

    first, *more = [Image.fromarray(image[..., :3]) for image in images]
    film = {"save_all": True, "append_images": more, "duration": round(1000.0 / PACE), "loop": 0} if more else {}
    file = BytesIO()
    first.save(file, format, **film)
    return file.getvalue()
