"""Forces and constraints of joints in documents: quantities have units, what is missing is named."""

import numpy as np
import pytest

from pliant.articulated.constraints import BallClosure, PrescribedJoint
from pliant.articulated.forces import JointTorque, Servo
from pliant.errors import SceneError
from pliant.scene_file import load_scene

ARM = """
integrator = "linearly-implicit"
[[bodies]]
kind = "articulated"
[[bodies.links]]
name = "rod"
joint = { kind = "revolute", axis = [0, 1, 0] }
shape = { kind = "box", sides = [0.3, 0.05, 0.05] }
"""


def written(tmp_path, inside):
    path = tmp_path / "arm.toml"
    path.write_text(f"{ARM}{inside}")
    return load_scene(path).scene.bodies[0]


def test_motors_take_quantities(tmp_path):
    servo = (
        '[[bodies.forces]]\nkind = "servo"\nlink = "rod"\nposition = "30 deg"\nstiffness = "20 N m"\nlimit = "3 N m"\n'
    )
    torque = '[[bodies.forces]]\nkind = "joint-torque"\nlink = "rod"\ntorque = [[0, "0 N m"], [1, "2 N m"]]\n'
    motor = '[[bodies.constraints]]\nkind = "prescribed-joint"\nlink = "rod"\nrate = "90 deg/s"\n'
    body = written(tmp_path, servo + torque + motor)
    tree = body.system().tree
    first, second = (force.bind(tree) for force in body.forces)
    assert isinstance(first, Servo) and isinstance(second, JointTorque)
    assert first.position(0.0) == pytest.approx(np.radians(30.0)) and first.limit == 3.0
    assert second.torque(0.5) == pytest.approx([1.0])
    (row,) = body.constraints
    assert isinstance(row, PrescribedJoint) and row.bind(tree).rate(0.0) == pytest.approx(np.pi / 2)


def test_what_is_missing_is_named_and_the_world_is_none(tmp_path):
    closure = '[[bodies.constraints]]\nkind = "ball-closure"\nfirst = "rod"\nx1 = [0, 0, 0]\nx2 = [0, 0, 0]\n'
    with pytest.raises(SceneError, match=r"constraints\.0: 'second' is missing; give second"):
        written(tmp_path, closure)
    (found,) = written(tmp_path, closure + 'second = "none"').constraints
    assert isinstance(found, BallClosure) and found.second is None
