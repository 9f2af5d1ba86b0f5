"""Where a scene came from: the document and the files that a run folder keeps, so that it can be run again."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pliant.errors import RunError


@dataclass(frozen=True)
class Origin:
    """``document`` becomes ``scene.toml``; ``files`` (name -> content) lie beside it."""

    document: dict[str, Any]
    files: dict[str, bytes] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Put everything into ``folder``; it is on the disk when this returns."""
        from pliant.checkpoint import synced
        from pliant.scene_file.toml import dumps

        texts = {**self.files, "scene.toml": dumps(self.document).encode("utf-8")}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in texts.items():
                temporary = folder / (name + ".part")
                temporary.write_bytes(content)
                synced(temporary)
                os.replace(temporary, folder / name)
            synced(folder)
        except OSError as error:
            raise RunError(f"cannot write {folder}: {error.strerror}", where="scene.toml") from error


def origin_of(scene: Any) -> Origin:
    """The scene's own description; where only Python can say parts of it, the names of its bodies and its obstacles."""
    from pliant.scene import Scene
    from pliant.scene_file import NotDescribable, describe, describe_obstacles

    try:
        document, files = describe(scene)
    except NotDescribable as reason:
        obstacles, files = describe_obstacles(scene)
        around = {"obstacles": obstacles} if obstacles else {}
        names = {"bodies": scene.body_names()} if isinstance(scene, Scene) else {}
        return Origin({"name": str(scene.name), "made_in_python": reason.what, **names, **around}, files)
    return Origin(document, files)
