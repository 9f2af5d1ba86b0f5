"""Pictures and films without a screen; several runs stand side by side, with one camera and one scale of colours."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.errors import MissingDependency
from pliant.export.camera import Bounds, moving_box, shot
from pliant.export.captions import captioned
from pliant.export.clip import Clip, Picture, last_before, ranges
from pliant.export.look import PLAIN, Look
from pliant.export.obstacles import scene_of, shapes_of
from pliant.export.studio import Studio

FOLLOWING = 0.25  # seconds over which a camera that follows is slow to react


def write_png(clip: Clip, path: Path, look: Look = PLAIN, beside: Sequence[Clip] = ()) -> Path:
    """One picture: the last of the clip's frames; of runs ``beside`` it, their last frame that is not later.

    The camera frames what the picture shows; colours have their range over all frames.
    """
    t = float(clip.times[-1])
    shown = [replace(one, chosen=(_number(one, t),)) for one in (clip, *beside)]
    with _scene([clip, *beside], look, shown) as draw:
        image = draw(t, 0.0)
    _imageio().imwrite(path, image)
    return path


def write_film(clip: Clip, path: Path, look: Look = PLAIN, beside: Sequence[Clip] = ()) -> Path:
    """A film (.mp4, .gif or .webp): for every moment shown, the last frame recorded before it."""
    look, times = replace(look, exposures=1), clip.times  # motion hides what a still would show
    count = int(np.floor((times[-1] - times[0]) * look.fps / look.speed + 1e-6)) + 1
    clips = [clip, *beside]
    with _scene(clips, look, clips) as draw, _writer(path, look) as film:
        for k in range(count):
            film(draw(float(times[0]) + k * look.speed / look.fps, k / max(count - 1, 1)))
    return path


@contextmanager
def _scene(clips: list[Clip], look: Look, framed: list[Clip]) -> Iterator[Any]:
    """A function (time [s], share of the film) -> image, with one box, around ``framed``, and one scale of colours."""
    found = [ranges(one, look.channel) for one in clips]
    boxes = found if framed is clips else [ranges(one) for one in framed]
    everything = Bounds(np.min([f[0] for f in boxes], axis=0), np.max([f[1] for f in boxes], axis=0))
    limits = look.limits or (min(f[2] for f in found), max(f[3] for f in found))
    box = everything
    if look.moving:
        moving = [moving_box(one, everything) for one in clips]
        box = Bounds(np.min([b.low for b in moving], axis=0), np.max([b.high for b in moving], axis=0))
    panel = replace(look, size=(max(16, look.size[0] // len(clips)), look.size[1]))  # of one run among them
    names = [one.run.folder.resolve().name for one in clips] if len(clips) > 1 else [""]
    with ExitStack() as rooms:
        studios = []
        for k, one in enumerate(clips):
            obstacles = shapes_of(scene_of(one.run), everything.low, everything.high)
            studios.append(rooms.enter_context(closing(Studio(panel, everything, obstacles, limits, k))))
        followed: list[Array] = []

        def draw(t: float, share: float) -> Array:
            pictures = [one.picture(_number(one, t)) for one in clips]
            focus = _followed(followed, pictures[0], look) if look.follow else None
            camera = shot(box, panel, share, focus)
            images = [room.draw(picture, camera) for room, picture in zip(studios, pictures, strict=True)]
            return captioned(images, names, pictures[0].t, look, limits)

        yield draw


def _number(clip: Clip, t: float) -> int:
    """The number of the last of the clip's frames that is not later than t."""
    return int(clip.numbers[last_before(clip.times, t)])


def _followed(before: list[Array], picture: Picture, look: Look) -> Array:
    """Where a camera that follows looks: at the mean of the vertices, a little late."""
    mean = picture.points.mean(axis=0)
    slow = np.exp(-look.speed / (look.fps * FOLLOWING)) if before else 0.0
    focus = mean if not before else slow * before[0] + (1.0 - slow) * mean
    before[:] = [focus]
    return focus


@contextmanager
def _writer(path: Path, look: Look) -> Iterator[Any]:
    """A function that appends an image to a film."""
    if path.suffix == ".webp":
        with _webp(path, look) as append:
            yield append
        return
    video = {"fps": look.fps, "macro_block_size": 2, "quality": 7, "ffmpeg_log_level": "error"}
    options = {"duration": 1000.0 / look.fps, "loop": 0} if path.suffix == ".gif" else video
    try:
        film = _imageio().get_writer(path, mode="I", **options)
    except (ImportError, ValueError) as error:
        remedy = "pip install 'imageio[ffmpeg]'"
        raise MissingDependency(f"cannot write {path.suffix} films", where="export", remedy=remedy) from error
    try:
        yield film.append_data
    finally:
        film.close()


@contextmanager
def _webp(path: Path, look: Look) -> Iterator[Any]:
    """A film that browsers loop like a picture; its images are held until the end."""
    from PIL import Image

    images: list[Any] = []
    yield lambda image: images.append(Image.fromarray(image))
    options = {"duration": round(1000.0 / look.fps), "loop": 0, "quality": 72, "method": 5}
    images[0].save(path, save_all=True, append_images=images[1:], minimize_size=False, **options)


def _imageio() -> Any:
    try:
        import imageio.v2 as imageio
    except ImportError as error:
        raise MissingDependency("imageio is not installed", where="export", remedy="pip install imageio") from error
    return imageio
