"""`run.sh rest`: measures one GET of a subscription. Each round measures every contender on every transport."""

from __future__ import annotations

import os
import random
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from . import machine, plot, report, rest_late
from .rest_server import TRANSPORTS, Authority, RestServer, answer
from .tables import Row, Table
from .targets import REST
from .turns import Contestant, command, started

AT_ONCE = 16


@dataclass(frozen=True)
class Contender:
    """A measured program, and the labels of its rows for sequential GETs and for 16 concurrent GETs; None: not
    supported."""

    sequential: str | None
    at_once: str | None
    http2: bool = True
    kind: str = "python"

    def label(self, at_once: int) -> str | None:
        return self.sequential if at_once == 1 else self.at_once


CONTENDERS = {
    "raw": Contender("raw libcurl easy, body not parsed", "raw libcurl multi, bodies not parsed", kind="native"),
    "raw_yyjson": Contender("raw libcurl easy + yyjson", "raw libcurl multi + yyjson", kind="native"),
    "raw_threads": Contender(None, "raw libcurl easy + yyjson, 16 threads", kind="native"),
    "cpp": Contender("C++ subscriptions().get", "C++ subscriptions().get, 16 threads", kind="native"),
    "c": Contender("C billcore_subscription_get", "C billcore_subscription_get, 16 threads", kind="native"),
    "raw_yyjson_newest": Contender("raw libcurl 8 easy + yyjson", "raw libcurl 8 multi + yyjson", kind="newest"),
    "raw_threads_newest": Contender(None, "raw libcurl 8 easy + yyjson, 16 threads", kind="newest"),
    "cpp_newest": Contender("C++, libcurl 8", "C++, libcurl 8, 16 threads", kind="newest"),
    "c_newest": Contender("C, libcurl 8", "C, libcurl 8, 16 threads", kind="newest"),
    "go": Contender("Go net/http + encoding/json", "Go net/http + encoding/json, 16 goroutines", kind="go"),
    "billcore": Contender("billcore Client", "billcore Client, 16 threads"),
    "billcore_async": Contender("billcore AsyncClient", "billcore AsyncClient, 16 tasks"),
    "billcore_uvloop": Contender("billcore AsyncClient, uvloop", "billcore AsyncClient, uvloop, 16 tasks"),
    "pycurl": Contender("pycurl, body not parsed", "pycurl CurlMulti, bodies not parsed"),
    "aiohttp": Contender("aiohttp", "aiohttp, 16 tasks", http2=False),
    "requests": Contender("requests", "requests, 16 threads", http2=False),
}
# raw and pycurl do not parse the answer.
UNPARSED = {"raw", "pycurl"}
PACKAGES = ("pycurl", "aiohttp", "uvloop", "requests")
MANNERS = {1: "one after the other", AT_ONCE: f"{AT_ONCE} at once"}


Key = tuple[str, str, int]  # (contender, transport, requests in flight)
Samples = dict[Key, list[tuple[float, float]]]  # microseconds per GET: wall time, client's processor time


@dataclass
class Place:
    """A row of a table: a contender's process, a transport, and the number of requests in flight."""

    contestant: Contestant
    key: Key
    base_url: str
    read: int  # total length of the values that one GET reads
    count: int = 0  # number of GETs in a turn

    def turn(self, count: int) -> tuple[float, float]:
        turn = self.contestant.run(self.base_url, self.key[2], count, self.key[2])
        if turn.read != count * self.read:
            raise RuntimeError(f"{self.contestant.name} has read {turn.read} instead of {count * self.read}")
        return turn.wall / count / 1e3, turn.cpu / count / 1e3

    def calibrate(self, seconds: float) -> None:
        self.turn(AT_ONCE * 4)
        wall, _ = self.turn(AT_ONCE * 2)
        self.count = max(1, round(seconds * 1e6 / wall / AT_ONCE)) * AT_ONCE


@dataclass(frozen=True)
class Effort:
    """How long to measure. Processes of the same program differ in speed by some percent, so each program is started
    several times."""

    starts: int
    rounds: int  # rounds per start of the programs
    seconds: float  # duration of each turn
    late: dict[int, int]  # number of runs for each time-out in milliseconds


@dataclass
class Arena:
    """The folder, programs and server of a run."""

    folder: Path
    programs: Path
    authority: Authority
    nginx: RestServer
    body: bytes
    fields: str

    def contestants(self, stack: ExitStack) -> dict[str, Contestant]:
        """Starts all contenders; closing `stack` ends their processes."""
        bundle = str(self.authority.bundle)
        commands = {
            key: command("rest", contender.kind, self.programs, key, bundle) for key, contender in CONTENDERS.items()
        }
        return started(stack, self.folder, commands)

    def places(self, contestants: dict[str, Contestant]) -> list[Place]:
        return [
            Place(
                contestants[key],
                (key, transport, at_once),
                self.nginx.base_urls[transport],
                len(self.body) if key in UNPARSED else len(self.fields.replace("\t", "")),
            )
            for transport in TRANSPORTS
            for at_once in MANNERS
            for key, contender in CONTENDERS.items()
            if contender.label(at_once) and (contender.http2 or transport != "http2")
        ]

    def require_right_answer(self, place: Place) -> None:
        key, transport, at_once = place.key
        shown = place.contestant.show(place.base_url, at_once)
        if shown != (self.body.decode() if key in UNPARSED else self.fields):
            raise RuntimeError(f"{key} reads {shown!r} over {transport}")

    def run(self, contestants: dict[str, Contestant], effort: Effort, samples: Samples) -> None:
        places = self.places(contestants)
        for place in places:
            self.require_right_answer(place)
            place.calibrate(effort.seconds)
        for _ in range(effort.rounds):
            random.shuffle(places)
            for place in places:
                samples.setdefault(place.key, []).append(place.turn(place.count))


def table(transport: str, at_once: int, samples: Samples) -> Table:
    rows = []
    for key, contender in CONTENDERS.items():
        found = samples.get((key, transport, at_once))
        label = contender.label(at_once)
        if found and label:
            cpu = min(cpu for _, cpu in found)
            rows.append(Row(key, label, [wall for wall, _ in found], {"client's cpu µs": cpu}))
    title = f"GET, {TRANSPORTS[transport]}, {MANNERS[at_once]}"
    return Table(f"rest/{transport}/{at_once}", title, "µs", "raw", rows, REST, digits=1)


def measure(programs: Path, effort: Effort) -> list[Table]:
    # Clients and server share one processor: a wake-up of another processor takes longer than a GET, and happens at
    # random.
    os.sched_setaffinity(0, {machine.processors()[-1]})
    body, fields = answer()
    samples: Samples = {}
    with TemporaryDirectory() as name, ExitStack() as run:
        folder = Path(name)
        authority = Authority(folder)
        nginx = run.enter_context(RestServer(folder / "nginx", authority, body))
        arena = Arena(folder, programs, authority, nginx, body, fields)
        for _ in range(effort.starts - 1):
            with ExitStack() as start:
                arena.run(arena.contestants(start), effort, samples)
        contestants = arena.contestants(run)
        arena.run(contestants, effort, samples)
        tables = [table(transport, at_once, samples) for transport in TRANSPORTS for at_once in MANNERS]
        return [*tables, rest_late.table(contestants, effort.late)]


def panels(by_key: dict[str, Table]) -> list[plot.Panel]:
    return [
        plot.Panel(
            by_key[f"rest/{transport}/{at_once}"],
            "ratio",
            f"GET, {TRANSPORTS[transport]}, {manner}: multiple of raw libcurl (logarithmic)",
            ("raw_yyjson",),
            log=True,
        )
        for transport in ("plain", "http2")
        for at_once, manner in MANNERS.items()
    ]


def main() -> int:
    options = report.options("rest")
    effort = Effort(1, 2, 0.002, {100: 1}) if options.quick else Effort(5, 6, 0.05, {100: 10, 300: 4, 1000: 2})
    tables = measure(options.programs, effort)
    report.publish("rest", options, tables, machine.facts_of_clients(PACKAGES), panels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
