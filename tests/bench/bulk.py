"""The area `bulk`: all orders of all subscriptions. Each measurement is a whole process, imports included."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
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
class Run:
    wall: float  # seconds
    cpu: float  # seconds of the process and of its children
    peak: float  # MB of the largest process


class BulkServer(Nginx):
    """Serves an account with so many subscriptions, each with the same page of orders."""

    def __init__(self, folder: Path, lists: int, processor: int) -> None:
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
        pages = self.root / ACCOUNT / "subscriptions"
        pages.mkdir(parents=True)
        last = -(-lists // LISTS_PER_PAGE)
        for page in range(1, last + 1):
            ids = range((page - 1) * LISTS_PER_PAGE, min(page * LISTS_PER_PAGE, lists))
            pagination = {"total": lists, "count": len(ids), "per_page": LISTS_PER_PAGE, "current_page": page}
            answer = {
                "data": [{**example, "id": f"sub_{number:06}"} for number in ids],
                "pagination": {**pagination, "total_pages": last, "links": {"next": None, "previous": None}},
            }
            (pages / str(page)).write_bytes(spelled(answer))
        self.base_url = f"http://127.0.0.1:{self.ports['lists']}/{ACCOUNT}"


def _run(name: str, base_url: str, lists: int, folder: Path) -> Run:
    command = [sys.executable, "-m", "tests.bench.bulk_rows", name, base_url, str(folder / name)]
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


def measure(lists: int, rounds: int) -> list[Table]:
    processors = machine.processors()
    runs: dict[str, list[Run]] = {name: [] for name in LABELS}
    with TemporaryDirectory() as folder, BulkServer(Path(folder, "nginx"), lists, processors[0]) as server:
        os.sched_setaffinity(0, {processors[-1]})
        for _ in range(rounds):
            for name in random.sample(list(LABELS), len(LABELS)):
                runs[name].append(_run(name, server.base_url, lists, Path(folder)))
    rows = []
    for name, found in runs.items():
        extra = {"wall s": min(run.wall for run in found), "peak MB": min(run.peak for run in found)}
        rows.append(Row(name, LABELS[name], [run.cpu for run in found], extra))
    title = f"{lists * PER_PAGE:,} orders of {lists:,} subscriptions, no delay"
    return [Table("bulk/0", title, "cpu s", "aiohttp", rows, BULK)]


def main() -> int:
    options = report.options("bulk")
    tables = measure(20, 1) if options.quick else measure(2000, 3)
    report.publish("bulk", options, tables, machine.facts(PACKAGES))
    return 0


if __name__ == "__main__":
    sys.exit(main())
