"""Named materials: parameters that somebody has published, with the source and the strain up to which they hold.

Silicones of a data sheet are given there by their stress at 100 % elongation, sigma. An incompressible neo-Hookean
body has P = mu (l - 1/l^2) at the stretch l, so mu = sigma / 1.75. Where bodies are incompressible in truth,
Poisson's ratio is `NEARLY` here: linear tetrahedra lock beyond.
"""

from dataclasses import dataclass
from functools import cache

from pliant.errors import MaterialError, nearest
from pliant.materials.base import Material
from pliant.materials.corotational import Corotational
from pliant.materials.from_energy import FromEnergy
from pliant.materials.stable_neo_hookean import StableNeoHookean

NEARLY = 0.49  # Poisson's ratio in place of 0.5
PSI = 6894.757  # Pa


@dataclass(frozen=True, eq=False)
class Preset:
    """A material, its ``density`` [kg/m^3], and the ``strain`` up to which its ``source`` holds (None: unknown)."""

    name: str
    text: str
    material: Material
    density: float
    strain: float | None
    source: str


def preset(name: str) -> Material:
    """The material called ``name``, such as "ecoflex-00-30"; `presets` lists them with sources and strain ranges."""
    return look_up(name).material


def look_up(name: str) -> Preset:
    """A preset by its name; others are refused with the nearest one."""
    known = presets()
    word = str(name).lower().replace("_", "-").replace(" ", "-")
    if word not in known:
        raise MaterialError(f"no preset is called {name!r}", where="preset", remedy=nearest(word, known))
    return known[word]


@cache
def presets() -> dict[str, Preset]:
    """All named materials."""
    found = [*_silicones(), *_rubbers(), *_tissues(), *_metals()]
    return {one.name: one for one in found}


def _silicones() -> list[Preset]:
    data = {  # stress at 100 % elongation [psi], specific gravity
        "ecoflex-00-10": (8, 1.04),
        "ecoflex-00-30": (10, 1.07),
        "ecoflex-00-50": (12, 1.07),
        "dragon-skin-10": (22, 1.07),
        "dragon-skin-20": (49, 1.08),
        "dragon-skin-30": (86, 1.08),
    }
    out = []
    for name, (psi, gravity) in data.items():
        mu = psi * PSI / 1.75
        text = f"platinum silicone, {psi} psi at 100 % elongation"
        material = StableNeoHookean(2 * mu * (1 + NEARLY), NEARLY)
        out.append(Preset(name, text, material, 1000 * gravity, 1.0, "[SmoothOn]"))
    sylgard = StableNeoHookean(1.32e6, NEARLY)
    source = "[Johnston2014], density unconfirmed"
    return [*out, Preset("sylgard-184", "PDMS, cured at 25 C", sylgard, 1030.0, 0.4, source)]


def _rubbers() -> list[Preset]:
    # Ogden's fit of Treloar's data; the bulk modulus is 40 MPa, not the 2 GPa of rubber, so that elements do not lock
    terms = "m1/1.3*(s0**1.3 + s1**1.3 + s2**1.3 - 3) + m2/5*(s0**5 + s1**5 + s2**5 - 3)"
    terms += " - m3/2*(s0**-2 + s1**-2 + s2**-2 - 3)"
    volume = " - (m1 + m2 + m3)*log(s0*s1*s2) + kappa/2*(s0*s1*s2 - 1)**2"
    ogden = FromEnergy(terms + volume, {"m1": 0.63e6, "m2": 1.2e3, "m3": -1e4, "kappa": 4e7})
    text = "vulcanised natural rubber, three terms of Ogden fitted to Treloar's data"
    return [Preset("natural-rubber", text, ogden, 920.0, 6.0, "[Ogden1972], density [NETZSCH]")]


def _tissues() -> list[Preset]:
    muscle, fat = StableNeoHookean(62.2e3, NEARLY), StableNeoHookean(26.1e3, NEARLY)
    jelly = StableNeoHookean(4.34e3, NEARLY)
    source = "[Isogai2022], density [ICRU44]"
    return [
        Preset("muscle", "gluteal muscle, relaxed, pressed in vivo with 5 N", muscle, 1050.0, None, source),
        Preset("fat", "subcutaneous tissue, pressed in vivo with 1 N", fat, 950.0, None, source),
        Preset(
            "gelatine",
            "20 parts of water to 1 of powder, instantaneous stiffness in compression",
            jelly,
            1000.0,
            None,
            "[Bonavia2025], density of water",
        ),
    ]


def _metals() -> list[Preset]:
    steel, aluminium = Corotational(210e9, 0.3), Corotational(70e9, 0.3)
    return [
        Preset(
            "steel", "structural steel S235 below yield", steel, 7850.0, 235e6 / 210e9, "[EN1993], density [EN1991]"
        ),
        Preset("aluminium", "wrought aluminium alloys", aluminium, 2700.0, None, "[EN1999]"),
    ]
