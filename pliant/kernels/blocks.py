"""Symmetric matrices whose rows come in threes, one node each: block Jacobi and conjugate gradients in one sweep.

The CSR pattern of such a matrix is known from every third index of every third row, which is all that is read of it.
"""

import numba
import numpy as np

kernel = numba.njit(cache=True, error_model="numpy", nogil=True, fastmath={"contract"})


@kernel
def aligned(indptr, indices):
    """Whether the rows 3i, 3i+1, 3i+2 have the same columns, in runs 3j, 3j+1, 3j+2."""
    if (len(indptr) - 1) % 3 != 0 or len(indices) % 9 != 0:
        return False
    for i in range(0, len(indptr) - 1, 3):
        first, width = indptr[i], indptr[i + 1] - indptr[i]
        if width % 3 != 0 or indptr[i + 2] - indptr[i + 1] != width or indptr[i + 3] - indptr[i + 2] != width:
            return False
        for k in range(width):
            column = indices[first + k - k % 3] + k % 3
            if indices[first + k - k % 3] % 3 != 0:
                return False
            for r in range(3):
                if indices[first + r * width + k] != column:
                    return False
    return True


@kernel
def inverse_diagonal(indptr, indices, data):
    """The inverses (n, 3, 3) of the diagonal blocks, and the first of them that is not positive definite (or -1)."""
    count = (len(indptr) - 1) // 3
    inverse = np.zeros((count, 3, 3))
    for i in range(count):
        first, width = indptr[3 * i], indptr[3 * i + 1] - indptr[3 * i]
        for k in range(0, width, 3):
            if indices[first + k] != 3 * i:
                continue
            e = first + k
            a, b, c = data[e], data[e + width], data[e + 2 * width]
            d, f, g = data[e + width + 1], data[e + 2 * width + 1], data[e + 2 * width + 2]
            det = a * (d * g - f * f) - b * (b * g - c * f) + c * (b * f - c * d)
            if not (a > 0.0 and a * d - b * b > 0.0 and det > 0.0 and np.isfinite(det)):
                return inverse, i
            inverse[i, 0, 0], inverse[i, 1, 1], inverse[i, 2, 2] = d * g - f * f, a * g - c * c, a * d - b * b
            inverse[i, 0, 1] = inverse[i, 1, 0] = c * f - b * g
            inverse[i, 0, 2] = inverse[i, 2, 0] = b * f - c * d
            inverse[i, 1, 2] = inverse[i, 2, 1] = b * c - a * f
            for r in range(3):
                for s in range(3):
                    inverse[i, r, s] /= det
        if not inverse[i, 0, 0] > 0.0:
            return inverse, i
    return inverse, -1


@kernel
def product(indptr, indices, data, p, q):
    """q = A p; returns p.q."""
    total = 0.0
    for i in range(0, len(indptr) - 1, 3):
        first, width = np.uint64(indptr[i]), np.uint64(indptr[i + 1] - indptr[i])
        second = first + width
        third = second + width
        x, y, z = 0.0, 0.0, 0.0
        for k in range(np.uint64(0), width, np.uint64(3)):
            j = np.uint64(indices[first + k])
            u, v, w = p[j], p[j + np.uint64(1)], p[j + np.uint64(2)]
            e, f, g = first + k, second + k, third + k
            x += data[e] * u + data[e + np.uint64(1)] * v + data[e + np.uint64(2)] * w
            y += data[f] * u + data[f + np.uint64(1)] * v + data[f + np.uint64(2)] * w
            z += data[g] * u + data[g + np.uint64(1)] * v + data[g + np.uint64(2)] * w
        q[i], q[i + 1], q[i + 2] = x, y, z
        total += p[i] * x + p[i + 1] * y + p[i + 2] * z
    return total


@kernel
def precondition(inverse, r, z):
    """z = D^-1 r; returns r.z and r.r."""
    rz, rr = 0.0, 0.0
    for i in range(len(inverse)):
        a, b, c = r[3 * i], r[3 * i + 1], r[3 * i + 2]
        x = inverse[i, 0, 0] * a + inverse[i, 0, 1] * b + inverse[i, 0, 2] * c
        y = inverse[i, 1, 0] * a + inverse[i, 1, 1] * b + inverse[i, 1, 2] * c
        w = inverse[i, 2, 0] * a + inverse[i, 2, 1] * b + inverse[i, 2, 2] * c
        z[3 * i], z[3 * i + 1], z[3 * i + 2] = x, y, w
        rz += a * x + b * y + c * w
        rr += a * a + b * b + c * c
    return rz, rr


@kernel
def conjugate_gradients(indptr, indices, data, inverse, b, tolerance, most):
    """x with ||b - A x|| <= tolerance ||b|| by block-Jacobi conjugate gradients: x, products with A, relative residual.

    A direction of negative curvature ends the iteration with the iterate so far, or with D^-1 b when it is the first.
    """
    x, r, z, q = np.zeros_like(b), b.copy(), np.empty_like(b), np.empty_like(b)
    rz, bb = precondition(inverse, r, z)
    p, rr, iterations = z.copy(), bb, 0
    while rr > tolerance * tolerance * bb and iterations < most:
        curvature = product(indptr, indices, data, p, q)
        iterations += 1
        if not curvature > 0.0:
            if iterations == 1:
                x[:] = z
                product(indptr, indices, data, x, q)
                r = b - q
                rr = np.dot(r, r)
            break
        alpha = rz / curvature
        for i in range(len(b)):
            x[i] += alpha * p[i]
            r[i] -= alpha * q[i]
        before = rz
        rz, rr = precondition(inverse, r, z)
        beta = rz / before
        for i in range(len(b)):
            p[i] = z[i] + beta * p[i]
    return x, iterations, np.sqrt(rr / bb) if bb > 0.0 else 0.0
