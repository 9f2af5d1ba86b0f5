"""Runs test files in forks of a process that has loaded everything but the package itself: a program, not a module.

Reads one JSON list of arguments of pytest per line, with seconds of CPU time to end after in front, and answers with
the exit code and the CPU seconds.
"""

import json
import os
import resource
import sys

import h5py  # noqa: F401
import hypothesis  # noqa: F401
import matplotlib  # noqa: F401
import meshio  # noqa: F401
import numba  # noqa: F401
import numpy  # noqa: F401
import pydantic  # noqa: F401
import pytest
import scipy.sparse.linalg  # noqa: F401
import scipy.spatial  # noqa: F401
import typer  # noqa: F401

for line in sys.stdin:
    limit, *arguments = json.loads(line)
    child = os.fork()
    if not child:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        os._exit(int(pytest.main(arguments)))
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    sys.stdout.write(json.dumps([code, used.ru_utime + used.ru_stime]) + "\n")
    sys.stdout.flush()
