"""How a run goes: the times of a scene, and what failures and gains of energy mean. Every kind of scene has them."""

from typing import Any

import numpy as np

from pliant.errors import SceneError
from pliant.units import ENERGY, quantity

WORDS = {
    "on_failure": ("raise", "warn", "substep"),
    "on_energy_gain": ("ignore", "warn", "raise"),
    "units": tuple(ENERGY),
    "device": ("cpu", "cuda"),
}
MOST_STEPS = 1e12  # what no machine takes, and what a counter holds


def read_policy(scene: Any) -> None:
    """The fields ``h`` and ``duration`` of a frozen scene become positive seconds; its policies are checked."""
    for name in ("h", "duration"):
        value = quantity(getattr(scene, name), "s", f"scene.{name}")
        if not (np.ndim(value) == 0 and np.isfinite(value) and value > 0.0):
            raise SceneError(f"{name} is {value}", where=f"scene.{name}", remedy="give a positive time [s]")
        object.__setattr__(scene, name, float(value))
    if scene.duration < 0.5 * scene.h:
        what = f"duration {scene.duration:g} s is less than half a step"
        raise SceneError(what, where="scene.duration", remedy=f"lengthen it, or reduce h (now {scene.h:g} s)")
    if not scene.duration / scene.h < MOST_STEPS:
        what = f"duration {scene.duration:g} s is {scene.duration / scene.h:.3g} steps of {scene.h:g} s"
        raise SceneError(what, where="scene.duration", remedy="give a shorter duration or a longer step")
    for name, words in WORDS.items():
        given = getattr(scene, name)
        if given not in words:
            raise SceneError(f"{name} is {given!r}", where=f"scene.{name}", remedy=f"use one of {', '.join(words)}")


def read_budget(scene: Any) -> None:
    """The field ``budget`` of a frozen scene becomes positive CPU seconds, or stays None."""
    if scene.budget is None:
        return
    value = quantity(scene.budget, "s", "scene.budget")
    if not (np.ndim(value) == 0 and value > 0.0):
        raise SceneError(f"budget is {value}", where="scene.budget", remedy="give a positive CPU time [s], or None")
    object.__setattr__(scene, "budget", float(value))


def steps_of(scene: Any) -> int:
    """Number of time steps of a whole run: the duration in steps, rounded."""
    return max(1, round(scene.duration / scene.h))
