"""MJCF: the imported robot has MuJoCo's own kinematics and accelerations, and what does not map is named."""

import numpy as np
import pytest

import pliant as pl
from pliant.articulated import read_mjcf
from pliant.articulated.constraints import JointLimit
from pliant.articulated.joints import Free3D, Prismatic, Revolute, Spherical
from pliant.errors import SceneError

mujoco = pytest.importorskip("mujoco")

GEOMS = """<geom type="box" size=".1 .05 .2" pos=".1 0 0" euler="20 0 40"/>
  <geom type="capsule" size=".04 .1" pos="0 .2 0"/>"""
ARM = f"""<mujoco model="arm">
<default><joint damping="0.2"/><default class="stiff"><joint stiffness="5"/></default></default>
<worldbody>
  <geom type="sphere" size=".1" pos="0 0 -1"/>
  <body name="base" pos=".1 .2 .3" euler="10 -20 30">{GEOMS}
    <joint name="turn" axis="0 .6 .8" pos=".05 0 .1" ref="25" springref="40" class="stiff" range="-30 60"/>
    <body name="slider" pos="0 .3 0" euler="0 40 0">
      <joint name="slide" type="slide" axis="1 0 0" frictionloss="0.5"/><joint name="twist" axis="0 0 1" pos=".1 0 0"/>
      {GEOMS}
      <body name="fixed" pos=".2 0 0"><geom type="sphere" size=".07" mass="1.5"/>
        <body name="hand" pos="0 0 .2" euler="5 6 7">
          <joint name="wrist" type="ball" class="stiff" damping=".1"/>{GEOMS}</body>
      </body>
    </body>
  </body>
  <body name="loose" pos="2 0 1" euler="0 90 10"><freejoint name="float"/>
    <inertial pos=".1 0 .2" mass="2" fullinertia=".3 .2 .25 .02 .01 .03"/>
    <body name="tail" pos="0 .3 .1"><joint name="wag" axis="1 0 0"/>{GEOMS}</body>
  </body>
</worldbody></mujoco>"""


def quaternion(R):
    q = np.zeros(4)
    mujoco.mju_mat2Quat(q, np.ascontiguousarray(R).ravel())
    return q


def theirs(model, robot, q, v):
    """MuJoCo's state of ours: coordinates from the pose of the file, rotations as quaternions, rates in the body."""
    data = mujoco.MjData(model)
    data.qpos[:] = model.qpos0
    tree = robot.system().tree
    for name, link in robot.joints.items():
        j, where = model.joint(name), tree.slice(tree.body(link))
        joint = tree.links[tree.body(link)].joint
        a, d = int(j.qposadr[0]), int(j.dofadr[0])
        if isinstance(joint, Revolute | Prismatic):
            data.qpos[a] += q[where][0]
            data.qvel[d] = v[where][0]
            continue
        Q = joint.transform(q[where])
        twist = joint.subspace(q[where]) @ v[where]
        turn = np.zeros(4)
        if isinstance(joint, Free3D):
            body = model.body(link)
            R0 = np.zeros(9)
            mujoco.mju_quat2Mat(R0, body.quat)
            R0 = R0.reshape(3, 3)
            data.qpos[a : a + 3] = body.pos + R0 @ Q[:3, 3]
            mujoco.mju_mulQuat(turn, body.quat, quaternion(Q[:3, :3]))
            data.qpos[a + 3 : a + 7] = turn
            data.qvel[d : d + 3] = R0 @ Q[:3, :3] @ twist[3:]
            data.qvel[d + 3 : d + 6] = twist[:3]
        else:
            assert isinstance(joint, Spherical)
            data.qpos[a : a + 4] = quaternion(Q[:3, :3])
            data.qvel[d : d + 3] = twist[:3]
    return data


GEARED = ARM  # with rotors behind gears
for _name, _armature in (("turn", 0.3), ("slide", 2.0), ("twist", 0.05), ("wag", 0.1)):
    GEARED = GEARED.replace(f'<joint name="{_name}"', f'<joint name="{_name}" armature="{_armature}"')


@pytest.mark.parametrize("text", [ARM, GEARED], ids=["plain", "geared"])
def test_kinematics_and_acceleration_are_those_of_mujoco(text):
    model = mujoco.MjModel.from_xml_string(text)
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(off.mjDSBL_CONTACT | off.mjDSBL_LIMIT | off.mjDSBL_FRICTIONLOSS)
    robot = read_mjcf(text)
    system = robot.system(gravity=(0.0, 0.0, -9.81))
    assert system.tree.armature.any() == (text is GEARED)
    bodies = [b for b in range(model.nbody) if model.body(b).name in system.tree.names]
    ours = [system.tree.body(model.body(b).name) for b in bodies]
    random = np.random.default_rng(3)
    for _ in range(5):
        q, v = 0.7 * random.normal(size=system.tree.dof), random.normal(size=system.tree.dof)
        data = theirs(model, robot, q, v)
        mujoco.mj_forward(model, data)
        kin = system.kinematics(q, v)
        assert np.allclose(kin.frames[ours][:, :3, 3], data.xipos[bodies], atol=1e-12)
        axes = data.ximat[bodies].reshape(-1, 3, 3)
        assert np.allclose(kin.frames[ours][:, :3, :3], axes, atol=1e-12)
        a = np.linalg.solve(system.mass(q).toarray(), system.force(q, v, 0.0))
        h, there = 1e-4, data.xipos[bodies].copy()
        path = [q + s * h * v + 0.5 * (s * h) ** 2 * a for s in (1, 0, -1)]
        after, now, before = (system.kinematics(x, v).frames[ours][:, :3, 3] for x in path)
        accelerations = (after - 2 * now + before) / h**2
        moved = []
        for s in (1, -1):
            other = mujoco.MjData(model)
            other.qpos[:] = data.qpos
            mujoco.mj_integratePos(model, other.qpos, data.qvel + 0.5 * s * h * data.qacc, s * h)
            mujoco.mj_kinematics(model, other)
            mujoco.mj_comPos(model, other)
            moved.append(other.xipos[bodies].copy())
        expected = (moved[0] - 2 * there + moved[1]) / h**2
        scale = np.abs(expected).max()
        assert scale > 1.0 and np.allclose(accelerations, expected, atol=2e-5 * scale)


def test_limits_and_friction_are_measured_from_the_pose_of_the_file():
    robot = read_mjcf(ARM)
    (limit,) = [c for c in robot.constraints if isinstance(c, JointLimit)]
    assert np.allclose([limit.lower, limit.upper], np.radians([-55.0, 35.0]))
    assert [(d.link, d.force) for d in robot.friction] == [("slider/slide", 0.5)]


def test_geoms_are_where_mujoco_has_them():
    model, system = mujoco.MjModel.from_xml_string(ARM), read_mjcf(ARM).system()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    link = system.tree.links[system.tree.body("base")]
    E = system.kinematics(np.zeros(system.tree.dof), np.zeros(system.tree.dof)).frames[system.tree.body("base")]
    box = link.body.points[:8] @ E[:3, :3].T + E[:3, 3]
    g = int(model.body("base").geomadr[0])
    local = (box - data.geom_xpos[g]) @ data.geom_xmat[g].reshape(3, 3)
    assert np.allclose(np.abs(local), [0.1, 0.05, 0.2])


BODY = '<body name="b"><joint name="j"/><geom size=".1"/></body>'


@pytest.mark.parametrize(
    ("inside", "after", "words"),
    [
        (BODY, '<actuator><motor name="drive" joint="j"/></actuator>', "actuator: drive"),
        (BODY, '<tendon><fixed name="cord"><joint joint="j" coef="1"/></fixed></tendon>', "tendon: cord"),
        (BODY, '<equality><weld name="glue" body1="b"/></equality>', "equality: glue"),
        (BODY + '<geom name="floor" type="plane" size="1 1 1"/>', "", "plane: floor"),
        (BODY.replace('"j"', '"j" type="ball" armature="0.1"'), "", "ball armature: j"),
        ('<body gravcomp="1" name="b"><joint/><geom size=".1"/></body>', "", "gravcomp: b"),
        (BODY.replace('"j"', '"j" type="ball" range="0 30"'), "", "ball limit: j"),
        (BODY, '<option><flag spring="disable"/></option>', "flag: spring"),
        ("<body/><nothing/>", "", "MuJoCo cannot read it.*nothing"),
    ],
)
def test_what_does_not_map_is_named(inside, after, words):
    text = f"<mujoco><worldbody>{inside}</worldbody>{after}</mujoco>"
    with pytest.raises(SceneError, match=words):
        read_mjcf(text)
    if ":" in words:
        assert read_mjcf(text, skip=(words.split(":")[0],)).links


def test_kinds_to_skip_that_do_not_exist_are_named():
    with pytest.raises(SceneError, match=r"no kind 'aktuator' to skip; choose from actuator, tendon"):
        read_mjcf(f"<mujoco><worldbody>{BODY}</worldbody></mujoco>", skip=["aktuator"])


def test_files_without_joints_are_read():
    robot = read_mjcf('<mujoco><worldbody><body name="post"><geom size=".1"/></body></worldbody></mujoco>')
    assert [link.name for link in robot.links] == ["post"] and robot.system().tree.dof == 0


LOOKS = '<geom type="box" size=".3 .3 .3" contype="0" conaffinity="0" mass="0"/>'
ELLIPSOID = LOOKS.replace("box", "ellipsoid")


@pytest.mark.parametrize("geom", [LOOKS, ELLIPSOID])
def test_a_body_rests_on_the_geoms_that_touch_as_in_mujoco(geom):
    """Geoms to look at, with contype and conaffinity 0, used to be touched as well."""
    floor = '<geom type="plane" size="1 1 1"/>'
    text = f"""<mujoco><worldbody>{{}}<body name="b" pos="0 0 .13"><freejoint/><geom type="box" size=".1 .1 .1"/>{geom}
      </body></worldbody></mujoco>"""
    model = mujoco.MjModel.from_xml_string(text.format(floor))
    data = mujoco.MjData(model)
    while data.time < 0.5:
        mujoco.mj_step(model, data)
    body = pl.from_mjcf(text.format(""))
    how = {"contact": pl.RowContact(), "obstacles": [pl.Plane()], "integrator": pl.LinearlyImplicit()}
    *_, last = pl.simulate(pl.Scene([body], h=5e-3, duration=0.5, **how))
    assert 0.13 + last.state.q[2] == pytest.approx(data.qpos[2], abs=1e-3)


def test_geoms_to_look_at_are_the_surface_on_request():
    text = f'<mujoco><worldbody><body name="b"><geom size=".1"/>{LOOKS}</body><body name="c"><geom size=".2"/></body>'
    robot = read_mjcf(f"{text}</worldbody></mujoco>", geometry="visual")
    assert [np.abs(link.body.points).max() for link in robot.links] == pytest.approx([0.3, 0.2])
