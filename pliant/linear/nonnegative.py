"""Impulses that only push, by adding rows one at a time: min 1/2 y^T W y + start^T y, y >= 0.

An active set method after Lawson and Hanson, Solving Least Squares Problems (1974), chapter 23. The objective falls
from set to set, so that none comes again, and a row that says what the rows in the set say already is never violated
where these hold: sets stay independent where W is singular, as under a flat face with more contacts than directions.
"""

import numpy as np
from numba import njit

from pliant.arrays import Array

VIOLATED = 1e-12  # velocity into a row that counts, by the largest of ``start``
LEFT = 1e3  # times that may be left where rows say the same but for rounding
SAME = 1e-14  # pivot of a row, by its diagonal entry, below which it says what those before it said


@njit(cache=True, error_model="numpy")
def nonnegative(W: Array, start: Array, guess: Array, most: int) -> tuple[Array, int]:
    """(y, changes of the set) for W (m, m), from the rows that press in ``guess (m,)``; -1 changes where it failed."""
    m = len(start)
    L, rows, inside = np.zeros((m, m)), np.zeros(m, np.int64), np.zeros(m, np.bool_)
    y, tried = np.zeros(m), np.zeros(m, np.bool_)
    size, count, changes = VIOLATED * np.abs(start).max(), 0, 0
    for i in range(m):
        if guess[i] > 0.0 and _entered(L, rows, count, W, i):
            y[i], inside[i], count = guess[i], True, count + 1
    while changes < most:
        x = _solved(L, rows, count, start)
        part, worst = 1.0, -1
        for k in range(count):  # how far towards x nothing pulls
            i = rows[k]
            if x[k] <= 0.0 and y[i] / (y[i] - x[k]) < part:
                part, worst = y[i] / (y[i] - x[k]), i
        for k in range(count):
            y[rows[k]] += part * (x[k] - y[rows[k]])
        if worst >= 0:
            y[worst], inside[worst], changes = 0.0, False, changes + 1
            tried[:] = False
            count = _again(L, rows, count, W, inside, y)
            continue
        worst = _most_violated(W, start, y, inside, tried, size)
        if worst < 0:
            return y, -1 if tried.any() and _most_violated(W, start, y, inside, inside, LEFT * size) >= 0 else changes
        changes += 1
        if _entered(L, rows, count, W, worst):
            inside[worst], count = True, count + 1
        else:
            tried[worst] = True  # it follows from the others but for rounding
    return y, -1


@njit(cache=True, error_model="numpy")
def _entered(L, rows, count, W, i):  # type: ignore[no-untyped-def]
    """Row i as the next one of the factor L L^T of W on the rows of the set; whether it is independent of them."""
    pivot = W[i, i]
    for k in range(count):
        s = W[i, rows[k]]
        for j in range(k):
            s -= L[k, j] * L[count, j]
        L[count, k] = s / L[k, k]
        pivot -= L[count, k] ** 2
    if not pivot > SAME * W[i, i]:
        return False
    L[count, count], rows[count] = np.sqrt(pivot), i
    return True


@njit(cache=True, error_model="numpy")
def _again(L, rows, count, W, inside, y):  # type: ignore[no-untyped-def]
    """The factor of the rows that are still inside, and how many they are."""
    left = 0
    for k in range(count):
        i = rows[k]
        if inside[i]:
            if left == k or _entered(L, rows, left, W, i):
                left += 1
            else:
                inside[i], y[i] = False, 0.0
    return left


@njit(cache=True, error_model="numpy")
def _solved(L, rows, count, start):  # type: ignore[no-untyped-def]
    """-(L L^T)^-1 start on the rows of the set."""
    x = np.empty(count)
    for k in range(count):
        s = -start[rows[k]]
        for j in range(k):
            s -= L[k, j] * x[j]
        x[k] = s / L[k, k]
    for k in range(count - 1, -1, -1):
        x[k] /= L[k, k]
        for j in range(k):
            x[j] -= L[k, j] * x[k]
    return x


@njit(cache=True, error_model="numpy")
def _most_violated(W, start, y, inside, tried, size):  # type: ignore[no-untyped-def]
    """The row outside the set that is entered fastest, by the square root of its diagonal entry; -1 for none."""
    worst, least = -1, 0.0
    for i in range(len(start)):
        if inside[i] or tried[i] or W[i, i] <= 0.0:
            continue
        r = start[i]
        for j in range(len(start)):
            r += W[i, j] * y[j]
        if r < -size and r / np.sqrt(W[i, i]) < least:
            worst, least = i, r / np.sqrt(W[i, i])
    return worst
