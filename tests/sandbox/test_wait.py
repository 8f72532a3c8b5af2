"""POST wait, and the methods of Control that use it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import re
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from billcore.testing import Control, ControlError, DeliveryFailed, Sandbox, SandboxAccount, WaitTimeout, _calls
from billcore_sandbox.control.bodies import NonePending, Wait
from billcore_sandbox.control.matches import Matches
from billcore_sandbox.control.waits import wait
from billcore_sandbox.errors import Refusal
from billcore_sandbox.moves import move
from billcore_sandbox.options import Options
from billcore_sandbox.world import World
from sandbox.support import CLOSED, Receiver, Service, attempted, make
from sandbox.wire import Wire
from support.waiting import GENEROUS, until


def during(wait: Callable[[], Any], act: Callable[[], object]) -> Any:
    """Calls `wait` (POST wait) in another thread, then `act`, which ends the wait; returns the result of `wait`."""
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait)
        with pytest.raises(TimeoutError):  # by now the sandbox has very probably received the wait request
            waiting.result(0.2)
        act()
        return waiting.result(GENEROUS)


def test_a_request_that_comes_and_one_that_came(mine: SandboxAccount) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    service.charge()
    (first,) = control.wait(request={"operation": "charge"}, timeout=GENEROUS)
    second = during(
        lambda: control.wait(request={"operation": "charge", "status": 200}, since=first["id"], timeout=GENEROUS),
        service.charge,
    )
    assert second == control.requests("charge")[1:]
    both = control.wait(request={"method": "post", "path": "/subscription/*/order"}, count=2, timeout=GENEROUS)
    assert both == [first, *second]
    service.get("/subscription/1/orders")
    (orders,) = control.wait(request={"path": "/subscription/*/o*s"}, timeout=GENEROUS)
    assert orders["operation"] == "subscriptions.orders"
    with pytest.raises(TimeoutError):
        control.wait(request={"path": "/subscription/*", "method": "GET"}, timeout=0)


def test_a_request_matches_before_its_answer_but_not_its_status(mine: SandboxAccount) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    control.fault("delay", delay=3600, path="/products")
    with Wire(service) as wire:
        wire.send("GET", "/products")
        (first,) = control.wait(request={"operation": "products.list"}, timeout=GENEROUS)
        assert (first["status"], first["fault"]) == (None, "delay")
        with pytest.raises(TimeoutError):
            control.wait(request={"status": 200}, timeout=0)
    control.fault("delay", delay=0.5, path="/products")
    (second,) = during(
        lambda: control.wait(request={"operation": "products.list", "status": 200}, timeout=GENEROUS),
        lambda: service.get("/products"),
    )
    assert second["id"] == first["id"] + 1 and second["fault"] == "delay"
    control.fault("reset_before", path="/products")
    with pytest.raises(ConnectionError):
        service.get("/products")
    assert len(control.wait(request={"operation": "products.list"}, count=3, timeout=GENEROUS)) == 3


def test_deliveries(mine: SandboxAccount, receiver: Receiver) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    receiver.script = [500] * 4
    number = control.create_endpoint(receiver.url)["id"]
    (failed,) = during(
        lambda: control.wait(delivery={"event": "product.updated"}, timeout=GENEROUS),
        lambda: control.create_product("Tea"),
    )
    assert (failed["state"], len(failed["attempts"])) == ("failed", 4)
    paid = during(
        lambda: control.wait(delivery={"state": "delivered", "endpoint_id": number}, count=2, timeout=GENEROUS),
        service.charge,
    )
    assert [each["event"] for each in paid] == ["order.confirmed", "order.paid"]
    assert control.wait(delivery={}, since=failed["seq"], count=2, timeout=GENEROUS) == paid
    assert control._call("POST", "wait", {"none_pending": {"event": "order.paid"}})["deliveries"] == paid[1:]


def test_a_wait_ends_with_the_first_delivery_that_fails(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    receiver.script = [200, 500]
    control.create_endpoint(receiver.url, retry_schedule=[])
    failed = during(
        lambda: control.wait(delivery={}, count=5, until_failed=True, timeout=GENEROUS),
        lambda: make(control, "a", "b"),
    )
    assert [each["state"] for each in failed] == ["delivered", "failed"]
    control.create_endpoint("http://192.0.2.1/")
    make(control, "c")
    held = control.wait(delivery={}, count=5, since=failed[-1]["seq"], until_failed=True, timeout=GENEROUS)
    assert "held_back" in [each["state"] for each in held]


def test_a_look_at_one_new_record_costs_the_same_however_many_there_are() -> None:
    world = World(Options())
    columns = {"at": "", "method": "GET", "target": "/", "headers": b"", "body": b"", "unknown": "[]"}

    def grow(count: int) -> None:
        for _ in range(count):
            number = world.store.insert("requests", columns)
            world.store.update("requests", number, {"status": 200, "duration_ms": 1.0})

    def cost(matches: Matches) -> int:
        """The number of instructions of the database for a look at one new record."""
        steps = itertools.count()
        world.store.db.set_progress_handler(lambda: next(steps) < 0, 1)
        matches.found()
        world.store.db.set_progress_handler(None, 1)
        return next(steps)

    with contextlib.closing(world.store):
        matches, costs = Matches(world, "requests", None, 0, {"status = ?": 200}, "target"), []
        for _ in range(2):
            grow(500)
            matches.found()
            grow(1)
            costs.append(cost(matches))
        assert len(matches.found()) == len(matches.rows()) == 1002
        assert 0 < costs[1] < costs[0] + 10


def test_no_delivery_is_pending_only_after_the_clock_has_moved() -> None:
    """While a clock moves, nothing may be pending for a moment before the next renewal fires its events."""
    world = World(Options())

    async def moved() -> None:
        account = world.store.accounts[0]
        to = account.clock.now() + timedelta(days=400)
        go = move(world.jobs, world.dispatcher, account, to, settles=True, timeout=GENEROUS)
        moving = asyncio.create_task(go)
        await asyncio.sleep(0)
        body = Wait(none_pending=NonePending(), account=account.uuid, timeout=0)
        with pytest.raises(Refusal, match=r"408 timeout: .*none, and no enabled endpoint, and a clock is being moved"):
            await wait(world, body)
        await moving
        assert await wait(world, body) == {"deliveries": []}

    with contextlib.closing(world.store):
        asyncio.run(moved())


def test_a_wait_that_ends_says_what_came_what_is_pending_and_the_last_answer(
    mine: SandboxAccount, receiver: Receiver
) -> None:
    control = mine.control
    receiver.script = [200, [b"HTTP/1.1 503 No\r\nContent-Length: 13\r\n\r\nno stock\nleft"]]
    control.create_endpoint(receiver.url, retry_schedule=[3600])
    make(control, "a", "b", "c")
    until(lambda: [len(each["attempts"]) for each in control.deliveries()] == [1, 1, 1])
    with pytest.raises(WaitTimeout, match=r"^2 of 3 ended .*; the receiver answered 503 no stock left\.$") as error:
        control.wait(delivery={}, count=3, timeout=0.01)
    assert (error.value.arrived, error.value.pending) == (2, 1)
    assert error.value.last_answer == control.deliveries(state="pending")[0]["attempts"][-1]
    with pytest.raises(WaitTimeout) as error:
        control.wait_for_deliveries(0.01)
    assert (error.value.arrived, error.value.pending) == (2, 1)
    with pytest.raises(WaitTimeout, match=r"^0 of 1 requests") as error:
        control.wait(request={"operation": "charge"}, timeout=0)
    assert (error.value.arrived, error.value.pending) == (0, 1)


def test_a_wait_ends_also_if_the_sandbox_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_calls, "_LEAST", 0.1)
    monkeypatch.setattr(_calls, "_GRACE", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        control = Control(f"http://127.0.0.1:{silent.getsockname()[1]}/_sandbox")
        with pytest.raises(WaitTimeout, match=r"the sandbox did not answer within 0\.2 s"):
            control.wait(request={}, timeout=0.2)


def test_the_state_of_an_object(mine: SandboxAccount) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    active, declined = (mine.ids["subscriptions"][name] for name in ("demo-active", "demo-declined"))
    cancelled = during(
        lambda: control.wait(subscription={"id": active, "status": "cancelled"}, timeout=GENEROUS),
        lambda: service.post(f"/subscription/{active}/cancel"),
    )
    assert cancelled == service.get(f"/subscription/{active}").data
    unpaid = during(
        lambda: control.wait(subscription={"id": int(declined), "status": "unpaid"}, timeout=GENEROUS),
        lambda: control.advance(days=40),
    )
    assert unpaid["status"] == "unpaid"
    order = service.charge("demo-invoice").data
    paid = during(
        lambda: control.wait(order={"id": order["id"], "state": "paid"}, timeout=GENEROUS),
        lambda: control.pay(order["id"]),
    )
    assert paid == service.get(f"/order/{order['id']}").data


def test_the_end_of_the_time_says_what_came_instead(mine: SandboxAccount) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    active = mine.ids["subscriptions"]["demo-active"]

    def told(timeout: float = 0, **what: Any) -> str:
        with pytest.raises(TimeoutError) as error:
            control.wait(**what, timeout=timeout)
        return str(error.value)

    assert told(0.01, delivery={"event": "order.paid"}, count=3) == (
        "0 of 3 ended deliveries with event order.paid came within 0.01 s: there are none, and no enabled endpoint."
    )
    service.get("/nothing")
    assert told(request={"operation": "charge"}) == (
        "0 of 1 requests with operation charge came within 0 s: there are unknown paths 404 (1)."
    )
    control.freeze()
    control.create_endpoint(CLOSED)
    make(control, "a")
    attempted(control, 1)
    frozen = "product.updated pending (1); the clock is frozen, so nothing is tried again until it is moved"
    refused = "no program listens on 127.0.0.1 port 9: the connection was refused"
    assert told(delivery={"state": "delivered"}) == (
        f"0 of 1 deliveries with state delivered came within 0 s: there are {frozen}; {refused}."
    )
    assert told(subscription={"id": active, "status": "unpaid"}) == (
        f"The subscription {active} did not become unpaid within 0 s: it is active, and its clock is frozen."
    )
    with pytest.raises(TimeoutError, match=r"Deliveries are still pending after 0.05 s .1.: there are product.updated"):
        control.wait_for_deliveries(0.05)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "Name what to wait for, and only that: one of request, delivery, none_pending, subscription, order."),
        ({"request": {}, "delivery": {}}, "Name what to wait for, and only that"),
        ({"request": {"path": "/subscription/*", "method": "PUT"}}, "No request can match 'PUT /subscription/"),
        ({"request": {"state": "x"}}, r"unknown field `state` - at .* \(fields: operation, method, path, status\)"),
        ({"delivery": {"event": "order.payed"}}, "The field event must be one of .*order.paid"),
        ({"subscription": {"id": 1, "status": "paid"}}, "The field status must be one of pending, future_start"),
        ({"order": {"id": 1, "state": "paid"}, "count": 2}, "order takes no count"),
        ({"request": {}, "until_failed": True}, "request takes no until_failed"),
        ({"request": {}, "timeout": 601}, "<= 600"),
    ],
)
def test_a_wait_that_nothing_can_end_is_refused(mine: SandboxAccount, body: dict[str, Any], message: str) -> None:
    with pytest.raises(ControlError, match=f"422 validation_error: .*{message}"):
        mine.control._call("POST", "wait", body)


def test_a_wait_sees_its_account_alone(process: Sandbox, mine: SandboxAccount) -> None:
    other = process.new_account()
    Service(other.accounts[0]).charge()
    (theirs,) = other.control.wait(request={"operation": "charge"}, timeout=GENEROUS)
    with pytest.raises(TimeoutError):
        mine.control.wait(request={"operation": "charge"}, timeout=0)
    with pytest.raises(TimeoutError):
        mine.control.wait(delivery={}, timeout=0)
    with pytest.raises(ControlError, match="404 not_found"):
        mine.control.wait(order={"id": Service(other.accounts[0]).charge().data["id"], "state": "paid"}, timeout=0)
    assert theirs in process.control.wait(request={"operation": "charge"}, timeout=GENEROUS)
    with pytest.raises(ControlError, match="404 not_found: No account has this UUID"):
        during(
            lambda: other.control.wait(request={"operation": "cancel"}, timeout=GENEROUS),
            lambda: process.control.delete_account(Service(other.accounts[0]).account),
        )


def test_a_reset_ends_a_wait(sandbox: Sandbox) -> None:
    # Reset repeatedly, because a reset that comes before POST wait does not end the wait.
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: sandbox.control.wait(request={"operation": "charge"}, timeout=GENEROUS))
        while not waiting.done():
            sandbox.control.reset()
        with pytest.raises(ControlError, match=r"409 reset: The sandbox was reset while this request waited."):
            waiting.result()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (None, "failed after 4 attempts: the receiver answered 503"),
        ("http://192.0.2.1/hook", "was held back, because its host is not loopback: .*--deliver-to"),
        (CLOSED, "failed after 4 attempts: .*refused|failed"),
    ],
)
def test_a_delivery_that_does_not_arrive_is_an_error(
    mine: SandboxAccount, receiver: Receiver, url: str | None, message: str
) -> None:
    receiver.script = [503] * 4
    where = url or receiver.url
    mine.control.create_endpoint(where)
    make(mine.control, "a")
    with pytest.raises(DeliveryFailed, match=f"{re.escape(where)} {message}") as error:
        mine.control.wait_for_deliveries()
    first = mine.control.deliveries()[0]
    assert str(error.value).startswith(f"product.updated (id {first['id']}) to {where} ")
    assert isinstance(error.value, AssertionError)
    if url is None:
        make(mine.control, "b")
        with pytest.raises(DeliveryFailed, match=r" \(1 of 2 deliveries did not arrive\)$"):
            mine.control.wait_for_deliveries()
        found = mine.control.wait_for_deliveries(failed_ok=True)
        assert [each["state"] for each in found] == ["failed", "delivered"]
