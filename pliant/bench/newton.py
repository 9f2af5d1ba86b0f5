"""Newton, the engine on Warp, as a peer in tables: it is not among what pliant needs."""

from typing import Any


def peer() -> tuple[Any, Any] | None:
    """The modules newton and warp, None where they are not installed."""
    try:
        import newton
        import warp
    except ImportError:
        return None
    warp.config.log_level = warp.LOG_ERROR  # not every kernel that it loads
    return newton, warp


def said() -> str:
    """What a table notes of it."""
    found = peer()
    if found is None:
        return "Newton is not installed: its rows are left out (pip install newton)."
    return f"Newton {found[0].__version__}."
