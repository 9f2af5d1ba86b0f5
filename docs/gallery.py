"""The gallery: run every built-in scene, take its picture, write ``gallery.md``.

    python docs/gallery.py                 # all scenes; hours for the large ones, whose runs are shortened below
    python docs/gallery.py eol/ net        # only these (a family ends with a slash)

Pictures are made by the two commands that stand below them; runs are kept in ``runs/gallery``.
"""

import subprocess
import sys
from pathlib import Path

from PIL import Image

from pliant.scenes import built_in

DOCS = Path(__file__).parent
RUNS = DOCS.parent / "runs" / "gallery"
SIZE = "480x300"

# Simulated seconds, where the picture needs less than the whole scene.
SECONDS = {
    "chen/cape": 2.0,
    "chen/falling-cloth": 1.0,
    "chen/pendulum": 3.0,
    "conjac/aniso": 0.6,
    "conjac/armadillo": 1.2,
    "conjac/barcut": 1.1,
    "conjac/dragon": 0.3,
    "conjac/hetero": 0.6,
    "conjac/twist": 1.5,
    "contact/bunny": 0.3,
    "contact/ducks": 0.4,
    "contact/stack": 0.1,
    "eol/draped-edge": 0.4,
    "eol/draped-wire": 0.5,
    "eol/edge": 0.55,
    "eol/friction": 0.2,
    "eol/jaws": 0.3,
    "eol/lo-res": 0.6,
    "eol/nails": 0.45,
    "eol/push": 0.34,
    "eol/swing": 0.56,
    "eol/tablecloth": 0.5,
    "eol/throw": 0.35,
    "eol/wire": 0.6,
    "qlb/arma": 0.2,
    "qlb/bar": 1.0,
    "world/shirt": 0.9,
}
FAMILIES = {
    "": "First scenes",
    "qlb": "Quasi-Newton solvers",
    "chen": "Exponential and additive integrators, coarse meshes",
    "conjac": "Condensation",
    "muscle": "Muscle",
    "world": "One world",
    "contact": "Contact",
    "eol": "Eulerian-on-Lagrangian cloth",
    "redmax": "Articulated bodies",
    "ledwon": "Projective Dynamics and XPBD",
}


def commands(name: str) -> tuple[list[str], list[str]]:
    """The two commands that make the picture of a scene."""
    folder = f"runs/gallery/{slug(name)}"
    run = ["pliant", "run", name, "--out", folder]
    if name in SECONDS:
        run += ["--duration", f"{SECONDS[name]:g}"]
    return run, ["pliant", "export", folder, "--to", "png", "--size", SIZE]


def slug(name: str) -> str:
    return name.replace("/", "-")


def picture(name: str) -> None:
    """Run a scene and keep the picture of its last frame."""
    run, export = commands(name)
    target = DOCS / "images" / "gallery" / f"{slug(name)}.png"
    target.parent.mkdir(parents=True, exist_ok=True)
    at = {"cwd": DOCS.parent, "check": True}
    subprocess.run([*run, "--headless", "--overwrite"], **at)
    subprocess.run([*export, "--out", str(target)], **at)
    with Image.open(target) as image:  # 64 colours are enough for shaded surfaces, at a third of the size
        image.convert("RGB").quantize(64).save(target, optimize=True)


def page(names: list[str]) -> str:
    """``gallery.md``: the scenes that have a picture, by family."""
    lines = [
        "# Gallery",
        "",
        "Every picture is made by the command below it; `python docs/gallery.py` makes them all.",
        "",
    ]
    for family, title in FAMILIES.items():
        members = [name for name in names if (name.split("/")[0] if "/" in name else "") == family]
        shown = [name for name in members if (DOCS / "images" / "gallery" / f"{slug(name)}.png").exists()]
        if not shown:
            continue
        lines += [f"## {title}", ""]
        for name in shown:
            what = (built_in()[name].__doc__ or "").strip().splitlines()[0]
            command = " ".join(commands(name)[0])
            lines += [f"![{name}](images/gallery/{slug(name)}.png)", "", f"**{name}**: {what}", "", f"`{command}`", ""]
    return "\n".join(lines)


def main(asked: list[str]) -> None:
    names = list(built_in())
    chosen = [n for n in names if not asked or any(n == a or (a.endswith("/") and n.startswith(a)) for a in asked)]
    failed = []
    for name in chosen:
        try:
            picture(name)
        except subprocess.CalledProcessError as error:
            failed.append(f"{name}: {error}")
    (DOCS / "gallery.md").write_text(page(names), encoding="utf-8")
    if failed:
        sys.exit("no picture of\n" + "\n".join(failed))


if __name__ == "__main__":
    main(sys.argv[1:])
