"""The page of named materials, written from the presets themselves: ``python docs/presets.py``.

A test compares ``presets.md`` with what this would write. The picture is drawn anew: stress against stretch in tension.
"""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

from pliant.cloth.fabrics import fabrics
from pliant.materials.presets import Preset, presets

PAGE = Path(__file__).parent / "presets.md"
PICTURE = Path(__file__).parent / "images" / "presets.png"
HEAD = """# Named materials

`pl.materials.preset("ecoflex-00-30")` in Python, `material = { preset = "ecoflex-00-30" }` in scene files, where the body
also gets the density of the preset. Every number has a source (keys of `references.bib`), and a strain up to which that
source supports it. Silicones, rubber and tissue are incompressible; here their Poisson's ratio is 0.49, because linear
tetrahedra lock beyond. `pl.materials.presets()` has the same as objects.

| name | what | E [kPa] | density [kg/m^3] | up to strain | source |
|---|---|---|---|---|---|
"""
CURVES = """
![Nominal stress against stretch in tension, sideways free](images/presets.png)

Nominal stress against stretch in tension, sideways free, up to the strain of the table (where that is unknown 20 %, of metals 0.1 %).

## Fabrics

`pl.fabric("denim")`, `fabric = { preset = "denim" }`: isotropic cloth with the mean stiffness of warp and weft.

| name | what | E [N/m] | nu | beta [N m] | rho [kg/m^2] | source |
|---|---|---|---|---|---|---|
"""
TAIL = """
## How the numbers were checked

- Silicones: the stresses at 100 % and specific gravities are those of the maker's bulletins; we compared them
  with another project's transcription, not with the bulletins themselves.
- Sylgard 184: the modulus is the paper's value for curing at 25 C, from samples strained up to 40 %; [Johnston2014] find
  2.97 MPa after curing at 200 C, and other authors differ by far more. We could not confirm the density.
- Natural rubber: the same constants stand in several finite-element codes; the density is the middle of 910 to 930.
- Muscle, fat, gelatine: moduli of the papers' abstracts. The scatter between people is large (fat: 26.1 +- 19.0 kPa), and
  both tissues are many times stiffer under larger loads. Gelatine creeps, which an elastic material does not.
- Steel: modulus, Poisson's ratio and yield strength of EN 1993-1-1, density of EN 1991-1-1. Aluminium: modulus and density
  agree with several sources; Poisson's ratio is the design value, unconfirmed.
- Fabrics: the measured tables that accompany [Wang2011], at the smallest strain.

Silk is not here: we found no measurement that we could check. `pliant new material` writes a file for a material of your
own.
"""


def page() -> str:
    """The page as text."""
    lines = [
        f"| `{p.name}` | {p.text} | {1e-3 * float(np.mean(p.material.young())):.4g} | {p.density:g} |"
        f" {'unknown' if p.strain is None else f'{100 * p.strain:.3g} %'} | {p.source} |"
        for p in presets().values()
    ]
    cloth = [
        f"| `{f.name}` | {f.text} | {strip(f.material)[0]:.4g} | {strip(f.material)[1]:.2g} | {f.material.beta:.3g} |"
        f" {f.material.rho:g} | {f.source} |"
        for f in fabrics().values()
    ]
    return HEAD + "\n".join(lines) + "\n" + CURVES + "\n".join(cloth) + "\n" + TAIL


def strip(fabric: Any) -> tuple[float, float]:
    """Stiffness [N/m] and Poisson's ratio of a strip whose sides are free, from those of plane strain."""
    return fabric.E / (1 - fabric.nu**2), fabric.nu / (1 - fabric.nu)


def tension(material: Any, stretches: Any) -> list[float]:
    """Nominal stress [Pa] of a bar whose sides are free."""

    def pull(s: float, stretch: float) -> Any:
        return material.piola(np.diag([stretch, s, s])[None])[0]

    sides = [brentq(lambda s, a=a: pull(s, a)[1, 1], 0.8 * a**-0.5, 1.05) for a in stretches]
    return [float(pull(s, a)[0, 0]) for s, a in zip(sides, stretches, strict=True)]


def draw() -> None:
    """A panel per group of stiffness."""
    from pliant.plots.sheet import save, sheet

    groups: dict[str, list[Preset]] = {"soft": [], "rubber": [], "metal": []}
    for one in presets().values():
        E = float(np.mean(one.material.young()))
        groups["soft" if E < 3e5 else "rubber" if E < 1e8 else "metal"].append(one)
    figure, panels = sheet(1, 3, size=(11, 3.8))
    for panel, (title, members) in zip(panels[0], groups.items(), strict=True):
        for one in members:
            usual = 1e-3 if title == "metal" else 0.2
            stretches = np.linspace(1.0, 1.0 + (usual if one.strain is None else one.strain), 25)
            scale = 1e-6 if title != "soft" else 1e-3
            panel.plot(stretches, scale * np.array(tension(one.material, stretches)), label=one.name)
        panel.set(xlabel="stretch", ylabel="nominal stress [kPa]" if title == "soft" else "nominal stress [MPa]")
        panel.legend(fontsize="x-small")
        panel.grid(alpha=0.3)
    save(figure, PICTURE)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    draw()
