"""Whom the server answers, and how much of a request it reads: Host, size, Content-Type, requests that do not end."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from billcore.testing import Control
from sandbox.support import Service, of_ready, started
from sandbox.wire import Wire
from support.waiting import until

# A sandbox that waits half a second for a request.
HASTY = (
    "import sys\n"
    "from billcore_sandbox.http import protocol\n"
    "protocol.REQUEST_TIMEOUT = 0.5\n"
    "from billcore_sandbox.cli import main\n"
    "sys.exit(main(sys.argv[1:]))"
)
MIB = 1 << 20
CONTROL = "/_sandbox/reset"
JSON = "Content-Type: application/json"


def ask(service: Service, method: str, path: str, host: str, body: Any = None) -> tuple[int, str]:
    """Sends a request with this Host to an absolute path; returns the status, and the code of a refusal."""
    raw = None if body is None else json.dumps(body).encode()
    service.root = ""
    answer = service.send(method, path, headers={"Host": host}, raw=raw)
    return answer.status, answer.code if answer.status >= 400 else ""


def test_every_route_checks_the_host() -> None:
    with started("--allow-host", "Billing.example", "--allow-host", "sandbox") as (_, ready):
        service, control = of_ready(ready)
        root = service.root
        subscription, product = service.subscription("demo-active")["id"], service.product()["id"]
        routes: list[tuple[str, str, Any]] = [
            ("GET", path, None) for path in ("/", "/healthz", "/openapi.json", "/_sandbox/scenarios")
        ]
        routes += [("GET", f"{root}/products", None), ("POST", "/_sandbox/clock", {})]
        routes += [("POST", f"{root}/subscription/{subscription}/order", {"product_id": product, "amount": 5})]
        own = "localhost localhost:80 127.9.9.9:1 [::1]:5 LOCALHOST billing.example SANDBOX:8080"
        for name in own.split(" "):
            for route in routes:
                assert ask(service, *route[:2], name, route[2]) == (200, ""), (name, route)
        charged, seen = len(control.ledger("charge")), len(control.requests())
        others = "evil.example 127.0.0.1.evil.example 10.0.0.1 0.0.0.0 localhost.evil.example billing.example.evil x"
        others += " [::1]evil 127.0.0.1:80@evil"
        for name in others.split(" "):
            for route in routes:
                assert ask(service, *route[:2], name, route[2]) == (403, "host"), (name, route)
        with Wire(service) as wire:
            wire.socket.sendall(b"GET / HTTP/1.0\r\n\r\n")
            assert refusal(wire) == (403, "host")
        assert len(control.ledger("charge")) == charged
        refused = control.requests()[seen:]
        assert {(each["status"], each["body"]) for each in refused} == {(403, "")}
        assert {each["operation"] for each in refused} == {"products.list", "subscriptions.charge"}


def test_a_sandbox_for_other_machines_has_its_own_names() -> None:
    with started("--host", "0.0.0.0", "--allow-non-loopback", "--allow-host", "billing") as (_, ready):
        service, _ = of_ready(ready)
        for name, status in {"billing": 200, "0.0.0.0": 200, "127.0.0.1": 200, "192.0.2.9": 403, "shop": 403}.items():
            assert ask(service, "GET", "/healthz", name)[0] == status, name
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect(("192.0.2.1", 9))  # sends nothing
            except OSError:
                pytest.skip("this machine has only loopback")
            service.host = probe.getsockname()[0]
        assert ask(service, "GET", "/healthz", f"{service.host}:80")[0] == 200  # the address that the client reached


def head(service: Service, path: str, *headers: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", f"Host: {service.host}", f"X-API-KEY: {service.api_key}", *headers, "", ""]
    return "\r\n".join(lines).encode()


def refusal(wire: Wire) -> tuple[int, str]:
    """The status and code of an answer, after which the server has closed the connection."""
    lines, _, body = wire.read_to_end().partition(b"\r\n\r\n")
    assert b"\r\nConnection: close" in lines
    return int(lines.split()[1]), json.loads(body)["error"]["code"]


@pytest.mark.parametrize(
    ("path", "headers", "answer"),
    [
        ("/products", (f"Content-Length: {8 * MIB + 1}",), (413, "too_large")),
        (CONTROL, (JSON, f"Content-Length: {MIB + 1}"), (413, "too_large")),
        (CONTROL, ("Content-Type: text/plain", "Content-Length: 9"), (415, "unsupported_media_type")),
        (CONTROL, ("Transfer-Encoding: chunked",), (415, "unsupported_media_type")),
        (CONTROL, (JSON, "Content-Length: 99999999", "Expect: 100-continue"), (413, "too_large")),
    ],
)
def test_a_body_that_is_refused_is_not_read(
    service: Service, control: Control, path: str, headers: tuple[str, ...], answer: tuple[int, str]
) -> None:
    control.fault("status", optional=True)  # it does not happen to a request that was not read
    with Wire(service) as wire:
        wire.socket.sendall(head(service, path if path == CONTROL else service.root + path, *headers))
        assert refusal(wire) == answer
    assert [(each["status"], each["body"], each["fault"]) for each in control.requests()] == [
        (413, "", None) for _ in range(path != CONTROL)
    ]


@pytest.mark.parametrize(("path", "most"), [("/products", 8 * MIB), (CONTROL, MIB)])
def test_a_chunked_body_is_cut_off_at_the_limit(service: Service, path: str, most: int) -> None:
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    for count, answers in ((most // 0x10000, False), (most // 0x10000 + 1, True)):
        with Wire(service) as wire:
            wire.socket.sendall(
                head(service, path if path == CONTROL else service.root + path, JSON, "Transfer-Encoding: chunked")
                + chunk * count
            )
            if answers:
                assert refusal(wire) == (413, "too_large")
            else:
                wire.socket.sendall(b"0\r\n\r\n")
                assert wire.read_answer()[0] in (400, 405)


def test_a_client_that_sends_all_of_a_refused_body_gets_the_answer(service: Service) -> None:
    for path in (service.root + "/products", CONTROL):
        service.root = path
        assert service.send("POST", "", raw=b" " * 40 * MIB).code == "too_large"


@contextmanager
def hasty() -> Iterator[tuple[Service, Control]]:
    with started(code=HASTY) as (_, ready):
        yield of_ready(ready)


def test_a_request_that_does_not_arrive_ends_but_an_idle_connection_stays() -> None:
    with hasty() as (service, control), Wire(service) as idle, Wire(service) as fresh:
        idle.send("GET", "/products")
        assert idle.read_answer()[0] == 200
        charge = head(service, f"{service.root}/subscription/1/order", JSON, "Content-Length: 5") + b'{"a"'
        for half in (
            b"G",
            b"GET / HTTP/1.1\r\nHost: localhost\r\n",
            charge,
            head(service, CONTROL, JSON, "Content-Length: 2"),
        ):
            with Wire(service) as wire:
                wire.socket.sendall(half)
                assert refusal(wire) == (408, "request_timeout"), half
        with Wire(service) as wire:  # the limit is for the whole request: it does not begin again with each byte
            wire.socket.sendall(head(service, CONTROL, JSON, "Content-Length: 99999"))
            wire.socket.settimeout(0.05)
            answer = bytearray()

            def refuses(wire: Wire = wire) -> bool:
                wire.socket.sendall(b" ")
                with suppress(TimeoutError):
                    answer.extend(wire.socket.recv(65536))
                return b"request_timeout" in answer

            until(refuses)
        for wire in (idle, fresh):  # both have been idle for longer than the limit
            wire.send("GET", "/products")
            assert wire.read_answer()[0] == 200
        late = [each for each in control.requests() if each["method"] == "POST"]
        assert [(each["operation"], each["status"], each["body"]) for each in late] == [
            ("subscriptions.charge", 408, "")
        ]
