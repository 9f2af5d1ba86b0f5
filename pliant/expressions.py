"""Formulas as text: parsed, never evaluated as code; differentiated exactly; written as straight-line Python.

    lam = E*nu/((1 + nu)*(1 - 2*nu)); mu = E/(2*(1 + nu)); mu/2*(I1 - 3 - 2*log(J)) + lam/2*log(J)**2

A formula is one expression, with named intermediate values before it where they help, separated by semicolons or new
lines. It knows + - * / **, the functions in `FUNCTIONS`, min and max of two values, and pi. `Formula` keeps it as a
graph in which every common part occurs once, so that derivatives of derivatives stay short.
"""

import ast
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pliant.errors import SceneError, nearest

FUNCTIONS = ("log", "exp", "sqrt", "sin", "cos", "tanh", "atan")
_BINARY = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
LONGEST = 5000  # characters of a formula


class Node(NamedTuple):
    """An operation on other nodes (by number), a constant, or a variable by its name."""

    name: str
    args: tuple[int, ...] = ()
    constant: float | None = None
    variable: str | None = None


@dataclass
class Graph:
    """Nodes by number, each after those that it is made of; equal nodes are one."""

    nodes: list[Node] = field(default_factory=list)
    numbers: dict[Node, int] = field(default_factory=dict)

    def add(self, node: Node) -> int:
        if node not in self.numbers:
            self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self.numbers[node]

    def constant(self, value: float) -> int:
        return self.add(Node("constant", constant=float(value)))

    def call(self, name: str, *args: int) -> int:
        """An operation on nodes, done at once where all of them are numbers."""
        values = [self.nodes[a].constant for a in args]
        known = [v for v in values if v is not None]
        if len(known) == len(values):
            return self.constant(OPERATIONS[name](*known))
        return self._simplified(name, args, values)

    def _simplified(self, name: str, args: Sequence[int], values: Sequence[float | None]) -> int:
        a, b = (*args, *args)[:2]
        x, y = (*values, *values)[:2]
        if name == "/" and y == 0.0:
            raise ZeroDivisionError("division by zero")
        if (name in ("+", "-") and y == 0.0) or (name in ("*", "/", "**") and y == 1.0):
            return a
        if (name == "+" and x == 0.0) or (name == "*" and x == 1.0):
            return b
        if (name == "*" and 0.0 in (x, y)) or (name == "/" and x == 0.0):
            return self.constant(0.0)
        if name == "**" and y == 0.0:
            return self.constant(1.0)
        if name == "**" and y == 2.0:
            return self.call("*", a, a)
        return self.add(Node(name, tuple(args)))

    def slope(self, k: int, variable: str, known: dict[int, int]) -> int:
        """The derivative of node k; ``known`` remembers those of other nodes."""
        if k not in known:
            known[k] = self._slope(k, variable, known)
        return known[k]

    def _slope(self, k: int, variable: str, known: dict[int, int]) -> int:
        name, args, _, named = self.nodes[k]
        if not args:
            return self.constant(1.0 if named == variable else 0.0)
        call, one = self.call, self.constant(1.0)
        slopes = [self.slope(arg, variable, known) for arg in args]
        if len(args) == 1:
            return call("*", self._function_slope(k), slopes[0])
        if name in ("max", "min", "choose"):
            a, b = args[:2] if name != "min" else (args[1], args[0])
            dx, dy = slopes[-2:]
            return dx if dx == dy else call("choose", a, b, dx, dy)
        (a, b), (da, db) = args, slopes
        if name in ("+", "-"):
            return call(name, da, db)
        if name == "*":
            return call("+", call("*", da, b), call("*", a, db))
        if name == "/":
            return call("-", call("/", da, b), call("/", call("*", k, db), b))
        power = call("*", call("*", b, call("**", a, call("-", b, one))), da)  # of a ** b
        fixed = self.nodes[db].constant == 0.0
        return power if fixed else call("+", power, call("*", call("*", call("log", a), k), db))

    def _function_slope(self, k: int) -> int:
        """The derivative of a function of one argument, node k, by that argument."""
        name, (a,), _, _ = self.nodes[k]
        call, one = self.call, self.constant(1.0)
        if name == "log":
            return call("/", one, a)
        if name == "exp":
            return k
        if name == "sqrt":
            return call("/", self.constant(0.5), k)
        if name == "sin":
            return call("cos", a)
        if name == "cos":
            return call("*", self.constant(-1.0), call("sin", a))
        if name == "tanh":
            return call("-", one, call("*", k, k))
        return call("/", one, call("+", one, call("*", a, a)))  # atan


OPERATIONS: dict[str, Callable[..., float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "**": lambda a, b: a**b,
    "max": max,
    "min": min,
    "choose": lambda a, b, x, y: x if a >= b else y,
    **{name: getattr(math, name) for name in FUNCTIONS},
}


@dataclass(frozen=True, eq=False)
class Formula:
    """A node of a graph: its value, its derivatives, and the code that computes them."""

    graph: Graph
    root: int

    @property
    def used(self) -> set[str]:
        """The names that it mentions."""
        return {str(node.variable) for node in self.graph.nodes if node.variable is not None}

    def slopes(self, variables: Sequence[str]) -> list[int]:
        """The nodes of the first derivatives."""
        return [self.graph.slope(self.root, variable, {}) for variable in variables]

    def curvatures(self, variables: Sequence[str]) -> list[int]:
        """The nodes of the second derivatives: 00, 01, ..., 11, ..."""
        first = self.slopes(variables)
        return [self.graph.slope(d, variable, {}) for i, d in enumerate(first) for variable in variables[i:]]

    def source(self, name: str, arguments: Sequence[str], unpack: dict[str, str], outputs: Sequence[int]) -> str:
        """A Python function of straight lines that returns the ``outputs``; ``unpack`` says what other names are.

        It calls `FUNCTIONS`, ``min``, ``max`` and ``choose(a, b, x, y)``: x where a >= b, else y.
        """
        lines = [f"def {name}({', '.join(arguments)}):"]
        lines += [f"    {local} = {text}" for local, text in unpack.items()]
        spelled: dict[int, str] = {}
        for k in sorted(self._below(outputs)):
            node = self.graph.nodes[k]
            if not node.args:
                spelled[k] = repr(node.constant) if node.variable is None else node.variable
                continue
            spelled[k] = f"_{k}"
            lines.append(f"    _{k} = {_spelled(node.name, [spelled[a] for a in node.args])}")
        found = ", ".join(spelled[k] for k in outputs)
        return "\n".join([*lines, f"    return {found}"]) + "\n"

    def _below(self, roots: Sequence[int]) -> set[int]:
        """The nodes that these are made of, themselves included."""
        found: set[int] = set()
        todo = list(roots)
        while todo:
            k = todo.pop()
            if k not in found:
                found.add(k)
                todo += self.graph.nodes[k].args
        return found


def _spelled(name: str, args: Sequence[str]) -> str:
    if name in ("+", "-", "*", "/", "**"):
        return f"{args[0]} {name} {args[1]}"
    return f"{name}({', '.join(args)})"


def parse(
    text: str, names: Collection[str], where: str, graph: Graph | None = None, at: Mapping[str, float] | None = None
) -> Formula:
    """The formula that a text says in these names; anything else is refused by name.

    It becomes part of ``graph`` where one is given; names have the values that ``at`` gives them.
    """
    remedy = "write it like mu/2*(I1 - 3 - 2*log(J)), with ** for powers"
    if not isinstance(text, str) or not 0 < len(text.strip()) <= LONGEST:
        raise SceneError(f"{text!r:.60} is not a formula", where=where, remedy=remedy)
    try:
        *steps, last = ast.parse("\n".join(line.strip() for line in text.replace(";", "\n").splitlines())).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise SceneError(f"cannot read {text!r:.80}", where=where, remedy=remedy) from error
    graph = graph or Graph()
    reader = _Reader(graph, {name: graph.constant(value) for name, value in (at or {}).items()}, names, where)
    try:
        for step in steps:
            reader.name(step)
        if not isinstance(last, ast.Expr):
            raise reader.refused(last, "is not a value: the last line must be the formula itself")
        return Formula(reader.graph, reader.read(last.value))
    except (ArithmeticError, ValueError, RecursionError) as error:
        raise SceneError(f"{text!r:.80}: {error}", where=where, remedy=remedy) from error


@dataclass
class _Reader:
    """From Python's syntax tree to nodes; ``known`` are the names given to intermediate values."""

    graph: Graph
    known: dict[str, int]
    names: Collection[str]
    where: str

    def name(self, step: ast.stmt) -> None:
        """Keep the intermediate value that a line names."""
        target = step.targets[0] if isinstance(step, ast.Assign) and len(step.targets) == 1 else None
        if not isinstance(step, ast.Assign) or not isinstance(target, ast.Name) or target.id in self.names:
            raise self.refused(step, "is not a new name for a value")
        self.known[target.id] = self.read(step.value)

    def read(self, tree: ast.expr) -> int:
        if isinstance(tree, ast.Constant) and isinstance(tree.value, int | float) and not isinstance(tree.value, bool):
            return self.graph.constant(tree.value)
        if isinstance(tree, ast.Name):
            return self._named(tree)
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return self.graph.call("*", self.graph.constant(-1.0), self.read(tree.operand))
        if isinstance(tree, ast.BinOp) and type(tree.op) in _BINARY:
            return self.graph.call(_BINARY[type(tree.op)], self.read(tree.left), self.read(tree.right))
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and not tree.keywords:
            name, args = tree.func.id, [self.read(arg) for arg in tree.args]
            if (name in FUNCTIONS and len(args) == 1) or (name in ("min", "max") and len(args) == 2):
                return self.graph.call(name, *args)
        raise self.refused(tree, "is not allowed")

    def _named(self, tree: ast.Name) -> int:
        if tree.id in self.known:
            return self.known[tree.id]
        if tree.id in self.names:
            return self.graph.add(Node("variable", variable=tree.id))
        if tree.id == "pi":
            return self.graph.constant(math.pi)
        raise SceneError(f"unknown name {tree.id!r}", where=self.where, remedy=nearest(tree.id, self.names))

    def refused(self, tree: ast.AST, why: str) -> SceneError:
        known = f"a formula is made of + - * / **, {', '.join(FUNCTIONS)}, min, max"
        return SceneError(f"{ast.unparse(tree)!r:.60} {why}", where=self.where, remedy=known)
