"""Run folders in which something was changed are refused by one line that names the part (`trust/tamper`)."""

from pliant.bench.trust import tamper


def test_tampered_folders_are_refused_by_name():
    table = tamper.run(quick=True)
    assert len(table.rows) > 30 and all(claim.holds for claim in table.claims), table.notes
