"""Webhook endpoints from registration to deletion: their URLs, secrets and settings, and the hosts that they reach."""

from __future__ import annotations

from typing import Any

import pytest

from billcore.testing import ControlError, Sandbox, SandboxAccount
from sandbox.support import (
    CLOSED,
    Receiver,
    Service,
    account_of,
    attempted,
    ended,
    make,
    names,
    of_ready,
    sign,
    started,
    states,
)
from support.waiting import GENEROUS, until


def signed_with(delivery: Any, *secrets: str) -> int:
    """The index in `secrets` of the secret with which a delivery was signed."""
    return [sign(delivery["body"].encode(), secret) for secret in secrets].index(delivery["signature"])


# Each URL is wrong in a way of its own; the wire fixtures have the usual mistakes.
@pytest.mark.parametrize(
    "url",
    [
        None,
        ["https://shop.example/"],
        "https:///hooks",
        "https://shop.example/a b",
        "https://shop.example/\n",
        "https://shop.example:70000/",
        "https://user:pw@shop.example/",
        "https://shop.example/#part",
        "https://shop.example/%zz",
        "https://[::1/",
        "https://søren.example/",
        "https://shop.example/" + "x" * 2048,
    ],
)
def test_a_url_that_is_refused(mine: SandboxAccount, url: Any) -> None:
    answer = Service(mine.accounts[0]).post("/webhooks/endpoints", {"url": url})
    assert (answer.status, answer.code) == (422, "invalid_url")
    assert mine.control.endpoints() == mine.control.ledger() == []


def test_a_registered_endpoint_is_the_one_in_the_list(mine: SandboxAccount, process: Sandbox) -> None:
    control, service, other = mine.control, Service(mine.accounts[0]), process.new_account(demo=False).control
    urls = ("http://[::1]:8080/x", "https://a-b.c.example:8443/x?y=%2F&z", "https://shop.example")
    made = [control.create_endpoint(urls[0]), control.create_endpoint(urls[1], secret="s" * 32)]
    answer = service.post("/webhooks/endpoints", {"url": urls[2]})
    listed = control.endpoints()
    assert answer.json == {"data": {"id": listed[2]["id"], "url": urls[2]}}
    assert [each["url"] for each in listed] == [*urls]
    assert [(each["state"], each["account"]) for each in listed] == [("enabled", service.account)] * 3
    assert listed[:2] == made and listed[1]["secret"] == "s" * 32
    assert [len(secret) for secret in {each["secret"] for each in listed}] == [32] * 3
    for wrong in ("short", "ü" * 32, " " * 32):
        with pytest.raises(ControlError, match="422"):
            control.create_endpoint(CLOSED, secret=wrong)
    with pytest.raises(ControlError, match="422 url_taken"):
        control.create_endpoint(urls[0])
    assert control.endpoints() == listed
    other.create_endpoint(urls[0])  # a URL is registered once in each account
    assert [each["kind"] for each in control.ledger()] == ["webhook_endpoint_create"] * 3


def test_a_disabled_endpoint_gets_nothing(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.freeze()
    receiver.script = [500]
    number = control.create_endpoint(receiver.url)["id"]
    make(control, "a")
    attempted(control, 1)
    other = control.create_endpoint(receiver.url + "&other=1")["id"]
    assert control.endpoint(number, "disable") == {"id": number, "state": "disabled"}
    make(control, "b")
    assert control.advance(seconds=60)["pending_deliveries"] == 1  # the retry of `a` waits
    with pytest.raises(ControlError, match="404"):
        control.test_hook(number)
    assert control.test_hook() == [other]
    with pytest.raises(ControlError, match="422 url_taken"):
        control.create_endpoint(receiver.url)
    assert control.endpoint(number, "enable")["state"] == "enabled"
    make(control, "c")
    assert [each["endpoint_id"] for each in ended(control)] == [number, other, other, number, other]
    sent = names([each for each in receiver.received if "other" not in each.path])
    assert sorted(sent) == ["a", "a", "c"]


def test_a_deleted_endpoint_gets_nothing_more(mine: SandboxAccount, receiver: Receiver) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    control.freeze()
    receiver.script = [500]
    number = service.post("/webhooks/endpoints", {"url": receiver.url}).data["id"]
    make(control, "a")
    attempted(control, 1)
    jobs = control.state()["counts"]["jobs"]
    control.redeliver(control.deliveries()[0]["id"], after=60)
    control.endpoint(number, "delete")
    assert [each["reason"] for each in ended(control)] == ["the endpoint was deleted"] * 2
    assert (states(control), control.endpoints()) == (["failed"] * 2, [])
    assert control.state()["counts"]["jobs"] == jobs - 1
    make(control, "b")
    control.advance(days=1)
    assert (len(control.deliveries()), names(receiver.received)) == (2, ["a"])
    with pytest.raises(ControlError, match="422 not_allowed: The endpoint of this delivery is deleted"):
        control.replay(control.deliveries()[0]["id"])
    with pytest.raises(ControlError, match="422 not_allowed: The endpoint is deleted, so it has no settings"):
        control.change_endpoint(number, paused=False)
    for cause in ("enable", "disable", "delete", "rotate_secret"):
        with pytest.raises(ControlError, match="422 not_allowed: The endpoint is deleted, which does not take"):
            control._call("POST", f"endpoints/{number}/{cause}", {})
    again = service.post("/webhooks/endpoints", {"url": receiver.url}).data["id"]
    assert again != number
    make(control, "c")
    assert states(control)[2:] == ["delivered"]


def test_a_rotated_secret_overlaps_with_the_old_one(mine: SandboxAccount, receiver: Receiver) -> None:
    control, own = mine.control, "my-secret-of-32-characters-is-it"
    control.freeze()
    receiver.script = [500]
    endpoint = control.create_endpoint(receiver.url)
    old = endpoint["secret"]
    make(control, "a")
    attempted(control, 1)
    new = control.rotate_secret(endpoint["id"], overlap=60)
    assert [each["secret"] for each in control.endpoints()] == [new] != [old]
    make(control, *"bcde")
    control.advance(seconds=59.9)
    make(control, "f")
    overlapping = ended(control)[1:]
    assert [signed_with(each, old, new) for each in overlapping] == [each["id"] % 2 for each in overlapping]
    assert {signed_with(each, old, new) for each in overlapping} == {0, 1}
    control.advance(seconds=0.1)
    make(control, *"gh")
    assert control.rotate_secret(endpoint["id"], secret=own) == own
    make(control, *"ij")
    # A retry has the same bytes and signature as the first attempt, also after a rotation.
    sent = ended(control)
    assert [signed_with(each, old, new, own) for each in (sent[0], *sent[6:])] == [0, 1, 1, 2, 2]
    signatures = {item.event["data"]["name"]: item.sent[1] for item in receiver.received}
    assert signatures == {name: each["signature"] for name, each in zip("abcdefghij", sent, strict=True)}
    for fields in ({"secret": "short"}, {"overlap": -1}, {"overlap": "1"}):
        with pytest.raises(ControlError, match="422"):
            control._call("POST", f"endpoints/{endpoint['id']}/rotate_secret", fields)


# ---- Hosts -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("allowed", ["--deliver-to=0.0.0.0", "--deliver-to=0.0.0.0/8", "--deliver-anywhere"])
def test_only_allowed_hosts_are_reached(receiver: Receiver, allowed: str) -> None:
    # 0.0.0.0 is not a loopback address, but a connection to it reaches this machine.
    near = receiver.url.replace("127.0.0.1", "0.0.0.0")
    with started("--deliver-to", "shop.example", allowed, "--deliver", near) as (process, ready):
        control = of_ready(ready)[1]
        control.create_endpoint(receiver.url)
        if allowed != "--deliver-anywhere":
            for url in ("http://192.0.2.1:80/a", "http://192.0.2.1:80/b", "https://127.0.0.1.example/"):
                control.create_endpoint(url)
        for _ in range(2):
            control.test_hook()
        sent = {(each["url"], each["state"], len(each["attempts"])) for each in ended(control)}
        assert {url: (state, count) for url, state, count in sent if count} == dict.fromkeys(
            (near, receiver.url), ("delivered", 1)
        )
        assert {state for _, state, count in sent if not count} <= {"held_back"}
        process.terminate()
        told = process.communicate(timeout=GENEROUS)[1].splitlines()
    hosts = [] if allowed == "--deliver-anywhere" else ["192.0.2.1", "127.0.0.1.example"]
    line = "billcore sandbox: deliveries to {0} are held back: allow them with --deliver-to {0}"
    assert told == [line.format(host) for host in hosts]


# ---- Settings --------------------------------------------------------------------------------------------------------


def test_concurrency_is_how_many_wait_at_once(receiver: Receiver) -> None:
    receiver.hold()
    with account_of() as account:
        control = account.control
        endpoint = control.create_endpoint(receiver.url, concurrency=3)
        make(control, *"abcdef")
        until(lambda: receiver.waiting == 3)
        assert [len(each["attempts"]) for each in control.deliveries()] == [0] * 6
        control.change_endpoint(endpoint["id"], concurrency=5)
        until(lambda: receiver.waiting == 5)
        receiver.open()
        assert {*states(control)} == {"delivered"}
        assert (receiver.most, len(receiver.connections)) == (5, 5)
        one = control.create_endpoint(receiver.url + "one")
        assert (one["concurrency"], one["paused"], one["keep_alive"], one["retry_schedule"]) == (1, False, True, None)


def test_a_pause_keeps_the_order_and_is_not_waited_for(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    endpoint = control.create_endpoint(receiver.url, paused=True)["id"]
    make(control, *"abc")
    assert control.advance(seconds=60)["pending_deliveries"] == 3
    assert [each["state"] for each in control.deliveries()] == ["pending"] * 3
    assert receiver.received == []
    assert control.change_endpoint(endpoint, paused=False)["paused"] is False
    ended(control)
    assert names(receiver.received) == ["a", "b", "c"]


def test_each_endpoint_has_its_retry_schedule(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.freeze()
    receiver.script = [500] * 100
    never = control.create_endpoint(receiver.url, retry_schedule=[])["id"]
    twice = control.create_endpoint(receiver.url + "&twice", retry_schedule=[60, 3600.5])
    assert twice["retry_schedule"] == [60, 3600.5]
    make(control, "a")
    attempted(control, 1, 1)
    for seconds, made in ((59, 1), (1, 2), (3600, 2), (0.5, 3)):
        control.advance(seconds=seconds)
        first, second = control.deliveries()
        assert (first["state"], len(first["attempts"]), len(second["attempts"])) == ("failed", 1, made)
    assert second["state"] == "failed"
    # A changed schedule applies to the next attempt; None selects the schedule of --retry-schedule.
    control.change_endpoint(never, retry_schedule=None)
    control.endpoint(twice["id"], "delete")
    make(control, "b")
    attempted(control, 1, 3, 1)
    assert control.deliveries()[2]["state"] == "pending"
    control.change_endpoint(never, retry_schedule=[])
    control.advance(seconds=1)
    assert (control.deliveries()[2]["state"], len(control.deliveries()[2]["attempts"])) == ("failed", 2)


def test_without_keep_alive_each_attempt_has_a_connection(mine: SandboxAccount, receiver: Receiver) -> None:
    endpoint = mine.control.create_endpoint(receiver.url, keep_alive=False)["id"]
    make(mine.control, *"abc")
    ended(mine.control)
    mine.control.change_endpoint(endpoint, keep_alive=True)
    make(mine.control, *"abc")
    closes = [["Connection", "close"] in each["attempts"][0]["headers"] for each in ended(mine.control)]
    assert closes == [True] * 3 + [False] * 3
    assert receiver.connections == [1, 1, 1, 3]


@pytest.mark.parametrize(
    "fields",
    [
        {"concurrency": 0},
        {"concurrency": 101},
        {"paused": 1},
        {"retry_schedule": [-1]},
        {"retry_schedule": [1] * 101},
        {"keep_alive": "no"},
    ],
)
def test_wrong_settings_are_refused(mine: SandboxAccount, fields: dict[str, Any]) -> None:
    endpoint = mine.control.create_endpoint(CLOSED)
    for path, more in ((f"endpoints/{endpoint['id']}", {}), ("endpoints", {"url": CLOSED + "b"})):
        with pytest.raises(ControlError, match=r"422 validation_error: .*fields: .*concurrency, paused"):
            mine.control._call("POST", path, {**more, **fields})
    assert mine.control.endpoints() == [endpoint]
