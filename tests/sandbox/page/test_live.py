"""The stream that keeps an open list fresh, many readers and long lists, and a page of which a part is missing."""

from __future__ import annotations

import contextlib
import http.client
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import billcore_sandbox
from billcore.testing import Sandbox
from sandbox.page.support import Browser
from sandbox.page.test_traffic import List
from sandbox.support import Service, account, of_ready, started
from support.waiting import GENEROUS, LATE, until

# A sandbox that says on SIGUSR1 how many tasks it has, and whether it has loaded the page.
TELLING = """
import asyncio, signal, sys
from billcore_sandbox.cli import main
def tell(*_):
    print(len(asyncio.all_tasks()), "jinja2" in sys.modules, flush=True)
signal.signal(signal.SIGUSR1, tell)
sys.exit(main(sys.argv[1:]))
"""


def told(process: subprocess.Popen[str]) -> list[str]:
    """The number of tasks of a TELLING sandbox, and whether it has loaded the page."""
    assert process.stdout is not None
    process.send_signal(signal.SIGUSR1)
    return process.stdout.readline().split()


@contextlib.contextmanager
def reading(service: Service) -> Iterator[Iterator[tuple[str, int]]]:
    """The events of the stream: their names and data."""
    connection = http.client.HTTPConnection(service.host, service.port or 80, timeout=GENEROUS)
    connection.request("GET", "/_page/changes", headers={"Accept": "text/event-stream"})
    answer = connection.getresponse()
    assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"

    def events() -> Iterator[tuple[str, int]]:
        name = "message"
        for line in answer:
            field, _, value = line.decode().strip().partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                yield name, int(value)
                name = "message"

    with contextlib.closing(connection), contextlib.closing(answer):
        yield events()


def position(sandbox: Sandbox) -> int:
    return List(account(sandbox)).position


def burst(service: Service, seconds: float) -> int:
    """Sends requests as fast as it can on one connection; returns their number."""
    connection = http.client.HTTPConnection(service.host, service.port or 80, timeout=GENEROUS)
    count, end = 0, time.monotonic() + seconds
    with contextlib.closing(connection):
        while time.monotonic() < end:
            connection.request("GET", f"{service.root}/product/1", headers={"X-API-KEY": service.api_key})
            connection.getresponse().read()
            count += 1
    return count


def test_the_stream_says_where_the_history_ends_a_few_times_a_second() -> None:
    with Sandbox() as sandbox:
        service = account(sandbox)
        with reading(service) as events:
            assert next(events) == ("message", 0)
            start = time.monotonic()
            count = burst(service, 2)
            last = position(sandbox)
            assert last == 2 * count  # a request comes, and is answered
            got: list[tuple[str, int]] = []
            while not got or got[-1] != ("message", last):
                got.append(next(events))
            elapsed = time.monotonic() - start
            print(f"{count} changes/s, {len(got) / elapsed:.1f} events/s")
            assert len(got) <= elapsed * 4 + 1 and got == sorted(got) and len(got) >= 2
            sandbox.control.reset()
            assert [next(events), next(events)] == [("reset", 0), ("message", 0)]
            service.get("/product/1")
            assert next(events)[1] in (1, 2)
            sandbox.control.clear_history()  # the record of it comes after all that were deleted
            until(lambda: next(events)[1] == 3)
            with reading(service) as late:
                assert next(late) == ("message", 3)
            sandbox.close()
            assert [*events] == []


def test_readers_that_are_gone_or_never_read_leave_nothing() -> None:
    with started(code=TELLING) as (process, ready):
        service, control = of_ready(ready)
        assert told(process)[1] == "False", "only a page needs the templates"
        assert Browser(service).send("GET", "/healthz")[0] == 200 and told(process)[1] == "False"
        List(service).page()
        files = Path(f"/proc/{process.pid}/fd")
        counts: list[tuple[int, int]] = []  # the task and the connection of a request may end after its answer
        while not counts or counts.count(min(counts)) < 20:
            counts.append((int(told(process)[0]), len([*files.iterdir()])))
            time.sleep(0.005)
        idle, before = min(counts)

        def reader() -> socket.socket:
            wire = socket.create_connection((service.host, service.port or 80), timeout=GENEROUS)
            wire.sendall(f"GET /_page/changes HTTP/1.1\r\nHost: {service.host}\r\n\r\n".encode())
            return wire

        deaf = reader()
        readers = [reader() for _ in range(200)]
        for each in readers:
            assert each.recv(4096).startswith(b"HTTP/1.1 200")
        assert int(told(process)[0]) >= int(idle) + 201
        for number, each in enumerate(readers):
            if number % 2:  # as if the browser was killed
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            each.close()
        burst(service, 0.1)

        def left() -> int:
            return int(told(process)[0]) - int(idle)

        until(lambda: left() <= 1 and len([*files.iterdir()]) <= before + 1)
        burst(service, 1)
        deaf.close()
        service.get("/product/1")
        until(lambda: left() == 0 and len([*files.iterdir()]) == before)
        assert control.state()["counts"]["requests"] > 1


def test_a_long_history_is_shown_at_once(tmp_path: Path) -> None:
    file = tmp_path / "sandbox.db"
    with Sandbox(db=file) as sandbox:
        service = account(sandbox)
        assert service.charge().status == 200
        sandbox.control.create_endpoint("http://127.0.0.1:9/")
        subscription = service.subscription("demo-active")["id"]
        sandbox.control.subscription(subscription, "cancel")
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        for table, key, count in (
            ("requests", "id", 4000),
            ("ledger", "id", 2500),
            ("state_changes", "id", 10_000),
            ("deliveries", "seq", 1500),
        ):
            columns = [f'"{row[1]}"' for row in db.execute(f"PRAGMA table_info({table})") if row[1] != key]
            last = f"SELECT {', '.join(columns)} FROM {table} WHERE {key} = (SELECT max({key}) FROM {table})"
            db.execute(
                f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
                f" INSERT INTO {table} ({', '.join(columns)}) SELECT r.* FROM n, ({last}) r"
            )
    with Sandbox(db=file) as sandbox:
        service = account(sandbox)
        browser, own = Browser(service), f"account={service.account}"
        end = position(sandbox)
        assert end > 18_000
        paths = ["/", f"/?{own}", "/?trouble=1", "/?kind=delivery", "/?before=9000", "/?q=charge", "/?q=is-nowhere"]
        paths += ["/?q=is-nowhere&trouble=1", f"/?{own}&q=is-nowhere", "/?open=request-3", "/?open=delivery-50001"]
        paths += ["/_page/rows?after=0", "/_page/rows?after=0&q=is-nowhere&trouble=1", f"/_page/rows?after={end - 5}"]
        paths += ["/_page/subscriptions", f"/_page/subscriptions/{subscription}", "/_page/upcoming"]
        for path in paths:
            browser.get(path)
            begin = time.perf_counter()
            page = browser.get(path)
            took = time.perf_counter() - begin
            print(f"{took * 1000:6.1f} ms {len(page):7} bytes  {path}")
            assert took < LATE and len(page) < 200_000, path
        page = browser.get(f"/_page/subscriptions/{subscription}")
        assert "9951 earlier changes are not shown" in page and page.count('<a href="/?open=state-') == 50


@pytest.mark.parametrize("lacking", ["jinja2", "htmx"])
def test_without_a_part_of_the_page_all_the_rest_works(tmp_path: Path, lacking: str) -> None:
    source = Path(billcore_sandbox.__file__).parent
    copy = shutil.copytree(source, tmp_path / source.name, ignore=shutil.ignore_patterns("htmx.min.js", "__pycache__"))
    begin = "sys.modules['jinja2'] = None" if lacking == "jinja2" else f"sys.path.insert(0, {str(copy.parent)!r})"
    code = f"import sys; {begin}\nfrom billcore_sandbox.cli import main\nsys.exit(main(sys.argv[1:]))"
    with started(code=code) as (process, ready):
        service, control = of_ready(ready)
        browser = Browser(service)
        for path in ("/", "/_page/upcoming", "/_page/changes", "/_page/do/reset", "/_page/static/page.css"):
            status, headers, body = browser.send("GET", path)
            assert status == (200 if path == "/" else 503), path
            assert headers["Content-Type"] == "text/plain; charset=utf-8"
            assert f"The page for browsers needs {'the package jinja2' if lacking == 'jinja2' else 'htmx.min.js'}" in (
                body.decode()
            )
        assert browser.send("POST", "/_page/do/reset", "")[0] == 503, "nothing was done"
        assert browser.send("GET", "/healthz")[2] == b"ok\n" and service.charge().status == 200
        assert len(control.ledger("charge")) == 1
        process.terminate()
        assert process.wait(GENEROUS) == 0 and process.stderr is not None and process.stderr.read() == ""


def test_a_program_gets_plain_text(process: Sandbox) -> None:
    service = account(process)
    for accept in ("*/*", "application/json", ""):
        connection = http.client.HTTPConnection(service.host, service.port or 80, timeout=GENEROUS)
        with contextlib.closing(connection):
            connection.request("GET", "/", headers={"Accept": accept})
            shown = connection.getresponse()
            assert shown.headers["Content-Type"] == "text/plain; charset=utf-8"
            assert b"/_sandbox/" in shown.read()
