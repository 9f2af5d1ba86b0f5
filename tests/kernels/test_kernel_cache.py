"""Kernels made from templates: cached on disk, linked without mixing, vectorised."""

import os
import re
import subprocess
import sys

import numpy as np

from pliant.kernels.bind import bind
from pliant.kernels.device import PARAMETERS, W, lanes
from pliant.kernels.elements import TET, restrict_tet
from pliant.kernels.isotropic import phase_spectrum
from pliant.kernels.specialise import SOURCES, Choice, label
from pliant.materials import stable_neo_hookean

PROBE = """
import sys
import numpy as np
from pliant.energies.elastic import Elastic
from pliant.materials import StableNeoHookean
x = np.array([[0.0, 0, 0], [1.1, 0.1, 0], [0.2, 0.9, 0], [0, 0.1, 1.2]])
cases = {"tet": (np.eye(4, 3, -1), [[0, 1, 2, 3]], x), "planar": (np.eye(3, 2, -1), [[0, 1, 2]], x[:3, :2])}
hits, norms = [], []
for name in sys.argv[1:]:
    X, T, y = cases[name]
    energy = Elastic(X, T, StableNeoHookean())
    norms.append(np.linalg.norm(energy.gradient(y.ravel())))
    hits.append(len(energy._terms[0].kernels.gradient.stats.cache_hits))
print(*hits, *(f"{n:.12e}" for n in norms))
"""


def run(directory, *cases):
    env = {**os.environ, "NUMBA_CACHE_DIR": str(directory), "NUMBA_NUM_THREADS": "1"}
    out = subprocess.run([sys.executable, "-c", PROBE, *cases], env=env, capture_output=True, text=True, check=True)
    words = out.stdout.split()
    return [int(w) for w in words[: len(cases)]], words[len(cases) :]


def test_kernels_of_other_processes_are_reused_and_not_mixed_up(tmp_path):
    """Two processes compile one kernel each; a third loads both: same-named parts must not replace each other."""
    cold, tet = run(tmp_path, "tet")
    colder, planar = run(tmp_path, "planar")
    assert cold == colder == [0]
    assert run(tmp_path, "tet", "planar") == ([1, 1], tet + planar)


def test_label_changes_with_the_source(tmp_path):
    source = tmp_path / "density.py"
    source.write_text("a = 1")
    before = label("Density", Choice(TET, False), str(source))
    source.write_text("a = 2")
    assert label("Density", Choice(TET, False), str(source)) != before
    assert label("Density", Choice(TET, True), str(source)) != label("Density", Choice(TET, False), str(source))
    assert "isotropic" in SOURCES and "passes" in SOURCES


def test_spectral_phase_is_vectorised():
    """Four sweeps of three rotations with two square roots each must be packed (x86 or ARM spelling)."""
    phase = lanes(
        bind(phase_spectrum, "probe", svd=TET.svd, spectral=stable_neo_hookean.spectral, restrict=restrict_tet)
    )
    phase(np.ones(9 * W), np.ones(10 * W), np.ones(PARAMETERS * W), 0.0, np.empty(32 * W))
    (code,) = phase.inspect_asm().values()
    assert len(re.findall(r"\bv?sqrtpd\b|\bfsqrt\s+v\d+\.2d", code)) >= 24
