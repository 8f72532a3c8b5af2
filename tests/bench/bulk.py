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

import billcore

from . import machine, plot, report
from .bodies import spelled
from .nginx import ACCOUNT, Nginx
from .pages_server import ECHO, PER_PAGE, answers, orders
from .tables import Row, Table
from .targets import BULK
from .turns import ROOT

LABELS = {
    "aiohttp": "aiohttp + orjson + pyarrow, to Parquet",
    "parquet": "billcore.bulk + pyarrow, to Parquet",
    "bare": "billcore.bulk, batches not opened",
}
# Each engine has an environment of its own, whose interpreter is in a variable: see run.sh.
ENGINES = {"sail": "BILLCORE_SAIL_PYTHON", "spark": "BILLCORE_SPARK_PYTHON"}
LABELS |= {
    name: f"billcore.spark on {name.title()}, to Parquet"
    for name, variable in ENGINES.items()
    if variable in os.environ
}
PACKAGES = ("aiohttp", "orjson", "pyarrow")
DELAY = 20  # milliseconds
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
    """Serves accounts with different numbers of subscriptions, each with the same page of orders. base_urls: maps each
    delay to the URL without the account."""

    def __init__(self, folder: Path, accounts: Iterable[int], processor: int) -> None:
        http = f"""
  open_file_cache max=4096 inactive=1h;
  map $arg_page $page {{{{ default $arg_page; "" 1; }}}}
  server {{{{ listen 127.0.0.1:{{now}};
    location ~ /orders$ {{{{ rewrite ^ /orders break; }}}}
    location / {{{{ rewrite ^(.*)$ $1/$page break; }}}} }}}}
  server {{{{ listen 127.0.0.1:{{later}};
    location / {{{{ echo_sleep {DELAY / 1000}; echo_exec @answer; }}}}
    location @answer {{{{ rewrite /orders$ /orders break; rewrite ^(.*)$ $1/$page break; }}}} }}}}
"""
        super().__init__(folder, http, ["now", "later"], modules=f"load_module {ECHO};", processor=processor)
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
        self.base_urls = {0: f"http://127.0.0.1:{self.ports['now']}", DELAY: f"http://127.0.0.1:{self.ports['later']}"}


def _run(name: str, base_url: str, lists: int, folder: Path) -> Run:
    python, environment = sys.executable, dict(os.environ)
    if name in ENGINES:
        packages = folder / "packages"
        packages.mkdir(exist_ok=True)
        for package in Path(billcore.__file__).parent.parent.glob("billcore*"):
            if not (packages / package.name).exists():
                (packages / package.name).symlink_to(package)
        python, environment["PYTHONPATH"] = os.environ[ENGINES[name]], str(packages)
    command = [python, "-m", "tests.bench.bulk_rows", name, f"{base_url}/{_account(lists)}", str(folder / name)]
    start = perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment) as process:
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


def _rows(runs: dict[str, list[Run]], rows: int) -> list[Row]:
    out = []
    for name, found in runs.items():
        wall, peak = min(run.wall for run in found), min(run.peak for run in found)
        extra = {"wall s": wall, "rows/s": rows / wall, "peak MB": peak}
        out.append(Row(name, LABELS[name], [run.cpu for run in found], extra))
    return out


def measure(effort: Effort) -> list[Table]:
    processors = machine.processors()
    with TemporaryDirectory() as name:
        folder = Path(name)
        accounts = {effort.lists, *effort.growth}
        with BulkServer(folder / "nginx", accounts, processors[0]) as server:
            os.sched_setaffinity(0, {processors[-1]})
            tables = []
            for delay, base_url in server.base_urls.items():
                runs: dict[str, list[Run]] = {name: [] for name in LABELS}
                for _ in range(effort.rounds):
                    for name in random.sample(list(LABELS), len(LABELS)):
                        runs[name].append(_run(name, base_url, effort.lists, folder))
                count = effort.lists * PER_PAGE
                title = f"{count:,} orders of {effort.lists:,} subscriptions, "
                title += f"each answer after {delay} ms" if delay else "no delay"
                tables.append(Table(f"bulk/{delay}", title, "cpu s", "aiohttp", _rows(runs, count), BULK))
            peaks, costs = [], []
            for lists in effort.growth:
                for name, label in LABELS.items():
                    run = _run(name, server.base_urls[0], lists, folder)
                    key, label = f"{name}/{lists * PER_PAGE}", f"{label}, {lists * PER_PAGE:,}"
                    peaks.append(Row(key, label, [run.peak]))
                    costs.append(Row(key, label, [run.cpu * 1e6 / lists / PER_PAGE]))
    by_name = list(LABELS)
    for rows in (peaks, costs):
        rows.sort(key=lambda row: by_name.index(row.key.partition("/")[0]))
    tables.append(Table("bulk/peak", "Orders read: peak memory in MB", "MB", None, peaks, {}))
    tables.append(Table("bulk/cost", "Orders read: µs of processor time per order", "µs", None, costs, {}))
    return tables


def curves(by_key: dict[str, Table]) -> list[plot.Curves]:
    return [plot.Curves(by_key["bulk/peak"]), plot.Curves(by_key["bulk/cost"])]


def main() -> int:
    options = report.options("bulk")
    effort = Effort(1, 20, (10, 40)) if options.quick else Effort(3, 2000, (1000, 2000, 4000, 8000, 16_000))
    tables = measure(effort)
    report.publish("bulk", options, tables, machine.facts(PACKAGES), curves)
    return 0


if __name__ == "__main__":
    sys.exit(main())
