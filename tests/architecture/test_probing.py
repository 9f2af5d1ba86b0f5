"""Nothing is asked what it can do by name, and every class has a name of its own."""

import ast
import importlib
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "pliant"
FILES = sorted(ROOT.rglob("*.py"))

# hasattr, and getattr with a default, of things that are no part of the physics
ALLOWED = {
    "__init__.py": "names of modules, looked up when they are first used",
    "errors.py": "what a user gave may be anything",
    "scenes/__init__.py": "modules, and the classes that functions say they return",
    "scene_file/load.py": "a function in a user's file",
    "scene_file/choices.py": "the units that a choice declares",
    "cli/bench.py": "modules of benches",
    "cli/doctor.py": "which linear solvers are installed",
    "linear/cholmod.py": "a library, in several versions",
    "plots/rows.py": "numbers of any library",
    "view/drawing.py": "handles of a library, in several versions",
    "view/server.py": "errors of the operating system",
}


def probes(path):
    """Lines with hasattr, or getattr of a name that may be missing."""
    for node in ast.walk(ast.parse(path.read_text())):
        called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
        if called == "hasattr" or (called == "getattr" and len(node.args) == 3):
            yield node.lineno


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_abilities_are_protocols(path):
    """`getattr(thing, name)` over known fields of a dataclass is fine: it fails where there is none."""
    where = str(path.relative_to(ROOT))
    lines = list(probes(path))
    assert not lines or where in ALLOWED, f"{where}:{lines[0]} probes; make the ability a protocol and use isinstance"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_delegates_by_getattr(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef):
            names = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            assert "__getattr__" not in names, f"{path}: {node.name} delegates what it does not name"


SHARED = {
    "Attachment": "of a scene (user), and the energy of springs to points that pulls at one",
    "Constrained": "a solver of constrained problems, and the ability of a system",
    "Contacts": "of points, and of joints",
    "Eulerian": "the choice of a cloth, and the ability of a system",
    "Friction": "coefficients of joints (user), and the force on points",
    "Marching": "of an energy, and of a system",
    "Membrane": "the body (user), and the energy of cloth",
    "PCG": "for sparse matrices, and for trees without a matrix",
    "Penalty": "energy of contacts, and of constraint functions",
    "Points": "nails (user), points of parts, points of links",
    "Rows": "of constraints of joints, and of cloth",
    "Linearised": "of ConJac, and of exponential methods",
    "Plan": "of ConJac, and of XPBD's patches",
    "Moment": "of ConJac, and of benches",
    "Table": "of a scene file, and of a bench",
    "Topology": "of a run, and of a frame",
    "Surroundings": "of cloth, and of a picture",
    "Shape": "of contact, and of a picture",
    "Terms": "of contact, and of Projective Dynamics",
}


def test_every_class_has_a_name_of_its_own():
    homes = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(ROOT)))
    double = {name: where for name, where in homes.items() if len(where) > 1 and name not in SHARED}
    assert not double, double


TUPLES = [  # folder or file, methods that make a class a choice, module and tuple
    ("energies", {"value", "gradient", "hessian"}, "pliant.energies", "ENERGIES"),
    ("forces", {"force", "stiffness", "damping"}, "pliant.forces", "FORCES"),
    ("maps", {"value", "gradient", "hessian"}, "pliant.maps.points", "POINT_ENERGIES"),
    ("maps", {"force", "stiffness", "damping"}, "pliant.maps.points", "POINT_FORCES"),
    ("maps", {"lift", "jacobian", "bias"}, "pliant.maps.pins", "MAPS"),
    ("maps", {"positions"}, "pliant.maps.motions", "MOTIONS"),
    ("articulated/joints", {"transform", "subspace"}, "pliant.articulated.joints", "JOINTS"),
    ("articulated/forces", {"bind", "add", "potential"}, "pliant.articulated.forces", "ARTICULATED_FORCES"),
    ("articulated/constraints", {"bind", "rows"}, "pliant.articulated.constraints", "CONSTRAINTS"),
    ("contact", {"surface", "inner_points"}, "pliant.contact", "OBSTACLES"),
    ("systems", {"model"}, "pliant.choices", "CONTACTS"),
    ("loads.py", {"force", "at"}, "pliant.loads", "LOADS"),
    ("events.py", {"check", "apply"}, "pliant.events", "EVENTS"),
    ("bodies.py", {"masses", "energies"}, "pliant.choices", "BODIES"),
    ("dg.py", {"masses", "energies"}, "pliant.choices", "BODIES"),
    ("cloth/body.py", {"masses", "energies"}, "pliant.choices", "BODIES"),
    ("articulated", {"gathered"}, "pliant.choices", "BODIES"),
]


def is_protocol(node):
    return any("Protocol" in ast.unparse(base) for base in node.bases)


@pytest.mark.parametrize("folder, methods, module, table", TUPLES, ids=lambda x: str(x) if isinstance(x, str) else "")
def test_every_choice_is_in_its_tuple(folder, methods, module, table):
    """What is missing from its tuple escapes the conformance tests."""
    listed = getattr(importlib.import_module(module), table)
    names = {c.__name__ if isinstance(c, type) else type(c).__name__ for c in listed}
    place, found = ROOT / folder, 0
    for path in [place] if place.suffix else sorted(place.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.ClassDef) or is_protocol(node) or node.name.startswith("_"):
                continue
            if methods <= {n.name for n in node.body if isinstance(n, ast.FunctionDef)}:
                found += 1
                assert node.name in names, f"{path.relative_to(ROOT)}: {node.name} is missing from {module}.{table}"
    assert found, f"no class of {folder} has the methods {sorted(methods)}"
