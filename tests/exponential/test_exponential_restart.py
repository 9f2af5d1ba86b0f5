"""Interrupted runs of the exponential and additive integrators go on byte for byte from their checkpoint."""

from dataclasses import replace

import numpy as np
import pytest

from pliant.bodies import Rayleigh, Solid, SpringNet
from pliant.integrators import ERE, MSSI, SIERE, Additive
from pliant.maps.motions import Shake
from pliant.maps.pins import Pin
from pliant.materials import NeoHookean
from pliant.mesh import bar, spring_net
from pliant.record import Output, load, record, resume
from pliant.scene import Scene
from pliant.scenes.chen_solids import strip
from pliant.scenes.chen_springs import falling_cloth

STEPS, SAVED, KILLED = 8, 4, 6  # steps in all, between checkpoints, before the interruption
H = 5e-3


class Killed(Exception):
    """Stands for the end of the process."""


def shaken(integrator, cells=(3, 1, 1)):
    mesh = bar(size=(0.1 * cells[0], 0.1, 0.1), cells=cells)
    pins = Pin(mesh.where(lambda X: X[:, 0] < 1e-9), Shake((0.0, 0.01, 0.0), 5.0))
    body = Solid(mesh, NeoHookean(E=2e4, nu=0.4), pins=pins, damping=Rayleigh(alpha=0.1, beta=1e-4))
    return Scene([body], integrator, h=H, duration=H * STEPS)


def net(integrator):
    body = SpringNet(spring_net(3, 3), k=40.0, mass=0.05, pins=Pin(np.array([0, 3])))
    return Scene([body], integrator, h=H, duration=H * STEPS)


def short(scene):
    return replace(scene, duration=scene.h * STEPS)


SCENES = {
    "ERE": lambda: shaken(ERE()),
    "ERE, unprojected": lambda: net(ERE(project="never")),
    "SIERE, exact modes": lambda: shaken(SIERE(s=3)),
    "SIERE, followed modes": lambda: shaken(SIERE(s=3), cells=(8, 2, 1)),
    "MSSI": lambda: net(MSSI()),
    "DGSI": lambda: short(strip()),
    "Additive": lambda: shaken(Additive()),
    "ERE and projection": lambda: short(falling_cloth()),
}


@pytest.mark.parametrize("name", SCENES)
def test_an_interrupted_run_ends_like_one_that_was_not(name, tmp_path):
    make = SCENES[name]
    output = Output(checkpoint_every=SAVED)

    def interrupt(step):
        if step.index == KILLED:
            raise Killed

    whole = record(make(), tmp_path / "whole", output=output)
    with pytest.raises(Killed):
        record(make(), tmp_path / "cut", output=output, watch=interrupt)
    assert load(tmp_path / "cut").checkpoint.step == SAVED
    again = resume(tmp_path / "cut", make())
    assert again.report["done"] == STEPS
    assert bytes_of(again) == bytes_of(whole)


def bytes_of(run):
    state = run.checkpoint.state
    return [state.q.tobytes(), state.v.tobytes(), *(frame.points.tobytes() for frame in run.frames)]
