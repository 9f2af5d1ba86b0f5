"""Where tables are printed."""

from rich.console import Console


def console() -> Console:
    """Standard output; wide when it is not a terminal, so that nothing is cut off in files and pipes."""
    plain = Console(highlight=False)
    return plain if plain.is_terminal else Console(highlight=False, width=200)
