"""The same bytes from processes with one and with two kernel threads."""

import hashlib
import os
import subprocess
import sys

import pytest

PROGRAM = """
import hashlib, sys
from dataclasses import replace
from pliant import bench, scenes
from pliant.integrators import BDF1, BDF2
from pliant.scenes.basic import bar_twist
from pliant.simulate import simulate
from pliant.solvers import QLB, Newton, NewtonPCG
digest = hashlib.sha256()
for method in (BDF2(Newton()), BDF1(QLB()), BDF1(NewtonPCG())):
    for step in simulate(replace(bar_twist(cells=2), integrator=method, duration=0.05)):
        digest.update(step.state.q.tobytes() + step.state.v.tobytes() + repr(step.ledger).encode())
print(digest.hexdigest())
"""


def digest(threads):
    environment = {**os.environ, "NUMBA_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=environment, check=True)
    assert len(done.stdout.strip()) == hashlib.sha256().digest_size * 2
    return done.stdout


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core only")
def test_results_do_not_depend_on_the_number_of_threads():
    assert digest(1) == digest(2)
