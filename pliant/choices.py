"""What a scene can be made of, as tuples for the conformance tests; loads and events have theirs where they are."""

from pliant.articulated.body import Articulated, Rigid
from pliant.bodies import Membrane, Solid, SpringNet
from pliant.cloth.body import Cloth
from pliant.dg import DiscontinuousSolid
from pliant.systems.barrier_contact import BarrierContact
from pliant.systems.penalty_contact import PenaltyContact
from pliant.systems.projected_contact import ProjectedContact
from pliant.systems.row_contact import RowContact

BODIES = (Solid, Membrane, SpringNet, Cloth, DiscontinuousSolid, Articulated, Rigid)
CONTACTS = (PenaltyContact, BarrierContact, RowContact, ProjectedContact)
