"""Webhook endpoints from creation to deletion; receivers that keep connections, close them, or answer incorrectly."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BufferedReader
from types import TracebackType
from typing import Any, Self

import pytest

from billcore.testing import Control, ControlError, Sandbox, SandboxAccount
from sandbox.support import Receiver, Service, sign, started
from support.waiting import GENEROUS, until

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CLOSE = b"CLOSE"
HOST = "127.0.0.1"


@dataclass
class RawReceiver:
    """Answers each POST with the next item of `script`, and after the last item with OK.

    An item is a list of chunks to send; the chunk CLOSE closes the connection instead. `connections` has the number of
    requests on each connection.
    """

    script: list[list[bytes]] = field(default_factory=list)
    connections: list[int] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._listener = socket.create_server((HOST, 0))
        self._open: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in (self._listener, *self._open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._listener.getsockname()[1]}/hook"

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections.append(0)
            self._open.append(connection)
            self._threads.append(threading.Thread(target=self._serve, args=(connection, len(self.connections) - 1)))
            self._threads[-1].start()

    @staticmethod
    def _line(reader: BufferedReader) -> bytes:
        try:
            return reader.readline()
        except OSError:  # the sandbox has reset the connection
            return b""

    def _serve(self, connection: socket.socket, number: int) -> None:
        with connection, connection.makefile("rb") as reader:
            while head := self._line(reader):
                assert head.startswith(b"POST /hook HTTP/1.1")
                length = 0
                while (line := reader.readline()) not in (b"\r\n", b""):
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                reader.read(length)
                self.connections[number] += 1
                for chunk in self.script.pop(0) if self.script else [OK]:
                    if chunk == CLOSE:
                        return
                    try:
                        connection.sendall(chunk)
                    except OSError:
                        return


@pytest.fixture
def raw() -> Iterator[RawReceiver]:
    with RawReceiver() as listening:
        yield listening


@contextlib.contextmanager
def account_of(**options: Any) -> Iterator[SandboxAccount]:
    with Sandbox(**options) as sandbox:
        yield sandbox.new_account(demo=False)


def signed_with(delivery: Any, *secrets: str) -> int:
    """The index in `secrets` of the secret with which a delivery was signed."""
    made = [sign(delivery["body"].encode(), secret) for secret in secrets]
    return made.index(delivery["signature"])


def states(control: Control) -> list[str]:
    return [each["state"] for each in control.wait_for_deliveries(failed_ok=True)]


def test_a_created_endpoint_is_the_one_in_the_list(mine: SandboxAccount) -> None:
    control, secret = mine.control, "s" * 32
    created = [
        control.create_endpoint("http://127.0.0.1:9/a"),
        control.create_endpoint("http://127.0.0.1:9/b", secret=secret),
    ]
    listed = control.endpoints()
    for each, shown in zip(created, listed, strict=True):
        assert {name: shown[name] for name in each} == each  # type: ignore[literal-required]
        assert (shown["state"], each["state"], each["account"]) == (
            "enabled",
            "enabled",
            Service(mine.accounts[0]).account,
        )
    assert listed[1]["secret"] == secret
    for wrong in ("short", "ü" * 32, " " * 32):
        with pytest.raises(ControlError, match="422"):
            control.create_endpoint("http://127.0.0.1:9/c", secret=wrong)
    with pytest.raises(ControlError, match="422 url_taken"):
        control.create_endpoint("http://127.0.0.1:9/a")
    assert control.endpoints() == listed


def test_a_disabled_endpoint_gets_nothing(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    number = control.create_endpoint(receiver.url)["id"]
    other = control.create_endpoint(receiver.url + "&other=1")["id"]
    assert control.endpoint(number, "disable") == {"id": number, "state": "disabled"}
    control.create_product("Tea")
    assert [each["endpoint_id"] for each in control.wait_for_deliveries()] == [other]
    with pytest.raises(ControlError, match="404"):
        control.test_hook(number)
    assert control.test_hook() == [other]
    with pytest.raises(ControlError, match="422 url_taken"):
        control.create_endpoint(receiver.url)
    assert control.endpoint(number, "enable")["state"] == "enabled"
    control.create_product("Coffee")
    assert [each["endpoint_id"] for each in control.wait_for_deliveries()] == [other, other, number, other]
    assert sorted(each.path.partition("&")[2] for each in receiver.received) == ["", "other=1", "other=1", "other=1"]


def test_a_deleted_endpoint_gets_nothing_more(mine: SandboxAccount, receiver: Receiver) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    control.freeze()
    receiver.script = [500]
    number = service.post("/webhooks/endpoints", {"url": receiver.url}).data["id"]
    control.create_product("Tea")
    until(lambda: control.deliveries()[0]["attempts"])
    control.endpoint(number, "delete")
    assert states(control) == ["failed"]
    assert control.endpoints() == []
    control.create_product("Coffee")
    control.advance(days=1)
    assert len(control.deliveries()) == len(receiver.received) == 1
    with pytest.raises(ControlError, match="422 not_allowed: The endpoint of this delivery is deleted"):
        control.replay(control.deliveries()[0]["id"])
    for cause in ("enable", "disable", "delete", "rotate_secret"):
        with pytest.raises(
            ControlError, match=f"422 not_allowed: The endpoint is deleted, which does not take {cause}"
        ):
            control._call("POST", f"endpoints/{number}/{cause}", {})
    again = service.post("/webhooks/endpoints", {"url": receiver.url}).data["id"]
    assert again != number
    control.create_product("Milk")
    assert states(control) == ["failed", "delivered"]
    control.endpoint(again, "delete")
    assert service.post("/webhooks/endpoints", {"url": receiver.url}).status == 200


def test_a_rotated_secret_overlaps_with_the_old_one(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.freeze()
    old = control.create_endpoint(receiver.url)
    control.create_product("Tea")
    new = control.rotate_secret(old["id"], overlap=60)
    assert new != old["secret"]
    assert [each["secret"] for each in control.endpoints()] == [new]
    for _ in range(4):
        control.create_product("Tea")
    control.advance(seconds=59.9)
    control.create_product("Tea")
    first, *overlapping = control.wait_for_deliveries()
    assert signed_with(first, old["secret"], new) == 0
    assert [signed_with(each, old["secret"], new) for each in overlapping] == [each["id"] % 2 for each in overlapping]
    assert {signed_with(each, old["secret"], new) for each in overlapping} == {0, 1}
    control.advance(seconds=0.1)
    for _ in range(2):
        control.create_product("Tea")
    assert [signed_with(each, old["secret"], new) for each in control.wait_for_deliveries()[6:]] == [1, 1]
    sent = [each.headers["Service-Signature"] for each in receiver.received]
    assert sent == [each["signature"] for each in control.deliveries()]


@pytest.mark.parametrize("options", [{"seed": 7}, {"secret": "s" * 32}, {"seed": 7, "secret": "s" * 32}])
def test_a_rotated_secret_differs_with_a_seed_or_a_secret_option(options: dict[str, Any]) -> None:
    def secrets() -> list[str]:
        with Sandbox(**options) as sandbox:
            endpoint = sandbox.control.create_endpoint("http://127.0.0.1:9/")
            return [endpoint["secret"], *(sandbox.control.rotate_secret(endpoint["id"]) for _ in range(2))]

    first = secrets()
    assert len({*first}) == 3
    assert first[0] == options.get("secret", first[0])
    assert (secrets() == first) == ("seed" in options)


def test_a_secret_rotated_without_overlap_and_of_ones_own(mine: SandboxAccount, receiver: Receiver) -> None:
    control, own = mine.control, "my secret of 32 characters is it".replace(" ", "-")
    receiver.script = [500]
    control.freeze()
    old = control.create_endpoint(receiver.url)
    control.create_product("Tea")
    until(lambda: control.deliveries()[0]["attempts"])
    assert control.rotate_secret(old["id"], secret=own) == own
    for _ in range(2):
        control.create_product("Tea")
    control.advance(days=1)
    # A retry has the same bytes and signature as the first attempt, also after a rotation.
    assert [signed_with(each, old["secret"], own) for each in control.wait_for_deliveries()] == [0, 1, 1]
    for fields in ({"secret": "short"}, {"overlap": -1}, {"overlap": "1"}):
        with pytest.raises(ControlError, match="422"):
            control._call("POST", f"endpoints/{old['id']}/rotate_secret", fields)


def test_deliveries_that_are_held_back_are_one_line_on_stderr() -> None:
    with Sandbox() as sandbox:
        account = sandbox.new_account(demo=False)
        for url in ("https://shop.example/a", "https://shop.example/b", "http://192.0.2.1:8000/"):
            account.control.create_endpoint(url)
        for _ in range(2):
            account.control.create_product("Tea")
        assert states(account.control) == ["held_back"] * 6
        assert sandbox.stderr().splitlines() == [
            f"billcore sandbox: deliveries to {host} are held back: allow them with --deliver-to {host}"
            for host in ("shop.example", "192.0.2.1")
        ]


@pytest.mark.parametrize("allowed", ["0.0.0.0", "0.0.0.0/8"])
def test_deliveries_to_a_host_that_is_allowed(receiver: Receiver, allowed: str) -> None:
    # 0.0.0.0 is not a loopback address, but a connection to it reaches this machine.
    with started("--deliver-to", "shop.example", "--deliver-to", allowed) as (process, ready):
        control = Control(ready["control_url"])
        for url in (receiver.url.replace(HOST, "0.0.0.0"), receiver.url, "http://10.0.0.1/"):
            control.create_endpoint(url)
        control.test_hook()
        assert states(control) == ["delivered", "delivered", "held_back"]
        process.terminate()
        assert process.stderr is not None
        assert process.stderr.read().count("\n") == 1


def test_one_connection_for_many_deliveries(mine: SandboxAccount, raw: RawReceiver) -> None:
    mine.control.create_endpoint(raw.url)
    for _ in range(20):
        mine.control.create_product("Tea")
    assert states(mine.control) == ["delivered"] * 20
    assert raw.connections == [20]


ANSWERS = {
    "says that it closes": [b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", CLOSE],
    "closes without saying so": [OK, CLOSE],
    "HTTP/1.0": [b"HTTP/1.0 200 OK\r\n\r\nok", CLOSE],
    "HTTP/1.0 that says it keeps the connection": [
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
        CLOSE,
    ],
    "no length": [b"HTTP/1.1 200 OK\r\n\r\nok", CLOSE],
    "chunks": [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n", b"ok\r\n", b"0\r\n", b"\r\n"],
    "100 Continue first": [b"HTTP/1.1 100 Continue\r\n\r\n", OK],
    "byte by byte": [bytes([byte]) for byte in OK],
    "more bytes than it announced": [OK + b"more"],
    "another answer that nobody asked for": [OK + b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"],
    "100 MB": [b"HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n", *[b"x" * (1 << 20)] * 100],
    "endless chunks": [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        *[b"10000\r\n" + b"x" * 65536 + b"\r\n"] * 100,
    ],
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_succeeds(mine: SandboxAccount, raw: RawReceiver, name: str) -> None:
    raw.script = [ANSWERS[name] for _ in range(3)]
    mine.control.create_endpoint(raw.url)
    for _ in range(5):
        mine.control.create_product("Tea")
    status = 204 if name.startswith("says") else 200
    attempts = [each["attempts"] for each in mine.control.wait_for_deliveries()]
    assert [each[-1]["status"] for each in attempts] == [status, status, status, 200, 200]
    # A receiver may close a kept connection just when the next event is sent on it; then the sandbox sends again.
    lost = [attempt for each in attempts for attempt in each[:-1]]
    assert all((attempt["error"] or "").endswith("so the event is sent again at once") for attempt in lost)
    assert lost == [] or name == "closes without saying so"
    assert sum(raw.connections) == 5


FAILURES = {
    "half a head": ([b"HTTP/1.1 200 OK\r\nContent-Le", CLOSE], "the receiver closed the connection without an answer"),
    "half a body": ([b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok", CLOSE], "received 2 bytes, expected 10"),
    "half a chunk": ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", CLOSE], "incomplete chunked"),
    "garbage": ([b"\x00\xff\xfe no HTTP at all\r\n\r\n", CLOSE], "illegal status line"),
    "a status that is not one": ([b"HTTP/1.1 abc OK\r\n\r\n", CLOSE], "illegal status line"),
    "an endless head": (
        [b"HTTP/1.1 200 OK\r\n" + b"X-Y: " + b"z" * (1 << 20)],
        "the receiver's answer is no valid HTTP: Receive buffer too long",
    ),
    "an answer of another protocol": ([b"SSH-2.0-OpenSSH_9.2\r\n", CLOSE], "closed the connection without an answer"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_an_answer_that_fails(mine: SandboxAccount, raw: RawReceiver, name: str) -> None:
    answer, error = FAILURES[name]
    raw.script = [[OK[:-2], b"ok"], answer, [OK]]
    mine.control.freeze()
    mine.control.create_endpoint(raw.url)
    for _ in range(3):
        mine.control.create_product("Tea")
    until(lambda: [len(each["attempts"]) for each in mine.control.deliveries()] == [1, 1, 1])
    assert [each["state"] for each in mine.control.deliveries()] == ["delivered", "pending", "delivered"]
    (failed,) = mine.control.deliveries()[1]["attempts"]
    assert failed["status"] is None
    assert error in (failed["error"] or "")
    assert mine.control.advance(days=1)["pending_deliveries"] == 0
    assert [each["status"] for each in mine.control.deliveries()[1]["attempts"]] == [None, 200]


def test_a_kept_connection_that_is_closed_costs_no_retry() -> None:
    with account_of(retry_schedule=[]) as account, RawReceiver([[OK], [CLOSE], [OK], [CLOSE], [CLOSE]]) as raw:
        account.control.create_endpoint(raw.url)
        for _ in range(3):
            account.control.create_product("Tea")
        deliveries = account.control.wait_for_deliveries(failed_ok=True)
        assert [each["state"] for each in deliveries] == ["delivered", "delivered", "failed"]
        assert [[each["status"] for each in delivery["attempts"]] for delivery in deliveries] == [
            [200],
            [None, 200],
            [None, None],
        ]
        assert raw.connections == [2, 2, 1]


@pytest.mark.parametrize("answer", [[], [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok"], [b"HTTP/1.1 2"]])
def test_an_answer_that_does_not_end_is_a_time_out(raw: RawReceiver, answer: list[bytes]) -> None:
    raw.script = [answer]
    # Many retries, because on a busy machine a complete answer may also be too late.
    with account_of(delivery_timeout=0.3, retry_schedule=[0.1] * 100) as account:
        account.control.create_endpoint(raw.url)
        for _ in range(2):
            account.control.create_product("Tea")
        first, second = account.control.wait_for_deliveries(GENEROUS)
        assert (first["state"], second["state"]) == ("delivered", "delivered")
        assert first["attempts"][0]["status"] is None
        assert first["attempts"][0]["error"] == "no answer within 0.3 s"


@pytest.mark.parametrize("status", [301, 308, 400, 404, 410, 429, 500, 503])
def test_a_status_that_is_not_2xx_is_recorded_and_retried(mine: SandboxAccount, raw: RawReceiver, status: int) -> None:
    raw.script = [[f"HTTP/1.1 {status} X\r\nLocation: {raw.url}/elsewhere\r\nContent-Length: 0\r\n\r\n".encode()]]
    mine.control.create_endpoint(raw.url)
    mine.control.create_product("Tea")
    (delivery,) = mine.control.wait_for_deliveries()
    assert [each["status"] for each in delivery["attempts"]] == [status, 200]
    assert raw.connections == [2]


def test_deleted_accounts_leave_no_connections(process: Sandbox, raw: RawReceiver) -> None:
    def open_files() -> int:
        return len(os.listdir(f"/proc/{process.pid}/fd"))

    before = open_files()
    for _ in range(20):
        account = process.new_account(demo=False)
        account.control.create_endpoint(raw.url)
        account.control.create_product("Tea")
        account.control.wait_for_deliveries()
        process.control.delete_account(Service(account.accounts[0]).account)
    assert len(raw.connections) == 20
    until(lambda: open_files() < before + 10)
