"""Eulerian-on-Lagrangian cloth: over sharp features (`features`), and with bodies that are simulated too (`bodies`)."""

from pliant.scenes.eol.bodies import drape, swing
from pliant.scenes.eol.features import (
    draped_edge,
    draped_wire,
    edge,
    friction,
    jaws,
    lo_res,
    nails,
    push,
    strand,
    tablecloth,
    throw,
    wire,
)
from pliant.scenes.eol.variants import (
    CONE,
    CONFORMAL,
    EOL,
    IRREGULAR,
    NONCONFORMAL,
    REGULAR,
    VARIANTS,
    Variant,
)

__all__ = [
    "CONE",
    "CONFORMAL",
    "EOL",
    "IRREGULAR",
    "NONCONFORMAL",
    "REGULAR",
    "VARIANTS",
    "Variant",
    "drape",
    "draped_edge",
    "draped_wire",
    "edge",
    "friction",
    "jaws",
    "lo_res",
    "nails",
    "push",
    "strand",
    "swing",
    "tablecloth",
    "throw",
    "wire",
]
