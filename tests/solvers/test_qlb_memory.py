"""QLB adds at most 2 m N doubles to Newton with a direct solver: its secant pairs."""

import tracemalloc

import numpy as np

from pliant.integrators import BDF2
from pliant.mesh import bar as bar_mesh
from pliant.scenes.qlb import bar
from pliant.solvers import QLB, Newton
from pliant.solvers.pairs import Pairs


def test_pairs_hold_two_m_vectors():
    m, N = 10, 1000
    rng = np.random.default_rng(0)
    pairs = Pairs(m)
    for _ in range(50):
        s = rng.normal(size=N)
        pairs.update(s, s + 0.1 * rng.normal(size=N))
    assert len(pairs) == m
    assert sum(s.nbytes + y.nbytes for s, y, _ in pairs._pairs) == 2 * m * N * 8


def peak(solver, mesh, steps=5):
    """The most bytes allocated at once over the first steps of BAR, the unknowns, and the most iterations."""
    scene = bar(E=6e3, integrator=BDF2(solver), mesh=mesh)
    system = scene.system()
    state, memory = scene.initial(system), None
    scene.integrator.step(system, state, float(scene.h), None)  # compiles
    tracemalloc.start()
    most = 0
    for _ in range(steps):
        step = scene.integrator.step(system, state, float(scene.h), memory)
        state, memory = step.state, step.memory
        most = max(most, step.reports[-1].iterations)
    bytes_used = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return bytes_used, len(system.free), most


def test_peak_memory_of_a_run_against_newton():
    m, mesh = 10, bar_mesh(size=(0.3, 0.1, 0.1), cells=(12, 4, 4))
    newton, N, _ = peak(Newton(), mesh)
    qlb, _, iterations = peak(QLB(m=m), mesh)
    assert iterations > m  # the memory was full
    assert qlb - newton <= 2 * m * N * 8
