"""Cloth that meets itself: thrown over a box, between boxes, on nails, folded; it never passes through itself.

Whether it does is decided edge by edge and face by face in exact arithmetic (`pliant.contact.intersect`), which shares
nothing with the detection of the step.
"""

from dataclasses import replace
from time import process_time

import numpy as np

from pliant.bench.eol.books import GAIN, Books
from pliant.bench.eol.march import march
from pliant.bench.table import Claim, Table
from pliant.contact.intersect import intersections
from pliant.scene import Scene
from pliant.scenes import eol
from pliant.systems.row_contact import RowContact


def scenes(cells: int) -> list[Scene]:
    """Those of the thesis in which cloth meets itself, and a cloth that is folded."""
    return [
        eol.throw(cells=cells),
        eol.friction(cells=cells, duration=0.6),
        eol.nails(cells=cells),
        eol.fold(cells=cells),
    ]


def measure(scene: Scene, *, meets: bool) -> dict[str, object]:
    """One run, in which the cloth ``meets`` itself or does not care; every frame is looked at."""
    assert isinstance(scene.contact, RowContact)
    scene = replace(scene, contact=replace(scene.contact, self_contact=meets))
    books, crossed, pairs, most, stopped, seconds = Books(), 0, 0, 0, 0, []
    start = process_time()
    for moment in march(scene):
        seconds.append(process_time() - start)
        books.look(moment)
        found = len(intersections(moment.sheet.x, moment.cloth.edges, moment.sheet.faces))
        crossed, pairs = crossed + (found > 0), max(pairs, found)
        for report in moment.reports:
            notes = report.history[0] if report.history else {}
            most = max(most, int(notes.get("own_contacts", 0)))
            stopped += int(notes.get("own_stopped", 0))
        start = process_time()
    return {
        "scene": scene.name,
        "self_contact": meets,
        "frames": len(seconds),
        "crossed_frames": crossed,
        "crossed_pairs": pairs,
        "contacts": most,
        "stopped_vertices": stopped,
        "ms_mean": 1e3 * float(np.mean(seconds)),
        "ms_max": 1e3 * float(np.max(seconds)),
        **books.columns(),
    }


def run(*, quick: bool = False) -> Table:
    cells = 5 if quick else 8
    rows, claims = [], []
    for scene in scenes(cells):
        without, ours = (measure(scene, meets=meets) for meets in (False, True))
        rows += [without, ours]
        name = str(ours["scene"])
        said = f"{ours['crossed_frames']} of {ours['frames']} ({without['crossed_frames']} without self contact)"
        claims.append(
            Claim(f"{name}: frames in which it passes through itself", "0", said, ours["crossed_frames"] == 0)
        )
        gain, most = float(ours["created_J"]), GAIN * float(ours["kinetic_J"])  # type: ignore[arg-type]
        claims.append(Claim(f"{name}: energy from nowhere", f"<= {most:.1e} J", f"{gain:.1e} J", gain <= most))
    failed = sum(int(r["unconverged"]) for r in rows if r["self_contact"])  # type: ignore[call-overload]
    claims.append(Claim("every step converged", "yes", f"{failed} have not", failed == 0))
    notes = [
        "crossed_pairs: most edges across faces in one frame; contacts: most rows of cloth against itself; "
        "in_pieces: steps that were divided, because ways met or for other reasons; stopped_vertices: those that had "
        "to be stopped even then",
        "ms: CPU time of a step, mean and largest",
    ]
    return Table("eol/self", "Cloth that meets itself", rows, claims, notes)
