"""What a run records."""

from dataclasses import dataclass

from pliant.errors import require_count
from pliant.record.channels import check


@dataclass(frozen=True)
class Output:
    """A frame ``every`` so many steps, ``channels`` per vertex and element, a checkpoint every ``checkpoint_every``
    steps (0: every ten seconds, and always at the end)."""

    every: int = 1
    channels: tuple[str, ...] = ()
    checkpoint_every: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "channels", check(self.channels))
        for name, least in (("every", 1), ("checkpoint_every", 0)):
            require_count(getattr(self, name), least, f"output.{name}")
