"""What benchmarks print: strict JSON, and no nan for what did not happen."""

import json

import numpy as np

from pliant.bench.output import json_of, markdown_of
from pliant.bench.table import Claim, Table


def refuse(word):
    raise ValueError(f"{word} is not JSON")


def test_numbers_that_are_not_finite_are_printed_as_what_they_mean():
    rows = [{"mu": 4.0, "fell_at_s": float("nan"), "limit": np.float64("inf"), "steps": np.int64(3)}]
    table = Table("a/b", "title", rows, [Claim("holds", "1", "1", bool(np.True_))])
    read = json.loads(json_of(table), parse_constant=refuse)
    assert read["rows"] == [{"mu": 4.0, "fell_at_s": "nan", "limit": "inf", "steps": 3}]
    assert "| 4 | - | inf | 3 |" in markdown_of(table)
