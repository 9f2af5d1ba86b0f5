"""Looking at runs and scenes in a browser."""

from pliant.view.live import Live
from pliant.view.replay import Replay

__all__ = ["Live", "Replay"]
