"""`run.sh rest`: measures one GET of a subscription. Each round measures every contender on every transport."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from . import machine, plot, report, rest_late, rounds
from .rest_server import TRANSPORTS, Authority, RestServer, answer
from .rounds import Place
from .tables import Row, Table
from .targets import REST
from .turns import command

AT_ONCE, MANY = 16, 256


@dataclass(frozen=True)
class Contender:
    """A measured program, and the labels of its rows for sequential GETs, and for 16 and 256 concurrent GETs; None: not
    measured."""

    sequential: str | None
    at_once: str | None
    http2: bool = True
    kind: str = "python"
    many: str | None = None
    tls: bool = True

    def label(self, at_once: int) -> str | None:
        return {1: self.sequential, AT_ONCE: self.at_once, MANY: self.many}[at_once]

    def speaks(self, transport: str) -> bool:
        return {"plain": True, "tls": self.tls, "http2": self.tls and self.http2}[transport]


def _rust(name: str) -> Contender:
    """A contender in Rust that makes its calls in tasks on one thread, and has no TLS here."""
    return Contender(None, f"{name}, 16 tasks", kind="rust", many=f"{name}, 256 tasks", tls=False)


def _go(name: str) -> Contender:
    at_once, many = (f"{name}, {count} goroutines" for count in (AT_ONCE, MANY))
    return Contender(name, at_once, kind="go", many=many)


CONTENDERS = {
    "raw": Contender("raw libcurl easy, body not parsed", "raw libcurl multi, bodies not parsed", kind="native"),
    "raw_yyjson": Contender("raw libcurl easy + yyjson", "raw libcurl multi + yyjson", kind="native"),
    "raw_threads": Contender(None, "raw libcurl easy + yyjson, 16 threads", kind="native"),
    "cpp": Contender("C++ subscriptions().get", "C++ subscriptions().get, 16 threads", kind="native"),
    "c": Contender("C billcore_subscription_get", "C billcore_subscription_get, 16 threads", kind="native"),
    "cpp_many": Contender(None, "C++ subscriptions().get_many, 16 in flight", kind="native"),
    "raw_yyjson_newest": Contender("raw libcurl 8 easy + yyjson", "raw libcurl 8 multi + yyjson", kind="newest"),
    "raw_threads_newest": Contender(None, "raw libcurl 8 easy + yyjson, 16 threads", kind="newest"),
    "cpp_newest": Contender("C++, libcurl 8", "C++, libcurl 8, 16 threads", kind="newest"),
    "c_newest": Contender("C, libcurl 8", "C, libcurl 8, 16 threads", kind="newest"),
    "cpp_many_newest": Contender(None, "C++ get_many, libcurl 8, 16 in flight", kind="newest"),
    "go": _go("Go net/http + encoding/json"),
    "go_billcore": _go("Go billcore Client"),
    "billcore": Contender("billcore Client", "billcore Client, 16 threads"),
    "billcore_many": Contender(None, "billcore get_many, 16 in flight"),
    "billcore_async": Contender("billcore AsyncClient", "billcore AsyncClient, 16 tasks"),
    "billcore_uvloop": Contender("billcore AsyncClient, uvloop", "billcore AsyncClient, uvloop, 16 tasks"),
    "pycurl": Contender("pycurl, body not parsed", "pycurl CurlMulti, bodies not parsed"),
    "aiohttp": Contender("aiohttp", "aiohttp, 16 tasks", http2=False),
    "requests": Contender("requests", "requests, 16 threads", http2=False),
    "rust_billcore": _rust("Rust AsyncClient"),
    "rust_reqwest": _rust("Rust reqwest + serde_json"),
}
# raw and pycurl do not parse the answer.
UNPARSED = {"raw", "pycurl"}
PACKAGES = ("pycurl", "aiohttp", "uvloop", "requests")
MANNERS = {1: "one after the other", AT_ONCE: f"{AT_ONCE} at once", MANY: f"{MANY} at once"}


Key = tuple[str, str, int]  # (contender, transport, requests in flight)
Samples = dict[Key, list[rounds.Sample]]


def gets(count: int, at_once: int) -> int:
    """The GETs of a turn: so many, or if they cannot be shared evenly, eight for each task."""
    return 8 * at_once if count > at_once and count % at_once else count


def places(base_urls: dict[str, str], count: int) -> dict[Key, Place]:
    """What to measure. base_urls: maps each transport to its URL. count: GETs in a turn."""
    body, fields = answer()
    out = {}
    for transport, url in base_urls.items():
        for at_once in MANNERS:
            for key, contender in CONTENDERS.items():
                if contender.label(at_once) and contender.speaks(transport):
                    shows, number = body.decode() if key in UNPARSED else fields, gets(count, at_once)
                    reads = len(shows.replace("\t", "")) * number
                    out[key, transport, at_once] = Place(key, url, at_once, number, at_once, shows, reads)
    return out


def table(transport: str, at_once: int, samples: Samples, count: int) -> Table:
    rows, count = [], gets(count, at_once)
    for key, contender in CONTENDERS.items():
        found, label = samples.get((key, transport, at_once)), contender.label(at_once)
        if found and label:
            cpu = min(cpu for _, cpu in found) / count / 1e3
            rows.append(Row(key, label, [wall / count / 1e3 for wall, _ in found], {"client's cpu µs": cpu}))
    title = f"GET, {TRANSPORTS[transport]}, {MANNERS[at_once]}"
    reference = "raw" if any(row.key == "raw" for row in rows) else "go"
    return Table(f"rest/{transport}/{at_once}", title, "µs", reference, rows, REST, digits=1)


def measure(programs: Path, quick: bool) -> list[Table]:
    # Clients and server share one processor: a wake-up of another processor takes longer than a GET, and happens at
    # random.
    os.sched_setaffinity(0, {machine.processors()[-1]})
    count, starts, often = (256, 1, 2) if quick else (1536, 5, 6)  # multiples of 16 and 256
    with TemporaryDirectory() as name:
        folder = Path(name)
        authority = Authority(folder)
        bundle = str(authority.bundle)
        commands = {key: command("rest", one.kind, programs, key, bundle) for key, one in CONTENDERS.items()}
        with RestServer(folder / "nginx", authority, answer()[0]) as nginx:
            samples = rounds.measure(folder, commands, places(nginx.base_urls, count), starts, often)
        late = rest_late.table(folder, commands, {100: 1} if quick else {100: 10, 300: 4, 1000: 2})
    tables = (table(transport, at_once, samples, count) for transport in TRANSPORTS for at_once in MANNERS)
    return [*(one for one in tables if one.rows), late]


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
        if at_once != MANY
    ]


def main() -> int:
    options = report.options("rest")
    tables = measure(options.programs, options.quick)
    report.publish("rest", options, tables, machine.facts_of_clients(PACKAGES), panels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
