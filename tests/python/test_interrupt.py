"""While a call waits: other threads run, and signals are heard at once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from types import FrameType

import pytest

import billcore
from conformance.server import Reply, Request

from .conftest import Serve
from .support import ACCOUNT, API_KEY, SUBSCRIPTION, data

CALLER = """
import signal, sys, billcore
signal.signal(signal.SIGINT, signal.default_int_handler)
client = billcore.Client(base_url=sys.argv[1], api_key=sys.argv[2], timeout=None)
try:
    if sys.argv[3] == "get":
        client.subscriptions.get("s")
    elif sys.argv[3] == "list":
        list(client.products.list())
    else:
        client.subscriptions.charge("s", product_id=1, amount=1)
except KeyboardInterrupt as error:
    print("KeyboardInterrupt", *getattr(error, "__notes__", []))
"""


@pytest.mark.parametrize("operation", ["get", "list", "charge"])
def test_ctrl_c_ends_a_call(serve: Serve, operation: str) -> None:
    asked = threading.Event()

    def script(_: Request) -> Reply:
        asked.set()
        return Reply(raw=b"", ending="hang")

    server, _ = serve(script)
    here = os.path.dirname(os.path.dirname(os.path.abspath(billcore.__file__)))
    process = subprocess.Popen(
        [sys.executable, "-c", CALLER, server.url + ACCOUNT, API_KEY, operation],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": here},
    )
    try:
        assert asked.wait(60)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0 and output.startswith("KeyboardInterrupt")
    assert ("may or may not have happened" in output) is (operation == "charge")


class Alarm(Exception):
    pass


def test_what_a_handler_raises_ends_the_call(serve: Serve) -> None:
    _, client = serve([Reply(raw=b"", ending="hang"), data(SUBSCRIPTION)])

    def ring(_: int, __: FrameType | None) -> None:
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(Alarm) as caught:
            client.subscriptions.cancel("s", timeout=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert len(caught.value.__notes__) == 1 and "may or may not have happened" in caught.value.__notes__[0]
    assert client.subscriptions.get("s").id == "sub_1", "the client goes on working"


def test_a_handler_that_returns_does_not_disturb(serve: Serve) -> None:
    _, client = serve([data(SUBSCRIPTION, delay=0.6)])
    rung: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: rung.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        assert client.subscriptions.get("s", timeout=60).id == "sub_1"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert rung == [signal.SIGALRM]


def test_a_thread_keeps_counting_while_a_call_waits(serve: Serve) -> None:
    answer = threading.Event()
    counts: list[int] = []

    def script(_: Request) -> Reply:
        # Answers only after the other thread has counted on, so the call cannot have held it up.
        assert answer.wait(60)
        return data(SUBSCRIPTION)

    def count() -> None:
        for number in range(1000):
            counts.append(number)
            time.sleep(0)
        answer.set()

    _, client = serve(script)
    thread = threading.Thread(target=count)
    thread.start()
    assert client.subscriptions.get("s", timeout=120).id == "sub_1"
    thread.join()
    assert len(counts) == 1000


def test_timeouts_of_calls(serve: Serve) -> None:
    _, client = serve([data(SUBSCRIPTION, delay=0.3), Reply(raw=b"", ending="hang"), data(SUBSCRIPTION)])
    assert client.subscriptions.get("s", timeout=None).id == "sub_1"
    started = time.monotonic()
    with pytest.raises(billcore.TimeoutError):
        client.subscriptions.get("s", timeout=0.3)
    assert 0.29 <= time.monotonic() - started < 30
    assert client.subscriptions.get("s", timeout=60).id == "sub_1"
    for wrong in (0, -1, "1", True, float("nan")):
        with pytest.raises(billcore.InvalidArgumentError, match="timeout"):
            client.subscriptions.get("s", timeout=wrong)  # type: ignore[arg-type]
