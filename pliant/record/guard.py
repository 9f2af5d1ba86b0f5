"""What keeps a run folder whole: one writer at a time, an orderly end, sums of what belongs together, room to stop in.

A checkpoint names the scene, the ledger and the frames that it goes on from by sums of their contents; who resumes a
run compares them first, so that nothing is continued that does not fit.
"""

import hashlib
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import RunError
from pliant.record.frames import Frame
from pliant.systems.base import System
from pliant.systems.stepped import Smooth

LOCK, RESERVE = ".lock", ".reserve"
ROOM = 1 << 20  # bytes that are given back when the disk is full, so that the files can still be closed
SAME = 1e-9  # relative: the same physics on another machine


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the folder: a second writer is refused. The lock ends with the process, however it ends."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system
        yield
        return
    path = folder / LOCK
    while True:
        handle = _opened(path)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.read(handle, 32).decode("ascii", "replace").strip()
            os.close(handle)
            remedy = "wait for it, stop it, or choose another folder"
            raise RunError(f"{folder} is being written by process {owner}", where="lock", remedy=remedy) from None
        if path.exists() and os.path.samestat(os.fstat(handle), path.stat()):
            break
        os.close(handle)  # the one before us has just removed it
    try:
        with suppress(OSError):  # it only tells others who holds it
            os.ftruncate(handle, 0)
            os.pwrite(handle, str(os.getpid()).encode("ascii"), 0)
        yield
    finally:
        with suppress(OSError):  # a full disk may keep the file; nobody holds it then
            path.unlink()
        os.close(handle)


@contextmanager
def stop_signals() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM set a flag instead of ending the process; outside the main thread nothing changes."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked.is_set
        return

    def note(number: int, frame: Any) -> None:
        if asked.is_set():
            raise KeyboardInterrupt  # the second Ctrl-C means it
        asked.set()

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _opened(path: Path) -> int:
    """The descriptor of the lock's file."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        remedy = "free space or change --out"
        raise RunError(f"cannot write {path}: {error.strerror}", where="lock", remedy=remedy) from error


def reserve(folder: Path) -> None:
    """Take a little room that `release` gives back."""
    (folder / RESERVE).write_bytes(b"\0" * ROOM)


def release(folder: Path) -> None:
    """Give the room back; a disk that refuses keeps it, and nothing is lost."""
    with suppress(OSError):
        (folder / RESERVE).unlink(missing_ok=True)


def file_sums(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The sums of files by their names; "missing" where there is none."""
    paths = {name: folder / name for name in sorted(names)}
    return {
        name: hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"
        for name, path in paths.items()
    }


def frame_sum(before: str, frame: Frame) -> str:
    """The sum of all frames so far, from that of those before and the next one."""
    total = hashlib.sha256(before.encode("ascii"))
    total.update(repr(float(frame.t)).encode("ascii"))
    values = {"points": frame.points, **frame.point_values, **frame.cell_values}
    for name in sorted(values):
        total.update(name.encode("utf-8"))
        total.update(np.ascontiguousarray(values[name], dtype=np.float64).tobytes())
    return total.hexdigest()


def physics(scene: Any, system: System, state: Any) -> dict[str, Any]:
    """A scene in a few numbers that change with its meshes, materials, pins, loads, time step and method."""
    found = {"h": float(scene.h), "integrator": repr(scene.integrator), "coordinates": len(state.q)}
    free = np.ascontiguousarray(system.free, dtype=np.int64)
    found["pins"] = hashlib.sha256(free.tobytes()).hexdigest()
    found["positions"] = float(np.linalg.norm(state.q))
    if isinstance(system, Smooth):
        whole: Any = system
        q, v, t = state.q, state.v, state.t
        with np.errstate(all="ignore"):
            found["masses"] = float(np.linalg.norm(whole.weights(q)))
            found["forces"] = float(np.linalg.norm(whole.force(q, v, t)))
            found["stiffness"] = float(np.linalg.norm(whole.tangent(q, v, t, (0.0, 0.0, 1.0)).data))
    return found


def different(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """The names under which two of them differ."""

    def same(x: Any, y: Any) -> bool:
        if isinstance(x, float) and isinstance(y, float):
            return x == y or abs(x - y) <= SAME * max(abs(x), abs(y)) or (x != x and y != y)
        return bool(x == y)

    return [name for name in {**a, **b} if name not in a or name not in b or not same(a[name], b[name])]
