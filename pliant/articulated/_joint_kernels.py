"""The covered joints of a tree, compiled: frames and columns of single links, springs in joints; real or complex.

``I (n, 4)`` has parent, kind, first coordinate and number of coordinates of every link, ``C (n, 87)`` its constants:
the base of the joint seen from the parent body (R, p) 0:12, the body seen from the joint 12:24, the joint seen from the
body 24:36, principal moments and mass 36:40, the axis 40:43, the damping of the body 43; for hinges and sliders the
column B 44:50, which does not change, and 50:62, 62:74, 74:86 the parent body seen from the link, which is the sum of
the first, the second times sin q (of sliders q) and the third times cos q; the armature of the joint 86.
"""

import numpy as np
from numba import njit

from pliant.articulated._rotation_kernels import _coefficients

_options = {"cache": True, "error_model": "numpy", "fastmath": {"contract"}}
_within = {**_options, "forceinline": True}
FIXED, REVOLUTE, PRISMATIC, PLANAR, TRANSLATIONAL, UNIVERSAL, SPHERICAL, FREE2D, FREE3D, FREEST = range(10)


@njit(**_within)
def _turn(x, y, z, s, c1, c2, Q):
    """Q[:9] = c1 I + s [x] + c2 x x^T."""
    Q[0], Q[1], Q[2] = c1 + c2 * x * x, c2 * x * y - s * z, c2 * x * z + s * y
    Q[3], Q[4], Q[5] = c2 * x * y + s * z, c1 + c2 * y * y, c2 * y * z - s * x
    Q[6], Q[7], Q[8] = c2 * x * z - s * y, c2 * y * z + s * x, c1 + c2 * z * z


@njit(**_within)
def _cross(a, i, b, j, out, k, sign):
    """out[k:k+3] += sign a[i:i+3] x b[j:j+3]."""
    out[k] += sign * (a[i + 1] * b[j + 2] - a[i + 2] * b[j + 1])
    out[k + 1] += sign * (a[i + 2] * b[j] - a[i] * b[j + 2])
    out[k + 2] += sign * (a[i] * b[j + 1] - a[i + 1] * b[j])


@njit(**_options)
def angular(q, v, c, T, Td):
    """T[:9] = S(r), Td[:9] its rate along v, for the rotation vector r = q[c:c+3]; angular velocity = S(r) rdot."""
    x, y, z = q[c], q[c + 1], q[c + 2]
    u, w, o = v[c], v[c + 1], v[c + 2]
    t2 = x * x + y * y + z * z
    rate = 2.0 * (x * u + y * w + z * o)
    _, a, b, da, db = _coefficients(t2)
    _turn(x, y, z, -a, 1.0 - b * t2, b, T)
    _turn(x, y, z, -rate * da, -rate * (b + db * t2), rate * db, Td)
    Td[0] += 2.0 * b * x * u
    Td[4] += 2.0 * b * y * w
    Td[8] += 2.0 * b * z * o
    m, n, p = b * (x * w + y * u), b * (x * o + z * u), b * (y * o + z * w)
    Td[1] += m + a * o
    Td[3] += m - a * o
    Td[2] += n - a * w
    Td[6] += n + a * w
    Td[5] += p + a * u
    Td[7] += p - a * u


@njit(**_options)
def _exponential(q, c, Q):
    """Q[:9] = exp[r], r = q[c:c+3]."""
    x, y, z = q[c], q[c + 1], q[c + 2]
    t2 = x * x + y * y + z * z
    s, a, _, _, _ = _coefficients(t2)
    _turn(x, y, z, s, 1.0 - a * t2, a, Q)


@njit(**_within)
def _move(kind, C, i, q, v, f, Q, S, Sd, T):
    """Q (12,), rows S and Sd (dof, 6) of a joint whose coordinates start at f; T (27,) is scratch."""
    Q[0], Q[1], Q[2], Q[3], Q[4], Q[5] = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0
    Q[6], Q[7], Q[8], Q[9], Q[10], Q[11] = 0.0, 0.0, 1.0, 0.0, 0.0, 0.0
    if kind == REVOLUTE:  # the columns of hinges and sliders are constants
        s, c = np.sin(q[f]), np.cos(q[f])
        _turn(C[i, 40], C[i, 41], C[i, 42], s, c, 1.0 - c, Q)
        return
    if kind == PRISMATIC:
        for a in range(3):
            Q[9 + a] = C[i, 40 + a] * q[f]
        return
    S[:] = 0.0
    Sd[:] = 0.0
    if kind in (PLANAR, TRANSLATIONAL):
        for a in range(2 if kind == PLANAR else 3):
            S[a, 3 + a] = 1.0
            Q[9 + a] = q[f + a]
    elif kind == UNIVERSAL:
        s, c, sy, cy = np.sin(q[f]), np.cos(q[f]), np.sin(q[f + 1]), np.cos(q[f + 1])
        Q[0], Q[1], Q[2] = cy, 0.0, sy
        Q[3], Q[4], Q[5] = s * sy, c, -s * cy
        Q[6], Q[7], Q[8] = -c * sy, s, c * cy
        S[0, 0], S[0, 2], S[1, 1] = cy, sy, 1.0
        Sd[0, 0], Sd[0, 2] = -sy * v[f + 1], cy * v[f + 1]
    elif kind == FREE2D:
        s, c, w = np.sin(q[f + 2]), np.cos(q[f + 2]), v[f + 2]
        Q[0], Q[1], Q[3], Q[4] = c, -s, s, c
        Q[9], Q[10] = q[f], q[f + 1]
        S[0, 3], S[1, 3], S[0, 4], S[1, 4], S[2, 2] = c, s, -s, c, 1.0
        Sd[0, 3], Sd[1, 3], Sd[0, 4], Sd[1, 4] = -s * w, c * w, -c * w, -s * w
    elif kind in (SPHERICAL, FREEST):
        _exponential(q, f, Q)
        angular(q, v, f, T[:9], T[9:18])
        for k in range(3):
            for a in range(3):
                S[k, a], Sd[k, a] = T[3 * a + k], T[9 + 3 * a + k]
        if kind == FREEST:
            for k in range(3):
                Q[9 + k] = Q[3 * k] * q[f + 3] + Q[3 * k + 1] * q[f + 4] + Q[3 * k + 2] * q[f + 5]
                S[3 + k, 3 + k] = 1.0
                _cross(q, f + 3, S[k], 0, S[k], 3, -1.0)
                _cross(v, f + 3, S[k], 0, Sd[k], 3, -1.0)
                _cross(q, f + 3, Sd[k], 0, Sd[k], 3, -1.0)
    elif kind == FREE3D:
        _exponential(q, f + 3, Q)
        angular(q, v, f + 3, T[:9], T[9:18])
        for a in range(3):
            Q[9 + a] = q[f + a]
            T[18 + a] = T[3 * a] * v[f + 3] + T[3 * a + 1] * v[f + 4] + T[3 * a + 2] * v[f + 5]
        for k in range(3):
            for a in range(3):
                S[k, 3 + a] = Q[3 * k + a]
                S[3 + k, a], Sd[3 + k, a] = T[3 * a + k], T[9 + 3 * a + k]
            _cross(T, 18, S[k], 3, Sd[k], 3, -1.0)


@njit(**_options)
def place(I, C, begin, end, q, v, K, B, Bd):
    """K[i - begin] = (R, p) of the parent body seen from the links i in begin:end, and their columns B, Bd.

    All links in one call: to pass the arrays takes longer than to place a hinge.
    """
    scratch = np.empty(111, K.dtype)
    for i in range(begin, end):
        kind, f, row, b = I[i, 1], I[i, 2], i - begin, I[i, 2] - I[begin, 2]
        if kind == REVOLUTE or kind == PRISMATIC:  # noqa: SIM109  (faster than a tuple)
            s, c = (np.sin(q[f]), np.cos(q[f])) if kind == REVOLUTE else (q[f], 0.0 * q[f])
            for k in range(12):
                K[row, k] = C[i, 50 + k] + s * C[i, 62 + k] + c * C[i, 74 + k]
            for k in range(6):
                B[b, k], Bd[b, k] = C[i, 44 + k], 0.0
        else:
            _place(I, C, i, q, v, K, row, B, Bd, b, scratch)


@njit(**_options)
def _place(I, C, i, q, v, K, row, B, Bd, b, scratch):
    """The same for any joint but hinges and sliders."""
    Q, S, Sd, T = scratch[:12], scratch[12:48].reshape(6, 6), scratch[48:84].reshape(6, 6), scratch[84:]
    _move(I[i, 1], C, i, q, v, I[i, 2], Q, S, Sd, T)
    for a in range(3):  # T[:9] = Q Eb, T[9:12] its origin
        for c in range(3):
            T[3 * a + c] = Q[3 * a] * C[i, 12 + c] + Q[3 * a + 1] * C[i, 15 + c] + Q[3 * a + 2] * C[i, 18 + c]
        T[9 + a] = Q[9 + a] + Q[3 * a] * C[i, 21] + Q[3 * a + 1] * C[i, 22] + Q[3 * a + 2] * C[i, 23]
    for a in range(3):
        for c in range(3):  # transposed: the parent seen from the link
            K[row, 3 * c + a] = C[i, 3 * a] * T[c] + C[i, 3 * a + 1] * T[3 + c] + C[i, 3 * a + 2] * T[6 + c]
        T[12 + a] = C[i, 9 + a] + C[i, 3 * a] * T[9] + C[i, 3 * a + 1] * T[10] + C[i, 3 * a + 2] * T[11]
    for a in range(3):
        K[row, 9 + a] = -(K[row, 3 * a] * T[12] + K[row, 3 * a + 1] * T[13] + K[row, 3 * a + 2] * T[14])
    for k in range(I[i, 3]):
        _seen(C, i, S[k], B, b + k)
        _seen(C, i, Sd[k], Bd, b + k)


@njit(**_within)
def _seen(C, i, s, B, k):
    """B[k] = A_ij s: a twist of the joint frame in the body's."""
    for a in range(3):
        B[k, a] = C[i, 24 + 3 * a] * s[0] + C[i, 25 + 3 * a] * s[1] + C[i, 26 + 3 * a] * s[2]
        B[k, 3 + a] = C[i, 24 + 3 * a] * s[3] + C[i, 25 + 3 * a] * s[4] + C[i, 26 + 3 * a] * s[5]
    x, y, z = C[i, 33], C[i, 34], C[i, 35]
    B[k, 3] += y * B[k, 2] - z * B[k, 1]
    B[k, 4] += z * B[k, 0] - x * B[k, 2]
    B[k, 5] += x * B[k, 1] - y * B[k, 0]


# ---------------------------------------------------------------------------------------------------- springs in joints


@njit(**_options)
def _quaternion(x, y, z, out):
    """(cos(t/2), sin(t/2)/t r)."""
    t2 = 0.25 * (x * x + y * y + z * z)
    s, a, _, _, _ = _coefficients(t2)
    out[0], out[1], out[2], out[3] = 1.0 - a * t2, 0.5 * s * x, 0.5 * s * y, 0.5 * s * z


@njit(**_options)
def relative_rotation(rest, q, c, e, T):
    """e[:3] = log(exp[rest]^T exp[r]), |e| <= pi; T (8,) is scratch."""
    _quaternion(q[c], q[c + 1], q[c + 2], T[4:8])
    _quaternion(-rest[0] + 0.0 * q[c], -rest[1] + 0.0 * q[c], -rest[2] + 0.0 * q[c], T[:4])
    w = T[0] * T[4] - T[1] * T[5] - T[2] * T[6] - T[3] * T[7]
    for k in range(3):
        e[k] = T[0] * T[5 + k] + T[4] * T[1 + k]
    _cross(T, 1, T, 5, e, 0, 1.0)
    if w.real < 0.0:  # the other quaternion of this rotation, less than half a turn away
        w = -w
        for k in range(3):
            e[k] = -e[k]
    x2 = (e[0] * e[0] + e[1] * e[1] + e[2] * e[2]) / ((1.0 + w) * (1.0 + w))
    if abs(x2) < 1e-4:
        ratio = 1.0 - x2 / 3.0 + x2 * x2 / 5.0 - x2 * x2 * x2 / 7.0
    else:
        ratio = np.arctan(np.sqrt(x2)) / np.sqrt(x2)
    for k in range(3):
        e[k] *= 4.0 * ratio / (1.0 + w)


@njit(**_options)
def spring(springs, F, begin, end, q, v, damped, f):
    """f += tau = -k P^T e, and -d P^T P v where ``damped``, of the `JointSpring`s begin:end.

    ``springs (m, 4)``: link, coordinates, first one, place of a rotation vector among them or -1; ``F (m, 8)`` = k, d,
    rest.
    """
    for m in range(begin, end):
        dof, first, turn = springs[m, 1], springs[m, 2], springs[m, 3]
        k, d = F[m, 0], F[m, 1] if damped else 0.0
        for c in range(dof):
            if turn < 0 or c < turn or c >= turn + 3:
                f[first + c] -= k * (q[first + c] - F[m, 2 + c]) + d * v[first + c]
        if turn >= 0:
            _turning_spring(F, m, k, d, turn, first + turn, q, v, f)


@njit(**_options)
def _turning_spring(F, m, k, d, turn, at, q, v, f):
    """The same for a rotation vector q[at:at+3]."""
    T = np.empty(27, f.dtype)
    relative_rotation(F[m, 2 + turn : 5 + turn], q, at, T[18:21], T[:8])
    angular(q, v, at, T[:9], T[9:18])
    for a in range(3):
        w = T[3 * a] * v[at] + T[3 * a + 1] * v[at + 1] + T[3 * a + 2] * v[at + 2]
        T[21 + a] = k * T[18 + a] + d * w
    for c in range(3):
        f[at + c] -= T[c] * T[21] + T[3 + c] * T[22] + T[6 + c] * T[23]
