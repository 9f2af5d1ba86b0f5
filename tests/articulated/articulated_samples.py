"""Systems that several tests share."""

import numpy as np

from pliant.articulated import ArticulatedSystem, Link, at, cuboid
from pliant.articulated.joints import Revolute, examples


def zoo(**options):
    """One link per kind of joint, on random parents; coordinates away from all special values."""
    rng = np.random.default_rng(7)
    links = [
        Link(
            j,
            cuboid((1.0, 2.0, 3.0), 1.0, at(0.5, 0.2, 0.1)),
            None if i == 0 else int(rng.integers(0, i)),
            at(*rng.normal(size=3)),
        )
        for i, j in enumerate(examples())
    ]
    dof = sum(j.dof for j in examples())
    return ArticulatedSystem(links, **options), rng.uniform(0.1, 0.9, dof), rng.normal(size=dof)


def pendulum(n=2, **options):
    """n bars of one metre on hinges along y."""
    links = [
        Link(
            Revolute((0, 1, 0)),
            cuboid((1.0, 0.1, 0.1), 100.0, at(0.5, 0, 0)),
            i - 1 if i else None,
            at(1.0 if i else 0.0, 0, 0),
        )
        for i in range(n)
    ]
    return ArticulatedSystem(links, **options)
