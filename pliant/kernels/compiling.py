"""What is being compiled: the machine code of a kernel is made when it is first called, and kept on disk.

Numba announces every function that it compiles and does not find in its cache; `announced` passes on the outermost ones,
which are the kernels.
"""

from contextlib import contextmanager
from time import process_time

from numba.core import event


class _Kernels(event.Listener):
    def __init__(self, began, ended):
        self._began, self._ended, self._depth, self._start = began, ended, 0, 0.0

    def on_start(self, event):
        if self._depth == 0:
            self._start = process_time()
            self._began(event.data["dispatcher"].py_func.__name__)
        self._depth += 1

    def on_end(self, event):
        self._depth -= 1
        if self._depth == 0:
            self._ended(event.data["dispatcher"].py_func.__name__, process_time() - self._start)


@contextmanager
def announced(began, ended):
    """Within this, ``began(name)`` is called before a kernel is compiled and ``ended(name, CPU seconds)`` after it."""
    listener = _Kernels(began, ended)
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        event.unregister("numba:compile", listener)
