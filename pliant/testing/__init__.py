"""Checks for parts of one's own: a material, an energy, a force, a map, a system, an integrator, a solver, a scene.

Every check compares with something independent of the code in question (central differences, eigenvalues, a second
run) and raises `AssertionError` with what is wrong and where. They need no test runner; the package tests itself with
them.
"""

from pliant.testing.articulated import check_articulated_force, check_constraint, check_joint
from pliant.testing.differences import agree, along, derivative, same_bytes, semidefinite, symmetric
from pliant.testing.energies import check_energy, check_frame_indifference, check_limit
from pliant.testing.forces import check_force
from pliant.testing.integrators import check_integrator, check_order
from pliant.testing.maps import check_map, check_motion, check_obstacle, check_point_map
from pliant.testing.materials import check_material, check_rest_tangent, linear_tangent
from pliant.testing.scenes import (
    check_balance,
    check_certificates,
    check_description,
    check_export,
    check_ledger,
    check_play,
    check_recording,
    check_scene,
)
from pliant.testing.solvers import check_failure, check_solver, check_stage, stage_of
from pliant.testing.systems import check_closures, check_points, check_system

__all__ = [
    "agree",
    "along",
    "check_articulated_force",
    "check_balance",
    "check_ledger",
    "check_certificates",
    "check_closures",
    "check_constraint",
    "check_description",
    "check_energy",
    "check_export",
    "check_failure",
    "check_force",
    "check_frame_indifference",
    "check_integrator",
    "check_joint",
    "check_limit",
    "check_map",
    "check_material",
    "check_motion",
    "check_obstacle",
    "check_order",
    "check_play",
    "check_point_map",
    "check_points",
    "check_recording",
    "check_rest_tangent",
    "check_scene",
    "check_solver",
    "check_stage",
    "check_system",
    "derivative",
    "linear_tangent",
    "same_bytes",
    "semidefinite",
    "stage_of",
    "symmetric",
]
