"""The reference of scene files, written from the classes themselves: ``python docs/scene_files.py``.

A test compares ``scene_files.md`` with what this would write.
"""

import dataclasses
import inspect
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.attachments import Attachment
from pliant.cloth.hands import Handle
from pliant.cloth.material import ClothMaterial
from pliant.mesh import Mesh
from pliant.mesh.lengths import LENGTHS
from pliant.scene_file.bodies import FABRIC, FIT, LINK, PIN, keys
from pliant.scene_file.choices import families, kind_of, parameter_types, units_of
from pliant.scene_file.document import OutputTable, SceneTable
from pliant.scene_file.meshes import FILE, GENERATORS, TRANSFORM
from pliant.scene_file.read import BY_NAME, family_of_type, options_of
from pliant.scene_file.write import Writer, default_of

PAGE = Path(__file__).parent / "scene_files.md"
REQUIRED = "required"
Row = tuple[str, str, str, str]  # key, type, unit, default

SCENE: dict[str, tuple[str, str, str]] = {
    "name": ("text", "", '"scene"'),
    "h": ("number", "s", "0.01"),
    "duration": ("number", "s", "1.0"),
    "gravity": ("list of 3", "m/s^2", "[0, 0, -9.81]"),
    "integrator": ("[integrator](#integrator)", "", '"bdf2"'),
    "contact": ("[contact](#contact)", "", "none"),
    "obstacles": ("list of [obstacle](#obstacle)", "", "[]"),
    "bodies": ("list of [body](#body)", "", REQUIRED),
    "attachments": ("list of [attachment](#attachment)", "", "[]"),
    "forces": ("list of [load](#load)", "", "[]"),
    "events": ("list of [event](#event)", "", "[]"),
    "on_failure": ('"raise", "warn" or "substep"', "", '"raise"'),
    "on_energy_gain": ('"ignore", "warn" or "raise"', "", '"ignore"'),
    "device": ('"cpu" or "cuda": where it is stepped', "", '"cpu"'),
    "units": ('"SI" or "CGS": what the numbers are in, for print-outs', "", '"SI"'),
    "isolated": ("true or false: nothing outside acts, momenta are kept", "", "false"),
    "budget": ("number: CPU time that a step may take", "s", "no limit"),
    "extensions": (
        "list of texts: Python files beside this one, or modules, that register parts of your own",
        "",
        "[]",
    ),
    "output": ("[output](#output)", "", ""),
}
OUTPUT = {
    "every": ("whole number: steps per frame", "", "1"),
    "channels": ("list of texts (`pliant list` names them)", "", "[]"),
    "checkpoint_every": ("whole number: steps; 0: every ten seconds by the clock", "", "0"),
}
MORE = {
    "kind": ("text", "", '"solid"'),
    "mass": ("number, instead of density", "kg", ""),
    "transform": ("[transform](#transform)", "", ""),
    "urdf": ("name of a URDF file, instead of links", "", ""),
    "floating": ("true or false: the root link of the URDF file is free", "", "false"),
    "geometry": ('"visual" or "collision": the surfaces of the links', "", '"visual" (URDF), "collision" (MJCF)'),
    "mjcf": ('name of an MJCF file, instead of links (`pip install "pliant[mjcf]"`)', "", ""),
    "skip": ('list of texts: kinds of elements of the MJCF file to leave out, such as "actuator"', "", "[]"),
    "fit": ("[fit](#fit)", "", "none"),
    "links": ("list of [link](#link)", "", "required, or urdf or mjcf"),
    "fabric": ("[fabric](#fabric)", "", ""),
}
TABLES: dict[str, tuple[str, dict[str, tuple[str, str, str]], Sequence[str]]] = {
    "transform": (
        "Moves a mesh: scaled, then turned, then moved.",
        {"scale": ("number, or list of 3", "", "1"), "rotate": ("list of 3: axis times angle", "rad", "[0, 0, 0]"),
         "translate": ("list of 3", "m", "[0, 0, 0]")},
        TRANSFORM,
    ),
    "pin": (
        "Vertices that are held, or moved by a script; those of Eulerian cloth may be a [handle](#handle) instead.",
        {"where": ("condition, or vertices", "", ""), "vertices": ("list of whole numbers, or where", "", ""),
         "motion": ("[motion](#motion)", "", "held"), "axes": ('list of "x", "y", "z"', "", "all")},
        PIN,
    ),
    "fabric": (
        "Of cloth: a table of [cloth material](#cloth-material) (per area), or this of a homogeneous sheet.",
        {"modulus": ("number", "Pa", REQUIRED), "nu": ("number", "", "0.3"), "density": ("number", "kg/m^3", REQUIRED),
         "thickness": ("number", "m", "that of the body")},
        FABRIC,
    ),
    "fit": (
        "Gives a coarse solid the frequencies of a fine mesh; pins are found on it by the conditions of the body.",
        {"mesh": ("[mesh](#mesh)", "", REQUIRED), "material": ("[material](#material)", "", "that of the body"),
         "density": ("number or list", "kg/m^3", "that of the body"),
         "pins": ("list of [pin](#pin)", "", "of the body"),
         "s": ("whole number: modes", "", "10"), "alpha": ("number", "1/s", "0.0"), "beta": ("number", "s", "0.0"),
         "frozen": ("true or false", "", "false"),
         "on_mismatch": ('"raise", "warn", "coarse" or "ignore"', "", '"warn"')},
        FIT,
    ),
    "link": (
        "A body on a joint. `frame` is that of the joint, seen from the parent's; several shapes are welded.",
        {"name": ("text", "", '"link0", ...'), "parent": ("name or number of a link", "", "the world"),
         "joint": ("[joint](#joint)", "", '"fixed"'), "shape": ("[shape](#shape), or list of them", "", REQUIRED),
         "density": ("number, of shapes without one", "kg/m^3", "1000.0"), "frame": ("[frame](#frame)", "", ""),
         "armature": ("number, of the rotor as the joint feels it", "kg m^2, of sliders kg", "0.0")},
        LINK,
    ),
    "frame": (
        "Where something is and how it is turned, or the matrix (4, 4) of that as a list of lists.",
        {"translate": ("list of 3", "m", "[0, 0, 0]"), "rotate": ("list of 3: axis times angle", "rad", "[0, 0, 0]")},
        ("translate", "rotate"),
    ),
}  # fmt: skip

PARTS: dict[type, None] = {ClothMaterial: None, Handle: None}  # classes that stand for tables of their fields

INTRODUCTION = """# Scene files

A scene file is TOML. Plain numbers are SI; strings carry their unit (`"5 ms"`, `"100 kPa"`, `"90 deg"`, `"1 g/cm^3"`).
Bodies, links, obstacles are referred to by name or by number, counted from 0. A part is chosen by its `kind`, either
as a word (`integrator = "bdf2"`) or as a table with parameters (`integrator = { kind = "bdf2", solver = "qlb" }`).
`"none"` is the value of a parameter that is not there. Files are looked up beside the scene file.

```toml
--8<-- "examples/scenes/arm_and_block.toml"
```

Anything in it can be set from the command line, bodies and links by their names:

    pliant run arm_and_block.toml --set bodies.block.material.E="1 MPa" --set bodies.arm.links.upper.density=500
    pliant run flag.toml --set attachments.0.stiffness="50 N/m" --set forces.wind.period=0.3 --set h="2 ms"

A setting that starts with a key of bodies, `--set material.E="1 MPa"`, means every body that has it; an item of a list
that has no name goes by its kind, and where there is only one it need not be named.

**Sentences** choose vertices by their rest positions: `where = "x < 1 cm and (y == max or z >= 0.5)"`, with `and`,
`or`, `not`, `all`, and `min` and `max` of a coordinate. In element cuts they choose elements by their centers.

**Functions of time**, where a number may change: a plain number stays as it is, a table is a [function](#function).

**Named materials**: `material = { preset = "ecoflex-00-30" }`, `fabric = { preset = "denim" }`, see
[materials](presets.md); a body of a preset has its density unless another one is given.

**Parts of your own**: `@pliant.register("material")` makes a frozen dataclass, or a function, known by its name
(`MyMaterial` is `"my-material"`), its fields are the keys. The scene names the Python file in which that is done:
`extensions = ["my_material.py"]`, beside the scene file; see [extending](extending.md).

Everything that can stand in a file follows, written from the classes themselves (`python docs/scene_files.py`).
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION, "## scene\n", _table(_rows(SCENE, SceneTable.model_fields)), "## output\n",
             _table(_rows(OUTPUT, OutputTable.model_fields)), "## mesh\n", _meshes()]  # fmt: skip
    for name, (text, rows, known) in TABLES.items():
        parts += [f"## {name}\n", f"{text}\n", _table(_rows(rows, known))]
    parts += ["## attachment\n", _summary(Attachment), _table([*_choice(Attachment), _where("vertices")])]
    for family, choices in families().items():
        parts.append(f"## {family}\n")
        for choice in choices:
            rows = _body(choice) if family == "body" else _choice(choice)
            rows += [_where(key) for key in ("vertices", "elements") if any(row[0] == key for row in rows)]
            parts += [f"**`{kind_of(choice)}`** {_summary(choice)}", *([_table(rows)] if rows else [])]
    done: set[type] = set()
    while set(PARTS) - done:  # tables of fields; they may have such fields themselves
        part = next(p for p in PARTS if p not in done)
        done.add(part)
        parts += [f"## {kind_of(part)}\n", _summary(part), _table(_choice(part))]
    return "\n".join(parts).rstrip("\n") + "\n"


def _rows(rows: dict[str, tuple[str, str, str]], known: Any) -> list[Row]:
    if set(rows) != set(known):
        raise SystemExit(f"docs/scene_files.py says {sorted(set(rows) ^ set(known))} wrongly")
    return [(key, *rows[key]) for key in rows]


def _meshes() -> str:
    lines = ["A file, or a generator with its parameters.\n"]
    file = {"file": ("name of a mesh file", "", ""), "planar": ("true or false: drop z", "", "false"),
            "repair": ("true or false", "", "false"),
            "sheet": ("true or false: a pattern of Eulerian cloth, as run folders keep it", "", "false"),
            "tetrahedralise": ("true or false: fill a closed surface (STL, OBJ, PLY) with tetrahedra", "", "false"),
            "edge_length": ("number: length of their edges", "m", "size / 20")}  # fmt: skip
    lines.append(_table(_rows(file, FILE)))
    for generator in GENERATORS:
        lines += [f"**`{generator.__name__}`** {_summary(generator)}", _table(_choice(generator))]
    return "\n".join(lines)


def _body(choice: Any) -> list[Row]:
    own = {row[0]: row for row in _choice(choice)}
    own |= {"mesh": ("mesh", "[mesh](#mesh)", "", REQUIRED)} if "mesh" in keys(choice) else {}
    kind = [("kind", "text", "", MORE["kind"][2] if kind_of(choice) == "solid" else f'"{kind_of(choice)}"')]
    own = {key: row for key, row in own.items() if key not in MORE or key == "mass"}
    return kind + [own[key] if key in own else (key, *MORE[key]) for key in keys(choice)]


def _choice(choice: Callable[..., Any]) -> list[Row]:
    units = units_of(choice)
    if inspect.isfunction(choice) and choice in GENERATORS:
        units = dict.fromkeys(LENGTHS, "m")
    defaults, hints = _defaults(choice), parameter_types(choice)
    units = {name: unit for name, unit in units.items() if unit != "1"}
    rows = [(name, _type(name, hint), units.get(name, ""), defaults[name]) for name, hint in hints.items()]
    if Mesh in hints.values() and choice not in families()["body"]:
        rows.append(("transform", *MORE["transform"]))
    return rows


def _defaults(choice: Callable[..., Any]) -> dict[str, str]:
    if dataclasses.is_dataclass(choice):
        return {f.name: _said(default_of(f)) for f in dataclasses.fields(choice)}
    parameters = inspect.signature(choice).parameters.values()
    return {p.name: _said(dataclasses.MISSING if p.default is p.empty else p.default) for p in parameters}


def _said(value: Any) -> str:
    """A default as a document would say it."""
    if value is dataclasses.MISSING:
        return REQUIRED
    if inspect.isfunction(value):
        return ""
    try:
        said = Writer().plain(value, "default")
    except Exception:
        return ""
    if isinstance(said, dict):
        return f"`{said['kind']}`" if "kind" in said else ", ".join(f"{k} = {v}" for k, v in said.items())
    if isinstance(said, list) and np.shape(said) == (4, 4):
        return "the world's"
    if isinstance(said, bool):
        return str(said).lower()
    return f'"{said}"' if isinstance(said, str) and said != "none" else str(said)


def _type(name: str, hint: Any) -> str:
    """A declared type in the words of a document."""
    if name == "pins" and "int" in str(hint):
        return "list of whole numbers"  # of pins that a body has
    if name in ("frame", "pins"):
        return {"frame": "[frame](#frame)", "pins": "list of [pin](#pin)"}[name]
    hint = BY_NAME.get(name, hint) if hint is Any or "Any" in str(hint) else hint
    options = options_of(hint)
    words = [word for option in options if option is not type(None) for word in _word(option).split(" or ")]
    words = [w for w in dict.fromkeys(words) if not (w == "text" and "number" in words)]  # a string is a number's unit
    return " or ".join(words)


def _word(option: Any) -> str:
    plain = {float: "number", int: "whole number", str: "text", bool: "true or false", Any: "number, or list of them"}
    if option in plain:
        return plain[option]
    origin, inner = typing.get_origin(option), typing.get_args(option)
    if origin is np.ndarray:
        return "list"
    if origin is Mapping:
        return "table of numbers by names"
    if origin is typing.Literal:
        return " or ".join(f'"{value}"' for value in inner)
    if origin is Callable:
        return "number or [function](#function)" if [*inner[0]] == [float] else "(Python only)"
    if origin is tuple:
        return f"list of {len(inner)}" if Ellipsis not in inner else "list"
    if origin is not None and issubclass(origin, Sequence):
        each = "" if isinstance(inner[0], types.UnionType) else _word(inner[0])
        return f"list of {each}" if each.startswith("[") else "list"
    family = family_of_type(option)
    if family is not None:
        return f"[{family}](#{family.replace(' ', '-')})"
    name = str(option.__name__).lower()
    if name in TABLES or name == "mesh":
        return f"[{name}](#{name})"
    if not dataclasses.is_dataclass(option):
        return "(Python only)"
    family = next((f for f, choices in families().items() if option in choices), None)
    if family is not None:
        return f"[{family}](#{family.replace(' ', '-')})"
    PARTS[option] = None
    return f"[{kind_of(option)}](#{kind_of(option)})"


def _where(key: str) -> Row:
    return "where", f"condition, instead of {key}", "", ""


def _summary(thing: Callable[..., Any]) -> str:
    """The first paragraph of a docstring, in Markdown."""
    text = " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())
    return re.sub(r"``(.+?)``", r"`\1`", text).replace("[", "\\[") + "\n"


def _table(rows: Sequence[Row]) -> str:
    clean = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"| `{key}` | {kind} | {unit} | {default} |" for key, kind, unit, default in clean]
    return "\n".join(["| key | type | unit | default |", "| --- | --- | --- | --- |", *lines]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
