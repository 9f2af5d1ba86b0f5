"""The default solvers use the exact tangent: near a root the residual falls with the square of the one before it."""

import pytest

from pliant.bodies import Solid
from pliant.integrators import Quasistatic
from pliant.maps.motions import Keyframes
from pliant.maps.pins import Pin
from pliant.materials import Linear, NeoHookean, StableNeoHookean
from pliant.mesh import bar as bar_mesh
from pliant.scene import Scene
from pliant.solvers import ND, Newton, NewtonL0, Tolerance
from pliant.solvers.ldot import AS_PUBLISHED

MESH = bar_mesh(size=(0.3, 0.1, 0.1), cells=(9, 3, 3))
FINE = Tolerance(1e-12, 1e-14)


def driven(material, solver, *, times=(0.0, 1.0), reach=(0.0, -0.06)):
    """A bar without weight, one end held, the other moved along it."""
    script = Keyframes(times, tuple((x, 0, 0) for x in reach))
    pins = (Pin(MESH.where(lambda X: X[:, 0] < 1e-9)), Pin(MESH.where(lambda X: X[:, 0] > 0.3 - 1e-9), script))
    body = Solid(MESH, material, pins=pins)
    return Scene([body], Quasistatic(solver), h=0.1, duration=times[-1], gravity=(0, 0, 0))


def march(scene, steps):
    system = scene.system()
    state, memory, out = scene.initial(system), None, []
    for _ in range(steps):
        step = scene.integrator.step(system, state, float(scene.h), memory)
        assert step.reports[0].converged, step.reports[0].message
        state, memory = step.state, step.memory
        out.append(step)
    return out


def rate(report):
    """The least ratio of two residuals in a row among the last three iterations that are above round-off."""
    r = [line["residual"] for line in report.history]
    r = [x for x in r if x > 1e-11 * r[0]]
    return min(b / a for a, b in list(zip(r[:-1], r[1:], strict=True))[-3:])


def test_the_last_displacement_once_more_is_exact_where_all_is_linear():
    """The equilibria of a linear body move with its boundary: x + h v is the next one, and nothing is left to solve."""
    steps = march(driven(Linear(E=2e4, nu=0.4), Newton()), 6)
    assert steps[0].reports[0].iterations > 0
    assert all(s.reports[0].iterations == 0 for s in steps[1:])


def test_a_script_that_turns_round_is_started_from_where_the_body_is():
    """x + h v would set out two steps from the root, and crush the end of a body that cannot be inverted."""
    scene = driven(NeoHookean(E=2e4, nu=0.4), Newton(), times=(0.0, 0.3, 0.6), reach=(0.0, -0.09, 0.0))
    steps = march(scene, 6)
    system = scene.system()
    assert abs(steps[-1].state.q - system.X.ravel()).max() < 1e-6
    assert steps[3].reports[0].iterations <= steps[0].reports[0].iterations + 2


@pytest.mark.parametrize(
    "exact, published",
    [
        (Newton(tolerance=FINE), ND(tolerance=FINE, max_iterations=500)),
        (
            NewtonL0(tolerance=FINE, inner_tolerance=1e-9),
            NewtonL0(tolerance=FINE, inner_tolerance=1e-9, max_iterations=500, **AS_PUBLISHED),
        ),
    ],
    ids=["Newton", "NEWTON-L0"],
)
def test_nearly_incompressible_bodies_converge_quadratically(exact, published):
    """Projected blocks that are indefinite at the root leave linear convergence; both find the same root."""
    material = StableNeoHookean(E=2e4, nu=0.49)
    a, b = (march(driven(material, solver), 4)[-1] for solver in (exact, published))
    assert abs(a.state.q - b.state.q).max() < 1e-8
    assert rate(a.reports[0]) < 1e-3 < 0.05 < rate(b.reports[0])
    assert a.reports[0].iterations < 0.5 * b.reports[0].iterations
