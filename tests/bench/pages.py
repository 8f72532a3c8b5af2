"""The area `pages`: a list of 10,000 orders, read page by page, measured in rounds of all contenders."""

from __future__ import annotations

import os
import random
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from . import machine, plot, report
from .pages_server import PER_PAGE, PagesServer, orders, read_of
from .tables import Row, Table
from .targets import PAGES
from .turns import Contestant, command, started

DEFAULT = 8  # billcore's default number of pages in flight
DELAY = 20  # milliseconds


@dataclass(frozen=True)
class Contender:
    """A measured program. at_once: the numbers of requests in flight."""

    label: str
    at_once: tuple[int, ...] = (1, DEFAULT, 16)
    kind: str = "python"


CONTENDERS = {
    "raw": Contender("raw libcurl + yyjson", kind="native"),
    "cpp": Contender("C++ for (auto& order : pager)", kind="native"),
    "c": Contender("C billcore_order_list_next", kind="native"),
    "raw_newest": Contender("raw libcurl 8 + yyjson", (1, DEFAULT), kind="newest"),
    "cpp_newest": Contender("C++, libcurl 8", (1, DEFAULT), kind="newest"),
    "c_newest": Contender("C, libcurl 8", (1, DEFAULT), kind="newest"),
    "go": Contender("Go net/http + encoding/json", kind="go"),
    "billcore": Contender("billcore for order in pager"),
    "billcore_async": Contender("billcore async for order in pager"),
    "arrow": Contender("billcore to_arrow(), pyarrow"),
    "batches": Contender("billcore to_batches(rows=8192), pyarrow"),
    "aiohttp": Contender("aiohttp + orjson", (DEFAULT, 16)),
}
# The contenders of the area ffi, some of which only the build of that area makes.
BORDER = {
    "cpp": Contender("C++ for (auto& order : pager)", (1, DEFAULT), "native"),
    "c": Contender("C billcore_order_list_next", (1, DEFAULT), "native"),
    "go": Contender("Go net/http + encoding/json", (1, DEFAULT), "go"),
    "go_billcore": Contender("billcore Go for order, err := range", (1, DEFAULT), "go"),
    "rust_billcore": Contender("billcore Rust for order in list", (1, DEFAULT), "rust"),
}
PACKAGES = ("orjson", "aiohttp", "pyarrow")

Place = tuple[str, int]  # (contender, number of requests in flight)
# (delay, place) -> milliseconds: wall time, and processor time of the client
Samples = dict[tuple[int, Place], list[tuple[float, float]]]


@dataclass(frozen=True)
class Effort:
    """How long to measure. Without delay, each program is started several times, because processes of the same program
    differ in speed by some percent."""

    pages: int
    starts: int
    rounds: int  # without delay: rounds per start of the programs
    seconds: float  # without delay: duration of each turn
    late_rounds: int


@dataclass
class Arena:
    """The folder, programs and servers of a run. base_urls: maps the delay of each server to its URL."""

    folder: Path
    programs: Path
    base_urls: dict[int, str]
    pages: int
    contenders: dict[str, Contender]

    def __post_init__(self) -> None:
        self._sum, self._sum_of_one = read_of(orders(self.pages)), read_of(orders(1))
        self._places = [(key, at_once) for key, one in self.contenders.items() for at_once in one.at_once]

    def commands(self) -> dict[str, list[str]]:
        return {key: command("pages", one.kind, self.programs, key) for key, one in self.contenders.items()}

    def turn(self, contestant: Contestant, at_once: int, delay: int) -> tuple[float, float]:
        # The warm-up reads a list of at_once + 1 pages, to open all connections that the measurement uses.
        turn = contestant.run(self.base_urls[delay], at_once, self.pages, at_once + 1)
        self._check(contestant.name, turn.read, self._sum)
        return turn.wall / 1e6, turn.cpu / 1e6

    def _check(self, key: str, read: int, expected: int) -> None:
        if read != expected:
            raise RuntimeError(f"{key} reads {read} instead of {expected}")

    def run_at_once(self, contestants: dict[str, Contestant], effort: Effort, samples: Samples) -> None:
        """Measures without delay."""
        often = {}
        for key, at_once in self._places:
            self._check(key, int(contestants[key].show(self.base_urls[0], at_once)), self._sum_of_one)
            wall, _ = self.turn(contestants[key], at_once, 0)
            often[key, at_once] = max(1, round(effort.seconds * 1e3 / wall))
        self._run(contestants, 0, effort.rounds, often, samples)

    def run_late(self, contestants: dict[str, Contestant], rounds: int, samples: Samples) -> None:
        self._run(contestants, DELAY, rounds, dict.fromkeys(self._places, 1), samples)

    def _run(
        self, contestants: dict[str, Contestant], delay: int, rounds: int, often: dict[Place, int], samples: Samples
    ) -> None:
        for _ in range(rounds):
            for key, at_once in random.sample(self._places, len(self._places)):
                for _ in range(often[key, at_once]):
                    turn = self.turn(contestants[key], at_once, delay)
                    samples.setdefault((delay, (key, at_once)), []).append(turn)


def wall_table(delay: int, pages: int, samples: Samples, contenders: dict[str, Contender]) -> Table:
    rows = []
    for key, contender in contenders.items():
        for at_once in contender.at_once:
            walls, cpus = zip(*samples[delay, (key, at_once)], strict=True)
            label = f"{contender.label}, {at_once} in flight"
            rows.append(Row(f"{key}/{at_once}", label, list(walls), {"cpu ms": min(cpus)}))
    title = f"{pages * PER_PAGE:,} orders, {f'each answer after {delay} ms' if delay else 'no delay'}"
    return Table(f"pages/{delay}", title, "ms", "raw/1", rows, PAGES, digits=1)


def measure(programs: Path, effort: Effort) -> list[Table]:
    # Without delay, clients and server share one processor, as in `rest`. With a delay, nginx runs on another
    # processor, so that it takes no processor time from the clients.
    processors = machine.processors()
    os.sched_setaffinity(0, {processors[-1]})
    lists = {1, effort.pages, *(at_once + 1 for one in CONTENDERS.values() for at_once in one.at_once)}
    samples: Samples = {}
    with TemporaryDirectory() as name, ExitStack() as run:
        folder = Path(name)
        now = run.enter_context(PagesServer(folder / "now", lists, 0, processors[-1]))
        later = run.enter_context(PagesServer(folder / "later", lists, DELAY, processors[0]))
        arena = Arena(folder, programs, {0: now.base_url, DELAY: later.base_url}, effort.pages, CONTENDERS)
        for _ in range(effort.starts):
            with ExitStack() as start:
                contestants = started(start, folder, arena.commands())
                arena.run_at_once(contestants, effort, samples)
                arena.run_late(contestants, effort.late_rounds, samples)
    return [wall_table(delay, effort.pages, samples, CONTENDERS) for delay in (0, DELAY)]


def panels(by_key: dict[str, Table]) -> list[plot.Panel]:
    now, later = by_key["pages/0"], by_key[f"pages/{DELAY}"]
    return [
        plot.Panel(now, "ratio", f"{now.title}: multiple of raw libcurl + yyjson (logarithmic)", log=True),
        plot.Panel(later, "min", f"{later.title}: ms"),
    ]


def main() -> int:
    options = report.options("pages")
    effort = Effort(5, 1, 1, 0, 1) if options.quick else Effort(100, 5, 4, 0.03, 1)
    tables = measure(options.programs, effort)
    report.publish("pages", options, tables, machine.facts_of_clients(PACKAGES), panels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
