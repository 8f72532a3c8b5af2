"""The header traceparent of W3C: billcore does not send it by itself; the option `headers` adds it to each attempt."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager
from typing import Any

from opentelemetry import trace
from opentelemetry.propagate import inject

import billcore
from billcore.testing import SandboxAccount


def span(number: int) -> AbstractContextManager[trace.Span]:
    return trace.use_span(trace.NonRecordingSpan(trace.SpanContext(number, number, is_remote=False)))


def sent(account: SandboxAccount) -> list[str | None]:
    """The header of each request, in order."""
    return [dict(request["headers"]).get("traceparent") for request in account.control.requests()]


def headers() -> dict[str, str]:
    made: dict[str, str] = {}
    inject(made)
    return made


def test_each_attempt_has_the_header_of_its_span(billcore_sandbox: SandboxAccount) -> None:
    product = billcore_sandbox.ids["products"]["one_time"]
    with billcore.Client(base_url=billcore_sandbox.base_url, api_key=billcore_sandbox.api_key) as client:
        with span(1):
            client.products.get(product)
            expected = headers()["traceparent"]
            billcore_sandbox.control.fault("status", status=503, method="GET")
            client.with_options(headers=headers()).products.get(product)
        client.products.get(product)
    assert sent(billcore_sandbox) == [None, expected, expected, None]


def test_tasks_have_headers_of_their_own(billcore_sandbox: SandboxAccount) -> None:
    given: list[str] = []

    async def pay(client: billcore.AsyncClient, number: int) -> None:
        with span(number):
            given.append(headers()["traceparent"])
            await client.with_options(headers=headers()).products.get(billcore_sandbox.ids["products"]["one_time"])

    async def main() -> None:
        options: dict[str, Any] = {"base_url": billcore_sandbox.base_url, "api_key": billcore_sandbox.api_key}
        async with billcore.AsyncClient(**options) as client:
            await asyncio.gather(*(pay(client, number) for number in range(1, 6)))

    asyncio.run(main())
    assert sorted(given) == sorted(map(str, sent(billcore_sandbox))) and len({*given}) == 5
