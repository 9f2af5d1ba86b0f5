"""Kernels that other kernels contain are called from Python through `entry` only.

A kernel that is read from the disk cache after one that contains it has no environment, and a call of it ends with
"'descr' is NULL": which of the two comes first depends on what a program does first.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pliant

ROOT = Path(pliant.__file__).parent
Kernel = tuple[str, str]  # module, function


def modules() -> dict[str, ast.Module]:
    found = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        found[".".join(part for part in parts if part != "__init__")] = ast.parse(path.read_text(encoding="utf-8"))
    return found


def decorated(node: ast.AST) -> bool:
    """Whether a function is compiled on its own; what is inlined has no machine code of its own."""
    texts = [ast.unparse(d) for d in node.decorator_list] if isinstance(node, ast.FunctionDef) else []
    return any("njit" in text and "inline" not in text for text in texts)


def calls(node: ast.AST, compiled: bool) -> Iterator[tuple[ast.expr, bool]]:
    """What is called below a node, and whether that is within a kernel."""
    compiled = compiled or (
        isinstance(node, ast.FunctionDef) and any("njit" in ast.unparse(d) for d in node.decorator_list)
    )
    if isinstance(node, ast.Call):
        yield node.func, compiled
    for child in ast.iter_child_nodes(node):
        yield from calls(child, compiled)


def named(name: str, tree: ast.Module, all_modules: dict[str, ast.Module]) -> dict[str, Kernel | str]:
    """What the names of a module stand for: functions of modules of ours, or those modules."""
    known: dict[str, Kernel | str] = {
        node.name: (name, node.name) for node in tree.body if isinstance(node, ast.FunctionDef)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {alias.asname: alias.name for alias in node.names if alias.asname and alias.name in all_modules}
        if isinstance(node, ast.ImportFrom) and node.module in all_modules:
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                known[alias.asname or alias.name] = module if module in all_modules else (node.module, alias.name)
    return known


def test_no_kernel_is_both_part_of_another_and_called_from_python() -> None:
    trees = modules()
    kernels = {(name, node.name) for name, tree in trees.items() for node in tree.body if decorated(node)}
    contained: set[Kernel] = set()
    called: dict[Kernel, str] = {}
    for name, tree in trees.items():
        if name.startswith("pliant.cuda."):  # templates for another machine
            continue
        known = named(name, tree, trees)
        for function, compiled in calls(tree, False):
            target: Kernel | str | None = None
            if isinstance(function, ast.Name):
                target = known.get(function.id)
            elif isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
                module = known.get(function.value.id)
                target = (module, function.attr) if isinstance(module, str) else None
            if not isinstance(target, tuple) or target not in kernels:
                continue
            if compiled:
                contained.add(target)
            else:
                called[target] = name
    assert len(kernels) > 100 and len(contained) > 20
    both = {f"{'.'.join(kernel)}, called in {called[kernel]}" for kernel in contained & called.keys()}
    assert not both, f"call entry(kernel) instead: {sorted(both)}"
