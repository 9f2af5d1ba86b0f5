"""Inertia in the residual of the following nodes: what a body in free flight must not sag under.

The paper's correction dx = -K_qq^-1 f_q hangs a falling body on its dynamic nodes. With f_q - M_q a_q instead it falls
unstrained, but in an impact a_q is large and the correction would stretch the body with energy from nowhere. So only
the part theta of the inertia is subtracted that f_q itself contains, in the norm of (-K_qq)^-1 over one piece,

    theta = <f, M a> / <M a, M a>,   0 <= theta <= 1

Then f . dx = |f|^2 - theta^2 |M a|^2 >= 0: no correction raises the energy. In free fall f = M a and theta = 1; at rest
a = 0 and nothing changes.
"""

import numpy as np

from pliant.arrays import Array, IntArray


def share(f: Array, inertia: Array, response: Array, piece: IntArray) -> Array:
    """theta (n_free,), the same for all coordinates of a piece; ``response`` is (-K_qq)^-1 inertia_q, ``piece`` the
    number of the piece of every free coordinate.
    """
    count = int(piece.max(initial=-1)) + 1
    explained = np.bincount(piece, f * response, count)
    whole = np.bincount(piece, inertia * response, count)
    theta = np.divide(explained, whole, out=np.zeros(count), where=whole > 0.0)
    return np.clip(theta, 0.0, 1.0)[piece]
