"""Forces and constraints of joints in documents: quantities have units, what is missing is named."""

import numpy as np
import pytest

from pliant.articulated.constraints import BallClosure, PrescribedJoint
from pliant.articulated.forces import JointTorque, Servo
from pliant.errors import SceneError, UnitError
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


def test_a_cable_and_a_force_in_space_have_units_of_their_own(tmp_path):
    """The tension of a cable is its stiffness times a strain."""
    path = 'path = [["none", [0, 0, 1]], ["rod", [0, 0, 0]]]\n'
    cable = f'[[bodies.forces]]\nkind = "cable"\n{path}stiffness = "2 kN"\ndamping = "3 N s"\nrest = "80 cm"\n'
    push = '[[bodies.forces]]\nkind = "world-force"\nlink = "rod"\npoint = [0, 0, 0]\nforce = ["1 kN", 0, 0]\n'
    tension, force = written(tmp_path, cable + push).forces
    assert (tension.stiffness, tension.damping, tension.rest) == (2e3, 3.0, 0.8) and force.force[0] == 1e3
    with pytest.raises(UnitError, match="stiffness"):
        written(tmp_path, cable.replace("kN", "kN/m"))
    with pytest.raises(UnitError, match="force"):
        written(tmp_path, push.replace("1 kN", "1 N m"))


def test_what_is_missing_is_named_and_the_world_is_none(tmp_path):
    closure = '[[bodies.constraints]]\nkind = "ball-closure"\nfirst = "rod"\nx1 = [0, 0, 0]\nx2 = [0, 0, 0]\n'
    with pytest.raises(SceneError, match=r"constraints\.0: 'second' is missing; give second"):
        written(tmp_path, closure)
    (found,) = written(tmp_path, closure + 'second = "none"').constraints
    assert isinstance(found, BallClosure) and found.second is None
