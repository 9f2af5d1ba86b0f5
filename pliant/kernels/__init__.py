"""Compiled loops: fixed signatures, disk-cached, deterministic for any number of threads, no policy.

Start reading at `passes` (the loops over elements), then `isotropic` and `fibre` (Hessian blocks), `layout` (where things
go), `bind` and `specialise` (one kernel per density and element from one template).
"""

import os

# OpenMP threads that spin while waiting take the core from whoever works: on a busy machine each parallel loop would
# cost milliseconds. But to wake a thread that sleeps takes as long as a small loop: spinning some 20 us bridges the time
# between one loop and the next. Read when the first parallel loop starts; values set by the user stand.
if os.environ.setdefault("OMP_WAIT_POLICY", "passive") == "passive":
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
