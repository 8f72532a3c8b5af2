"""serve(), events() and requests() of an account of the sandbox: real sockets, real deliveries."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import billcore
from billcore import webhooks
from billcore.testing import DeliveryFailed, Sandbox, SandboxAccount
from support.waiting import GENEROUS, until


@pytest.fixture(scope="module")
def process() -> Iterator[Sandbox]:
    with Sandbox(retry_schedule=[0.02]) as sandbox:
        yield sandbox


@pytest.fixture
def account(process: Sandbox) -> Iterator[SandboxAccount]:
    made = process.new_account()
    yield made
    made.close()


def charge(account: SandboxAccount) -> billcore.Order:
    ids = account.ids
    with billcore.Client(base_url=account.base_url, api_key=account.api_key) as client:
        return client.subscriptions.charge(
            ids["subscriptions"]["demo-active"], product_id=ids["products"]["one_time"], amount=1500
        )


def wsgi(secret: str, take: Callable[[webhooks.AnyEvent], None]) -> Any:
    verifier = webhooks.Verifier(secret)

    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        take(webhooks.from_wsgi(environ, verifier))
        start_response("200 OK", [])
        return [b"ok"]

    return app


def asgi(secret: str, take: Callable[[webhooks.AnyEvent], None]) -> Any:
    verifier = webhooks.Verifier(secret)

    async def receive(request: Request) -> Response:
        take(await webhooks.from_asgi(request.scope, request.receive, verifier))
        return Response(status_code=204)

    return Starlette(routes=[Route("/hook", receive, methods=["POST"])])


@pytest.mark.parametrize("make", [wsgi, asgi])
def test_an_application_gets_the_events_and_is_gone_after_close(account: SandboxAccount, make: Any) -> None:
    took: list[webhooks.AnyEvent] = []
    with account.serve(make(account.webhook_secret, took.append), path="/hook", keep_alive=False) as receiver:
        assert len(account.webhook_secret) == 32 and receiver.secret == account.webhook_secret
        assert [each["id"] for each in account.control.endpoints()] == [receiver.endpoint_id]
        order = charge(account)
        events = account.events(count=2, timeout=GENEROUS)
        assert events == took and [each.name for each in events] == ["order.confirmed", "order.paid"]
        (paid,) = account.events("order.paid")
        assert isinstance(paid, webhooks.OrderPaid) and billcore.same_id(paid.data.id, order.id)
        assert account.advance(days=35)["pending_deliveries"] == 0
        assert account.trigger("charge")["deliveries"]
        account.control.wait_for_deliveries()
        assert {each.raw for each in account.events(count=0)} == {each.raw for each in took}
    receiver.close()
    address = urlsplit(receiver.url)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.hostname, address.port), timeout=GENEROUS)
    assert account.control.endpoints() == []


def refusing(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    start_response("500 Oh No", [])
    return [b"no stock left"]


def test_events_that_do_not_arrive_fail_with_the_answer(account: SandboxAccount) -> None:
    with account.serve(refusing):
        charge(account)
        with pytest.raises(DeliveryFailed, match=r"order\.paid .*/ failed after 2 attempts: .* 500 no stock left"):
            account.events("order.paid", count=5, timeout=GENEROUS)
    with account.serve(refusing, retry_schedule=[3600]):
        account.control.test_hook()
        until(lambda: [each for each in account.control.deliveries("test.hook") if each["attempts"]])
        with pytest.raises(TimeoutError, match=r"^0 of 1 .* test\.hook .*pending.*answered 500 no stock left\.$"):
            account.events("test.hook", timeout=0)


def test_events_that_are_held_back_or_not_there(account: SandboxAccount) -> None:
    with pytest.raises(TimeoutError, match="no enabled endpoint"):
        account.events(timeout=0)
    account.control.create_endpoint("http://192.0.2.1/")
    account.control.test_hook()
    with pytest.raises(DeliveryFailed, match="held back"):
        account.events(timeout=GENEROUS)


def test_requests_are_waited_for(account: SandboxAccount) -> None:
    fault = account.fault("status", operation="subscriptions.get", status=503)
    with billcore.Client(base_url=account.base_url, api_key=account.api_key) as client:
        client.subscriptions.get(account.ids["subscriptions"]["demo-active"])
    found = account.requests("subscriptions.get", count=2, timeout=GENEROUS)
    assert [each["status"] for each in found] == [503, 200]
    assert account.requests(method="GET", path="/subscription/*", status=503) == found[:1]
    assert [(each["id"], each["fired"]) for each in account.control.faults()] == [(fault, 1)]
    with pytest.raises(TimeoutError, match=r"charge.*subscriptions\.get 503 \(1\)"):
        account.requests("charge", timeout=0)


async def broken_start(scope: Any, receive: Any, send: Any) -> None:
    assert scope["type"] == "lifespan"
    await receive()
    await send({"type": "lifespan.startup.failed", "message": "no database"})


async def endless_start(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.Event().wait()


def test_what_cannot_be_served_is_refused_in_a_sentence(
    account: SandboxAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad: list[tuple[Any, dict[str, Any], str]] = [
        (5, {}, r"serve\(\) takes an ASGI or a WSGI application, .* not 5"),
        (lambda: None, {}, "which is called with"),
        (refusing, {"path": "hook"}, "path must begin with a slash, not 'hook'"),
        (broken_start, {}, "the application's lifespan failed to start"),
    ]
    for app, fields, message in bad:
        with pytest.raises(billcore.InvalidArgumentError, match=message):
            account.serve(app, **fields)
    monkeypatch.setattr("billcore.testing._serve._STARTING", 0.1)
    with pytest.raises(billcore.InvalidArgumentError, match=r"lifespan did not start within 0\.1 s"):
        account.serve(endless_start)
    with pytest.raises(billcore.testing.ControlError, match="32"):
        account.serve(refusing, secret="short")
    assert account.control.endpoints() == []
