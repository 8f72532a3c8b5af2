"""The area `webhook`: measures the contenders in C, C++ and Python, and how a process of Python starts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from . import cold_start, machine, plot, report
from .operations import Contender, Operation, measure
from .tables import Row, Table
from .targets import WEBHOOK

PACKAGES = ("msgspec", "orjson")
CHECKS = {
    "check": Contender("C++ Verifier::check", "native", "cpp"),
    "c": Contender("C billcore_verifier_verify", "native", "c"),
}
OPERATIONS = {
    "verify/900": Operation(
        "Verify, C and C++, 900 B",
        "verify",
        20_000,
        "limit",
        {"limit": Contender("raw SHA-256 states (limit)", "native", "limit"), **CHECKS},
    ),
    "unwrap/900": Operation(
        "Verify and parse, C and C++, 900 B",
        "parse",
        15_000,
        "limit",
        {
            "limit": Contender("limit + yyjson in a reused pool", "native", "limit"),
            "shared": Contender("C++ Verifier::unwrap_shared", "native", "cpp_shared"),
            "copy": Contender("C++ Verifier::unwrap", "native", "cpp"),
        },
    ),
    "python/900": Operation(
        "Python: verify, parse, read id, name and status, 900 B",
        "unwrap",
        15_000,
        "msgspec",
        {
            "cpp": Contender("C++ Verifier::unwrap, 3 fields read", "native", "cpp"),
            "msgspec": Contender("hmac + msgspec struct of all fields", "python", "msgspec"),
            "orjson": Contender("hmac + orjson", "python", "orjson"),
            "json": Contender("hmac + json", "python", "json"),
            "unwrap": Contender("billcore Verifier.unwrap", "python", "unwrap"),
            "one_shot": Contender("billcore webhooks.unwrap (one shot)", "python", "one_shot"),
        },
    ),
    "openssl/65536": Operation("Verify, 64 KiB", "verify", 500, "check", CHECKS, size=65536),
}


def _openssl_speed(seconds: int) -> float:
    """Returns the megabytes per second that `openssl speed` reports for pieces of 64 KiB."""
    command = ["openssl", "speed", "-mr", "-evp", "sha256", "-bytes", "65536", "-seconds", str(seconds)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"^\+F:\d+:\w+:([0-9.]+)$", output, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"unexpected output of openssl speed: {output}")
    return float(found[1]) / 1e6


def tables(programs: Path, quick: bool) -> list[Table]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        speeds = [_openssl_speed(1 if quick else 2)]
        samples = measure(OPERATIONS, programs, folder, quick)
        speeds.append(_openssl_speed(1 if quick else 2))
        started = cold_start.tables(3 if quick else 30, folder / "900")
    rows = [Row("openssl", "openssl speed -evp sha256", speeds)]
    for key, contender in CHECKS.items():
        per_second = [65536 / nanoseconds * 1e3 for nanoseconds in samples["openssl/65536", key]]
        rows.append(Row(key, contender.label, per_second))
    title = "Verify, 64 KiB, against openssl speed of the hash alone (more is better; ratio of the maxima)"
    native = [OPERATIONS[key].table(key, samples, WEBHOOK) for key in ("verify/900", "unwrap/900")]
    hashed = Table("openssl/65536", title, "MB/s", "openssl", rows, WEBHOOK, digits=0, best=max)
    return [*native, hashed, OPERATIONS["python/900"].table("python/900", samples, WEBHOOK), *started]


def panels(by_key: dict[str, Table]) -> list[plot.Panel]:
    return [
        plot.Panel(by_key["verify/900"], "ratio", "Verify, 900 B: multiple of the limit"),
        plot.Panel(by_key["unwrap/900"], "ratio", "Verify and parse, 900 B: multiple of the limit"),
        plot.Panel(
            by_key["python/900"], "ratio", "Python: verify, parse, read, 900 B: multiple of hmac + msgspec", ("cpp",)
        ),
        plot.Panel(by_key["start"], "ms over bare", "Import: ms over bare Python (logarithmic)", ("bare",), log=True),
    ]


def main() -> int:
    options = report.options("webhook")
    # Run all contenders on one processor: a move to another one would look like a difference between contenders.
    os.sched_setaffinity(0, {machine.processors()[-1]})
    report.publish("webhook", options, tables(options.programs, options.quick), machine.facts(PACKAGES), panels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
