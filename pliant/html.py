"""How things look in a notebook: small tables, and pictures and films within the page."""

import base64
import html
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MIMES = {".png": "image/png", ".gif": "image/gif", ".webp": "image/webp", ".mp4": "video/mp4"}


def table(title: str, rows: Mapping[str, Any]) -> str:
    """A title and a table of names and values."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(shown(value))}</td></tr>"
        for name, value in rows.items()
    )
    return f"<div><strong>{html.escape(title)}</strong><table>{cells}</table></div>"


def shown(value: Any) -> str:
    """A value as people read it: numbers to six digits, None as unknown."""
    if value is None:
        return "unknown"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


@dataclass(frozen=True)
class Inline:
    """A picture or a film that a notebook shows within its page; elsewhere it is the path of the file."""

    path: Path

    def _repr_html_(self) -> str:
        kind = MIMES[self.path.suffix]
        source = f"data:{kind};base64,{base64.b64encode(self.path.read_bytes()).decode('ascii')}"
        if kind.startswith("video"):
            return f'<video src="{source}" autoplay loop muted controls></video>'
        return f'<img src="{source}"/>'
