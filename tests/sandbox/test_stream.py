"""GET stream: server-sent events over everything that happens, and what a reader that comes later or slowly gets."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import signal
import socket
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from billcore.testing import Control, ControlError, Sandbox, SandboxAccount, StreamEvent, WaitTimeout
from billcore_sandbox.control import app, bodies, stream
from billcore_sandbox.http.protocol import EXTENSION
from billcore_sandbox.options import Options
from billcore_sandbox.world import World
from sandbox.support import Receiver, Service, account, ended
from support.waiting import GENEROUS


def until_charged(events: Iterator[StreamEvent]) -> list[StreamEvent]:
    """The events until order.paid is delivered, which is the last that a charge causes."""

    def goes_on(event: StreamEvent) -> bool:
        record = event["record"]
        return not (event["kind"] == "attempt" and record["event"] == "order.paid" and record["status"] == 200)

    return [*takewhile(goes_on, events)]


def opened(control_url: str, query: str = "", **headers: str) -> http.client.HTTPResponse:
    parts = urlsplit(control_url)
    # Less than the time between two heartbeats, so that a test does not wait for ever for an event that does not come.
    connection = http.client.HTTPConnection(parts.netloc, timeout=stream.HEARTBEAT - 1)
    connection.request("GET", f"{parts.path}/stream{query}", headers=headers)
    return connection.getresponse()


def test_a_charge_from_its_request_to_the_last_attempt(mine: SandboxAccount, receiver: Receiver) -> None:
    receiver.script = [503]
    control = Control(mine.control_url, timeout=GENEROUS, account=Service(mine.accounts[0]).account)
    endpoint = control.create_endpoint(receiver.url)["id"]
    with control.stream(timeout=GENEROUS) as events:
        order = Service(mine.accounts[0]).charge().data["id"]
        seen = until_charged(events)
    last: dict[tuple[str, Any], Any] = {}
    for each in seen:
        record = each["record"]
        last[each["kind"], record.get("seq", record.get("id"))] = record
    (charge,) = [each for (kind, _), each in last.items() if kind == "request" and "/order" in each["target"]]
    assert (charge["operation"], charge["status"]) == ("subscriptions.charge", 200)
    assert json.loads(charge["answer_body"])["data"]["id"] == order and charge["duration_ms"] > 0
    (effect,) = [each for (kind, _), each in last.items() if kind == "effect"]
    assert (effect["kind"], effect["order_id"], effect["request_id"]) == ("charge", order, charge["id"])
    states = [each for (kind, _), each in last.items() if kind == "state"]
    assert [(each["object"], each["object_id"], each["from"], each["to"], each["event"]) for each in states] == [
        ("order", order, "new", "confirmed", "order.confirmed"),
        ("order", order, "confirmed", "paid", "order.paid"),
    ]
    for name, state in zip(("order.confirmed", "order.paid"), states, strict=True):
        (delivery,) = [each for (kind, _), each in last.items() if kind == "delivery" and each["event"] == name]
        assert (delivery["request_id"], delivery["effect_id"]) == (charge["id"], effect["id"])
        assert (delivery["state_id"], state["request_id"], state["effect_id"]) == (
            state["id"],
            charge["id"],
            effect["id"],
        )
    attempts = [each["record"] for each in seen if each["kind"] == "attempt"]
    assert [(each["event"], each["number"], each["status"]) for each in attempts][:1] == [("order.confirmed", 1, 503)]
    assert all(each["endpoint_id"] == endpoint and each["duration_ms"] > 0 for each in attempts)
    found = ended(control)
    assert control.deliveries(request_id=charge["id"]) == control.deliveries(effect_id=effect["id"]) == found
    assert control.ledger(request_id=charge["id"]) == [effect]


def test_a_reader_continues_where_it_stopped(mine: SandboxAccount) -> None:
    control = mine.control
    begin = control.ledger().cursor
    for name in "abc":
        control.create_product(name)
    control.advance(seconds=5)
    with control.stream(after=begin, timeout=GENEROUS) as events:
        seen = [next(events) for _ in range(7)]
    assert [each["kind"] for each in seen] == ["state", "effect"] * 3 + ["clock"]
    assert len({each["cursor"] for each in seen}) == 7
    for number, each in enumerate(seen[:-1], 1):
        with control.stream(after=each["cursor"], timeout=GENEROUS) as events:
            assert [next(events) for _ in seen[number:]] == seen[number:]
    # A browser connects again with its first URL, and says in a header where it stopped.
    account = Service(mine.accounts[0]).account
    answer = opened(mine.control_url, f"?account={account}&after={begin}", **{"Last-Event-ID": seen[5]["cursor"]})
    assert answer.headers["Content-Type"] == "text/event-stream; charset=utf-8"
    assert answer.readline() + answer.readline() == b"retry: 1000\n\n"
    lines = [answer.readline().decode() for _ in range(3)]
    assert lines[:2] == [f"id: {seen[6]['cursor']}\n", "event: clock\n"]
    assert json.loads(lines[2].removeprefix("data: ")) == seen[6]["record"]
    answer.close()


def test_filters(process: Sandbox, mine: SandboxAccount) -> None:
    other = process.new_account()
    begin = mine.control.ledger().cursor
    other.control.create_product("theirs")
    Service(mine.accounts[0]).get("/products")
    mine.control.create_product("mine")
    with mine.control.stream("effect", "state", after=begin, timeout=GENEROUS) as events:
        assert [next(events)["kind"] for _ in range(2)] == ["state", "effect"]
        mine.control.clear_history()
        assert next(events) == {"cursor": events_cursor(mine), "kind": "cleared", "record": {"account": uuid(mine)}}
    with mine.control.stream("request", after="0", timeout=GENEROUS) as events:
        Service(mine.accounts[0]).get("/order/1")
        assert next(events)["kind"] == "cleared" and next(events)["record"]["operation"] == "orders.get"
    with process.control.stream("effect", after=begin, timeout=GENEROUS) as events:
        assert next(events)["record"]["account"] == uuid(other)
    for query, message in {
        "?kind=request,answer": "The field kind must be one of request, effect, delivery, attempt, state, clock",
        "?after=7": "The parameter after must be the cursor of a list",
        "?account=x": "No account has this UUID",
    }.items():
        answer = opened(mine.control_url, query)
        assert answer.status in (404, 422) and message in answer.read().decode()
    with pytest.raises(ControlError, match="422 validation_error"):
        mine.control.stream(after="x-y")


def events_cursor(sandbox: SandboxAccount) -> str:
    return sandbox.control.ledger().cursor


def uuid(sandbox: SandboxAccount) -> str:
    return Service(sandbox.accounts[0]).account


def test_a_reset_and_the_end_of_the_sandbox_end_a_stream(tmp_path: Path) -> None:
    db = tmp_path / "billing.db"
    with Sandbox(db=db) as sandbox:
        sandbox.control.create_product("a")
        with (
            sandbox.control.stream("effect", after="0", timeout=GENEROUS) as events,
            sandbox.new_account().control.stream(timeout=GENEROUS) as theirs,
        ):
            assert next(events)["record"]["kind"] == "product_create"
            with pytest.raises(WaitTimeout, match="nothing came"), sandbox.control.stream(timeout=0.01) as nothing:
                next(nothing)
            sandbox.control.reset()
            (last,) = events
            assert (last["kind"], [each["kind"] for each in theirs]) == ("reset", ["reset"])
        events = sandbox.control.stream("effect", after=last["cursor"], timeout=GENEROUS)
        sandbox.control.create_product("b")
        before = next(events)
        sandbox.control.create_product("c")
    assert [each["record"]["kind"] for each in events] == ["product_create"]  # without an error at the end
    with (
        Sandbox(db=db) as sandbox,
        sandbox.control.stream("effect", after=before["cursor"], timeout=GENEROUS) as events,
    ):
        assert next(events)["record"]["id"] == before["record"]["id"] + 1
        os.kill(sandbox.pid, signal.SIGKILL)
        with pytest.raises(ConnectionError):
            next(events)
    with Sandbox() as sandbox, sandbox.control.stream("effect", after=before["cursor"], timeout=GENEROUS) as events:
        sandbox.control.create_product("d")  # in another history: the reader learns that it must begin again
        assert [next(events)["kind"] for _ in range(2)] == ["reset", "effect"]


def test_the_stream_of_a_deleted_account_ends(process: Sandbox) -> None:
    other = process.new_account()
    with other.control.stream(timeout=GENEROUS) as events:
        process.control.delete_account(uuid(other))
        assert [*events] == []


def memory(pid: int) -> int:
    """The resident memory of a process, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024


def test_a_slow_reader_costs_no_memory_and_learns_what_it_missed() -> None:
    with Sandbox(keep_bytes=8 << 20) as sandbox:
        service, text = account(sandbox), "x" * (1 << 20)
        before = memory(sandbox.pid)
        with contextlib.closing(opened(sandbox.control_url, "?kind=request")) as slow:
            for _ in range(150):
                service.post("/webhooks/endpoints", {"url": text})
            assert memory(sandbox.pid) - before < 80
            told = next(line for line in iter(slow.readline, b"") if b"event: forgotten" in line)
            assert told and json.loads(slow.readline().removeprefix(b"data: "))["changes"] > 100


def test_a_reader_that_is_far_behind_gets_everything(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    begin = control.ledger().cursor
    control.create_endpoint(receiver.url, concurrency=8)
    for number in range(220):
        control.create_product(f"Tea {number}")
    deliveries = ended(control)
    with (
        control.stream("effect", after=begin, timeout=GENEROUS) as effects,
        control.stream("attempt", after=begin, timeout=GENEROUS) as attempts,
    ):
        assert [next(effects)["record"]["id"] for _ in range(221)] == [each["id"] for each in control.ledger()]
        assert {next(attempts)["record"]["seq"] for _ in range(220)} == {each["seq"] for each in deliveries}


def test_a_stream_where_nothing_happens_shows_that_it_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT", 0.01)
    world = World(Options())

    async def read() -> list[bytes]:
        events = stream.stream(world, bodies.StreamQuery())
        return [await anext(events) for _ in range(3)]

    with contextlib.closing(world.store):
        assert asyncio.run(read()) == [b"retry: 1000\n\n", b":\n\n", b":\n\n"]


def test_a_reader_that_has_left_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "HEARTBEAT", 0.01)
    world = World(Options())

    class Gone:
        gone = True

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: dict[str, Any]) -> None:
        pass

    scope = {
        "method": "GET",
        "path": "/_sandbox/stream",
        "raw_path": b"/_sandbox/stream",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
        "extensions": {EXTENSION: Gone()},
    }
    with contextlib.closing(world.store):
        asyncio.run(asyncio.wait_for(app.serve(world, scope, receive, send), GENEROUS))


def test_head_has_no_events(mine: SandboxAccount) -> None:
    parts = urlsplit(mine.control_url)
    with socket.create_connection((parts.hostname, parts.port), timeout=GENEROUS) as wire:
        wire.sendall(f"HEAD {parts.path}/stream HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        received = b"".join(iter(lambda: wire.recv(65536), b""))
    assert received.startswith(b"HTTP/1.1 200") and received.endswith(b"\r\n\r\n")
