"""The gallery: short films of scenes worth looking at, each made by the two commands that stand below it.

    python docs/gallery.py                  # what is missing: runs go to runs/gallery, films to docs/images/gallery
    python docs/gallery.py eol/nails net    # only these, again
    python docs/gallery.py --page           # only gallery.md

Runs that exist are kept, so an interrupted gallery goes on where it was. Scenes without a film are listed in a table.
"""

import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pliant.scenes import built_in

DOCS = Path(__file__).parent
IMAGES = DOCS / "images" / "gallery"
COMMON = ("--to", "webp", "--size", "512x384", "--fps", "12")
CLOTH = 'output.channels=["material"]'
STRESS = 'output.channels=["von_mises"]'


NUMBERED = re.compile(r"redmax/-?\d+")
HEAD = """# Gallery

Every film is made by the two commands below it; `python docs/gallery.py` makes them all. Where a scene reproduces a
figure of its source, the caption names that figure (keys of `references.bib`). The figures themselves belong to their
publishers and are not shown here; [results](results.md) has the numbers beside ours.
"""
RED_MAX = """The test scenes of the RedMax reference implementation, in its units (cm, g, s).
`pliant bench redmax/oracle` compares their energies with those of the reference."""


@dataclass(frozen=True)
class Film:
    """A scene, what is given to ``pliant run`` and to ``pliant export``, and a line below the picture."""

    scene: str
    run: str = ""
    export: str = ""
    text: str = ""

    @property
    def slug(self) -> str:
        return self.scene.replace("/", "-")

    @property
    def folder(self) -> str:
        return f"runs/gallery/{self.slug}"

    @property
    def path(self) -> Path:
        return IMAGES / f"{self.slug}.webp"

    @property
    def commands(self) -> tuple[list[str], list[str]]:
        """The command that runs the scene, and the one that makes the film."""
        run = ["pliant", "run", self.scene, *shlex.split(self.run), "--out", self.folder]
        return run, ["pliant", "export", self.folder, *COMMON, *shlex.split(self.export)]


FILMS = {
    "One world": (
        Film("world/marionette", export="--speed 0.4", text="A puppet on strings draws a cloth over a table's edge."),
        Film("world/walker", export="--speed 0.5", text="Four turning legs on soft ground that gives way below them."),
        Film("world/die", export="--speed 0.4 --zoom 1.1", text="A die rolls to rest in the dent that it makes."),
        Film("world/gripper", export="--speed 0.5", text="Motors of limited torque lift a soft block by friction."),
        Film("world/muscle", export="--speed 0.5", text="A muscle, condensed onto three nodes, lifts a forearm."),
        Film("world/arm-and-cloth", export="--speed 0.4", text="A box on an arm swings into a cloth, which slows it."),
        Film("world/mixed-pile", run="--duration 0.8", export="--speed 0.3", text="Soft, rigid, jointed bodies."),
    ),
    "Cloth": (
        Film(
            "eol/nails",
            run=f"--duration 0.45 --set '{CLOTH}'",
            export="--channel material --speed 0.2",
            text="A bed of nails: vertices slide through the material along every sharp tip.",
        ),
        Film(
            "eol/tablecloth",
            run=f"--duration 0.5 --set '{CLOTH}'",
            export="--channel material --speed 0.2",
            text="Creases lie exactly on the edges and corners of the table.",
        ),
        Film(
            "eol/throw",
            run=f"--duration 0.35 --set '{CLOTH}'",
            export="--channel material --speed 0.15",
            text="Thrown over a turning box.",
        ),
        Film("eol/jaws", run=f"--duration 0.3 --set '{CLOTH}'", export="--channel material --speed 0.12"),
        Film("eol/push", run=f"--set '{CLOTH}' --duration 0.5", export="--channel material --speed 0.2"),
        Film("eol/drape", run=f"--set '{CLOTH}'", export="--channel material --speed 0.3"),
        Film("chen/cape", run="--duration 2 --set integrator=bdf2", export="--speed 0.8"),
        Film(
            "chen/falling-cloth",
            run="--duration 1 --set integrator=bdf1",
            export="--speed 0.4",
            text="Particles inside the sphere are projected onto it, which adds energy: the run ends with an alarm.",
        ),
        Film("chen/shaken-cloth", run="--duration 2 --set integrator=bdf2", export="--speed 0.8"),
    ),
    "Soft bodies": (
        Film(
            "bar-twist",
            run=f"--set parameters.cells=7 --set parameters.turns=1.5 --set '{STRESS}'",
            export="--channel von_mises --unit Pa --colours plasma --limits 0,1.2e5 --speed 0.75",
            text="Twisted by one and a half turns, coloured by the von Mises stress.",
        ),
        Film(
            "chen/bouncing-bunny",
            export="--speed 0.3",
            text="Dropped on a floor of penalty springs. ERE gains energy at such impacts; the run ends with an alarm.",
        ),
        Film("conjac/bunny", export="--speed 0.2", text="Condensed onto a few dynamic nodes, with friction."),
        Film("conjac/armadillo", run="--duration 1.2", export="--speed 0.5", text="Nodes wake where limbs are pulled."),
        Film("conjac/barcut", run="--duration 1.1", export="--speed 0.4", text="Stretched, and cut twice."),
        Film("conjac/dragon", run="--duration 0.5", export="--speed 0.2"),
        Film("contact/ducks", run="--duration 0.4", export="--speed 0.15", text="A hundred ducks fall into a bowl."),
        Film("chen/tree", export="--speed 1", text="In a wind that swells and dies down."),
        Film("chen/coiled-rope", export="--speed 0.5"),
        Film("chen/honeycomb", export="--speed 0.5"),
        Film("chen/moebius-ball", export="--speed 0.5"),
        Film("chen/bridge", export="--speed 7"),
        Film("chen/twisted-block", run="--duration 1.2", export="--speed 0.5"),
        Film("chen/tower", export="--speed 0.5"),
        Film("ledwon/twisted-bar", export="--speed 0.4"),
    ),
    "Articulated bodies": (
        Film("redmax/klann-walker", run="--duration 2.5", export="--follow --zoom 1.6", text="Six legs on two axles."),
        Film("redmax/umbrella", export="--speed 0.03"),
        Film(
            "redmax/tree",
            export="--speed 0.2 --zoom 1.3",
            text="A binary tree of bars with springs between its branches.",
        ),
    ),
}


def make(film: Film) -> None:
    """Run the scene unless its run exists, and write the film."""
    run, export = film.commands
    if not finished(DOCS.parent / film.folder):
        subprocess.run([*run, "--headless", "--overwrite"], cwd=DOCS.parent, check=True)
    film.path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([*export, "--out", str(film.path)], cwd=DOCS.parent, check=True)


def finished(folder: Path) -> bool:
    """Whether a run has come to its end there."""
    report = folder / "report.json"
    return report.exists() and json.loads(report.read_text(encoding="utf-8"))["status"] == "finished"


def page() -> str:
    """``gallery.md``: the films by family, then all other scenes in tables."""
    scenes = built_in()
    lines = [HEAD]
    shown = set()
    for title, films in FILMS.items():
        there = [film for film in films if film.path.exists()]
        if there:
            lines += [f"## {title}", "", '<div class="grid cards" markdown>', ""]
        for film in there:
            run, export = (shlex.join(command) for command in film.commands)
            scene = scenes[film.scene]
            caption = film.text + figure(scene) if film.text else summary(scene)
            shown.add(film.scene)
            lines += [
                f"-   ![{film.scene}](images/gallery/{film.slug}.webp){{ loading=lazy }}",
                "",
                f"    **{film.scene}** · {caption}",
                "",
                "    ```sh",
                f"    {run}",
                f"    {export}",
                "    ```",
                "",
            ]
        if there:
            lines += ["</div>", ""]
    numbered = {name: make for name, make in scenes.items() if NUMBERED.fullmatch(name)}
    others = {name: make for name, make in scenes.items() if name not in shown and name not in numbered}
    lines += ["## All other scenes", "", "| command | what happens |", "|---|---|"]
    lines += [f"| `pliant run {name}` | {summary(make)} |" for name, make in others.items()]
    lines += ["", "## The numbered RedMax scenes", "", RED_MAX, "", "| command | what it is |", "|---|---|"]
    ordered = sorted(numbered, key=lambda name: int(name.split("/")[1]))
    lines += [f"| `pliant run {name}` | {summary(numbered[name])} |" for name in ordered]
    return "\n".join(lines) + "\n"


def figure(scene: object) -> str:
    """The figure or section of the source that a scene reproduces, where its docstring names one."""
    found = re.search(r"\[(\w+), ((?:Fig|Figure|sec|Table)\.? ?[\d.]+\w?)\]", scene.__doc__ or "")
    return f" Compare [{found[1]}], {found[2]}." if found else ""


def summary(scene: object) -> str:
    """The first line of a scene's docstring, as Markdown in a table."""
    line = (scene.__doc__ or "").strip().splitlines()[0]
    return line.replace("``", "`").replace("|", "\\|")


def main(asked: list[str]) -> None:
    films = [film for group in FILMS.values() for film in group]
    failed = []
    for film in films if asked != ["--page"] else []:
        if film.scene in asked or (not asked and not film.path.exists()):
            try:
                make(film)
            except subprocess.CalledProcessError as error:
                failed.append(f"{film.scene}: {error}")
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
    if failed:
        sys.exit("no film of\n" + "\n".join(failed))


if __name__ == "__main__":
    main(sys.argv[1:])
