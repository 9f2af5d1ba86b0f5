"""Named fabrics, from measurements that somebody has published.

[Wang2011] measured stiffness tensors in six directions and bending stiffness in three. A strip of the isotropic cloth
here has the mean of the moduli along warp and weft at small strain, E = mean(c11 - c12^2/c22, c22 - c12^2/c11) [N/m],
and nu = c12/sqrt(c11 c22); a plate of bending stiffness B [N m] stores B/2 kappa^2 per area, the quadratic bending
3/4 beta kappa^2, so beta = 2/3 B with the mean B of the three directions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from pliant.cloth.material import ClothMaterial, of_strip
from pliant.errors import MaterialError, nearest


@dataclass(frozen=True)
class Fabric:
    """A fabric by its name, what it is made of, and where its numbers come from."""

    name: str
    text: str
    material: ClothMaterial
    source: str


def fabric(name: str) -> ClothMaterial:
    """The fabric called ``name``, such as "denim"; `fabrics` lists them with their sources."""
    known, word = fabrics(), str(name).lower().replace("_", "-").replace(" ", "-")
    if word not in known:
        raise MaterialError(f"no fabric is called {name!r}", where="fabric", remedy=nearest(word, known))
    return known[word].material


@cache
def fabrics() -> dict[str, Fabric]:
    """All named fabrics."""
    found = [
        Fabric(
            "denim",
            "11 oz black denim, a stiff cotton twill",
            _measured(0.324, (205.352, 10.234, 1013.886), (64.196e-6, 73.385e-6, 96.952e-6)),
            "[Wang2011]",
        ),
        Fabric(
            "rib-knit",
            "ivory rib knit, a soft cotton jersey",
            _measured(0.276, (42.871, -0.235, 65.166), (46.238e-6, 30.016e-6, 32.244e-6)),
            "[Wang2011]",
        ),
        Fabric(
            "polyester",
            "white dots on black, a light woven polyester as for tablecloths",
            _measured(0.128, (2002.086, 0.346, 2027.486), (51.714e-6, 40.659e-6, 31.283e-6)),
            "[Wang2011]",
        ),
        Fabric(
            "swimwear",
            "white swim solid, a stretchy knit of nylon and spandex",
            _measured(0.204, (47.971, 6.835, 104.615), (60.238e-6, 58.803e-6, 51.019e-6)),
            "[Wang2011]",
        ),
    ]
    return {one.name: one for one in found}


def _measured(rho: float, stiffness: tuple[float, float, float], bending: Sequence[float]) -> ClothMaterial:
    """Isotropic cloth from (c11, c12, c22) [N/m] and the bending stiffness of some directions [N m]."""
    c11, c12, c22 = stiffness
    E = 0.5 * (c11 - c12**2 / c22 + c22 - c12**2 / c11)
    return of_strip(E=E, nu=c12 / (c11 * c22) ** 0.5, beta=2 / 3 * sum(bending) / len(bending), rho=rho)
