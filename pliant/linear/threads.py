"""One thread for the BLAS, locally."""

from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
_limited: ContextVar[bool] = ContextVar("limited", default=False)


class one_thread:
    """Run the BLAS on the calling thread: the same sums, whatever thread count the user has set.

    ``with one_thread():``, or ``@one_thread()`` on a function. Every integrator's step, `simulate` with its books,
    recording and benchmarks run within it. Limiting the pools takes some 40 us, more than a small solve; within another
    `one_thread` it is not repeated.
    """

    _before: Any = None  # how to undo it

    def __enter__(self) -> None:
        pools = None if _limited.get() else _pools()
        if pools is not None:
            limit = pools.limit(limits=1, user_api="blas")
            self._before = limit, _limited.set(True)

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            limit, token = self._before
            _limited.reset(token)
            limit.restore_original_limits()

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def limited(*arguments: P.args, **options: P.kwargs) -> R:
            if _limited.get():
                return function(*arguments, **options)
            with one_thread():
                return function(*arguments, **options)

        return limited


@cache
def _pools() -> Any:
    """The thread pools of the loaded BLAS libraries; None without `threadpoolctl`, when nothing is limited."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    import scipy.linalg.cython_blas  # noqa: F401  (the library must be loaded to be found)

    return ThreadpoolController()
