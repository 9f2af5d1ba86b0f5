"""Jointed bodies and cloth that move each other."""

from dataclasses import replace

from pliant.cloth.hands import Handle
from pliant.cloth.material import ClothMaterial
from pliant.scene import Scene
from pliant.scenes.eol.bodies import arm, recorded_box
from pliant.scenes.eol.variants import EOL, FAR_CORNERS, RELEASED, Variant, by_name, hanging, scene


@by_name
def arm_and_cloth(
    cells: int = 16,
    duration: float = 1.0,
    h: float = 4e-3,
    areal: float = RELEASED.rho,
    mu: float = 0.0,
    one_way: bool = False,
    variant: Variant = EOL,
) -> Scene:
    """A box on a jointed arm swings into a hanging cloth of ``areal`` density [kg/m^2], which slows it down.

    The stiffness of the cloth is in proportion to its mass, so that it moves alike whatever it weighs. ``one_way`` is
    eol/swing: the box is an obstacle that moves as it would without the cloth, which is the limit of light cloth.
    ``variant`` is how the cloth is discretised: "regular" is Lagrangian cloth whose mesh stays as it is.
    """
    share = areal / RELEASED.rho
    fabric = ClothMaterial(E=RELEASED.E * share, nu=RELEASED.nu, beta=RELEASED.beta * share, rho=areal)
    obstacles, hands = [recorded_box(duration, h)] if one_way else [], [Handle(FAR_CORNERS)]
    start = hanging(variant, cells)
    made = scene("arm and cloth", variant, cells, duration, obstacles, hands, start=start, mu=mu, fabric=fabric)
    bodies = made.bodies if one_way else [*made.bodies, arm()]
    return replace(made, bodies=bodies, h=h, name="arm and cloth, one way" if one_way else "arm and cloth")
