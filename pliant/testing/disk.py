"""A disk that loses things: the journal of what a program wrote, and the folders that a kill or a power cut leaves.

A program that runs with `disk.c` loaded before the C library writes every operation below a folder into a journal. From
it follow, without running anything again, all folders that `kill -9` can leave (the operations up to some moment, the
last one perhaps half done) and those of a power cut: what was synced is there, what was not may be there or not.
"""

import ctypes
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pliant.errors import MissingDependency

SHIM = "PLIANT_DISK_SHIM"  # the library that is loaded
OPEN, WRITE, TRUNCATE, FSYNC, RENAME, UNLINK, MKDIR = range(1, 8)
HEAD = struct.Struct("<iiqqii")


def build_shim(folder: Path) -> Path:
    """Compile the library; needs a C compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise MissingDependency("no C compiler", where="disk", remedy="install gcc")
    library = folder / "disk.so"
    source = Path(__file__).with_suffix(".c")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl"], check=True)
    return library


def with_shim(library: Path) -> dict[str, str]:
    """The environment of a process that has it loaded."""
    return {**os.environ, "LD_PRELOAD": str(library), SHIM: str(library)}


def shim() -> ctypes.CDLL:
    """The library within a process that was started with it."""
    library = ctypes.CDLL(os.environ[SHIM])
    library.disk_count.restype = ctypes.c_long
    library.disk_fail.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_int]
    return library


@dataclass(frozen=True)
class DiskOperation:
    """One change: of the file at a path or behind a descriptor; ``at`` is an offset, or the flags of an opening."""

    kind: int
    fd: int
    at: int
    length: int
    path: str
    to: str
    content: bytes

    def half(self) -> "DiskOperation":
        """The first half of a write."""
        return DiskOperation(self.kind, self.fd, self.at, self.length // 2, "", "", self.content[: self.length // 2])


def read_journal(path: Path) -> list[DiskOperation]:
    content, at, found = path.read_bytes(), 0, []
    while at < len(content):
        kind, fd, offset, length, a, b = HEAD.unpack_from(content, at)
        at += HEAD.size
        names = content[at : at + a].decode(), content[at + a : at + a + b].decode()
        at += a + b
        size = length if kind == WRITE else 0
        found.append(DiskOperation(kind, fd, offset, length, *names, content[at : at + size]))
        at += size
    return found


@dataclass
class File:
    """The contents of a file as programs see it, those that a power cut leaves, and what was written between."""

    content: bytearray = field(default_factory=bytearray)
    synced: bytes = b""
    waiting: list[DiskOperation] = field(default_factory=list)

    def change(self, operation: DiskOperation) -> None:
        _apply(self.content, operation)
        self.waiting.append(operation)

    def sync(self) -> None:
        self.synced, self.waiting = bytes(self.content), []

    def survived(self, rng: np.random.Generator | None) -> bytes:
        """After a power cut: what was synced, and of the rest nothing (no ``rng``) or what chance has written."""
        content = bytearray(self.synced)
        for operation in self.waiting if rng is not None else ():
            if rng is not None and rng.random() < 0.5:
                _apply(content, operation)
        return bytes(content)


class Disk:
    """A folder, operation by operation."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.names: dict[str, File] = {}
        self.durable: dict[str, File] = {}  # names that a power cut leaves
        self.open: dict[int, File | None] = {}  # None: a folder

    def apply(self, operation: DiskOperation) -> None:
        kind, path = operation.kind, operation.path
        if kind == OPEN:
            if operation.at & 1 and path not in self.names:
                self.names[path] = File()
            self.open[operation.fd] = self.names.get(path)
            if operation.at & 2:
                self.names[path].change(DiskOperation(TRUNCATE, -1, 0, 0, "", "", b""))
        elif kind in (WRITE, TRUNCATE):
            file = self.names[path] if path else self.open[operation.fd]
            assert file is not None
            file.change(operation)
        elif kind == FSYNC:
            file = self.open[operation.fd]
            if file is None:
                self.durable = dict(self.names)
            else:
                file.sync()
        elif kind == RENAME:
            self.names[operation.to] = self.names.pop(path)
        elif kind == UNLINK:
            self.names.pop(path, None)

    def killed(self) -> dict[str, bytes]:
        """What another process finds: names within the folder, and contents."""
        return {self._within(path): bytes(file.content) for path, file in self.names.items()}

    def unplugged(self, rng: np.random.Generator | None) -> dict[str, bytes]:
        """What is there after a power cut; names are those of the last sync of the folder, or all (by chance)."""
        kept = self.names if rng is not None and rng.random() < 0.5 else self.durable
        return {self._within(path): file.survived(rng) for path, file in kept.items()}

    def _within(self, path: str) -> str:
        return os.path.relpath(path, self.folder)


def _apply(content: bytearray, operation: DiskOperation) -> None:
    end = operation.length if operation.kind == TRUNCATE else operation.at + operation.length
    if len(content) < end:
        content.extend(b"\0" * (end - len(content)))
    if operation.kind == TRUNCATE:
        del content[end:]
    else:
        content[operation.at : end] = operation.content


def kills(folder: Path, journal: list[DiskOperation]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """All folders that a kill leaves: after every operation, and in the middle of every write."""
    disk = Disk(folder)
    for k, operation in enumerate(journal):
        yield f"killed before operation {k}", disk.killed()
        if operation.kind == WRITE and operation.length > 1:
            file = disk.open[operation.fd]
            assert file is not None
            whole = bytes(file.content)
            _apply(file.content, operation.half())
            yield f"operation {k} torn", disk.killed()
            file.content[:] = whole
        disk.apply(operation)
    yield "killed at the end", disk.killed()


def cuts(folder: Path, journal: list[DiskOperation], seed: int = 0) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Folders that a power cut leaves after every operation: with nothing that was not synced, and with some of it."""
    disk, rng = Disk(folder), np.random.default_rng(seed)
    for k, operation in enumerate(journal):
        disk.apply(operation)
        yield f"power cut after operation {k}", disk.unplugged(None)
        yield f"power cut after operation {k}, some written", disk.unplugged(rng)


def lay(folder: Path, contents: dict[str, bytes]) -> None:
    """Put files into a folder that is empty."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
