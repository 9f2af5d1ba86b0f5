"""The same physics on a GPU: element passes, sparse products and conjugate gradients as CUDA kernels.

`on_device` puts a system on the device, with coordinates that are CuPy arrays; stages, integrators and Newton's method
are the ones of the CPU. Element functions are those of the CPU, too (see `translate`); no floating-point atomics, so
that a run gives the same bytes every time.
"""

import numpy as np

if "row_stack" not in vars(np):  # gone from NumPy 2.5; numba-cuda 0.30 still asks for it
    np.row_stack = np.vstack  # type: ignore[attr-defined]  # noqa: NPY201
