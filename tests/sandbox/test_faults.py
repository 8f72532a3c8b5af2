"""Faults, seen from a raw socket: the bytes received, the effects, the records."""

from __future__ import annotations

import json
import socket
import time
from typing import Any

import pytest

from billcore.testing import Control, ControlError
from sandbox.support import Service

CHARGE = "/subscription/*/order"


class Wire:
    """A raw connection, to tell a reset from a proper close."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.socket = socket.create_connection((service.host, service.port or 80), timeout=30)

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, method: str, path: str, body: Any = None) -> None:
        raw = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {self._service.root}{path} HTTP/1.1\r\nHost: {self._service.host}:{self._service.port}\r\n"
        head += f"X-Api-KEY: {self._service.api_key}\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(raw)}\r\n"
        self.socket.sendall(head.encode() + b"\r\n" + raw)

    def charge(self) -> None:
        subscription = self._service.subscription("demo-active")
        body = {"product_id": self._service.product()["id"], "amount": 900}
        self.send("POST", f"/subscription/{subscription['id']}/order", body)

    def read_to_end(self) -> bytes:
        """Everything up to a proper close. Raises ConnectionResetError on a reset."""
        received = b""
        while chunk := self.socket.recv(65536):
            received += chunk
        return received

    def read_answer(self) -> tuple[int, bytes]:
        """One complete answer; the connection stays open."""
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.socket.recv(65536)
        head, _, body = received.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        while len(body) < length:
            body += self.socket.recv(65536)
        assert len(body) == length
        return int(head.split()[1]), body


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
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    assert len(body) == length // 2
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


def test_a_status_instead_of_the_service(service: Service, control: Control) -> None:
    control.fault("status", method="POST", status=429, headers={"Retry-After": "7"}, body={"æ": "…"})
    answer = service.charge()
    assert (answer.status, answer.headers["retry-after"], answer.json) == (429, "7", {"æ": "…"})
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
        while not control.ledger("charge"):
            time.sleep(0.01)
    assert len(control.ledger("charge")) == 1
    assert service.get("/products").status == 200


def test_times_method_and_path_choose_the_requests(service: Service, control: Control) -> None:
    number = service.subscription("demo-active")["id"]
    control.fault("status", method="get", path="/subscription/*", times=2)
    control.fault("status", status=500, path=f"/subscription/{number}")
    assert service.get("/products").status == 200
    assert service.get("/subscriptions").status == 200
    assert service.send("POST", f"/subscription/{number}/cancel").status == 200
    assert [service.get(f"/subscription/{number}").status for _ in range(4)] == [503, 503, 500, 200]
    assert control.state()["faults"] == []


def test_faults_come_before_authentication(service: Service, control: Control) -> None:
    control.fault("status", status=500)
    assert service.send("GET", "/products", headers={"X-API-KEY": ""}).status == 500
    assert service.send("GET", "/products", headers={"X-API-KEY": ""}).status == 401


def test_waiting_faults_are_shown_and_reset(service: Service, control: Control) -> None:
    number = control.fault("delay", times=5)
    shown = {"id": number, "kind": "delay", "method": None, "path": None, "account": None, "times": 5}
    assert control.state()["faults"] == [shown]
    control.reset()
    assert control.state()["faults"] == []


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"kind": "explode"},
        {"kind": 5},
        {"kind": "delay", "dealy": 1},
        {"kind": "delay", "delay": -1},
        {"kind": "delay", "delay": "1"},
        {"kind": "delay", "delay": 1e9},
        {"kind": "status", "times": 0},
        {"kind": "status", "times": True},
        {"kind": "status", "status": 99},
        {"kind": "status", "status": 101},
        {"kind": "status", "status": 600},
        {"kind": "status", "content_type": "text/html"},
        {"kind": "status", "content_type": "text/html", "body": {}},
        {"kind": "status", "content_type": "a\r\nb", "body": ""},
        {"kind": "status", "headers": {"X": "a\r\nY: b"}},
        {"kind": "status", "headers": {"X Y": "a"}},
        {"kind": "status", "headers": {"X": 1}},
        {"kind": "status", "effect": 1},
    ],
)
def test_bad_faults_are_refused(control: Control, fields: dict[str, Any]) -> None:
    with pytest.raises(ControlError, match="422 validation_error"):
        control._call("POST", "faults", fields)
    assert control.state()["faults"] == []
