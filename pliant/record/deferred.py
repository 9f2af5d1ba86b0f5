"""A file whose failures are told after HDF5 has written it: HDF5 may crash where the disk fails under it."""

import errno
import os
from pathlib import Path
from typing import Any


class DeferredFile:
    """A file for `h5py.File`; the first write that failed is raised by `check`, or on leaving the context."""

    def __init__(self, path: Path, mode: str) -> None:
        self._file: Any = open(path, mode, buffering=0)  # noqa: SIM115  (closed on leaving)
        self._error: OSError | None = None

    def __enter__(self) -> "DeferredFile":
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
        self.check()

    def check(self) -> None:
        """Raise what has failed since the last time."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def read(self, size: int = -1) -> bytes:
        return bytes(self._file.read(size))

    def readinto(self, buffer: Any) -> int:
        return int(self._file.readinto(buffer))

    def write(self, data: Any) -> int:
        end = self.tell() + len(data)
        try:
            if self._file.write(data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            self._error = self._error or error
            self.seek(end)
        return len(data)

    def truncate(self, size: int | None = None) -> int:
        try:
            return int(self._file.truncate(size))
        except OSError as error:
            self._error = self._error or error
            return size or 0

    def flush(self) -> None:
        """Nothing is kept back."""
