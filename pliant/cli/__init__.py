"""The command line. Commands live in modules of their own and import what they need when they are called."""

import json
import os
import sys
import traceback


def main() -> None:
    """Run the command; errors made on purpose are one line and exit code 2 (1 for numerical failure)."""
    from pliant.cli.app import app
    from pliant.errors import ConvergenceError, NotPositiveDefinite, PliantError

    try:
        app()
    except PliantError as error:
        from pliant.attempt import StepFailed

        if os.environ.get("PLIANT_VERBOSE"):
            traceback.print_exc()
        said, bundle = " ".join(str(error).split()), error.bundle if isinstance(error, StepFailed) else None
        if "--json" in sys.argv:
            print(json.dumps({"error": said, "bundle": None if bundle is None else str(bundle)}))
        print(f"error: {said}", file=sys.stderr)
        if bundle is not None:
            print(f"inspect it with: pliant replay {bundle}", file=sys.stderr)
            print(f"to record into {bundle.parent} again add --overwrite", file=sys.stderr)
        sys.exit(1 if isinstance(error, ConvergenceError | NotPositiveDefinite) else 2)
