"""Looking at runs in a browser."""

from pliant.view.replay import Replay

__all__ = ["Replay"]
