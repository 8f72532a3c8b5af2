"""Measures the C and C++ contenders with a google-benchmark program, and runs `openssl speed` for comparison."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .bodies import SIZES
from .tables import Row, Table
from .targets import WEBHOOK

VERIFY = {
    "limit": "raw SHA-256 states (limit)",
    "HMAC": "OpenSSL HMAC()",
    "check": "C++ Verifier::check",
    "c": "C billcore_verifier_verify",
    "stream": "C++ Verifier::stream, one piece",
    "c_one_shot": "C billcore_webhook_verify (one shot)",
}
UNWRAP = {
    "limit": "limit + yyjson in a reused pool",
    "limit_read": "the same, 3 fields read",
    "shared": "C++ Verifier::unwrap_shared",
    "shared_read": "C++ Verifier::unwrap_shared, 3 fields read",
    "copy": "C++ Verifier::unwrap",
    "copy_read": "C++ Verifier::unwrap, 3 fields read",
    "c": "C billcore_verifier_unwrap, _free",
}


@dataclass(frozen=True)
class Effort:
    """How long and how often to measure each contender."""

    repetitions: int
    seconds: float  # duration of each repetition
    openssl_turns: int
    openssl_seconds: int


def run(program: Path, folder: Path, effort: Effort, *arguments: str) -> dict[str, list[float]]:
    """Maps each contender to its nanoseconds of processor time per call, one number for each repetition."""
    output = folder / "native.json"
    command = [
        str(program),
        str(folder),
        "--benchmark_enable_random_interleaving=true",
        f"--benchmark_repetitions={effort.repetitions}",
        f"--benchmark_min_time={effort.seconds}",
        f"--benchmark_out={output}",
        "--benchmark_out_format=json",
        *arguments,
    ]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{program.name}: {done.stderr.strip()}")
    report: dict[str, Any] = json.loads(output.read_text("utf-8"))
    found: dict[str, list[float]] = {}
    for one in report["benchmarks"]:
        if one["run_type"] == "iteration":
            found.setdefault(one["run_name"], []).append(one["cpu_time"])
    return found


def _openssl_speed(effort: Effort) -> float:
    """Returns the bytes per second that `openssl speed` reports for pieces of 64 KiB."""
    command = ["openssl", "speed", "-mr", "-evp", "sha256", "-bytes", "65536"]
    command += ["-seconds", str(effort.openssl_seconds)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"^\+F:\d+:\w+:([0-9.]+)$", output, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"unexpected output of openssl speed: {output}")
    return float(found[1])


def _against_openssl(program: Path, folder: Path, effort: Effort) -> Table:
    labels = {"openssl": "openssl speed -evp sha256", **{key: VERIFY[key] for key in ("limit", "check", "c")}}
    samples: dict[str, list[float]] = {key: [] for key in labels}
    once = Effort(3, effort.seconds * 4, 0, 0)
    for _ in range(effort.openssl_turns):
        samples["openssl"].append(_openssl_speed(effort) / 1e6)
        for name, times in run(program, folder, once, "--benchmark_filter=^verify/(limit|check|c)/65536$").items():
            samples[name.split("/")[1]] += [65536 / nanoseconds * 1e3 for nanoseconds in times]
    rows = [Row(key, label, samples[key]) for key, label in labels.items()]
    title = "Verify, 64 KiB, against openssl speed of the hash alone (more is better; ratio of the maxima)"
    return Table("openssl/65536", title, "MB/s", "openssl", rows, WEBHOOK, digits=0, best=max)


def size_name(size: int) -> str:
    return f"{size} B" if size < 1024 else f"{size // 1024} KiB"


def tables(program: Path, folder: Path, effort: Effort) -> list[Table]:
    times = run(program, folder, effort)
    found = []
    for part, title, labels in (
        ("verify", "Verify, C and C++", VERIFY),
        ("unwrap", "Verify and parse, C and C++", UNWRAP),
    ):
        for size in SIZES:
            rows = [
                Row(key, label, [nanoseconds / 1e3 for nanoseconds in times[f"{part}/{key}/{size}"]])
                for key, label in labels.items()
            ]
            found.append(Table(f"{part}/{size}", f"{title}, {size_name(size)}", "µs", "limit", rows, WEBHOOK, digits=3))
    return [*found, _against_openssl(program, folder, effort)]
