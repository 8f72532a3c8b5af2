"""Measures how much time and memory an import and the first verification add to a bare Python process."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from time import perf_counter_ns

from .tables import Row, Table
from .targets import WEBHOOK

IMPORTS = {
    "bare": ("python -c pass", "pass"),
    "billcore": ("from billcore import webhooks", "from billcore import webhooks"),
    "json": ("import hmac, json", "import hmac, json"),
}
MEMORY = "\nprint(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"

FIRST = {
    "billcore": (
        "billcore Verifier(secret).verify(…)",
        "from billcore import webhooks",
        "webhooks.Verifier(secret).verify(body, signature)",
    ),
    "json": (
        "hmac.new(…), compare_digest",
        "import hmac, json",
        "assert hmac.compare_digest(hmac.new(secret.encode(), body, 'sha256').hexdigest(), signature)",
    ),
}
TIMED = """
import sys
from time import perf_counter_ns
secret, signature, body = (open(sys.argv[1] + name, 'rb').read() for name in ('/secret', '/signature', '/body'))
secret, signature = secret.decode(), signature.decode()
start = perf_counter_ns()
{work}
print(perf_counter_ns() - start)
"""


def _command(code: str) -> list[str]:
    return [sys.executable, "-I", "-c", code]  # -I: ignore the user's site-packages and environment variables


def _wall(code: str) -> float:
    """Returns the milliseconds from the start of a process that runs `code` to its end."""
    command = _command(code)
    start = perf_counter_ns()
    pid = os.posix_spawn(command[0], command, os.environ)
    _, status = os.waitpid(pid, 0)
    end = perf_counter_ns()
    if status != 0:
        raise RuntimeError(f"failed: {code}")
    return (end - start) / 1e6


def _answer(code: str, *arguments: str) -> float:
    return float(subprocess.run([*_command(code), *arguments], check=True, capture_output=True, text=True).stdout)


def _starts(rounds: int) -> Table:
    wall: dict[str, list[float]] = {key: [] for key in IMPORTS}
    memory: dict[str, list[float]] = {key: [] for key in IMPORTS}
    for turn in range(rounds + 1):
        for key in random.sample(list(IMPORTS), len(IMPORTS)):
            milliseconds = _wall(IMPORTS[key][1])
            if turn > 0:  # after the first round, byte code and files are cached
                wall[key].append(milliseconds)
            if turn < 5:
                memory[key].append(_answer(IMPORTS[key][1] + MEMORY) / 1024)

    def over_bare(samples: dict[str, list[float]], key: str) -> float:
        return min(samples[key]) - min(samples["bare"])

    rows = [
        Row(key, label, wall[key], {"ms over bare": over_bare(wall, key), "MB over bare": over_bare(memory, key)})
        for key, (label, _) in IMPORTS.items()
    ]
    return Table("start", "Start: a process that only imports", "ms", None, rows, WEBHOOK)


def _first_calls(rounds: int, folder: Path) -> Table:
    samples: dict[str, list[float]] = {key: [] for key in FIRST}
    for _ in range(rounds):
        for key, (_, imports, work) in FIRST.items():
            samples[key].append(_answer(imports + TIMED.format(work=work), str(folder)) / 1e6)
    rows = [Row(key, label, samples[key]) for key, (label, _, _) in FIRST.items()]
    return Table("first", "First verification of a process, after the import, 900 B", "ms", None, rows, WEBHOOK)


def tables(rounds: int, folder: Path) -> list[Table]:
    return [_starts(rounds), _first_calls(rounds, folder)]
