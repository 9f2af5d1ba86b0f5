"""One name, one thing: no two public classes are called the same."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2] / "pliant"


def test_class_names_occur_once():
    """Of all modules but the starts of a user's own parts, which are copied into a user's folder."""
    trees = [ast.parse(p.read_text()) for p in ROOT.rglob("*.py") if p.parent.name != "starts"]
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef))
    assert not sorted(name for name, count in names.items() if count > 1 and not name.startswith("_"))
