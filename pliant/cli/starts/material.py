"""A material of your own: its energy density is all it takes.

    pliant run bar-twist --use my_rubber.py --set material=my-rubber --set material.mu="50 kPa"

``python my_rubber.py`` checks it. A scene file names this file under extensions = ["my_rubber.py"].
"""

import pliant as pl


@pl.register("material")
def my_rubber(mu: pl.Parameter = 3e4, kappa: pl.Parameter = 3e5) -> pl.FromEnergy:
    """Neo-Hookean rubber: shear modulus mu [Pa], bulk modulus kappa [Pa]."""
    return pl.FromEnergy(
        "mu/2*(I1*J**(-2/3) - 3) + kappa/2*(J - 1)**2",  # psi [J/m^3] in I1, I2, J, or in s0, s1, s2, or in I4
        {"mu": mu, "kappa": kappa},
    )


if __name__ == "__main__":
    from pliant.testing import check_material

    check_material(my_rubber())
