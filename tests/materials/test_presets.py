"""Named materials say what their sources say, and scene files know them."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import pliant as pl
from pliant.errors import PliantError
from pliant.materials.presets import presets
from pliant.scene_file import load_scene


def tension(material, stretch):
    """Nominal stress [Pa] of a bar that is free to get thinner."""

    def sideways(s):
        return material.piola(np.diag([stretch, s, s])[None])[0, 1, 1]

    s = brentq(sideways, 0.9 * stretch**-0.5, 1.1 * stretch**-0.3)
    return material.piola(np.diag([stretch, s, s])[None])[0, 0, 0]


@pytest.mark.parametrize("name, psi", [("ecoflex-00-30", 10), ("dragon-skin-30", 86)])
def test_silicones_have_the_stress_of_their_data_sheet_at_100_percent(name, psi):
    assert tension(pl.materials.preset(name), 2.0) == pytest.approx(psi * 6894.757, rel=0.03)


@pytest.mark.parametrize("stretch", [1.5, 3.0, 6.0])
def test_rubber_follows_the_law_of_ogden(stretch):
    """P = sum mu (l^(a - 1) - l^(-a/2 - 1)) in tension of an incompressible body; ours is nearly that."""
    terms = ((0.63e6, 1.3), (1.2e3, 5.0), (-1e4, -2.0))
    expected = sum(mu * (stretch ** (a - 1) - stretch ** (-a / 2 - 1)) for mu, a in terms)
    assert tension(pl.materials.preset("natural-rubber"), stretch) == pytest.approx(expected, rel=0.06)


def test_every_preset_names_a_source_that_exists():
    bibliography = (Path(pl.__file__).parents[1] / "references.bib").read_text()
    for one in [*presets().values(), *pl.fabrics().values()]:
        keys = re.findall(r"\[(\w+)\]", one.source)
        assert keys and all(f"{{{key}," in bibliography for key in keys), one.name


def test_fabrics_are_told_apart():
    denim, knit = pl.fabric("denim"), pl.fabric("rib_knit")
    assert denim.E > 5 * knit.E and denim.beta > knit.beta and denim.rho > knit.rho


FILE = """
[[bodies]]
mesh = { generator = "bar", size = [0.2, 0.1, 0.1], cells = [2, 1, 1] }
material = { preset = "ecoflex-00-30" }

[[bodies]]
name = "tea-towel"
kind = "cloth"
mesh = { generator = "sheet", size = [0.2, 0.2], cells = [2, 2] }
fabric = { preset = "denim" }
transform = { translate = [0, 0, 0.5] }
"""


def test_in_scene_files(tmp_path):
    (tmp_path / "scene.toml").write_text(FILE)
    bar, towel = load_scene(tmp_path / "scene.toml").scene.bodies
    assert bar.density == 1070.0 and bar.material.E == pl.materials.preset("ecoflex-00-30").E
    assert towel.fabric == pl.fabric("denim")
    (tmp_path / "scene.toml").write_text(FILE.replace("ecoflex-00-30", "ecoflex-30"))
    with pytest.raises(PliantError, match="no preset is called 'ecoflex-30'; did you mean 'ecoflex-00-30'"):
        load_scene(tmp_path / "scene.toml")
