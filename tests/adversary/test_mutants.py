"""The list of mutants (`trust/mutation`) fits the package: what is changed stands where it should, once."""

from pathlib import Path

import pliant
from pliant.bench.trust.mutants import MUTANTS

HERE = Path(pliant.__file__).parent


def test_every_mutant_can_be_made():
    for mutant in MUTANTS:
        assert (HERE / mutant.file).read_text(encoding="utf-8").count(mutant.old) == 1, mutant
        assert (Path(__file__).parents[1] / mutant.tests).is_file(), mutant


def test_there_are_enough_in_every_area():
    areas = {mutant.area for mutant in MUTANTS}
    assert len(MUTANTS) >= 60 and len({(m.file, m.old) for m in MUTANTS}) == len(MUTANTS)
    assert areas == {
        *("integrators", "solvers", "energies", "contact", "ledger", "articulated", "cloth", "coarsening", "gradients"),
    }
