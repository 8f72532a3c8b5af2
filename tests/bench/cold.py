"""`run.sh cold`: measures calls between which other code and data fill the processor's caches."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from . import bodies, machine, report, rounds
from .pages_server import PagesServer, orders, read_of
from .rest_server import Authority, RestServer, answer, order
from .rounds import Place
from .tables import Row, Table
from .targets import COLD
from .turns import command

LIMIT = "limit"
BY_HAND = "raw libcurl + yyjson"


@dataclass(frozen=True)
class Operation:
    """Measured calls. rows: maps the key of each row to the name of its contender in the area, and to its label."""

    title: str
    area: str
    rows: dict[str, tuple[str, str]]


OPERATIONS = {
    "verify": Operation(
        "Verify, 900 B",
        "webhook",
        {
            LIMIT: ("limit", "raw SHA-256 states (limit)"),
            "cpp": ("cpp", "C++ Verifier::check"),
            "c": ("c", "C billcore_verifier_verify"),
        },
    ),
    "parse": Operation(
        "Verify and parse, 900 B",
        "webhook",
        {LIMIT: ("limit", "limit + yyjson in a reused pool"), "cpp": ("cpp", "C++ Verifier::unwrap")},
    ),
    "get": Operation(
        "GET, plain HTTP/1.1",
        "rest",
        {
            LIMIT: ("raw_yyjson", BY_HAND),
            "cpp": ("cpp", "C++ subscriptions().get"),
            "c": ("c", "C billcore_subscription_get"),
        },
    ),
    "charge": Operation(
        "Charge, plain HTTP/1.1",
        "rest",
        {LIMIT: ("raw_charge", BY_HAND), "cpp": ("cpp_charge", "C++ subscriptions().charge")},
    ),
    "page": Operation(
        "First page of a list, 100 orders",
        "pages",
        {
            LIMIT: ("raw", BY_HAND),
            "cpp": ("cpp", "C++ for (auto& order : pager)"),
            "c": ("c", "C billcore_order_list_next"),
        },
    ),
}


def places(folder: Path, rest: str, pages: str, count: int) -> dict[tuple[str, str], Place]:
    """What to measure. rest, pages: URLs of the servers. count: calls in a turn."""
    fields, total, one = answer()[1], order()[1], read_of(orders(1))
    urls = {"get": rest, "charge": rest, "page": pages}
    shows = {"get": fields, "charge": str(total), "page": str(one)}
    reads = {"get": len(fields.replace("\t", "")), "charge": total, "page": one}
    return {
        (key, row): Place(
            f"{operation.area} {name}",
            urls.get(key, f"{key}:{folder / '900'}"),
            1,
            count,
            0,
            shows.get(key, "900"),
            reads.get(key, 900) * count,
            cold=True,
        )
        for key, operation in OPERATIONS.items()
        for row, (name, _) in operation.rows.items()
    }


def measure(programs: Path, quick: bool) -> list[Table]:
    os.sched_setaffinity(0, {machine.processors()[-1]})
    count, starts, often = (20, 1, 2) if quick else (200, 5, 6)
    with TemporaryDirectory() as name:
        folder = Path(name)
        bodies.write(folder / "900", 900)
        authority = Authority(folder)
        with (
            RestServer(folder / "rest", authority, answer()[0]) as rest,
            PagesServer(folder / "pages", {1}, 0, machine.processors()[-1]) as pages,
        ):
            to_do = places(folder, rest.base_urls["plain"], pages.base_url, count)
            commands = {
                f"{one.area} {contender}": command(one.area, "native", programs, contender)
                for one in OPERATIONS.values()
                for contender, _ in one.rows.values()
            }
            samples = rounds.measure(folder, commands, to_do, starts, often)
    tables = []
    for key, operation in OPERATIONS.items():
        rows = [
            Row(row, label, [wall / count / 1e3 for wall, _ in samples[key, row]])
            for row, (_, label) in operation.rows.items()
        ]
        tables.append(Table(key, operation.title, "µs", LIMIT, rows, COLD, best=median))
    return tables


def main() -> int:
    options = report.options("cold")
    facts = {**machine.facts(()), "libcurl": machine.libcurl()}
    report.publish("cold", options, measure(options.programs, options.quick), facts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
