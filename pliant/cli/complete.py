"""What the shell offers when the tab key is pressed (``pliant --install-completion``)."""

from pathlib import Path

KEYS = (
    *("h=", "duration=", "integrator=", "solver=", "contact=", "contact.mu=", "gravity=", "on_failure=", "device="),
    *("material=", "material.E=", "material.nu=", "density=", "output.every=", "output.channels=", "parameters."),
)


def scenes(incomplete: str) -> list[str]:
    """Built-in scenes, scene files here, and run folders."""
    from pliant.scenes import built_in

    files = [str(path) for end in ("*.toml", "*.py") for path in _beside(incomplete).glob(end)]
    return _starting(incomplete, [*built_in(), *files, *runs(incomplete)])


def runs(incomplete: str) -> list[str]:
    """Folders that hold a run: here, in ``runs``, or where one has begun to type."""
    places = dict.fromkeys((_beside(incomplete), Path("runs")))
    found = [str(report.parent) for place in places for report in sorted(place.glob("*/report.json"))]
    return _starting(incomplete, found)


def formats(incomplete: str) -> list[str]:
    """Formats of ``pliant export``."""
    from pliant.export import GEOMETRY, PICTURES

    return _starting(incomplete, [*PICTURES, *GEOMETRY])


def settings(incomplete: str) -> list[str]:
    """Keys of ``--set``, and the kinds after ``integrator=``, ``material=``, ``solver=`` and ``contact=``."""
    key, equals, _ = incomplete.partition("=")
    if not equals:
        return _starting(incomplete, KEYS)
    from pliant.scene_file.choices import families, kind_of

    return _starting(incomplete, [f"{key}={kind_of(choice)}" for choice in families().get(key, ())])


def _beside(incomplete: str) -> Path:
    """The folder in which an unfinished path is."""
    path = Path(incomplete)
    return path if incomplete.endswith("/") else path.parent


def _starting(incomplete: str, names: "list[str] | tuple[str, ...]") -> list[str]:
    return [name for name in names if name.startswith(incomplete)]
