"""RedMax scenes: the 37 numbered regression scenes, CHAIN, KLANN, a gripper, and large ones for the O(n) solver."""

from collections.abc import Callable

from pliant.scene import Scene
from pliant.scenes.redmax.chains import CHAINS
from pliant.scenes.redmax.friction import FRICTION, chain_with_friction, chain_with_thick_joints
from pliant.scenes.redmax.gripper import gripper
from pliant.scenes.redmax.joints import JOINT_SCENES
from pliant.scenes.redmax.klann import single_leg, walker
from pliant.scenes.redmax.large import bridge, long_chain, tree, umbrella
from pliant.scenes.redmax.linkages import LINKAGES
from pliant.scenes.redmax.scene import energy_change, run, smooth, starting

NUMBERED: dict[int, Callable[[], Scene]] = dict(sorted({**CHAINS, **JOINT_SCENES, **LINKAGES, **FRICTION}.items()))
NAMES = {make.__name__: str(number) for number, make in NUMBERED.items()}
NAMES |= {"chain_with_friction": "chain", "chain_with_thick_joints": "chain-2r", "single_leg": "klann-leg"}
NAMES |= {"walker": "klann-walker"}

__all__ = [
    "NAMES",
    "NUMBERED",
    "bridge",
    "chain_with_friction",
    "chain_with_thick_joints",
    "energy_change",
    "gripper",
    "long_chain",
    "run",
    "smooth",
    "starting",
    "single_leg",
    "tree",
    "umbrella",
    "walker",
]
