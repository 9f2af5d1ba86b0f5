"""The device's kernels agree with the CPU's, in Numba's CUDA simulator (see simulated.py)."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from simulated import agree


@cache
def simulated(what):
    script = Path(__file__).with_name("simulated.py")
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run([sys.executable, script, what], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_evaluations_agree_to_rounding():
    for body, found in simulated("evaluations").items():
        solved = found.pop("solve", 0.0)
        assert solved < 1e-5, body  # conjugate gradients, to a residual of 1e-6 in another norm
        assert max(found.values()) < 1e-12, (body, found)


def test_contact_agrees_to_rounding():
    for name, found in simulated("contacts").items():
        agree(name, found, 1e-12)


def test_runs_agree_with_the_cpu():
    for name, found in simulated("runs").items():
        assert found["positions"] < 2e-9, name  # 1e-8 of the size; Newton's own tolerance is 1e-6 of it
        assert found["energies"] < 1e-6, name
        assert found["total"] < 1e-6 and found["work"] < 1e-6, name
        assert found["verdicts"][0] == found["verdicts"][1], name
        assert found["contacts"][0] == found["contacts"][1], name
        assert found["resumed"], name
        assert found["contacts"][0] or not name.startswith("contact"), name


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("RK4", "Verlet"),
        ("L1", "HybridLP"),
        ("barrier", "PenaltyContact"),
        ("consistent", "lumped"),
        ("mesh", "TriangleObstacle"),
    ],
)
def test_refusals_name_what_would_do(case, said):
    assert said in simulated("refusals")[case]


def test_without_a_gpu_the_line_says_so():
    from pliant.cuda import device
    from pliant.errors import MissingDependency

    if device.SIMULATED:
        pytest.skip("the simulator is on")
    try:
        import cupy

        if cupy.cuda.is_available():
            pytest.skip("there is a GPU")
    except ImportError:
        pass
    with pytest.raises(MissingDependency, match="pliant\\[cuda\\]"):
        device.arrays()
