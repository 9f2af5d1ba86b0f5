"""Which points are within reach of triangles and tets, by distances or bounds below them. Compiled; no policy."""

import numpy as np
from numba import njit

from pliant.contact._closest import _at, _closest, _cross, _dot, _from, _minus

# mypy: disable-error-code="no-untyped-def"


@njit(cache=True, error_model="numpy", inline="always")
def _beyond(p, a, b, c, d, reach):
    """Whether p is farther than ``reach`` beyond the plane abc of a tet, as seen from its fourth corner d."""
    n = _cross(_minus(b, a), _minus(c, a))
    within, height = _dot(n, _minus(d, a)), _dot(n, _minus(p, a))
    return height * within < 0.0 and height * height > reach * reach * _dot(n, n)


@njit(cache=True, error_model="numpy")
def _leaves_tet(p, a, b, c, d, reach):
    """Whether a plane of tet abcd shows that p is farther than ``reach`` from it."""
    if _beyond(p, a, b, c, d, reach) or _beyond(p, a, b, d, c, reach):
        return True
    return _beyond(p, a, c, d, b, reach) or _beyond(p, b, c, d, a, reach)


@njit(cache=True, error_model="numpy")
def within_reach(x, elements, vertex, element, reach):
    """Where (c,) of the pairs no distance above ``reach`` is certain; exact for triangles, by planes for tets."""
    near = np.ones(len(vertex), np.bool_)
    for i in range(len(vertex)):
        e, p = element[i], _at(x, vertex[i])
        a, b, c = _at(x, elements[e, 0]), _at(x, elements[e, 1]), _at(x, elements[e, 2])
        if elements.shape[1] == 4:
            near[i] = not _leaves_tet(p, a, b, c, _at(x, elements[e, 3]), reach)
        else:
            y = _from(p, a, b, c, _closest(p, a, b, c)[0])
            near[i] = not _dot(y, y) > reach * reach
    return near
