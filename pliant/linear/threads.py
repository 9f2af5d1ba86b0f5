"""One thread for the BLAS, locally."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

_limited: ContextVar[bool] = ContextVar("limited", default=False)


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the BLAS on the calling thread: the same sums, whatever thread count the user has set.

    Every integrator's step, `simulate` with its books, recording and benchmarks run within it.
    Limiting the pools takes some 40 us, more than a small solve; within another `one_thread` it is not repeated.
    """
    pools = None if _limited.get() else _pools()
    if pools is None:
        yield
        return
    token = _limited.set(True)
    try:
        with pools.limit(limits=1, user_api="blas"):
            yield
    finally:
        _limited.reset(token)


@cache
def _pools() -> Any:
    """The thread pools of the loaded BLAS libraries; None without `threadpoolctl`, when nothing is limited."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    import scipy.linalg.cython_blas  # noqa: F401  (the library must be loaded to be found)

    return ThreadpoolController()
