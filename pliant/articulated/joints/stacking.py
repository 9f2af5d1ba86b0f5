"""Batches of joints of one kind, so that a tree of thousands evaluates them in a few array operations."""

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from pliant.arrays import IntArray
from pliant.articulated.joints.base import Joint


def stack(joints: list[Any]) -> Any:
    """One joint whose parameters carry a leading axis of length len(joints); all must be of the same kind."""
    first = joints[0]
    values = {}
    for f in fields(first):
        column = [getattr(j, f.name) for j in joints]
        values[f.name] = stack(column) if is_dataclass(column[0]) else np.stack(column)
    return type(first)(**values)


def kind(joint: Any) -> tuple[Any, ...]:
    """What must agree for joints to be stacked: type, parameter shapes, and the kinds of the parts."""
    parts = [getattr(joint, f.name) for f in fields(joint)]
    return (type(joint), *(kind(p) if is_dataclass(p) else np.shape(p) for p in parts))


def batches(joints: list[Joint]) -> list[tuple[Joint, IntArray]]:
    """The joints grouped by kind: (stacked joint, positions in the list)."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for i, joint in enumerate(joints):
        groups.setdefault(kind(joint), []).append(i)
    return [(stack([joints[i] for i in members]), np.array(members)) for members in groups.values()]
