"""One thread for the BLAS, locally."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def one_thread() -> Iterator[None]:
    """Run the BLAS on the calling thread: the same sums, whatever thread count the user has set."""
    pools = _pools()
    if pools is None:
        yield
        return
    with pools.limit(limits=1, user_api="blas"):
        yield


@cache
def _pools() -> Any:
    """The thread pools of the loaded BLAS libraries; None without `threadpoolctl`, when nothing is limited."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    import scipy.linalg.cython_blas  # noqa: F401  (the library must be loaded to be found)

    return ThreadpoolController()
