"""The bench of step costs splits steps of every method into the same phases."""

from pliant.bench.conjac.fig2 import contestants, split
from pliant.mesh import serpent
from pliant.scenes.conjac import DRAGON, dragon


def test_every_method_is_split_into_the_same_phases():
    scene = dragon(mesh=serpent(length=DRAGON, cells=30))
    system = scene.system()
    state = scene.initial(system)
    chosen = contestants(scene)
    for name in ("VANILLA", list(chosen)[1]):
        integrator, watch = chosen[name]
        parts, memory = split(integrator, watch, system, state, None)
        assert list(parts) == ["fill", "factor", "solve", "other"] and parts["fill"] > 0.0 and parts["factor"] > 0.0
        assert memory is not None
