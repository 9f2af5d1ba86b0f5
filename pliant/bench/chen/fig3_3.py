"""chen/fig3_3: lowest eigenvalue of two triangles glued by BZ and IP, by penalty. [Chen2019, Figure 3.3]"""

from typing import Any

import numpy as np
import scipy.linalg

from pliant.arrays import Array
from pliant.bench.table import Claim, Plot, Table
from pliant.bodies import Solid
from pliant.dg import DiscontinuousSolid
from pliant.materials import Linear
from pliant.mesh import consistent_mass, rectangle
from pliant.scene import Scene

E, NU = 1e4, 0.3
MU, LAM = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))
SQUARE = rectangle((1.0, 1.0), (1, 1))
RIGID = 3  # motions of a free planar body


def spectrum(flux: str, eta: float = 0.0) -> Array:
    """All eigenvalues [1/s^2] in order, for 1 kg/m^2; of the continuous mesh if flux is "CG"."""
    material = Linear(E=E, nu=NU)
    if flux == "CG":
        body: Any = Solid(SQUARE, material)
    else:
        body = DiscontinuousSolid(SQUARE, material, eta, flux=flux)  # type: ignore[arg-type]
    system = Scene([body], gravity=(0, 0)).system()
    q = system.X.ravel()
    M = np.kron(consistent_mass(body.mesh, 1.0).toarray(), np.eye(2))
    return np.asarray(scipy.linalg.eigh(-system.stiffness(q, 0 * q, 0.0).toarray(), M, eigvals_only=True))


def first(lam: Array) -> float:
    """The lowest that is not a rigid motion; negative where the glue does not hold."""
    return float(lam[0]) if lam[0] < -1e-6 * abs(lam).max() else float(lam[RIGID])


def run(*, quick: bool = False) -> Table:
    penalties = [10.0**k for k in ((3, 5, 8) if quick else (2, 3, 4, 4.5, 5, 6, 7, 8))]
    whole = spectrum("CG")
    rows = [{"eta [Pa/m]": eta, "flux": f, "lowest": float(f"{first(spectrum(f, eta)):.6g}")}
            for f in ("BZ", "IP") for eta in penalties]  # fmt: skip
    rows += [{"eta [Pa/m]": eta, "flux": "CG", "lowest": float(f"{first(whole):.6g}")} for eta in penalties]
    bz = [first(spectrum("BZ", eta)) for eta in penalties]
    every = all(
        (spectrum("BZ", eta)[: len(whole)] <= whole * (1 + 1e-9) + 1e-6 * whole.max()).all() for eta in penalties
    )
    far = 1e4 * (2 * MU + LAM)
    gap = abs(first(spectrum("BZ", far)) / first(whole) - 1)
    bound = (2 * MU + 2 * LAM) * np.sqrt(2.0) / (2 * 0.5)  # of the diagonal, over twice the area
    firm = spectrum("IP", 1.01 * bound)
    loose = first(spectrum("IP", 0.1 * bound))
    claims = [
        Claim("BZ: softer than the continuous mesh in every mode", "<=", "see rows", every),
        Claim("BZ: grows with the penalty", "monotone", f"{bz[0]:.3g} to {bz[-1]:.6g}", bool((np.diff(bz) > 0).all())),
        Claim("BZ: reaches the continuous mesh at eta = 1e4 (2 mu + lam)", "<= 1e-4", f"{gap:.1e}", gap <= 1e-4),
        Claim("IP: no negative eigenvalue above its bound", ">= 0", f"{firm[0]:.1e}", firm[0] > -1e-6 * firm.max()),
        Claim("IP: negative ones far below it", "< 0", f"{loose:.3g}", loose < 0.0),
        Claim("IP: its lowest is then that of the continuous mesh", "equal", f"{first(firm):.6g}, {first(whole):.6g}",
              abs(first(firm) / first(whole) - 1) < 1e-6),
    ]  # fmt: skip
    note = f"unit square, E = {E:g} Pa, nu = {NU:g}, 1 kg/m^2, consistent; the source's eta is half of ours"
    return Table("chen/fig3_3", "Discontinuous elements: lowest eigenvalue", rows, claims, [note],
                 plot=Plot("eta [Pa/m]", "lowest", "flux", "xy"))  # fmt: skip
