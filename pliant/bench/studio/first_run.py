"""studio/first_run: what the first run of a kind of scene costs before its first step, in CPU time.

Every row is a new process with an empty cache of machine code: it loads the package, compiles what the scene needs and
takes one step; then another one, which finds the code in the cache. Python may keep the bytecode of modules, as it does
for an installed package. ``before`` are the numbers of version 0.1.0 at the commit before this bench, on a shared AMD
EPYC server.
"""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pliant.bench.table import Claim, Plot, Table

SCENES = ("bar-twist", "chen/falling-cloth", "world/gripper", "redmax/1")
BEFORE = {"bar-twist": 26.2, "world/gripper": 39.6, "redmax/1": 35.1}  # CPU seconds of compilation
WARM = 1.5  # CPU seconds to the first step that we aim at
CODE = """
import json, sys, time
from pliant.kernels.compiling import announced
seconds = []
with announced(lambda name: None, lambda name, took: seconds.append(took)):
    from pliant.scene_file import load_scene
    from pliant.simulate import simulate
    loaded = time.process_time()
    next(simulate(load_scene(sys.argv[1]).scene))
print(json.dumps({"loaded": loaded, "compiled": sum(seconds), "kernels": len(seconds), "step": time.process_time()}))
"""


@dataclass(frozen=True)
class FirstStep:
    """CPU seconds of a process until the package is loaded, in the compiler, and until its first step is done."""

    loaded: float
    compiled: float
    kernels: int
    step: float


def run(*, quick: bool = False) -> Table:
    rows: list[dict[str, Any]] = []
    for scene in SCENES[:1] if quick else SCENES:
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = start(scene, Path(cache)), start(scene, Path(cache))
        rows.append(
            {
                "scene": scene,
                "kernels": cold.kernels,
                "compiled, before [s]": BEFORE.get(scene, "-"),
                "compiled [s]": cold.compiled,
                "cold first step [s]": cold.step,
                "warm load [s]": warm.loaded,
                "warm first step [s]": warm.step,
                "compiled when warm": warm.kernels,
            }
        )
    first = rows[0]
    none = max(row["compiled when warm"] for row in rows)
    claims = [
        Claim("the first scene compiles faster", f"< {BEFORE[SCENES[0]]:g} s", f"{first['compiled [s]']:.1f} s",
              first["compiled [s]"] < BEFORE[SCENES[0]]),
        Claim("nothing is compiled a second time", "0 kernels", str(none), none == 0),
        Claim("warm start to the first step", f"<= {WARM:g} s", f"{first['warm first step [s]']:.2f} s",
              first["warm first step [s]"] <= WARM),
    ]  # fmt: skip
    note = "CPU time of the process from its start, the interpreter included; one thread"
    return Table("studio/first_run", "The first run", rows, claims, [note], plot=Plot("scene", "compiled [s]"))


def start(scene: str, cache: Path) -> FirstStep:
    """The first step of a scene in a new process."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[3]), environment.get("PYTHONPATH", "")])
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", CODE, scene], capture_output=True, text=True, env=environment, check=True
    )
    return FirstStep(**json.loads(done.stdout.splitlines()[-1]))
