"""The scenes of the solver papers: a bar that stays a bar, a figure of the published size."""

from pliant.bench.conjac.play import march
from pliant.integrators import Quasistatic
from pliant.mesh import bar as bar_mesh
from pliant.scenes.qlb import armadillo, bar
from pliant.solvers import QLB


def test_the_bar_is_compressed_without_folding():
    """By default; by 40 %, which the published pictures suggest, it is on its way to fold, the more the finer it is."""
    mesh = bar_mesh(size=(0.3, 0.1, 0.1), cells=(18, 6, 6))
    scenes = [bar(integrator=Quasistatic(QLB()), damping=0.0, mesh=mesh, **by) for by in ({}, {"compression": 0.4})]
    least, far = (min(moment.det for moment in march(scene, 24)) for scene in scenes)
    assert far < 0.7 < 0.8 < least


def test_the_figure_has_the_published_number_of_vertices():
    assert abs(len(armadillo().X) - 25_317) < 0.02 * 25_317
