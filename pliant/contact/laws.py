"""What contacts push and rub with, as formulas of numbers and arrays alike (see `pliant.contact.vectors`)."""

from typing import Any

from numpy import maximum, minimum, where


def spring(gap: Any, k: Any, w: Any) -> tuple[Any, Any, Any]:
    """psi, f_n = -psi'(g) >= 0 and psi'' of the spring that pushes out what is inside by p = max(-g, 0).

    psi = k p^2/2, or, smoothed over the depth w, psi'' rises linearly to k:  psi = k p^3/(6 w) for p < w,
    k (p^2/2 - w p/2 + w^2/6) beyond.
    """
    p, wide = maximum(-gap, 0.0), where(w > 0.0, w, 1.0)
    soft = p < w
    stored = where(soft, p * p * p / (6.0 * wide), p * (0.5 * p - 0.5 * w) + w * w / 6.0)
    pushed = where(soft, p * p / (2.0 * wide), where(p > 0.0, p - 0.5 * w, 0.0))
    return k * where(p > 0.0, stored, 0.0), k * pushed, k * where(soft, p / wide, where(p > 0.0, 1.0, 0.0))


def rounded(limit: Any, s: Any, reach: Any) -> tuple[Any, Any, Any]:
    """phi/s, dphi/ds and the integral of phi = limit (2 y - y^2), y = s / reach < 1, then limit."""
    y = minimum(s / reach, 1.0)
    rate = limit * where(y < 1.0, (2.0 - y) / reach, 1.0 / maximum(s, reach))
    work = limit * (reach * (y * y - y * y * y / 3.0) + maximum(s - reach, 0.0))
    return rate, limit * (2.0 - 2.0 * y) / reach, work


def stick_reach(limit: Any, k_t: Any, creep: Any) -> Any:
    """The speed [m/s] at which slip is complete: 2 limit / k_t, but never beyond ``creep``."""
    return minimum(2.0 * maximum(limit, 1e-300) / maximum(k_t, 1e-300), creep)


def damper(speed: Any, f_n: Any, k_d: Any, full: Any) -> tuple[Any, Any, Any]:
    """The force f of a damper along the normal, -df/dspeed and df/df_n.

    It fades in up to the load ``full``; together with the load it never pulls.
    """
    k = k_d * minimum(f_n / maximum(full, 1e-300), 1.0)
    f = -k * speed
    pushes, fading = f > -f_n, where(f_n < full, f / maximum(f_n, 1e-300), 0.0)
    return maximum(f, -f_n), where(pushes, k, 0.0), where(pushes, fading, -1.0)
