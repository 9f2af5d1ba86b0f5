"""Values as colours."""

from typing import Any

import numpy as np

from pliant.arrays import Array

MAP = "viridis"


def palette(values: Array, limits: tuple[float, float]) -> Any:
    """Colours (n, 4) of 8 bits: dark for the lowest value, yellow for the highest."""
    import matplotlib

    least, most = limits
    scaled = np.clip((values - least) / max(most - least, 1e-300), 0.0, 1.0)
    return (255 * matplotlib.colormaps[MAP](scaled)).astype(np.uint8)


def linear(colours: Any) -> Array:
    """Colours (n, 3) as amounts of light from 0 to 1: what 8 bits of sRGB stand for."""
    s = np.asarray(colours, dtype=np.float64)[:, :3] / 255.0
    return np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)


def magnitude(values: Array) -> Array:
    """One number per vertex: the value itself, or the length of a vector (of a tensor, its Frobenius norm)."""
    return values if values.ndim == 1 else np.linalg.norm(values.reshape(len(values), -1), axis=1)
