"""The area `pages`: a list of 10,000 orders, read page by page, measured in rounds of all contenders."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from . import machine, plot, report, rounds
from .pages_server import PER_PAGE, PagesServer, orders, read_of
from .rounds import Place
from .tables import Row, Table
from .targets import PAGES
from .turns import command

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

Key = tuple[int, str, int]  # (delay, contender, number of requests in flight)
Samples = dict[Key, list[rounds.Sample]]


def places(contenders: dict[str, Contender], base_urls: dict[int, str], pages: int) -> dict[Key, Place]:
    """What to measure for a list of so many pages. base_urls: maps the delay of each server to its URL."""
    one, whole = read_of(orders(1)), read_of(orders(pages))
    # The warm-up reads a list of at_once + 1 pages, to open all connections that the measurement uses.
    return {
        (delay, key, at_once): Place(key, url, at_once, pages, at_once + 1, str(one), whole, 1 if delay else 6)
        for delay, url in base_urls.items()
        for key, contender in contenders.items()
        for at_once in contender.at_once
    }


def lists(contenders: dict[str, Contender], pages: int) -> set[int]:
    """The numbers of pages of the lists that the server must have."""
    return {1, pages, *(at_once + 1 for one in contenders.values() for at_once in one.at_once)}


def commands(contenders: dict[str, Contender], programs: Path) -> dict[str, list[str]]:
    return {key: command("pages", one.kind, programs, key) for key, one in contenders.items()}


def wall_table(delay: int, pages: int, samples: Samples, contenders: dict[str, Contender]) -> Table:
    rows = []
    for key, contender in contenders.items():
        for at_once in contender.at_once:
            found = samples[delay, key, at_once]
            walls, cpu = [wall / 1e6 for wall, _ in found], min(cpu for _, cpu in found) / 1e6
            rows.append(Row(f"{key}/{at_once}", f"{contender.label}, {at_once} in flight", walls, {"cpu ms": cpu}))
    title = f"{pages * PER_PAGE:,} orders, {f'each answer after {delay} ms' if delay else 'no delay'}"
    return Table(f"pages/{delay}", title, "ms", "raw/1", rows, PAGES, digits=1)


def measure(programs: Path, pages: int, starts: int) -> list[Table]:
    # Without delay, clients and server share one processor, as in `rest`. With a delay, nginx runs on another
    # processor, so that it takes no processor time from the clients.
    processors = machine.processors()
    os.sched_setaffinity(0, {processors[-1]})
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder, wanted = Path(name), lists(CONTENDERS, pages)
        now = stack.enter_context(PagesServer(folder / "now", wanted, 0, processors[-1]))
        later = stack.enter_context(PagesServer(folder / "later", wanted, DELAY, processors[0]))
        to_do = places(CONTENDERS, {0: now.base_url, DELAY: later.base_url}, pages)
        samples = rounds.measure(folder, commands(CONTENDERS, programs), to_do, starts, starts)
    return [wall_table(delay, pages, samples, CONTENDERS) for delay in (0, DELAY)]


def panels(by_key: dict[str, Table]) -> list[plot.Panel]:
    now, later = by_key["pages/0"], by_key[f"pages/{DELAY}"]
    return [
        plot.Panel(now, "ratio", f"{now.title}: multiple of raw libcurl + yyjson (logarithmic)", log=True),
        plot.Panel(later, "min", f"{later.title}: ms"),
    ]


def main() -> int:
    options = report.options("pages")
    tables = measure(options.programs, 5 if options.quick else 100, 1 if options.quick else 3)
    report.publish("pages", options, tables, machine.facts_of_clients(PACKAGES), panels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
