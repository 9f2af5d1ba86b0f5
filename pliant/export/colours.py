"""Values and bodies as colours, the same in pictures, films and pages."""

from typing import Any

import numpy as np

from pliant.arrays import Array, IntArray

MAP = "viridis"
BODIES = (  # one body after the other; neighbours differ in hue and in brightness, and stand out on paper and on stone
    (62, 124, 177),  # blue
    (229, 141, 79),  # orange
    (86, 160, 120),  # green
    (203, 88, 92),  # red
    (137, 115, 176),  # violet
    (226, 190, 92),  # yellow
    (84, 168, 178),  # teal
    (186, 128, 104),  # brown
    (211, 135, 168),  # pink
    (120, 130, 145),  # slate
)
STONE, STEEL = (190, 184, 172), (98, 104, 112)  # obstacles; nails, wires and tips
UNKNOWN = (150, 150, 150)  # where a body does not know the quantity that is drawn


def of_bodies(bodies: IntArray | None, n: int, first: int = 0) -> Any:
    """Colours (n, 3) of 8 bits by the number of each vertex's body; ``first`` is the colour of body 0."""
    numbers = np.zeros(n, dtype=np.int64) if bodies is None else bodies
    return np.array(BODIES, dtype=np.uint8)[(numbers + first) % len(BODIES)]


def of_directions(directions: Array) -> Any:
    """Colours (n, 3) of 8 bits of unit vectors (n, 3), as fibres are usually drawn: red along x, green y, blue z."""
    unknown = np.isnan(directions).any(axis=1, keepdims=True)
    shades = 40 + 200 * np.clip(np.abs(np.nan_to_num(directions)), 0.0, 1.0)
    return np.where(unknown, UNKNOWN, shades).astype(np.uint8)


def palette(values: Array, limits: tuple[float, float], colours: str = MAP) -> Any:
    """Colours (n, 4) of 8 bits on a colour map: in the usual one dark for the lowest value, yellow for the highest.

    What is not known (NaN) is grey.
    """
    import matplotlib

    least, most = limits
    scaled = np.clip((values - least) / max(most - least, 1e-300), 0.0, 1.0)
    found = (255 * matplotlib.colormaps[colours](scaled)).astype(np.uint8)
    found[np.isnan(scaled)] = (*UNKNOWN, 255)
    return found


def linear(colours: Any) -> Array:
    """Colours (n, 3) as amounts of light from 0 to 1: what 8 bits of sRGB stand for."""
    s = np.asarray(colours, dtype=np.float64)[:, :3] / 255.0
    return np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)


def magnitude(values: Array) -> Array:
    """One number per vertex: the value itself, or the length of a vector (of a tensor, its Frobenius norm)."""
    return values if values.ndim == 1 else np.linalg.norm(values.reshape(len(values), -1), axis=1)


def extent(values: Array) -> tuple[float, float]:
    """The least and the most of what is known (not NaN), by `magnitude`; (inf, -inf) of nothing."""
    sizes = magnitude(values)
    known = sizes[np.isfinite(sizes)]
    return float(known.min(initial=np.inf)), float(known.max(initial=-np.inf))
