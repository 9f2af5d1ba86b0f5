"""Parameters that the elements of a region share, when measurements cannot determine one per element."""

from dataclasses import dataclass

import numpy as np

from pliant.adjoint.elements import PerElement
from pliant.adjoint.moment import Moment, Still
from pliant.adjoint.path import read, replaced
from pliant.arrays import Array, IntArray
from pliant.errors import SceneError
from pliant.scene import Scene


@dataclass(frozen=True, eq=False)
class Regions:
    """The parameter at ``path`` with one value per region; ``labels (m,)`` from 0 to k-1 are the regions of elements.

    In the scene it is one number for the whole body, or one per element that is the same throughout a region.
    """

    path: str
    labels: IntArray


class PerRegion(Still):
    """k numbers, each that of all elements with its label."""

    def __init__(self, scene: Scene, regions: Regions) -> None:
        labels = np.asarray(regions.labels)
        count = int(labels.max(initial=-1)) + 1 if labels.dtype.kind in "iu" else 0
        if labels.ndim != 1 or not np.array_equal(np.unique(labels), np.arange(count)) or not count:
            remedy = "give one whole number per element, from 0 to k-1, each at least once"
            raise SceneError(f"labels are {labels!r}", where="Regions.labels", remedy=remedy)
        value = read(scene, regions.path)
        each = np.full(len(labels), float(value)) if value.ndim == 0 else value
        if each.shape != labels.shape:
            what = f"{len(labels)} labels for {each.size} numbers at {regions.path}"
            raise SceneError(what, where="Regions.labels", remedy="give one label per element")
        self.name, self._labels = regions.path, labels
        self.value = np.bincount(labels, weights=each) / np.bincount(labels)
        if not np.allclose(self.value[labels], each, rtol=1e-12, atol=0.0):
            what = f"{regions.path} is not the same throughout a region"
            raise SceneError(what, where="Regions.path", remedy="give the scene one number per region")
        self._elements = PerElement(replaced(scene, self.name, each), self.name)

    def gather(self, moment: Moment, y: Array) -> Array:
        return np.asarray(np.bincount(self._labels, weights=self._elements.gather(moment, y)), dtype=np.float64)

    def along(self, moment: Moment, rates: Array) -> Array:
        return self._elements.along(moment, rates[self._labels])

    def applied(self, scene: Scene, value: Array) -> Scene:
        return replaced(scene, self.name, value[self._labels])
