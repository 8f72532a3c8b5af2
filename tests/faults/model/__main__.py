"""Runs the model from the command line: with the given seeds, or with random ones for some time."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from ..certificates import Certificates
from .run import TRANSPORTS, Totals, random_names, run_many


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m faults.model", description=__doc__)
    parser.add_argument("seeds", nargs="*", help="such as http2-17; without: random ones")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to start random seeds (60)")
    parser.add_argument("--times", type=int, default=1, help="how often each named seed is run (1)")
    given = parser.parse_args()
    totals = Totals()
    seeds = given.seeds * given.times if given.seeds else random_names(TRANSPORTS, given.seconds)
    with tempfile.TemporaryDirectory() as folder:
        found = run_many(seeds, Certificates(Path(folder)), totals, lambda what: print(what, flush=True))
    print(*totals.lines(), sep="\n")
    print(f"acts: {dict(totals.acts.most_common())}")
    print(f"{totals.seeds - len(found)} passed, {len(found)} failed")
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main())
