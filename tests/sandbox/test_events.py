"""Webhook endpoints and signed events, received by a real listener."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Control, ControlError, Sandbox
from sandbox.support import Receiver, Service, account, sign
from support.waiting import until

SECRET = "0123456789abcdefghijklmnopqrstuv"


def register(service: Service, url: str) -> None:
    assert service.post("/webhooks/endpoints", {"url": url}).status == 200


def test_the_secret_is_not_in_the_answer(service: Service, control: Control) -> None:
    answer = service.post("/webhooks/endpoints", {"url": "https://shop.example/hooks"})
    assert answer.status == 200
    (endpoint,) = control.endpoints()
    assert len(endpoint["secret"]) == 32
    assert endpoint["secret"].encode() not in answer.body
    assert answer.json == {"data": {"id": endpoint["id"], "url": endpoint["url"]}}
    assert (endpoint["account"], endpoint["url"]) == (service.account, "https://shop.example/hooks")
    assert [effect["kind"] for effect in control.ledger()] == ["webhook_endpoint_create"]


def test_a_url_is_registered_once_an_account(service: Service, other: Service, control: Control) -> None:
    register(service, "http://127.0.0.1:9/hook")
    again = service.post("/webhooks/endpoints", {"url": "http://127.0.0.1:9/hook"})
    assert (again.status, again.code) == (422, "url_taken")
    register(other, "http://127.0.0.1:9/hook")
    register(service, "http://127.0.0.1:9/hook2")
    endpoints = control.endpoints()
    assert [endpoint["account"] for endpoint in endpoints] == [service.account, other.account, service.account]
    assert len({endpoint["secret"] for endpoint in endpoints}) == 3
    assert len(control.ledger()) == 3


@pytest.mark.parametrize(
    "url",
    [
        None,
        5,
        "",
        "shop",
        "/hooks",
        "//shop.example/x",
        "ftp://shop.example/",
        "https://",
        "https:///hooks",
        "https:shop.example",
        "https://shop.example/a b",
        "https://shop.example/\n",
        " https://shop.example/",
        "https://shop.example:x/",
        "https://shop.example:70000/",
        "https://shop.example:0/",
        "https://user:pw@shop.example/",
        "https://shop.example/#part",
        "https://shop.example/%zz",
        "https://shop_.-.example!/",
        "https://[::1/",
        "https://søren.example/",
        "https://shop.example/" + "x" * 2048,
        ["https://shop.example/"],
    ],
)
def test_invalid_urls(service: Service, control: Control, url: Any) -> None:
    answer = service.post("/webhooks/endpoints", {"url": url})
    assert (answer.status, answer.code) == (422, "invalid_url")
    assert control.endpoints() == []
    assert control.ledger() == []


@pytest.mark.parametrize("url", ["http://[::1]:8080/x", "https://shop.example", "https://a-b.c.example:8443/x?y=%2F&z"])
def test_valid_urls(service: Service, url: str) -> None:
    register(service, url)


def test_a_missing_url(service: Service) -> None:
    assert service.post("/webhooks/endpoints", {}).code == "invalid_url"


def test_a_charge_fires_two_signed_events(service: Service, control: Control, receiver: Receiver) -> None:
    register(service, receiver.url)
    order = service.charge(amount=1234).data
    confirmed, paid = receiver.wait(2)
    secret = control.endpoints()[0]["secret"]
    for item in (confirmed, paid):
        assert item.path == "/hook?shop=1"
        assert item.headers["User-Agent"] == "Service/1.0"
        assert item.headers["Content-Type"] == "application/json"
        expected = sign(item.body, secret)
        assert item.headers["Service-Signature"] == expected
        assert sorted(item.event) == ["account", "created_at", "data", "id", "name"]
        assert type(item.event["id"]) is int
        assert item.event["account"] == control.state()["accounts"][0]["number"]
        assert datetime.fromisoformat(item.event["created_at"]).tzinfo is not None
        assert str(item.event["data"]["id"]) == order["id"]
        assert item.event["data"]["total"] == 1234
    assert (confirmed.event["name"], paid.event["name"]) == ("order.confirmed", "order.paid")
    assert (confirmed.event["data"]["state"], paid.event["data"]["state"]) == ("confirmed", "paid")
    deliveries = control.wait_for_deliveries()
    assert [delivery["state"] for delivery in deliveries] == ["delivered", "delivered"]
    assert [delivery["body"].encode() for delivery in deliveries] == [confirmed.body, paid.body]
    assert [delivery["id"] for delivery in deliveries] == [confirmed.event["id"], paid.event["id"]]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the openssl command")
def test_openssl_agrees_with_the_signature(
    service: Service, control: Control, receiver: Receiver, tmp_path: Path
) -> None:
    register(service, receiver.url)
    service.post(f"/product/{service.product()['id']}", {"name": "Bøger / “no. 1” \N{PARTY POPPER}"})
    item = receiver.wait(1)[0]
    body = tmp_path / "body"
    body.write_bytes(item.body)
    secret = control.endpoints()[0]["secret"]
    command = ["openssl", "dgst", "-sha256", "-hmac", secret, "-r", str(body)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert output.split()[0] == item.headers["Service-Signature"]


def test_serialising_again_changes_the_bytes(service: Service, receiver: Receiver) -> None:
    register(service, receiver.url)
    service.post(f"/product/{service.product()['id']}", {"name": "Bøger / A"})
    body = receiver.wait(1)[0].body
    assert b"B\\u00f8ger \\/ A" in body
    for separators in ((",", ":"), (", ", ": ")):
        for ascii_only in (True, False):
            again = json.dumps(json.loads(body), separators=separators, ensure_ascii=ascii_only).encode()
            assert again != body


def test_every_event_of_a_subscription(service: Service, receiver: Receiver) -> None:
    register(service, receiver.url)
    path = f"/subscription/{service.subscription('demo-active')['id']}"
    service.post(f"{path}/product", {"product_id": service.product("fixed_cycle")["id"]})
    service.post(f"{path}/cancel")
    service.send("DELETE", f"/product/{service.product('donation')['id']}")
    names = [item.event["name"] for item in receiver.wait(3)][:3]
    assert names == ["subscription.updated", "subscription.cancelled", "product.deleted"]
    assert receiver.received[1].event["data"]["status"] == "cancelled"


def test_ids_and_fields_vary_by_delivery_id(service: Service, receiver: Receiver) -> None:
    register(service, receiver.url)
    full = set(service.charge().data)
    for _ in range(3):
        service.charge()
    seen = set()
    for item in receiver.wait(8):
        event = item.event
        kind, reduced = type(event["data"]["id"]), set(event["data"]) < full
        assert kind is (int if event["id"] % 2 == 0 else str)
        assert reduced is (event["id"] % 4 >= 2)
        assert set(event["data"]) <= full
        seen.add((kind, reduced))
    assert len(seen) == 4


def test_shapes_that_options_choose(receiver: Receiver) -> None:
    with Sandbox(secret=SECRET, event_ids="int", event_payload="full") as sandbox:
        service = account(sandbox)
        register(service, receiver.url)
        order = service.charge().data
        for item in receiver.wait(2):
            assert item.event["data"]["id"] == int(order["id"])
            assert set(item.event["data"]) == set(order)
            expected = sign(item.body, SECRET)
            assert item.headers["Service-Signature"] == expected
        assert sandbox.control.endpoints()[0]["secret"] == SECRET
        assert sandbox.control.state()["options"]["secret"] == "set"


def test_a_retry_has_the_same_id_and_bytes(service: Service, control: Control, receiver: Receiver) -> None:
    receiver.script = [500, 302, 404]
    register(service, receiver.url)
    service.post(f"/product/{service.product()['id']}", {"price": 1})
    control.wait_for_deliveries()
    copies = [item for item in receiver.received if item.event["name"] == "product.updated"]
    statuses = [attempt["status"] for delivery in control.deliveries() for attempt in delivery["attempts"]]
    assert sorted(status or 0 for status in statuses)[-3:] == [302, 404, 500]
    assert len(receiver.received) == len(statuses)
    assert len({item.body for item in copies}) == 1
    assert len({item.headers["Service-Signature"] for item in copies}) == 1
    assert len(copies) > 1
    assert {delivery["state"] for delivery in control.deliveries()} == {"delivered"}
    assert {delivery["attempts"][-1]["status"] for delivery in control.deliveries()} == {200}


def test_it_gives_up_after_the_schedule(service: Service, control: Control, receiver: Receiver) -> None:
    receiver.script = [500] * 4
    register(service, receiver.url)
    control.test_hook()
    (delivery,) = control.wait_for_deliveries(failed_ok=True)
    assert delivery["state"] == "failed"
    assert [attempt["status"] for attempt in delivery["attempts"]] == [500] * 4
    assert len(receiver.received) == 4


def test_a_dead_endpoint_does_not_delay_another(service: Service, control: Control, receiver: Receiver) -> None:
    with socket.socket() as silent:  # the kernel accepts connections, but no program answers
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        register(service, f"http://127.0.0.1:{silent.getsockname()[1]}/")
        register(service, receiver.url)
        service.charge()
        assert [item.event["name"] for item in receiver.wait(2)] == ["order.confirmed", "order.paid"]
        # Wait, because the receiver gets an event before the sandbox records the attempt.
        until(lambda: {d["endpoint_id"] for d in control.deliveries() if d["state"] == "pending"} == {1})


def test_refused_and_slow_and_strange_answers(receiver: Receiver) -> None:
    with (
        socket.socket() as silent,
        socket.socket() as closed,
        Sandbox(retry_schedule=[], delivery_timeout=0.1) as sandbox,
    ):
        for listener in (silent, closed):
            listener.bind(("127.0.0.1", 0))
        silent.listen()
        service = account(sandbox)
        for listener in (silent, closed):
            register(service, f"http://127.0.0.1:{listener.getsockname()[1]}/")
        sandbox.control.test_hook()
        slow, refused = sandbox.control.wait_for_deliveries(failed_ok=True)
        assert (slow["state"], refused["state"]) == ("failed", "failed")
        assert "no answer within" in (slow["attempts"][0]["error"] or "")
        assert refused["attempts"][0]["status"] is None
        assert refused["attempts"][0]["error"]


def test_other_machines_are_held_back(service: Service, control: Control) -> None:
    for url in (
        "https://shop.example/hook",
        "http://192.0.2.1/",
        "http://localhost.example/",
        "http://127.0.0.1.example/",
    ):
        register(service, url)
    service.charge()
    deliveries = control.deliveries()
    assert len(deliveries) == 8
    assert {delivery["state"] for delivery in deliveries} == {"held_back"}
    assert [delivery["attempts"] for delivery in deliveries] == [[]] * 8
    assert json.loads(deliveries[0]["body"])["name"] == "order.confirmed"


def test_other_machines_are_reached_when_asked_for(receiver: Receiver) -> None:
    # 0.0.0.0 is not a loopback address, but a connection to it reaches this machine.
    url = receiver.url.replace("127.0.0.1", "0.0.0.0")
    with Sandbox(deliver_anywhere=True) as sandbox:
        register(account(sandbox), url)
        sandbox.control.test_hook()
        assert receiver.wait(1)[0].event["name"] == "test.hook"


def test_a_replay_has_a_new_id_and_the_original_payload(service: Service, control: Control, receiver: Receiver) -> None:
    register(service, receiver.url)
    service.charge()
    first = receiver.wait(2)[0]
    new_id = control.replay(first.event["id"])
    again = receiver.wait(3)[2]
    assert again.event == {**first.event, "id": new_id}
    assert new_id != first.event["id"]
    data = first.body.partition(b',"data":')[2]
    assert again.body.partition(b',"data":')[2] == data
    secret = control.endpoints()[0]["secret"]
    assert again.headers["Service-Signature"] == sign(again.body, secret)
    with pytest.raises(ControlError, match="404"):
        control.replay(1)


def test_the_test_hook(service: Service, other: Service, control: Control, receiver: Receiver) -> None:
    register(service, receiver.url)
    register(other, receiver.url.replace("/hook", "/other"))
    assert control.test_hook() == [1, 2]
    for item in receiver.wait(2):
        assert (item.event["id"], item.event["name"], item.event["data"]) == (0, "test.hook", None)
    assert {item.event["account"] for item in receiver.received} == {4001, 4002}
    assert control.test_hook(2, data={"junk": [1]}) == [2]
    assert receiver.wait(3)[2].event["data"] == {"junk": [1]}
    with pytest.raises(ControlError, match="404"):
        control.test_hook(3)


def test_events_stay_in_their_account(service: Service, other: Service, control: Control, receiver: Receiver) -> None:
    register(other, receiver.url)
    service.charge()
    assert control.deliveries() == []
    other.post(f"/product/{other.product()['id']}", {"price": 5})
    assert receiver.wait(1)[0].event["account"] == 4002


def test_a_refused_request_fires_nothing(service: Service, control: Control, receiver: Receiver) -> None:
    register(service, receiver.url)
    assert service.charge("demo-declined").status == 402
    assert service.charge(amount=0).status == 422
    assert service.charge(amount=2**63 - 1).status == 422
    assert control.deliveries() == []


def test_a_reset_drops_retries_under_way(service: Service, control: Control, receiver: Receiver) -> None:
    receiver.script = [500] * 100
    register(service, receiver.url)
    service.charge()
    receiver.wait(1)
    control.reset()
    assert control.deliveries() == []
    receiver.script = []
    register(service, receiver.url)
    control.test_hook()
    until(lambda: any(item.event["name"] == "test.hook" for item in receiver.received))
    assert [delivery["event"] for delivery in control.wait_for_deliveries()] == ["test.hook"]


def test_a_retry_from_before_a_reset_does_not_meet_a_later_delivery(receiver: Receiver) -> None:
    receiver.script = [500] * 100
    with Sandbox(retry_schedule=[0.2, 3600]) as sandbox:
        service, control = account(sandbox), sandbox.control

        def attempts() -> list[int]:
            return [len(delivery["attempts"]) for delivery in control.deliveries()]

        for _ in range(2):
            control.reset()
            register(service, receiver.url)
            control.test_hook()
            until(lambda: attempts() >= [1])  # 2 if this test was slow
        until(lambda: attempts()[0] >= 2)
        # Any retry left from before the reset would run before the second attempt of this new delivery.
        control.test_hook()
        until(lambda: attempts()[1] >= 2)
        assert attempts() == [2, 2]
