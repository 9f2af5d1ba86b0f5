"""What two recordings of the same run must have in common, read from their files without the package's own readers."""

import csv
from pathlib import Path
from typing import Any

import h5py


def essence(folder: Path) -> dict[str, Any]:
    """The ledger but for its seconds, times and points of all frames, and the arrays of the last checkpoint."""
    with open(folder / "ledger.csv", newline="", encoding="utf-8") as file:
        names, *lines = list(csv.reader(file))
    kept = [k for k, name in enumerate(names) if name != "seconds"]
    found: dict[str, Any] = {"ledger": [[line[k] for k in kept] for line in (names, *lines)]}
    with h5py.File(folder / "frames.vtkhdf", "r") as file:
        root, steps = file["VTKHDF"], file["VTKHDF/Steps"]
        count = int(steps.attrs["NSteps"])
        found["times"] = steps["Values"][:count].tobytes()
        for k in range(count):
            first, size = int(steps["PointOffsets"][k]), int(root["NumberOfPoints"][int(steps["PartOffsets"][k])])
            found[f"frame {k}"] = root["Points"][first : first + size].tobytes()
            found[f"values {k}"] = [root["PointData"][n][first : first + size].tobytes() for n in root["PointData"]]
    with h5py.File(folder / "checkpoint.h5", "r") as file:
        found["checkpoint"] = [file[f"arrays/{k}"][()].tobytes() for k in range(len(file["arrays"]))]
    return found
