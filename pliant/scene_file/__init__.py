"""Scene files: TOML documents that are checked field by field and call the constructors a Python scene calls."""

from pliant.scene_file.choices import NotDescribable, register
from pliant.scene_file.describe import describe, describe_obstacles
from pliant.scene_file.load import Loaded, load_remains, load_scene
from pliant.scene_file.toml import dumps

__all__ = [
    "Loaded",
    "NotDescribable",
    "describe",
    "describe_obstacles",
    "dumps",
    "load_remains",
    "load_scene",
    "register",
]
