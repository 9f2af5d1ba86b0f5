"""The same physics on a GPU: element passes, sparse products and conjugate gradients as CUDA kernels.

`on_device` puts a system on the device, with coordinates that are CuPy arrays; stages, integrators and Newton's method
are the ones of the CPU. Element functions are those of the CPU, too (see `translate`); no floating-point atomics, so
that a run gives the same bytes every time.
"""
