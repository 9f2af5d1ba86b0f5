"""Where tables are printed."""

from rich.console import Console


def console() -> Console:
    """Standard output; wide when it is not a terminal, so that nothing is cut off in files and pipes.

    Text is printed as it is: brackets are units and names here, not markup.
    """
    plain = Console(highlight=False, markup=False)
    return plain if plain.is_terminal else Console(highlight=False, markup=False, width=200)
