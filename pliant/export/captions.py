"""What is written on pictures: names of runs side by side, the time, the scale of colours."""

from typing import Any

import numpy as np

from pliant.arrays import Array
from pliant.export.colours import palette
from pliant.export.look import Look

LINE = 0.032  # height of letters, in heights of the picture
DARK, LIGHT = (48, 50, 54), (236, 234, 230)


def captioned(images: list[Array], names: list[str], t: float, look: Look, limits: tuple[float, float]) -> Array:
    """The images side by side, each with its name; time and colour scale where the look asks for them."""
    from PIL import Image, ImageDraw

    joined = np.concatenate(images, axis=1)
    if not (any(names) or look.stamp or _scaled(look)):
        return joined
    sheet = Image.fromarray(joined)
    draw, letters = ImageDraw.Draw(sheet), _font(max(9.0, LINE * look.size[1]))
    ink, pad = _ink(look), int(0.03 * look.size[1])
    left = 0
    for image, name in zip(images, names, strict=True):
        draw.text((left + image.shape[1] / 2, pad), name, ink, letters, anchor="ma")
        left += image.shape[1]
    if look.stamp:
        draw.text((pad, sheet.height - pad), f"t = {t:.2f} s", ink, letters, anchor="ld")
    if _scaled(look):
        _scale(sheet, draw, letters, look, limits)
    return np.asarray(sheet)


def _scaled(look: Look) -> bool:
    return look.channel not in (None, "material", "fibre")


def _scale(sheet: Any, draw: Any, letters: Any, look: Look, limits: tuple[float, float]) -> None:
    """A bar of the colours at the right, with its ends and its middle."""
    from PIL import Image

    width, height = max(6, sheet.width // 80), int(0.5 * sheet.height)
    right, top = sheet.width - int(0.03 * sheet.height), int(0.25 * sheet.height)
    shades = palette(np.linspace(1.0, 0.0, height), (0.0, 1.0), look.colours)[:, None, :3]
    sheet.paste(Image.fromarray(np.repeat(shades, width, axis=1)), (right - width, top))
    ink = _ink(look)
    title = str(look.channel).replace("_", " ") + (f" [{look.unit}]" if look.unit else "")
    draw.text((right, top - 0.6 * letters.size), title, ink, letters, anchor="rd")
    for share in (0.0, 0.5, 1.0):
        value = limits[1] + share * (limits[0] - limits[1])
        at = (right - width - 0.4 * letters.size, top + share * (height - 1))
        draw.text(at, f"{value:.3g}", ink, letters, anchor="rm")


def _ink(look: Look) -> tuple[int, int, int]:
    """Dark letters on light paper, light ones on dark."""
    from matplotlib.colors import to_rgb

    return DARK if np.dot(to_rgb(look.background), (0.3, 0.6, 0.1)) > 0.5 else LIGHT


def _font(size: float) -> Any:
    from pathlib import Path

    import matplotlib
    from PIL import ImageFont

    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts/ttf/DejaVuSans.ttf"), size)
