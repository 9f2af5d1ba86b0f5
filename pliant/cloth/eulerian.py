"""How Eulerian-on-Lagrangian cloth is discretised and meets sharp features [Weidner2022, ch. 2]."""

from dataclasses import dataclass

from pliant.cloth.conform import Conformer
from pliant.cloth.constraints import Cone, EdgeRule
from pliant.cloth.remesh import Remesher


@dataclass(frozen=True)
class Eulerian:
    """Cloth whose vertices on sharp features also move in the material.

    ``remesher`` None keeps the mesh; ``conformer`` None inserts no vertices on features (contact is then Lagrangian).
    ``rule`` chooses the normals at sharp edges. ``slides`` False makes it the Lagrangian cloth it is compared with: no
    vertex moves in the material. ``qvv`` adds the quadratic-velocity vector that Eq. 2.11 leaves out.
    """

    remesher: Remesher | None = None
    conformer: Conformer | None = Conformer()
    rule: EdgeRule = Cone()
    slides: bool = True
    qvv: bool = False
