"""Every benchmark's table is printed on the page of results, whether its claims hold or not."""

from pathlib import Path

import pytest

from pliant.cli.bench import benches

DOCS = Path(__file__).parents[2] / "docs"
MACHINE = "times of parts of the program on one machine, which say nothing on another"
OTHER = {  # why a table is not on the page
    "core/assembly": MACHINE,
    "core/materials": MACHINE,
    "core/step": MACHINE,
    "core/work_precision": MACHINE,
    "runs/overhead": MACHINE,
    "studio/export": MACHINE,
    "studio/view": MACHINE,
}


@pytest.mark.parametrize("name", benches())
def test_every_benchmark_has_its_table(name):
    table = f"{name.replace('/', '_')}.md"
    here = (DOCS / "tables" / table).exists()
    assert here or name in OTHER, f"{name}: no table in docs/tables, and no reason why"
    if here:
        assert (DOCS / "tables" / table).read_text().startswith(f"## {name}: ")
        assert f'"docs/tables/{table}"' in (DOCS / "results.md").read_text(), f"{name} is not on the page"
