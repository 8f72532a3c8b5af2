"""Faults of requests, seen from a raw socket: the bytes received, the effects, the records."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from billcore.testing import Control, SandboxAccount
from sandbox.support import Service
from sandbox.wire import Wire, content_length
from support.waiting import until


@pytest.fixture
def control(mine: SandboxAccount) -> Control:
    return mine.control


@pytest.fixture
def service(mine: SandboxAccount) -> Service:
    return Service(mine.accounts[0])


def post_record(control: Control) -> Any:
    """The record of the only POST."""
    (found,) = [request for request in control.requests() if request["method"] == "POST"]
    return found


@pytest.mark.parametrize(("kind", "charges"), [("reset_before", 0), ("reset_after", 1)])
def test_a_reset_on_a_reused_connection(service: Service, control: Control, kind: Any, charges: int) -> None:
    with Wire(service) as wire:
        for _ in range(3):
            wire.send("GET", "/products")
            assert wire.read_answer()[0] == 200
        control.fault(kind, method="POST", path="/subscription/*/order")
        wire.charge()
        with pytest.raises(ConnectionResetError):
            wire.read_to_end()
    assert [effect["amount"] for effect in control.ledger("charge")] == [900] * charges
    request = post_record(control)
    assert (request["status"], request["fault"], json.loads(request["body"])["amount"]) == (None, kind, 900)


def test_half_a_body_and_an_orderly_end(service: Service, control: Control) -> None:
    control.fault("half_body", operation="charge")
    with Wire(service) as wire:
        wire.charge()
        head, _, body = wire.read_to_end().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert len(body) == content_length(head) // 2
    assert body.startswith(b'{"data":{"id":"')
    assert len(control.ledger("charge")) == 1
    assert post_record(control)["status"] is None


def test_half_a_body_and_a_reset(service: Service, control: Control) -> None:
    control.fault("half_body", abort=True)
    received = b""
    with Wire(service) as wire:
        wire.send("GET", "/products")
        with pytest.raises(ConnectionResetError):
            while True:
                chunk = wire.socket.recv(1024)
                assert chunk, "an orderly end"
                received += chunk
    assert received.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("fields", "status", "body", "headers"),
    [
        ({}, 503, b'{"error":{"code":"fault"', {"content-type": "application/json"}),
        (
            {"status": 429, "retry_after": 7, "headers": {"X-Odd": "a b"}},
            429,
            b"{",
            {"x-odd": "a b", "retry-after": "7"},
        ),
        ({"body": {"æ": "…"}}, 503, '{"æ":"…"}'.encode(), {}),
        ({"body": None}, 503, b"null", {}),
        ({"status": 204}, 204, b"", {}),
        ({"status": 502, "body": "<h1>", "content_type": "text/html"}, 502, b"<h1>", {"content-type": "text/html"}),
        ({"status": 502, "body": "", "content_type": "text/plain"}, 502, b"", {"content-type": "text/plain"}),
        ({"body": '{"data": {', "content_type": "application/json"}, 503, b'{"data": {', {}),
        ({"status": 504, "effect": True}, 504, b'{"error":{"code":"fault"', {}),
    ],
)
def test_a_status_fault_answers_instead_of_the_service(
    service: Service, control: Control, fields: dict[str, Any], status: int, body: bytes, headers: dict[str, str]
) -> None:
    control.fault("status", method="POST", **fields)
    answer = service.charge()
    assert (answer.status, answer.body[: len(body)]) == (status, body)
    assert bool(answer.body) == bool(body) and headers.items() <= answer.headers.items()
    assert len(control.ledger("charge")) == int("effect" in fields)
    assert (post_record(control)["status"], post_record(control)["fault"]) == (status, "status")
    assert service.charge().status == 200


def test_a_delay_ends_with_the_ordinary_answer(service: Service, control: Control) -> None:
    control.fault("delay", method="POST", delay=0.3)
    began = time.monotonic()
    assert service.charge().status == 200
    assert time.monotonic() - began >= 0.3
    assert post_record(control)["fault"] == "delay"


def test_a_delayed_answer_hides_work_that_is_done(service: Service, control: Control) -> None:
    control.fault("delay", method="POST", delay=3600)
    with Wire(service) as wire:
        wire.charge()
        until(lambda: control.ledger("charge"))
    assert service.get("/products").status == 200


def test_a_drip_is_the_whole_answer_in_pieces(service: Service, control: Control) -> None:
    whole = service.get("/products").body
    control.fault("drip", operation="products.list", delay=30)
    with Wire(service) as wire:
        wire.send("GET", "/products")
        reads: list[bytes] = []
        while len(reads) < 3:
            reads.append(wire.socket.recv(65536))
        head, _, body = b"".join(reads).partition(b"\r\n\r\n")
        assert content_length(head) == len(whole)
        assert body and whole.startswith(body) and len(body) < len(whole)
        assert (control.requests()[-1]["status"], control.requests()[-1]["fault"]) == (None, "drip")

    control.fault("drip", operation="products.list", delay=0.1)
    with Wire(service) as wire:
        wire.send("GET", "/products")
        assert wire.read_answer() == (200, whole)
        assert control.requests()[-1]["status"] == 200
        wire.send("GET", "/order/1")
        assert wire.read_answer()[0] == 404


@pytest.mark.parametrize("by", [7, -7, -(10**9)])
def test_a_wrong_length(service: Service, control: Control, by: int) -> None:
    control.fault("wrong_length", operation="charge", by=by)
    with Wire(service) as wire:
        wire.charge()
        head, _, body = wire.read_to_end().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nContent-Type: application/json" in head and b"\r\nX-Request-Id: req_" in head
    assert json.loads(body)["data"]["id"] == control.ledger("charge")[0]["order_id"]
    assert content_length(head) == max(len(body) + by, 0)
    assert post_record(control)["status"] is None
