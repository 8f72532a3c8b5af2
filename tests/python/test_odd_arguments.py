"""A wrong object for any argument of a public function raises a one-line error that names the argument, not a crash.

Introspection finds the functions and their parameters, so that new functions are covered. A new parameter needs a valid
value in VALID; without one, the tests fail and say so.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

import billcore
from billcore import webhooks

from .support import SECRET, event, sign, subscription

BODY = b'{"name":"test.hook"}'


async def receive() -> dict[str, Any]:
    return {"type": "http.request", "body": BODY, "more_body": False}


OPTIONS: dict[str, Any] = {"base_url": "http://127.0.0.1:1/a", "api_key": "k", "max_retries": 0}
# A valid value for each parameter name.
VALID: dict[str, Any] = {
    **OPTIONS,
    "id": 7,
    "ids": [7],
    "product_id": 1,
    "amount": 1,
    "currency": "DKK",
    "quantity": 1,
    "vat": 1,
    "charge": "s",
    "since": datetime.now(UTC),
    "skew": 1.0,
    "url": "https://shop.example/",
    "fields": {"name": "x"},
    "method": "GET",
    "path": "/later",
    "now": datetime.now(UTC),
    "key": "name",
    "timeout": 1.0,
    "body": BODY,
    "raw": BODY,
    "data": BODY,
    "signature": sign(BODY),
    "secret": SECRET,
    "secrets": SECRET,
    "accounts": {1: SECRET},
    "headers": [("Service-Signature", sign(BODY))],
    "event": {"headers": {"Service-Signature": sign(BODY)}, "body": BODY.decode()},
    "verifier": webhooks.Verifier(SECRET),
    "environ": {"wsgi.input": None},
    "scope": {"type": "http", "headers": []},
    "receive": receive,
    "piece": BODY,
    "a": "1",
    "b": "1",
}
# Parameters for which the tests always pass a value, although they have a default.
NEEDED = (*OPTIONS, "fields")
# explain() does not raise: it returns a text about what is wrong with its arguments.
ACCEPTING = {"webhooks.explain"}


class Case(NamedTuple):
    name: str
    call: Callable[..., Any]


class Evil:
    """Raises in every method."""

    def _refuse(self, *arguments: object) -> Any:
        raise ZeroDivisionError("evil")

    __index__ = __int__ = __float__ = __str__ = __len__ = __iter__ = __hash__ = __bool__ = __bytes__ = _refuse
    __getitem__ = __contains__ = __call__ = __fspath__ = __eq__ = _refuse


def public_calls() -> Iterator[Case]:
    client, awaited = billcore.Client(**OPTIONS), billcore.AsyncClient(**OPTIONS)
    yield Case("Client", billcore.Client)
    yield Case("AsyncClient", billcore.AsyncClient)
    yield Case("same_id", billcore.same_id)
    yield Case("format_amount", billcore.format_amount)
    for name in webhooks.__all__:
        value = getattr(webhooks, name)
        if callable(value) and not isinstance(value, type):
            yield Case(f"webhooks.{name}", value)
    yield Case("webhooks.Verifier", webhooks.Verifier)
    owners: dict[str, Any] = {
        "Verifier": VALID["verifier"],
        "VerifyStream": VALID["verifier"].stream(),
        "Client": client,
        "AsyncClient": awaited,
        "Pager": client.products.list(),
        "AsyncPager": awaited.products.list(),
        "Subscription": subscription(),
        "Event": event({}),
    }
    for group in ("subscriptions", "products", "orders", "webhook_endpoints"):
        owners[f"Client.{group}"] = getattr(client, group)
        owners[f"AsyncClient.{group}"] = getattr(awaited, group)
    for owner, made in owners.items():
        for name in dir(made):
            if not name.startswith("_") and callable(value := getattr(made, name)):
                yield Case(f"{owner}.{name}", value)


CALLS = {case.name: case.call for case in public_calls()}


def parameters_of(call: Callable[..., Any]) -> list[inspect.Parameter]:
    kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return [one for one in inspect.signature(call).parameters.values() if one.kind not in kinds]


@pytest.fixture(scope="module")
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


def outcome(runner: asyncio.Runner, call: Callable[..., Any], name: str, odd: object) -> BaseException | None:
    positional, keywords = [], {}
    for parameter in parameters_of(call):
        if parameter.name == name:
            value = odd
        elif parameter.default is not inspect.Parameter.empty and parameter.name not in NEEDED:
            continue
        else:
            assert parameter.name in VALID, f"give a valid {parameter.name} in VALID"
            value = VALID[parameter.name]
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            positional.append(value)
        else:
            keywords[parameter.name] = value

    async def run() -> None:
        made = call(*positional, **keywords)
        if inspect.isawaitable(made):
            await made

    try:
        runner.run(run())
    except Exception as error:
        return error
    return None


ODDS: list[object] = [Evil(), 10**400, "\ud800", b"\xff", [[]], {"a": object()}, float("nan"), type]


@pytest.mark.parametrize("name", CALLS)
def test_odd_objects_are_refused_by_name_or_accepted(runner: asyncio.Runner, name: str) -> None:
    expected = (billcore.BillcoreError, TypeError, ValueError, ZeroDivisionError, OverflowError)
    for parameter in [one.name for one in parameters_of(CALLS[name])]:
        error = outcome(runner, CALLS[name], parameter, object())
        if name not in ACCEPTING:
            assert isinstance(error, billcore.InvalidArgumentError | billcore.ConfigError | TypeError), parameter
            assert parameter in str(error) and "\n" not in str(error), error
        for odd in ODDS:
            error = outcome(runner, CALLS[name], parameter, odd)
            assert error is None or isinstance(error, expected), f"{parameter}, {type(odd)}: {error!r}"


def test_the_functions_were_found() -> None:
    assert {
        "Client.subscriptions.charge",
        "webhooks.unwrap",
        "Verifier.unwrap_request",
        "Pager.collect",
    } <= CALLS.keys()
    assert len(CALLS) > 70
