"""Tests connections that fail, or that end before a request is sent. If nothing was sent, the client may retry even a
write."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any

import pytest

from . import steps
from .certificates import Certificates
from .proxy import passing
from .scene import READS, WRITES, Scene, World
from .test_answers import CONNECTION_ROWS, OK, Row, combined

LOST = "OutcomeUnknownError/ConnectionError"
SHORT = 0.4
OPERATIONS = [*READS, *WRITES]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_refused_connection_is_tried_twice(world: World, language: str, operation: str) -> None:
    with Scene(world, language, late=True) as scene:
        outcome = scene.call(operation, max_retries=1)
        assert outcome.name == "ConnectionError" and not outcome.unknown
        assert outcome.error["attempts"] == 2


@pytest.mark.parametrize("operation", ["orders.get", "subscriptions.charge", "products.delete"])
def test_refused_for_a_while(world: World, language: str, operation: str) -> None:
    with Scene(world, language, late=True) as scene:
        threading.Timer(0.1, scene.proxy.listen).start()
        assert scene.call(operation, max_retries=10, timeout=30).name == OK
        assert len(scene.proxy.seen) == 1


@pytest.mark.parametrize("act", [steps.reset_at_once, steps.close_at_once], ids=["reset", "close"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_ended_at_once(world: World, language: str, operation: str, act: Callable[[socket.socket], None]) -> None:
    """If the client has begun to send, a write has an unknown outcome; otherwise a retry of the write succeeds."""
    with Scene(world, language, on_accept=[act]) as scene:
        outcome = scene.call(operation, max_retries=2)
        assert outcome.name in ([OK] if operation in READS else [OK, LOST]), outcome
        assert scene.call("orders.get", max_retries=2).name == OK


@pytest.mark.parametrize("reset", [True, False], ids=["reset", "close"])
def test_a_dead_idle_connection_is_noticed_before_a_write(world: World, language: str, reset: bool) -> None:
    """The client detects the broken connection before use: nothing was sent, and the write uses another connection."""
    with Scene(world, language) as scene:
        for operation in [*WRITES, *["subscriptions.charge"] * 25]:
            scene.proxy.add(steps.then(passing, reset=reset))
            assert scene.call("orders.get", max_retries=0).name == OK
            scene.proxy.wait_until_closed()
            scene.proxy.add(steps.then(passing, reset=reset))
            outcome = scene.call(operation, max_retries=0)
            assert outcome.name == OK, outcome
            scene.proxy.wait_until_closed()


@pytest.mark.parametrize("wrong", ["expired", "not_yet", "other_host"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_wrong_certificate(
    world: World, language: str, certificates: Certificates, operation: str, wrong: str
) -> None:
    context: ssl.SSLContext = getattr(certificates, wrong)
    with Scene(world, language, tls=context) as scene:
        outcome = scene.call(operation, max_retries=2, ca_bundle=str(certificates.bundle))
        assert outcome.name == "TlsError" and not outcome.unknown, outcome
        assert scene.proxy.seen == [] and scene.proxy.accepted == 1, "tried again"


@pytest.mark.parametrize("reset", [True, False], ids=["reset", "close"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_tls_broken_once(world: World, language: str, certificates: Certificates, operation: str, reset: bool) -> None:
    broken = steps.broken_handshake(certificates.good, reset=reset)
    with Scene(world, language, tls=certificates.good, on_accept=[broken]) as scene:
        assert scene.call(operation, max_retries=2, ca_bundle=str(certificates.bundle)).name == OK
        assert scene.proxy.accepted == 2 and len(scene.proxy.seen) == 1


BROKEN: dict[str, Callable[[Certificates], Callable[[socket.socket], None]]] = {
    "reset": lambda made: steps.broken_handshake(made.good, reset=True),
    "close": lambda made: steps.broken_handshake(made.good, reset=False),
    "reset-before-hello": lambda made: steps.reset_at_once,
    "close-before-hello": lambda made: steps.close_at_once,
    "alert": lambda made: steps.answer_hello(b"\x15\x03\x03\x00\x02\x02\x28"),
    "no-tls": lambda made: steps.answer_hello(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
}


@pytest.mark.one_language
@pytest.mark.parametrize("how", BROKEN)
@pytest.mark.parametrize("operation", ["orders.get", *WRITES])
def test_tls_always_broken(world: World, language: str, certificates: Certificates, operation: str, how: str) -> None:
    with Scene(world, language, tls=certificates.good, on_accept=[BROKEN[how](certificates)] * 2) as scene:
        outcome = scene.call(operation, max_retries=1, ca_bundle=str(certificates.bundle))
        assert outcome.name in ("TlsError", "ConnectionError") and not outcome.unknown, outcome
        assert scene.proxy.seen == []


@pytest.mark.parametrize("begun", [b"", b"\x16\x03\x03\x00\x7a\x02"], ids=["at-once", "in-its-answer"])
@pytest.mark.parametrize("operation", ["orders.get", "subscriptions.charge", "products.delete"])
def test_tls_silent(world: World, language: str, certificates: Certificates, operation: str, begun: bytes) -> None:
    with Scene(world, language, tls=certificates.good, on_accept=[steps.answer_hello(begun, hold=True)] * 2) as scene:
        outcome = scene.call(operation, max_retries=2, timeout=SHORT, ca_bundle=str(certificates.bundle))
        assert outcome.name == "TimeoutError" and not outcome.unknown, outcome
        assert scene.proxy.seen == []


@combined(CONNECTION_ROWS, "operation", ("subscriptions.charge",), ("orders.get",))
def test_faults_over_tls_have_the_same_outcomes(
    world: World, language: str, certificates: Certificates, row: Row, operation: str
) -> None:
    """Repeats the connection faults over TLS, where the peer may also end a connection by close_notify."""
    with Scene(world, language, tls=certificates.good) as scene:
        options: dict[str, Any] = {"max_retries": 2, "ca_bundle": str(certificates.bundle)}
        assert scene.call("orders.get", **options).name == OK
        scene.proxy.add(row.step)
        outcome = scene.call(operation, timeout=row.timeout, **options)
        assert outcome.name == (row.once if operation in READS else row.write), outcome
    if operation not in READS:
        assert outcome.reply["effects"] == row.effect
