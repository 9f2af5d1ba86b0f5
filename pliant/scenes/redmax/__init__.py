"""RedMax scenes: the 37 numbered regression scenes, CHAIN, KLANN, a gripper, and large ones for the O(n) solver."""

from collections.abc import Callable
from types import ModuleType

from pliant.scene import Scene
from pliant.scenes.redmax import chains, friction, joints, linkages
from pliant.scenes.redmax.friction import chain_with_friction, chain_with_thick_joints
from pliant.scenes.redmax.gripper import gripper
from pliant.scenes.redmax.klann import single_leg, walker
from pliant.scenes.redmax.large import bridge, long_chain, tree, umbrella
from pliant.scenes.redmax.scene import energy_change, run, smooth, starting


def _numbered(*modules: ModuleType) -> dict[int, Callable[[], Scene]]:
    """The functions scene_N of these modules by their numbers; scene_m1 is number -1."""
    found = {name: make for module in modules for name, make in vars(module).items() if name.startswith("scene_")}
    return {int(name.removeprefix("scene_").replace("m", "-")): make for name, make in found.items()}


NUMBERED = dict(sorted(_numbered(chains, joints, linkages, friction).items()))
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
