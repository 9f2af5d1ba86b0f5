"""core/materials: every density against what is independent of its code.

Central differences of psi and P, the projected tangent against numpy's eigenvalues of the exact one, the rest tangent
against linear elasticity, rotation invariance; on mild, strongly compressed and (where allowed) inverted deformations.
"""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from pliant.bench.table import Claim, Table
from pliant.materials import MATERIALS
from pliant.materials.base import Isotropic
from pliant.testing.materials import (
    linear_tangent,
    projection_error,
    rotation_error,
    samples,
    stress_error,
    tangent_error,
)

E, NU = 1e5, 0.4
AXIS = np.array([2.0, -1.0, 2.0]) / 3.0


@runtime_checkable
class Fibred(Protocol):
    """A material with fibres."""

    direction: Any


def make(cls: Any) -> Any:
    """The material with modulus E, Poisson's ratio NU where it has one, and fibres along AXIS where it has them."""
    given = {"E": E, "nu": NU, "direction": AXIS}
    wanted = [name for name, f in cls.__dataclass_fields__.items() if name in given and f.default is not None]
    return cls(**{name: given[name] for name in wanted})


def rest_errors(material: Any) -> tuple[float, float]:
    """P(I), and the rest tangent against linear elasticity (or E along the fibre), relative to E."""
    fibre = np.outer(AXIS, AXIS).ravel()
    if isinstance(material, Fibred) and material.direction is not None:
        expected = E * np.outer(fibre, fibre)
    else:
        expected = linear_tangent(E, material.nu if isinstance(material, Isotropic) else 0.0)
    rest = np.eye(3)[None]
    return float(np.abs(material.piola(rest)).max() / E), float(np.abs(material.tangent(rest)[0] - expected).max() / E)


def run(*, quick: bool = False) -> Table:
    rows, claims = [], []
    for cls in MATERIALS:
        material = make(cls)
        F = samples(material, 10 if quick else 100)
        projection, least = projection_error(material, F)
        rest, tangent = rest_errors(material)
        row = {
            "P - FD(psi)": (stress_error(material, F), 1e-7),
            "dP - FD(P)": (tangent_error(material, F), 1e-7),
            "projection - eigh": (projection, 1e-8),
            "least eigenvalue": (-least, 1e-12),
            "P(I)": (rest, 1e-10),
            "rest tangent": (tangent, 1e-8),
            "rotation": (rotation_error(material, F), 1e-11),
        }
        rows.append(
            {"material": cls.__name__, "samples": len(F)} | {name: f"{value:.1e}" for name, (value, _) in row.items()}
        )
        for name, (value, bound) in row.items():
            free = name == "rotation" and not material.rotation_invariant
            said = f"> {bound:.0e}" if free else f"<= {bound:.0e}"
            claims.append(Claim(f"{cls.__name__}: {name}", said, f"{value:.1e}", (value <= bound) != free))
    return Table("core/materials", "Densities against differences, eigenvalues and linear elasticity", rows, claims)
