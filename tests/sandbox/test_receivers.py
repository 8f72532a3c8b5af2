"""Receivers that keep connections, close them, or answer incorrectly, slowly or not at all."""

from __future__ import annotations

import base64
import socket

import pytest

from billcore.testing import SandboxAccount
from sandbox.support import CLOSE, Receiver, account_of, attempted, ended, make
from support.waiting import until

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
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
def test_an_answer_that_succeeds(mine: SandboxAccount, receiver: Receiver, name: str) -> None:
    receiver.script = [ANSWERS[name] for _ in range(3)]
    mine.control.create_endpoint(receiver.url)
    make(mine.control, *"abcde")
    status = 204 if name.startswith("says") else 200
    attempts = [each["attempts"] for each in ended(mine.control)]
    assert [each[-1]["status"] for each in attempts] == [status, status, status, 200, 200]
    # A receiver may close a kept connection just when the next event is sent on it; then the sandbox sends again.
    lost = [attempt for each in attempts for attempt in each[:-1]]
    assert all((attempt["error"] or "").endswith("so the event is sent again at once") for attempt in lost)
    assert lost == [] or name == "closes without saying so"
    assert sum(receiver.connections) == 5


FAILURES: dict[str, tuple[int | list[bytes], str | None]] = {
    "half a head": ([b"HTTP/1.1 200 OK\r\nContent-Le", CLOSE], "the receiver closed the connection without an answer"),
    "half a body": ([b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok", CLOSE], "received 2 bytes, expected 10"),
    "half a chunk": ([b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", CLOSE], "incomplete chunked"),
    "garbage": ([b"\x00\xff\xfe no HTTP at all\r\n\r\n", CLOSE], "illegal status line"),
    "an endless head": (
        [b"HTTP/1.1 200 OK\r\n" + b"X-Y: " + b"z" * (1 << 20)],
        "the receiver's answer is no valid HTTP: Receive buffer too long",
    ),
    **{str(status): (status, None) for status in (301, 400, 404, 410, 429, 503)},
}


@pytest.mark.parametrize("name", FAILURES)
def test_an_answer_that_fails(mine: SandboxAccount, receiver: Receiver, name: str) -> None:
    answer, error = FAILURES[name]
    receiver.script = [[OK[:-2], b"ok"], answer, [OK]]
    mine.control.freeze()
    mine.control.create_endpoint(receiver.url)
    make(mine.control, *"abc")
    attempted(mine.control, 1, 1, 1)
    assert [each["state"] for each in mine.control.deliveries()] == ["delivered", "pending", "delivered"]
    (failed,) = mine.control.deliveries()[1]["attempts"]
    status = answer if isinstance(answer, int) else None
    assert (failed["status"], (error or "") in (failed["error"] or "")) == (status, True)
    assert mine.control.advance(days=1)["pending_deliveries"] == 0
    assert [each["status"] for each in mine.control.deliveries()[1]["attempts"]] == [status, 200]
    first, again = (each for each in receiver.received if each.event["data"]["name"] == "b")
    assert first.sent == again.sent and sum(receiver.connections) == 4


def test_it_gives_up_after_the_schedule(mine: SandboxAccount, receiver: Receiver) -> None:
    receiver.script = [500] * 4
    mine.control.create_endpoint(receiver.url)
    mine.control.test_hook()
    (delivery,) = ended(mine.control)
    assert (delivery["state"], [each["status"] for each in delivery["attempts"]]) == ("failed", [500] * 4)
    assert len(receiver.received) == 4


def test_a_kept_connection_that_is_closed_costs_no_retry(receiver: Receiver) -> None:
    receiver.script = [[OK], [CLOSE], [OK], [CLOSE], [CLOSE]]
    with account_of(retry_schedule=[]) as account:
        account.control.create_endpoint(receiver.url)
        make(account.control, *"abc")
        assert [(each["state"], [each["status"] for each in each["attempts"]]) for each in ended(account.control)] == [
            ("delivered", [200]),
            ("delivered", [None, 200]),
            ("failed", [None, None]),
        ]
        assert receiver.connections == [2, 2, 1]


@pytest.mark.parametrize("answer", [[], [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok"], [b"HTTP/1.1 2"]])
def test_an_answer_that_does_not_end_is_a_time_out(receiver: Receiver, answer: list[bytes]) -> None:
    receiver.script = [answer]
    # Many retries, because on a busy machine a complete answer may also be too late.
    with account_of(delivery_timeout=0.3, retry_schedule=[0.1] * 100) as account:
        account.control.create_endpoint(receiver.url)
        make(account.control, *"ab")
        first, second = ended(account.control)
        assert (first["state"], second["state"]) == ("delivered", "delivered")
        assert (first["attempts"][0]["status"], first["attempts"][0]["error"]) == (None, "no answer within 0.3 s")


def test_a_silent_endpoint_does_not_delay_another(mine: SandboxAccount, receiver: Receiver) -> None:
    with Receiver() as silent:
        silent.hold()
        mine.control.create_endpoint(silent.url)
        mine.control.create_endpoint(receiver.url)
        make(mine.control, *"ab")
        receiver.wait(2)
        # Wait, because the receiver gets an event before the sandbox records the attempt.
        until(lambda: [each["state"] for each in mine.control.deliveries()] == ["pending", "delivered"] * 2)


def test_a_closed_port_says_so_in_one_sentence(mine: SandboxAccount) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        mine.control.create_endpoint(f"http://127.0.0.1:{port}/", retry_schedule=[])
        make(mine.control, "a")
        (delivery,) = ended(mine.control)
    error = f"no program listens on 127.0.0.1 port {port}: the connection was refused"
    assert (delivery["state"], delivery["attempts"][0]["error"]) == ("failed", error)


# ---- Records of attempts ---------------------------------------------------------------------------------------------


def test_an_attempt_is_recorded_as_sent_and_answered(mine: SandboxAccount, receiver: Receiver) -> None:
    receiver.script = [503]
    mine.control.create_endpoint(receiver.url)
    make(mine.control, "Bøger / 1")
    (delivery,) = ended(mine.control)
    failed, delivered = delivery["attempts"]
    assert delivery["body"].encode() == receiver.received[0].body == receiver.received[1].body
    assert [dict(each["headers"]) for each in (failed, delivered)] == [each.headers for each in receiver.received]
    assert dict(failed["headers"])["Service-Signature"] == delivery["signature"]
    assert [(each["status"], each["answer_body"], each["fault"]) for each in (failed, delivered)] == [
        (503, "ok", None),
        (200, "ok", None),
    ]
    assert ["Content-Length", "2"] in failed["answer_headers"]
    assert "body" not in failed and "signature" not in failed


def test_the_record_of_a_large_or_broken_answer_is_small(mine: SandboxAccount, receiver: Receiver) -> None:
    many = b"".join(b"X-%d: %s\r\n" % (number, b"y" * 600) for number in range(20))
    receiver.script = [
        [b"HTTP/1.1 200 OK\r\n" + many + b"Content-Length: 6000\r\n\r\n" + ("æ" * 3000).encode()],
        [b"HTTP/1.1 500 No\r\nContent-Length: 104857600\r\n\r\n" + b"x" * (200 << 10)],
        [b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf\xff", CLOSE],
    ]
    mine.control.create_endpoint(receiver.url, retry_schedule=[])
    make(mine.control, *"abc")
    long, huge, half = [each["attempts"][0] for each in ended(mine.control)]
    assert (long["status"], long["answer_body"]) == (200, "æ" * 2000)
    assert [len(value) for _, value in long["answer_headers"]] == [500] * 20 + [4]
    assert (huge["status"], huge["answer_body"]) == (500, "x" * 2000)
    assert (half["status"], half["answer_encoding"]) == (None, "base64")
    assert base64.b64decode(half["answer_body"]) == b"half\xff"
    assert "received 5 bytes, expected 10" in (half["error"] or "")
