"""Settings of an endpoint: concurrency, pause, retry schedule, keep-alive; and the limit for all endpoints together."""

from __future__ import annotations

import os
from typing import Any

import pytest

from billcore.testing import ControlError, Sandbox, SandboxAccount
from sandbox.support import Receiver, ended, gate, make, names
from support.waiting import GENEROUS, until


def test_concurrency_is_how_many_wait_at_once() -> None:
    with Sandbox(delivery_timeout=GENEROUS) as sandbox, gate() as slow:
        control = sandbox.new_account(demo=False).control
        endpoint = control.create_endpoint(slow.url, concurrency=3)
        make(control, *"abcdef")
        until(lambda: slow.waiting == 3)
        assert [len(each["attempts"]) for each in control.deliveries()] == [0] * 6
        control.change_endpoint(endpoint["id"], concurrency=5)
        until(lambda: slow.waiting == 5)
        slow.open()
        assert {each["state"] for each in control.wait_for_deliveries()} == {"delivered"}
        assert (slow.most, slow.connections) == (5, 5)
        one = control.create_endpoint(slow.url + "one")
        assert (one["concurrency"], one["paused"], one["keep_alive"], one["retry_schedule"]) == (1, False, True, None)


def test_a_pause_keeps_the_order_and_is_not_waited_for(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    endpoint = control.create_endpoint(receiver.url, paused=True)["id"]
    make(control, *"abc")
    assert control.advance(seconds=60)["pending_deliveries"] == 3
    assert [each["state"] for each in control.deliveries()] == ["pending"] * 3
    assert receiver.received == []
    assert control.change_endpoint(endpoint, paused=False)["paused"] is False
    control.wait_for_deliveries()
    assert names(receiver.received) == ["a", "b", "c"]


def test_a_disabled_endpoint_waits_with_its_retries(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.freeze()
    receiver.script = [500]
    endpoint = control.create_endpoint(receiver.url)["id"]
    make(control, "a")
    until(lambda: control.deliveries()[0]["attempts"])
    control.endpoint(endpoint, "disable")
    make(control, "not sent")
    assert control.advance(seconds=60)["pending_deliveries"] == 1
    assert len(receiver.received) == 1
    control.endpoint(endpoint, "enable")
    control.wait_for_deliveries()
    assert names(receiver.received) == ["a", "a"]


def test_what_a_deleted_endpoint_waits_for_fails_with_the_reason(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    endpoint = control.create_endpoint(receiver.url, paused=True)["id"]
    (delivery,) = make(control, "a")
    jobs = control.state()["counts"]["jobs"]
    control.redeliver(delivery["id"], after=60)
    control.endpoint(endpoint, "delete")
    shown = [(each["state"], each["reason"]) for each in control.deliveries()]
    assert shown == [("failed", "the endpoint was deleted")] * 2
    assert control.state()["counts"]["jobs"] == jobs
    with pytest.raises(ControlError, match="422 not_allowed: The endpoint is deleted, so it has no settings"):
        control.change_endpoint(endpoint, paused=False)


def test_each_endpoint_has_its_retry_schedule(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.freeze()
    receiver.script = [500] * 100
    never = control.create_endpoint(receiver.url, retry_schedule=[])["id"]
    twice = control.create_endpoint(receiver.url + "&twice", retry_schedule=[60, 3600.5])
    assert twice["retry_schedule"] == [60, 3600.5]
    make(control, "a")
    until(lambda: [len(each["attempts"]) for each in control.deliveries()] == [1, 1])
    for seconds, made in ((59, 1), (1, 2), (3600, 2), (0.5, 3)):
        control.advance(seconds=seconds)
        first, second = control.deliveries()
        assert (first["state"], len(first["attempts"]), len(second["attempts"])) == ("failed", 1, made)
    assert second["state"] == "failed"
    # A changed schedule applies to the next attempt; None selects the schedule of --retry-schedule.
    control.change_endpoint(never, retry_schedule=None)
    make(control, "b")
    until(lambda: len(control.deliveries()[2]["attempts"]) == 1)
    assert control.deliveries()[2]["state"] == "pending"
    control.change_endpoint(never, retry_schedule=[])
    control.advance(seconds=1)
    assert (control.deliveries()[2]["state"], len(control.deliveries()[2]["attempts"])) == ("failed", 2)


def test_without_keep_alive_each_attempt_has_a_connection(mine: SandboxAccount) -> None:
    with gate() as quick:
        quick.open()
        endpoint = mine.control.create_endpoint(quick.url, keep_alive=False)["id"]
        make(mine.control, *"abc")
        mine.control.wait_for_deliveries()
        assert quick.connections == 3
        mine.control.change_endpoint(endpoint, keep_alive=True)
        make(mine.control, *"abc")
        sent = mine.control.wait_for_deliveries()
        assert quick.connections == 4
        closes = [["Connection", "close"] in each["attempts"][0]["headers"] for each in sent]
        assert closes == [True] * 3 + [False] * 3


@pytest.mark.parametrize(
    "fields",
    [
        {"concurrency": 0},
        {"concurrency": 101},
        {"concurrency": None},
        {"paused": 1},
        {"retry_schedule": [-1]},
        {"retry_schedule": ["1"]},
        {"retry_schedule": [1] * 101},
        {"keep_alive": "no"},
        {"pausd": True},
    ],
)
def test_wrong_settings_are_refused(mine: SandboxAccount, fields: dict[str, Any]) -> None:
    endpoint = mine.control.create_endpoint("http://127.0.0.1:9/")
    for path in (f"endpoints/{endpoint['id']}", "endpoints"):
        with pytest.raises(ControlError, match=r"422 validation_error: .*fields: .*concurrency, paused"):
            mine.control._call(
                "POST", path, {**({"url": "http://127.0.0.1:9/b"} if path == "endpoints" else {}), **fields}
            )
    assert mine.control.endpoints() == [endpoint]


def test_many_silent_endpoints_leave_the_sandbox_responsive(receiver: Receiver) -> None:
    """The attempts of all endpoints together are limited, so that file descriptors remain for the process's clients."""
    with Sandbox(delivery_timeout=1, retry_schedule=[]) as sandbox, gate() as silent:
        control = sandbox.new_account(demo=False).control
        for number in range(700):
            control.create_endpoint(f"{silent.url}{number}")
        control.create_endpoint(receiver.url, retry_schedule=[0.1] * 100)
        make(control, "a")
        until(lambda: silent.waiting > 100)
        opened = len(os.listdir(f"/proc/{sandbox.pid}/fd"))
        assert opened < 300
        states = [each["state"] for each in ended(control)]
        assert states == ["failed"] * 700 + ["delivered"]
        # Wait, because the kernel connects the sandbox before the receiver accepts the connection.
        until(lambda: silent.connections >= 700)
        assert silent.connections == 700
