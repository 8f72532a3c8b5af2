"""The area `bulk`: all orders of all subscriptions. Each measurement is a whole process, imports included."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from . import machine, report
from .bodies import spelled
from .nginx import ACCOUNT, Nginx
from .pages_server import PER_PAGE, answers, orders
from .tables import Row, Table
from .targets import BULK
from .turns import ROOT

LABELS = {
    "aiohttp": "aiohttp + orjson + pyarrow, to Parquet",
    "parquet": "billcore.bulk + pyarrow, to Parquet",
    "bare": "billcore.bulk, batches not opened",
}
PACKAGES = ("aiohttp", "orjson", "pyarrow")
LISTS_PER_PAGE = 100


@dataclass(frozen=True)
class Effort:
    rounds: int
    lists: int
    growth: tuple[int, ...]  # numbers of lists; each list has PER_PAGE orders


@dataclass(frozen=True)
class Run:
    wall: float  # seconds
    cpu: float  # seconds of the process and of its children
    peak: float  # MB of the largest process


def _account(lists: int) -> str:
    return f"{lists:08}{ACCOUNT[8:]}"


class BulkServer(Nginx):
    """Serves accounts with different numbers of subscriptions, each with the same page of orders."""

    def __init__(self, folder: Path, accounts: Iterable[int], processor: int) -> None:
        http = """
  open_file_cache max=4096 inactive=1h;
  map $arg_page $page {{ default $arg_page; "" 1; }}
  server {{ listen 127.0.0.1:{lists};
    location ~ /orders$ {{ rewrite ^ /orders break; }}
    location / {{ rewrite ^(.*)$ $1/$page break; }} }}
"""
        super().__init__(folder, http, ["lists"], processor=processor)
        (self.root / "orders").write_bytes(next(answers(1)))
        example = json.loads((ROOT / "tests/fixtures/wire/_examples.json").read_text("utf-8"))["Subscription"]
        for lists in accounts:
            pages = self.root / _account(lists) / "subscriptions"
            pages.mkdir(parents=True)
            last = -(-lists // LISTS_PER_PAGE)
            for page in range(1, last + 1):
                ids = range((page - 1) * LISTS_PER_PAGE, min(page * LISTS_PER_PAGE, lists))
                pagination = {"total": lists, "count": len(ids), "per_page": LISTS_PER_PAGE, "current_page": page}
                links = {"next": None, "previous": None}
                answer = {
                    "data": [{**example, "id": f"sub_{number:06}"} for number in ids],
                    "pagination": {**pagination, "total_pages": last, "links": links},
                }
                (pages / str(page)).write_bytes(spelled(answer))
        self.base_url = f"http://127.0.0.1:{self.ports['lists']}"


def _run(name: str, base_url: str, lists: int, folder: Path) -> Run:
    command = [sys.executable, "-m", "tests.bench.bulk_rows", name, f"{base_url}/{_account(lists)}", str(folder / name)]
    start = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        answer = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    wall = perf_counter() - start
    amounts = sum(order["total"] for order in orders(1)) * lists
    expected = f"{lists * PER_PAGE} {0 if name == 'bare' else amounts}"
    if process.returncode != 0 or answer.strip() != expected:
        raise RuntimeError(f"{name} reads {answer.strip()!r} instead of {expected!r}")
    return Run(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def _extra(runs: list[Run], lists: int) -> dict[str, float]:
    wall, peak = min(run.wall for run in runs), min(run.peak for run in runs)
    return {"wall s": wall, "rows/s": lists * PER_PAGE / wall, "peak MB": peak}


def measure(effort: Effort) -> list[Table]:
    processors = machine.processors()
    with TemporaryDirectory() as name:
        folder = Path(name)
        accounts = {effort.lists, *effort.growth}
        with BulkServer(folder / "nginx", accounts, processors[0]) as server:
            os.sched_setaffinity(0, {processors[-1]})
            runs: dict[str, list[Run]] = {name: [] for name in LABELS}
            for _ in range(effort.rounds):
                for name in random.sample(list(LABELS), len(LABELS)):
                    runs[name].append(_run(name, server.base_url, effort.lists, folder))
            growth = [
                Row(f"{name}/{lists}", f"{label}, {lists * PER_PAGE:,} orders", [run.cpu], _extra([run], lists))
                for name, label in LABELS.items()
                for lists in effort.growth
                for run in [_run(name, server.base_url, lists, folder)]
            ]
    rows = [
        Row(name, LABELS[name], [run.cpu for run in found], _extra(found, effort.lists)) for name, found in runs.items()
    ]
    title = f"{effort.lists * PER_PAGE:,} orders of {effort.lists:,} subscriptions, no delay"
    return [
        Table("bulk/0", title, "cpu s", "aiohttp", rows, BULK),
        Table("bulk/growth", "What grows with the number of orders", "cpu s", None, growth, {}),
    ]


def main() -> int:
    options = report.options("bulk")
    effort = Effort(1, 20, (10, 40)) if options.quick else Effort(3, 2000, (1000, 2000, 4000, 8000, 16_000))
    report.publish("bulk", options, measure(effort), machine.facts(PACKAGES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
