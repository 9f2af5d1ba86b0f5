"""Formats that hold one topology say so by name."""

from pliant.errors import RunError
from pliant.export.clip import Clip


def refuse_changes(clip: Clip, format: str) -> None:
    """An error when the cells change between frames."""
    if not clip.fixed:
        changes = int((clip.parts[1:] != clip.parts[:-1]).sum())
        raise RunError(
            f"{format} cannot hold a topology that changes ({changes} times here)",
            where=f"--to {format}",
            remedy="use usd, vtk, obj, ply, mp4 or gif",
        )
