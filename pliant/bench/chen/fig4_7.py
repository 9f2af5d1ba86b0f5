"""chen/fig4_7: energy of the cloth that hits a sphere, by method. [Chen2019, Figure 4.7]"""

from dataclasses import replace

from pliant.bench.chen import table4_3
from pliant.bench.table import Table


def run(*, quick: bool = False) -> Table:
    """The runs of chen/table4_3; its picture is this figure."""
    table = table4_3.run(quick=quick)
    claims = [c for c in table.claims if "energy" in c.name or "inside" in c.name]
    return replace(table, id="chen/fig4_7", title="Energy of the colliding cloth", claims=claims)
