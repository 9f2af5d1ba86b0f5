"""A material by its energy density alone: rubber whose chains cannot be stretched without end [Gent 1996]."""

import pliant as pl


@pl.register("material")
def gent(mu: pl.Parameter = 3e4, limit: pl.Parameter = 30.0, kappa: pl.Parameter = 3e5) -> pl.FromEnergy:
    """Shear modulus mu [Pa], the limit of I1 - 3, and bulk modulus kappa [Pa]."""
    psi = "-mu*limit/2*log(1 - (I1 - 3)/limit) - mu*log(J) + kappa/2*(J - 1)**2"
    return pl.FromEnergy(psi, {"mu": mu, "limit": limit, "kappa": kappa})
