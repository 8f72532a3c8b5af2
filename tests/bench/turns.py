"""Runs each contender as a process that measures only on command, so that each round can measure all languages.

A contender prints `ready`, and then answers each command line:

    show URL AT_ONCE              the values that one measured operation reads
    run URL AT_ONCE COUNT WARM    nanoseconds, nanoseconds of processor time, sum of the lengths read
    cold URL AT_ONCE COUNT        the same, with COUNT times one operation and cold caches; only of native contenders
    late URL 1 MILLISECONDS       the same for a GET that must run into this time-out (the lengths are 0)

AT_ONCE is the number of requests in flight. Before the measured operations, the contender performs WARM operations,
because it may have to reopen connections that were idle for long.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Turn:
    wall: int  # nanoseconds
    cpu: int
    read: int


def command(area: str, kind: str, programs: Path, name: str, *more: str) -> list[str]:
    """Returns the command that starts a contender. kind: native (C and C++), newest (native, with the latest libcurl),
    go, rust or python."""
    match kind:
        case "newest":
            return [str(programs / "newest/turns-native"), area, name.removesuffix("_newest"), *more]
        case "python":
            return [sys.executable, "-m", "tests.bench.contestant", area, name, *more]
    return [str(programs / f"turns-{kind}"), area, name, *more]


def _environment() -> dict[str, str]:
    """Returns this process's environment without the variables for proxies and certificates, which clients read."""
    names = {"CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR", "SSL_CERT_FILE"}
    return {
        name: value for name, value in os.environ.items() if name not in names and not name.lower().endswith("_proxy")
    }


class Contestant:
    """One contender's process. errors: the file for what it writes to stderr."""

    def __init__(self, name: str, command: list[str], errors: Path) -> None:
        self.name = name
        self._errors = errors
        with errors.open("wb") as stderr:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                cwd=ROOT,
                env=_environment(),
            )

    def begin(self) -> None:
        """Waits until the contender has printed `ready`."""
        answer = self._line()
        if answer != "ready":
            raise RuntimeError(f"{self.name} begins with {answer!r}")

    def _line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith("\n"):
            self._process.wait()
            raise RuntimeError(f"{self.name} has ended: {self._errors.read_text('utf-8').strip()}")
        return line.rstrip("\n")

    def _ask(self, *words: object) -> str:
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # if the process has ended, _line() below raises an error
            print(*words, file=self._process.stdin, flush=True)
        return self._line()

    def show(self, base_url: str, at_once: int) -> str:
        return self._ask("show", base_url, at_once)

    def run(self, base_url: str, at_once: int, count: int, warm: int) -> Turn:
        return Turn(*map(int, self._ask("run", base_url, at_once, count, warm).split()))

    def cold(self, base_url: str, at_once: int, count: int) -> Turn:
        return Turn(*map(int, self._ask("cold", base_url, at_once, count).split()))

    def late(self, base_url: str, milliseconds: int) -> Turn:
        return Turn(*map(int, self._ask("late", base_url, 1, milliseconds).split()))

    def end(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()  # the process ends when its stdin ends
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def started(stack: ExitStack, folder: Path, commands: dict[str, list[str]]) -> dict[str, Contestant]:
    """Starts all contenders and waits until they are ready; closing `stack` ends their processes."""
    found = {}
    for name, command in commands.items():
        found[name] = Contestant(name, command, folder / f"{name}.errors")
        stack.callback(found[name].end)
    for one in found.values():
        one.begin()
    return found
