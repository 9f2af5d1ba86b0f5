"""Arrays and kernels on the device, or in Numba's simulator of one.

With ``NUMBA_ENABLE_CUDASIM=1`` kernels run as Python on NumPy arrays: slow, but on any machine, for tests.
"""

from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numba import config, cuda

from pliant.errors import MissingDependency

SIMULATED: bool = bool(config.ENABLE_CUDASIM)  # type: ignore[attr-defined]
DESCRIPTIONS = 4096  # of arrays that are kept
THREADS = 8 if SIMULATED else 128  # of a block: the simulator starts a Python thread for each


@cache
def arrays() -> ModuleType:
    """CuPy, or NumPy in the simulator; a clear line where there is no GPU to use."""
    if SIMULATED:
        return np
    remedy = 'pip install "pliant[cuda]" on a machine with an NVIDIA GPU and its driver, or use device="cpu"'
    try:
        import cupy

        if not cupy.cuda.is_available():
            raise MissingDependency("no CUDA device is available", where='device="cuda"', remedy=remedy)
    except ImportError as error:
        raise MissingDependency("CuPy is not installed", where='device="cuda"', remedy=remedy) from error
    from numba.cuda.cudadrv import devicearray  # all runs on one stream, in order: no waiting at every launch

    devicearray.config.CUDA_ARRAY_INTERFACE_SYNC = 0  # type: ignore[attr-defined]
    devicearray.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # type: ignore[attr-defined]
    return cupy


def name() -> str:
    """What the device is called."""
    if SIMULATED:
        return "Numba's CUDA simulator"
    properties = arrays().cuda.runtime.getDeviceProperties(arrays().cuda.Device().id)
    return f"{properties['name'].decode()}, {properties['totalGlobalMem'] / 2**30:.0f} GiB"


def to_device(values: Any, dtype: Any = None) -> Any:
    """A copy of ``values`` on the device."""
    return arrays().array(values, dtype=dtype)


def to_host(values: Any) -> Any:
    """``values`` as a NumPy array."""
    return values if isinstance(values, np.ndarray) else arrays().asnumpy(values)


def launch(kernel: Any, count: int, arguments: Sequence[Any], stream: Any = 0) -> None:
    """Run ``kernel`` on ``count`` threads in blocks of THREADS; nothing where there is nothing to do."""
    if count:
        kernel[-(-count // THREADS), THREADS, stream](*(described(a) for a in arguments))


_known: dict[tuple[Any, ...], Any] = {}


def described(argument: Any) -> Any:
    """An array of CuPy as Numba describes it to kernels: to find that out takes longer than to launch one.

    Descriptions own no memory, and fit any array that comes to lie in the same place with the same shape.
    """
    if SIMULATED or not isinstance(argument, arrays().ndarray):
        return argument
    key = argument.data.ptr, argument.shape, argument.strides, argument.dtype.char
    known = _known.get(key)
    if known is None:
        if len(_known) >= DESCRIPTIONS:
            _known.clear()
        interface = argument.__cuda_array_interface__
        known = _known[key] = cuda.from_cuda_array_interface(interface, owner=None, sync=False)
    return known


class Recorded:
    """Launches that are the same every time: carried out the first time, which compiles, then replayed as one graph.

    ``work(stream)`` launches kernels on fixed arrays, and allocates nothing.
    """

    def __init__(self, work: Callable[[Any], None]) -> None:
        self._work = work
        self._graph: Any = None

    def __call__(self) -> None:
        if self._graph is not None:
            self._graph.launch()
            return
        self._work(0)
        if not SIMULATED:
            self._graph = self._recorded()

    def _recorded(self) -> Any:
        cupy = arrays()
        stream = cupy.cuda.Stream(non_blocking=True)
        cupy.cuda.Device().synchronize()
        with stream:
            stream.begin_capture()
            self._work(cuda.external_stream(stream.ptr))
            return stream.end_capture()


def triangular_inverse(L: Any) -> Any:
    """L^-1 of a lower triangular matrix."""
    if SIMULATED:
        return np.linalg.inv(L)
    from cupyx.scipy.linalg import solve_triangular

    return solve_triangular(L, arrays().eye(len(L)), lower=True)


def synchronized() -> None:
    """Wait until the device has finished, for measurements."""
    if not SIMULATED:
        cuda.synchronize()
