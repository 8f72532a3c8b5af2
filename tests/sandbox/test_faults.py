"""Faults, seen from a raw socket: the bytes received, the effects, the records."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from billcore.testing import Control
from sandbox.support import Service
from sandbox.wire import Wire, content_length
from support.waiting import until

CHARGE = "/subscription/*/order"


def last_request(control: Control) -> Any:
    return control.requests()[-1]


def test_reset_before_the_effect(service: Service, control: Control) -> None:
    control.fault("reset_before", method="POST", path=CHARGE)
    with Wire(service) as wire:
        wire.charge()
        with pytest.raises(ConnectionResetError):
            wire.read_to_end()
    assert control.ledger() == []
    request = last_request(control)
    assert (request["method"], request["status"], request["fault"]) == ("POST", None, "reset_before")
    assert json.loads(request["body"])["amount"] == 900


def test_reset_after_the_effect(service: Service, control: Control) -> None:
    control.fault("reset_after", method="POST", path=CHARGE)
    with Wire(service) as wire:
        wire.charge()
        with pytest.raises(ConnectionResetError):
            wire.read_to_end()
    (effect,) = control.ledger()
    assert (effect["kind"], effect["amount"]) == ("charge", 900)
    assert service.get(f"/order/{effect['order_id']}").status == 200
    charges = [request for request in control.requests() if request["method"] == "POST"]
    assert [(request["status"], request["fault"]) for request in charges] == [(None, "reset_after")]


def test_a_reset_on_a_reused_connection(service: Service, control: Control) -> None:
    with Wire(service) as wire:
        for _ in range(3):
            wire.send("GET", "/products")
            assert wire.read_answer()[0] == 200
        control.fault("reset_after", method="POST")
        wire.charge()
        with pytest.raises(ConnectionResetError):
            wire.read_to_end()
    assert len(control.ledger("charge")) == 1
    assert len([request for request in control.requests() if request["method"] == "POST"]) == 1


def test_half_a_body_and_an_orderly_end(service: Service, control: Control) -> None:
    control.fault("half_body", method="POST", path=CHARGE)
    with Wire(service) as wire:
        wire.charge()
        head, _, body = wire.read_to_end().partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    assert len(body) == content_length(head) // 2
    assert body.startswith(b'{"data":{"id":"')
    assert len(control.ledger("charge")) == 1
    assert last_request(control)["status"] is None


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


def test_a_status_fault_answers_instead_of_the_service(service: Service, control: Control) -> None:
    control.fault("status", method="POST", status=429, retry_after=7, headers={"X-Odd": "a b"}, body={"æ": "…"})
    answer = service.charge()
    assert (answer.status, answer.headers["x-odd"], answer.headers["retry-after"]) == (429, "a b", "7")
    assert answer.json == {"æ": "…"}
    assert control.ledger() == []
    assert last_request(control)["status"] == 429


@pytest.mark.parametrize(
    ("body", "content_type"),
    [("<h1>Bad gateway</h1>", "text/html"), ("", "text/plain"), ('{"data": {', "application/json")],
)
def test_a_status_with_any_body(service: Service, control: Control, body: str, content_type: str) -> None:
    control.fault("status", status=502, body=body, content_type=content_type)
    answer = service.get("/products")
    assert (answer.status, answer.body.decode()) == (502, body)
    assert answer.headers.get("content-type") == content_type


def test_a_status_after_the_effect(service: Service, control: Control) -> None:
    control.fault("status", method="POST", status=504, effect=True)
    assert service.charge().code == "fault"
    assert len(control.ledger("charge")) == 1


def test_a_status_of_null_and_without_body(service: Service, control: Control) -> None:
    control.fault("status", status=503, body=None)
    assert service.get("/products").body == b"null"
    control.fault("status", status=204)
    assert (service.get("/products").status, service.get("/products").status) == (204, 200)


def test_a_delay_ends_with_the_ordinary_answer(service: Service, control: Control) -> None:
    control.fault("delay", method="POST", delay=0.3)
    began = time.monotonic()
    assert service.charge().status == 200
    assert time.monotonic() - began >= 0.3
    assert last_request(control)["fault"] == "delay"


def test_a_delayed_answer_hides_work_that_is_done(service: Service, control: Control) -> None:
    control.fault("delay", method="POST", delay=3600)
    with Wire(service) as wire:
        wire.charge()
        until(lambda: control.ledger("charge"))
    assert len(control.ledger("charge")) == 1
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
        assert (last_request(control)["status"], last_request(control)["fault"]) == (None, "drip")

    control.fault("drip", operation="products.list", delay=0.1)
    with Wire(service) as wire:
        wire.send("GET", "/products")
        assert wire.read_answer() == (200, whole)
        assert last_request(control)["status"] == 200
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
    assert last_request(control)["status"] is None
