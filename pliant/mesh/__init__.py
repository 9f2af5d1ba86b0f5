"""Meshes: made, read, checked, repaired, weighed. ``from pliant import mesh; mesh.bar(...)``."""

from pliant.mesh.checks import Finding
from pliant.mesh.cut import CutMesh, cut, plane_sides
from pliant.mesh.doctor import MeshReport, doctor
from pliant.mesh.embed import Embedding, embed
from pliant.mesh.formats import read, read_raw, write
from pliant.mesh.grids import (
    PAPER_BARS,
    bar,
    box,
    chain,
    l_shape,
    paper_bar,
    rectangle,
    sheet,
    spring_net,
    voxels,
)
from pliant.mesh.implicit import fill
from pliant.mesh.mass import consistent_mass, element_mass, lumped_mass
from pliant.mesh.mesh import Mesh, merged
from pliant.mesh.raw import RawMesh
from pliant.mesh.repair import Repairs, repair, weld
from pliant.mesh.shapes import ball, duck, figure, long_eared, serpent
from pliant.mesh.surface import surface_mesh
from pliant.mesh.swept import cylinder, disc, extrude, honeycomb, moebius, rope, sweep
from pliant.mesh.tetrahedralise import tetrahedralise

__all__ = [
    "PAPER_BARS",
    "CutMesh",
    "Embedding",
    "Finding",
    "Mesh",
    "MeshReport",
    "RawMesh",
    "Repairs",
    "ball",
    "bar",
    "box",
    "chain",
    "consistent_mass",
    "cut",
    "cylinder",
    "disc",
    "doctor",
    "duck",
    "element_mass",
    "embed",
    "extrude",
    "figure",
    "fill",
    "honeycomb",
    "l_shape",
    "long_eared",
    "lumped_mass",
    "merged",
    "moebius",
    "paper_bar",
    "plane_sides",
    "read",
    "read_raw",
    "rectangle",
    "repair",
    "rope",
    "serpent",
    "sheet",
    "spring_net",
    "surface_mesh",
    "sweep",
    "tetrahedralise",
    "voxels",
    "weld",
    "write",
]
