"""Imports point down: one folder per axis of choice, and nothing below `simulate` draws, prints or opens files."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "pliant"

# from the bottom up; a module may import from its own row and from rows below
LAYERS = [
    {"abilities", "arrays", "errors", "expressions", "budget", "clock", "html", "units", "policy"},
    {"state", "pattern", "pattern_kernels", "pattern_making"},
    {"mesh", "kernels"},
    {"materials", "linear"},
    {"energies", "forces", "contact", "maps"},
    {"systems", "parts", "constraints", "velocity_step", "velocity_programme", "cuda"},
    {"solvers", "stage", "closed_stage", "solve_stage"},
    {"integrators", "coarsen"},
    {"bodies", "deformable", "articulated", "cloth", "dg", "xpbd"},
    {
        "scene",
        "scene_checks",
        "scene_like",
        "assembly",
        "events",
        "loads",
        "attachments",
        "fitting",
        "choices",
        "starting",
    },
    {"certificate", "alarms", "ledger", "checkpoint", "bundle", "devices", "attempt", "simulate", "origin"},
    {"record", "advise", "scene_file", "progress"},
    {"adjoint"},
    {"scenes"},
    {"plots", "export", "view", "bench", "batch", "sweep", "sweep_chart", "testing"},
    {"cli"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
MODULES = sorted(p for p in ROOT.rglob("*.py") if p.parent != ROOT or p.stem not in ("__init__", "__main__"))


def area(path):
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports(path):
    """Areas of pliant that a file imports when it is loaded (imports inside functions are lazy and allowed)."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pliant."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.ImportFrom) and node.module == "pliant":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("pliant."))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down(path):
    assert area(path) in RANK, f"{area(path)} has no place in the layers: add it to LAYERS"
    for name in imports(path):
        assert RANK[name] <= RANK[area(path)], f"{path.relative_to(ROOT)} imports upwards from {name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_nothing_below_the_command_line_prints(path):
    if area(path) in ("cli", "bench"):
        return
    for node in ast.walk(ast.parse(path.read_text())):
        called = node.func if isinstance(node, ast.Call) else None
        assert not (isinstance(called, ast.Name) and called.id in ("print", "exit")), f"{path}:{node.lineno}"


@pytest.mark.parametrize(
    "folder, table", [("materials", "MATERIALS"), ("integrators", "INTEGRATORS"), ("solvers", "SOLVERS")]
)
def test_every_choice_is_in_its_tuple(folder, table):
    """A choice that is missing from its tuple would escape the conformance suites."""
    import importlib

    package = importlib.import_module(f"pliant.{folder}")
    names = {c.__name__ for c in getattr(package, table)}
    method = {"materials": "psi", "integrators": "step", "solvers": "solve"}[folder]
    skip = {"Sum", "Material", "Integrator", "NonlinearSolver", "ConstrainedSolver", "NullSpaceFactor"}
    skip |= {"Adaptive"}  # has the order of what it wraps: tests/integrators instead
    skip |= {"ConJac", "AdaptiveConJac"}  # reduced models do not converge to the full solution: tests/conjac instead
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if not isinstance(node, ast.ClassDef) or node.name.startswith("_") or node.name in skip:
                continue
            defines = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            if method in defines:
                assert node.name in names, f"{path}: {node.name} is missing from {table}"
