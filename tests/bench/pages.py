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


@dataclass(frozen=True)
class Contender:
    """A measured program. at_once: supported numbers of requests in flight. counts_pages: the program reads no fields
    and returns the number of pages.
    """

    label: str
    at_once: tuple[int, ...] = (1, DEFAULT, 16, 64)
    kind: str = "python"
    counts_pages: bool = False

    def name(self, at_once: int) -> str:
        return self.label if self.at_once == (1,) else f"{self.label}, {at_once} in flight"


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
    "pycurl": Contender("pycurl + orjson"),
    "aiohttp": Contender("aiohttp + orjson", (8, 16)),
    "requests": Contender("requests", (1,)),
}
# ITEMS measures the cost of an item: some contenders read only pages, others read items but no fields. The contenders
# in CONTENDERS read three fields of each item.
ITEMS = {
    "cpp_pages": Contender("C++ next_page(), no items", (1,), "native", counts_pages=True),
    "cpp_items": Contender("C++ for (auto& order : pager) {}", (1,), "native", counts_pages=True),
    "billcore_pages": Contender("billcore pager.pages(), no items", (1,), counts_pages=True),
    "billcore_items": Contender("billcore for order in pager: pass", (1,), counts_pages=True),
}
# Contenders that only the area ffi measures, because only the build of the area ffi makes these programs.
BORDER = {
    "go_billcore": Contender("billcore Go for order, err := range", (1, DEFAULT), "ffi-go"),
    "rust_billcore": Contender("billcore Rust for order in list", (1, DEFAULT), "ffi-rust"),
    "rust_reqwest": Contender("Rust reqwest + serde_json", (1, DEFAULT), "ffi-rust"),
}
ALL = {**CONTENDERS, **ITEMS, **BORDER}
PACKAGES = ("pycurl", "orjson", "aiohttp", "requests", "pyarrow")

DELAYS = (0, 5, 20, 100)  # milliseconds
MEMORY_DELAY = 5

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
    late_rounds: dict[int, int]  # rounds for each delay
    memory: int  # how often memory is measured


@dataclass
class Arena:
    """The folder, programs and servers of a run. base_urls: maps the delay of each server to its URL."""

    folder: Path
    programs: Path
    base_urls: dict[int, str]
    pages: int

    def __post_init__(self) -> None:
        self._sum = read_of(orders(self.pages))
        self._sum_of_one = read_of(orders(1))

    def commands(self) -> dict[str, list[str]]:
        own = {**CONTENDERS, **ITEMS}
        return {key: command("pages", contender.kind, self.programs, key) for key, contender in own.items()}

    def turn(self, contestant: Contestant, at_once: int, delay: int) -> tuple[float, float]:
        # The warm-up reads a list of at_once + 1 pages, to open all connections that the measurement uses.
        turn = contestant.run(self.base_urls[delay], at_once, self.pages, at_once + 1)
        self._check(contestant.name, turn.read, self._sum, self.pages)
        return turn.wall / 1e6, turn.cpu / 1e6

    def require_right_answer(self, contestant: Contestant, at_once: int) -> None:
        self._check(contestant.name, int(contestant.show(self.base_urls[0], at_once)), self._sum_of_one, 1)

    def _check(self, key: str, read: int, fields: int, pages: int) -> None:
        expected = pages if ALL[key].counts_pages else fields
        if read != expected:
            raise RuntimeError(f"{key} reads {read} instead of {expected}")

    def run_at_once(
        self,
        contestants: dict[str, Contestant],
        effort: Effort,
        samples: Samples,
        only: tuple[int, ...] = (),
    ) -> None:
        """Measures without delay. only: the numbers of requests in flight to measure; empty: all numbers."""
        places = [place for place in _places(contestants, list(ALL)) if not only or place[1] in only]
        often = {}
        for key, at_once in places:
            self.require_right_answer(contestants[key], at_once)
            wall, _ = self.turn(contestants[key], at_once, 0)
            often[key, at_once] = max(1, round(effort.seconds * 1e3 / wall))
        for _ in range(effort.rounds):
            random.shuffle(places)
            for key, at_once in places:
                for _ in range(often[key, at_once]):
                    turn = self.turn(contestants[key], at_once, 0)
                    samples.setdefault((0, (key, at_once)), []).append(turn)

    def run_late(self, contestants: dict[str, Contestant], delay: int, rounds: int, samples: Samples) -> None:
        places = _places(contestants, list(CONTENDERS))
        for _ in range(rounds):
            random.shuffle(places)
            for key, at_once in places:
                turn = self.turn(contestants[key], at_once, delay)
                samples.setdefault((delay, (key, at_once)), []).append(turn)

    def memory(self, key: str, at_once: int) -> float:
        """Returns by how many MB a contender's peak memory, while it reads its first list, exceeds its memory when it
        was ready."""
        with ExitStack() as stack:
            only = started(stack, self.folder, {key: self.commands()[key]})[key]
            only.forget_peak()
            start = only.memory().resident
            only.run(self.base_urls[MEMORY_DELAY], at_once, self.pages, 1)
            return (only.memory().peak - start) / 1024


def _places(contestants: dict[str, Contestant], keys: list[str]) -> list[Place]:
    return [(key, at_once) for key in keys if key in contestants for at_once in ALL[key].at_once]


def _label(place: Place) -> str:
    return ALL[place[0]].name(place[1])


def _key(place: Place) -> str:
    return f"{place[0]}/{place[1]}"


def _count(pages: int) -> str:
    return f"{pages * PER_PAGE:,} orders"


def wall_table(delay: int, pages: int, samples: Samples) -> Table:
    rows = []
    for key, contender in CONTENDERS.items():
        for at_once in contender.at_once:
            found = samples.get((delay, (key, at_once)))
            if found:
                cpu = min(cpu for _, cpu in found)
                walls = [wall for wall, _ in found]
                rows.append(Row(_key((key, at_once)), _label((key, at_once)), walls, {"cpu ms": cpu}))
    what = f"each answer after {delay} ms" if delay else "no delay"
    return Table(f"pages/{delay}", f"{_count(pages)}, {what}", "ms", "raw/1", rows, PAGES, digits=1)


def item_table(pages: int, samples: Samples) -> Table:
    rows = []
    for prefix in ("cpp", "billcore"):
        places = [(f"{prefix}_pages", 1), (f"{prefix}_items", 1), (prefix, 1)]
        costs = [[cpu * 1e6 / pages / PER_PAGE for _, cpu in samples[0, place]] for place in places]
        for place, cost in zip(places, costs, strict=True):
            name = ALL[place[0]].label if place[0] in ITEMS else f"{ALL[place[0]].label}, 3 fields read"
            rows.append(Row(place[0], name, cost, {"ns over pages": min(cost) - min(costs[0])}))
    title = "What an item costs: the client's processor time for each of the orders, one page in flight, no delay"
    return Table("pages/items", title, "ns", None, rows, PAGES, digits=0)


def memory_table(pages: int, found: dict[Place, list[float]]) -> Table:
    rows = [Row(_key(place), _label(place), values) for place, values in found.items()]
    title = f"Peak memory beyond the start, {_count(pages)}, each answer after {MEMORY_DELAY} ms"
    return Table("pages/memory", title, "MB", None, rows, PAGES, digits=1)


def measure(programs: Path, effort: Effort) -> list[Table]:
    # Without delay, clients and server share one processor, as in `rest`. With a delay, nginx runs on another
    # processor, so that it takes no processor time from the clients.
    processors = machine.processors()
    os.sched_setaffinity(0, {processors[-1]})
    lists = {1, effort.pages, *(at_once + 1 for one in ALL.values() for at_once in one.at_once)}
    samples: Samples = {}
    with TemporaryDirectory() as name, ExitStack() as run:
        folder = Path(name)
        now = run.enter_context(PagesServer(folder / "now", lists, [0], processors[-1]))
        later = run.enter_context(PagesServer(folder / "later", lists, DELAYS, processors[0]))
        arena = Arena(folder, programs, {**later.base_urls, 0: now.base_urls[0]}, effort.pages)
        for _ in range(effort.starts - 1):
            with ExitStack() as start:
                arena.run_at_once(started(start, folder, arena.commands()), effort, samples)
        with ExitStack() as start:
            contestants = started(start, folder, arena.commands())
            arena.run_at_once(contestants, effort, samples)
            for delay, rounds in effort.late_rounds.items():
                arena.run_late(contestants, delay, rounds, samples)
        places = _places(contestants, list(CONTENDERS))
        memory = {place: [arena.memory(*place) for _ in range(effort.memory)] for place in places}
    tables = [wall_table(delay, effort.pages, samples) for delay in DELAYS]
    return [*tables, memory_table(effort.pages, memory), item_table(effort.pages, samples)]


def panels(by_key: dict[str, Table]) -> list[plot.Panel]:
    now, later, memory = (by_key[f"pages/{name}"] for name in ("0", "20", "memory"))
    many = [row.key for row in now.rows if row.key.endswith("/64")]
    return [
        plot.Panel(now, "ratio", f"{now.title}: multiple of raw libcurl + yyjson (logarithmic)", many, log=True),
        plot.Panel(later, "min", f"{later.title}: ms", many),
        plot.Panel(memory, "min", "Peak memory beyond the start: MB", many),
    ]


def main() -> int:
    options = report.options("pages")
    quick = Effort(5, 1, 1, 0, {5: 1, 20: 1, 100: 1}, 1)
    effort = quick if options.quick else Effort(100, 5, 4, 0.03, {5: 3, 20: 3, 100: 1}, 1)
    tables = measure(options.program.parent, effort)
    report.publish("pages", options, tables, machine.facts_of_clients(PACKAGES), panels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
