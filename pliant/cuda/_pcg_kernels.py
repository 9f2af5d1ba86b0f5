"""Kernels of conjugate gradients, see `pcg`."""

from numba import cuda, float64

from pliant.cuda._matrix_kernels import SLICE, coupled_row_times
from pliant.cuda.device import THREADS

RZ, RR, BB, ALPHA, BETA, MARK, COUNT = range(7)  # places of the scalars
MET, CURVED = 1.0, 2.0  # marks: the tolerance is met, a direction has no positive curvature


@cuda.jit(device=True)
def block_sum(value, shared):
    """The sum over the threads of a block, by halves; valid in thread 0."""
    t = cuda.threadIdx.x
    shared[t] = value
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if t < half:
            shared[t] += shared[t + half]
        cuda.syncthreads()
        half //= 2
    return shared[0]


@cuda.jit
def inverse_diagonal(place, values, mask, inverse, bad):
    """inverse (9, n): of the diagonal blocks, the identity for coordinates that are not free; bad[0] = 1 if indefinite.

    Every thread that finds a block indefinite writes the same number.
    """
    i = cuda.grid(1)
    if i < place.shape[0]:
        p = place[i]
        u, v, w = mask[3 * i], mask[3 * i + 1], mask[3 * i + 2]
        a = u * values[p] + (1.0 - u)
        b = u * v * values[p + SLICE]
        c = u * w * values[p + 2 * SLICE]
        d = v * values[p + 4 * SLICE] + (1.0 - v)
        e = v * w * values[p + 5 * SLICE]
        f = w * values[p + 8 * SLICE] + (1.0 - w)
        A, B, C = d * f - e * e, c * e - b * f, b * e - c * d
        det = a * A + b * B + c * C
        if not (a > 0.0 and a * d - b * b > 0.0 and det > 0.0):
            bad[0] = 1.0
        s = 1.0 / det
        inverse[0, i], inverse[1, i], inverse[2, i] = s * A, s * B, s * C
        inverse[3, i], inverse[4, i], inverse[5, i] = s * B, s * (a * f - c * c), s * (b * c - a * e)
        inverse[6, i], inverse[7, i], inverse[8, i] = s * C, s * (b * c - a * e), s * (a * d - b * b)


@cuda.jit
def product_and_curvature(start, columns, values, ptr, off, nodes, blocks, mask, scalars, p, Ap, partial):
    """Ap = mask (A p), partial = p.Ap of every block of threads."""
    shared = cuda.shared.array(THREADS, float64)
    i = cuda.grid(1)
    total = 0.0
    if i < mask.shape[0] // 3 and scalars[MARK] == 0.0:
        a, b, c = coupled_row_times(i, start, columns, values, ptr, off, nodes, blocks, mask, p)
        Ap[3 * i], Ap[3 * i + 1], Ap[3 * i + 2] = a, b, c
        total = a * p[3 * i] + b * p[3 * i + 1] + c * p[3 * i + 2]
    total = block_sum(total, shared)
    if cuda.threadIdx.x == 0:
        partial[0, cuda.blockIdx.x] = total


@cuda.jit
def set_alpha(partial, scalars):
    """alpha = r.z / p.Ap, in one block; 0 once a mark is set."""
    shared = cuda.shared.array(THREADS, float64)
    total = 0.0
    for k in range(cuda.threadIdx.x, partial.shape[1], cuda.blockDim.x):
        total += partial[0, k]
    curvature = block_sum(total, shared)
    if cuda.threadIdx.x == 0:
        scalars[ALPHA] = 0.0
        if scalars[MARK] == 0.0:
            if curvature > 0.0:
                scalars[ALPHA] = scalars[RZ] / curvature
                scalars[COUNT] += 1.0
            else:
                scalars[MARK] = CURVED


@cuda.jit
def advance(scalars, inverse, p, Ap, x, r, z):
    """x += alpha p, r -= alpha Ap, z = D^-1 r."""
    i = cuda.grid(1)
    if i < inverse.shape[1] and scalars[MARK] == 0.0:
        alpha = scalars[ALPHA]
        for k in range(3 * i, 3 * i + 3):
            x[k] += alpha * p[k]
            r[k] -= alpha * Ap[k]
        a, b, c = r[3 * i], r[3 * i + 1], r[3 * i + 2]
        for k in range(3):
            z[3 * i + k] = inverse[3 * k, i] * a + inverse[3 * k + 1, i] * b + inverse[3 * k + 2, i] * c


@cuda.jit
def partial_products(r, z, partial):
    """partial = (r.z, r.r) of every block of threads."""
    shared = cuda.shared.array(THREADS, float64)
    i = cuda.grid(1)
    rz = rr = 0.0
    if i < r.shape[0] // 3:
        for k in range(3 * i, 3 * i + 3):
            rz += r[k] * z[k]
            rr += r[k] * r[k]
    rz = block_sum(rz, shared)
    if cuda.threadIdx.x == 0:
        partial[0, cuda.blockIdx.x] = rz
    cuda.syncthreads()
    rr = block_sum(rr, shared)
    if cuda.threadIdx.x == 0:
        partial[1, cuda.blockIdx.x] = rr


@cuda.jit
def set_beta(partial, tolerance, scalars):
    """beta = (r.z) / (r.z)_old and the mark of a tolerance that is met, in one block."""
    shared = cuda.shared.array(THREADS, float64)
    rz = rr = 0.0
    for k in range(cuda.threadIdx.x, partial.shape[1], cuda.blockDim.x):
        rz += partial[0, k]
        rr += partial[1, k]
    rz = block_sum(rz, shared)
    cuda.syncthreads()
    rr = block_sum(rr, shared)
    if cuda.threadIdx.x == 0 and scalars[MARK] == 0.0:
        scalars[BETA] = rz / scalars[RZ] if scalars[RZ] > 0.0 else 0.0
        scalars[RZ], scalars[RR] = rz, rr
        if scalars[BB] < 0.0:  # the first time
            scalars[BB] = rr
        if rr <= tolerance * tolerance * scalars[BB]:
            scalars[MARK] = MET


@cuda.jit
def turn(scalars, z, p):
    """p = z + beta p"""
    k = cuda.grid(1)
    if k < p.shape[0] and scalars[MARK] == 0.0:
        p[k] = z[k] + scalars[BETA] * p[k]
