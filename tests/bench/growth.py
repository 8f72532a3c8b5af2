"""The area `growth`: how an operation's time grows with the GETs in flight, the threads, the length of a list, and
the size of a body."""

from __future__ import annotations

import os
import random
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from . import bodies, machine, native, pages_server, plot, report, rest
from .pages import CONTENDERS as PAGES
from .pages import DEFAULT
from .pages_server import PER_PAGE, PagesServer
from .rest_server import Authority, RestServer, answer
from .tables import Row, Table
from .turns import command, started

Samples = dict[tuple[str, int], list[float]]  # (contender, size) -> times

IN_FLIGHT = ("raw_yyjson", "cpp", "billcore_async", "go", "aiohttp")
THREADS = ("raw_yyjson", "cpp", "billcore", "go", "urllib3")
PACKAGES = ("aiohttp", "urllib3", "pyarrow")
LISTS = {"raw": 1, "cpp": DEFAULT, "billcore": DEFAULT, "arrow": DEFAULT, "go": DEFAULT}  # contender -> pages in flight
BODIES = {
    "verify/limit": "raw SHA-256 states (limit)",
    "verify/check": "C++ Verifier::check",
    "unwrap/limit_read": "limit + yyjson, 3 fields read",
    "unwrap/copy_read": "C++ Verifier::unwrap, 3 fields read",
}


@dataclass(frozen=True)
class Effort:
    rounds: int
    gets: int  # minimum number of GETs in one turn
    in_flight: tuple[int, ...]
    threads: tuple[int, ...]
    pages: tuple[int, ...]
    bodies: tuple[int, ...]
    native: native.Effort


FULL = Effort(
    5,
    2000,
    (1, 10, 100, 1000),
    (1, 2, 4, 8, 16, 32, 64),
    (1, 10, 100, 1000, 10_000),
    (300, 3000, 30_000, 300_000, 3_000_000, 16 << 20),
    native.Effort(5, 0.1, 1, 1),
)
QUICK = Effort(1, 20, (1, 10), (1, 4), (1, 3), (300, 30_000), native.Effort(1, 0.005, 1, 1))


def _table(key: str, title: str, unit: str, labels: dict[str, str], samples: Samples) -> Table:
    rows = [Row(f"{name}/{size}", f"{labels[name]}, {size:,}", found) for (name, size), found in samples.items()]
    return Table(f"growth/{key}", title, unit, None, rows, {})


def _gets(folder: Path, programs: Path, keys: tuple[str, ...], sizes: tuple[int, ...], effort: Effort) -> Samples:
    """Measures the microseconds per GET. Starts new processes for each number of GETs in flight, so that no
    connections of the previous number remain."""
    samples: Samples = {}
    authority = Authority(folder)
    with RestServer(folder / "nginx", authority, answer()[0]) as nginx:
        url, bundle = nginx.base_urls["plain"], str(authority.bundle)
        for at_once in sizes:
            commands = {key: command("rest", rest.CONTENDERS[key].kind, programs, key, bundle) for key in keys}
            count = max(effort.gets, 2 * at_once) // at_once * at_once
            with ExitStack() as stack:
                places = list(started(stack, folder, commands).items())
                for _ in range(effort.rounds):
                    random.shuffle(places)
                    for key, contestant in places:
                        turn = contestant.run(url, at_once, count, 2 * at_once)
                        samples.setdefault((key, at_once), []).append(turn.wall / count / 1e3)
    return {(key, at_once): samples[key, at_once] for key in keys for at_once in sizes if (key, at_once) in samples}


def _lists(folder: Path, programs: Path, effort: Effort) -> Samples:
    """Measures the microseconds per order of a list."""
    samples: Samples = {}
    commands = {key: command("pages", PAGES[key].kind, programs, key) for key in LISTS}
    warm = 2 * DEFAULT
    with PagesServer(folder, {*effort.pages, warm}, [0], machine.processors()[-1]) as server:
        for pages in effort.pages:
            expected = pages_server.read_of(pages_server.orders(pages))
            often = max(1, 100 // pages)
            with ExitStack() as stack:
                contestants = started(stack, folder, commands)
                for _ in range(effort.rounds if pages < 1000 else 2):
                    for key in random.sample(list(LISTS), len(LISTS)):
                        for _ in range(often):
                            turn = contestants[key].run(server.base_urls[0], LISTS[key], pages, warm)
                            if turn.read != expected:
                                raise RuntimeError(f"{key} reads {turn.read} instead of {expected}")
                            each = turn.wall / pages / PER_PAGE / 1e3
                            samples.setdefault((key, pages * PER_PAGE), []).append(each)
    return {(key, pages * PER_PAGE): samples[key, pages * PER_PAGE] for key in LISTS for pages in effort.pages}


def _bodies(folder: Path, program: Path, effort: Effort) -> Samples:
    """Measures the nanoseconds per byte of a webhook delivery."""
    folder.mkdir()
    bodies.write(folder, effort.bodies)
    names = "|".join(BODIES)
    found = native.run(program, folder, effort.native, f"--benchmark_filter=^({names})/[0-9]+$")
    return {
        (name, size): [nanoseconds / size for nanoseconds in found[f"{name}/{size}"]]
        for name in BODIES
        for size in effort.bodies
    }


def measure(programs: Path, effort: Effort) -> list[Table]:
    os.sched_setaffinity(0, {machine.processors()[-1]})
    with TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("many", "threads"):
            (folder / part).mkdir()
        many = _gets(folder / "many", programs, IN_FLIGHT, effort.in_flight, effort)
        threads = _gets(folder / "threads", programs, THREADS, effort.threads, effort)
        lists = _lists(folder / "lists", programs, effort)
        sizes = _bodies(folder / "bodies", programs / "webhook-bench", effort)
    of_gets = {key: str(rest.CONTENDERS[key].sequential).replace("easy", "multi") for key in {*IN_FLIGHT, *THREADS}}
    of_lists = {key: PAGES[key].label for key in LISTS}
    return [
        _table("in_flight", "GETs in flight, one client: µs per GET", "µs", of_gets, many),
        _table("threads", "Threads on one client, one GET each: µs per GET", "µs", of_gets, threads),
        _table("orders", "Orders in a list: µs per order", "µs", of_lists, lists),
        _table("bodies", "Bytes of a delivery: ns per byte", "ns", BODIES, sizes),
    ]


def curves(by_key: dict[str, Table]) -> list[plot.Curves]:
    return [plot.Curves(table) for table in by_key.values()]


def main() -> int:
    options = report.options("growth")
    effort = QUICK if options.quick else FULL
    tables = measure(options.program.parent, effort)
    report.publish("growth", options, tables, machine.facts_of_clients(PACKAGES), curves)
    return 0


if __name__ == "__main__":
    sys.exit(main())
