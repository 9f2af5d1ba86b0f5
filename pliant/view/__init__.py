"""Looking at runs and scenes in a browser."""

from pliant.view.live import LiveView
from pliant.view.replay import Replay

__all__ = ["LiveView", "Replay"]
