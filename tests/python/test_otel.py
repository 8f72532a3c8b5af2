"""OpenTelemetry: the spans of attempts, read back from the in-memory exporter."""

from __future__ import annotations

import asyncio
import json

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import billcore
from billcore.otel import OpenTelemetryHooks
from conformance.server import Reply, json_reply

from .async_support import asked, serving, silent
from .conftest import Serve
from .support import ACCOUNT, API_KEY, SUBSCRIPTION


class Recorder:
    def __init__(self) -> None:
        self._exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.hooks = OpenTelemetryHooks(self.provider)

    def spans(self) -> list[ReadableSpan]:
        return list(self._exporter.get_finished_spans())


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def test_a_span_for_every_attempt(serve: Serve, recorder: Recorder) -> None:
    good = Reply(200, {"X-Request-Id": "r7"}, json.dumps({"data": SUBSCRIPTION}).encode())
    server, _ = serve([Reply(503, {"Retry-After": "0"}, b"{}"), good])
    with billcore.Client(base_url=server.url + ACCOUNT, api_key=API_KEY, hooks=recorder.hooks) as client:
        client.subscriptions.get("sub_1")
    first, second = recorder.spans()
    assert first.name == second.name == "GET /subscription/{id}"
    assert first.kind is second.kind is trace.SpanKind.CLIENT
    assert first.attributes and second.attributes
    assert first.attributes["http.response.status_code"] == 503 and first.attributes["error.type"] == "503"
    assert first.status.status_code is trace.StatusCode.ERROR
    assert second.attributes["http.response.status_code"] == 200 and second.attributes["billcore.request_id"] == "r7"
    assert second.status.status_code is trace.StatusCode.UNSET and "error.type" not in second.attributes
    assert [span.attributes["billcore.attempt"] for span in (first, second) if span.attributes] == [1, 2]
    assert second.attributes["http.request.resend_count"] == 1
    for span in (first, second):
        assert span.start_time is not None and span.end_time is not None and span.attributes
        assert 0 < (span.end_time - span.start_time) / 1e9 < 20
        assert span.attributes["url.template"] == "/subscription/{id}"
        assert API_KEY not in span.to_json() and "sub_1" not in span.to_json()


def test_an_attempt_without_an_answer(recorder: Recorder) -> None:
    client = billcore.Client(
        base_url="http://127.0.0.1:1/account", api_key=API_KEY, hooks=recorder.hooks, max_retries=0
    )
    with pytest.raises(billcore.ConnectionError):
        client.subscriptions.cancel(5)
    (span,) = recorder.spans()
    assert span.name == "POST /subscription/{id}/cancel" and span.attributes
    assert span.attributes["error.type"] == "ConnectionError" and "http.response.status_code" not in span.attributes
    assert span.attributes["billcore.sent"] is False and "billcore.outcome_unknown" not in span.attributes
    assert span.status.status_code is trace.StatusCode.ERROR


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_an_attempt_that_is_given_up(recorder: Recorder, method: str) -> None:
    with serving(silent, hooks=recorder.hooks) as (server, client):

        async def main() -> None:
            call = client.subscriptions.cancel("sub_1") if method == "POST" else client.subscriptions.get("sub_1")
            task = asyncio.ensure_future(call)
            await asked(server)
            task.cancel()
            await asyncio.wait([task])
            await client.close()

        asyncio.run(main())
    (span,) = recorder.spans()
    assert span.attributes is not None and span.end_time is not None
    assert span.attributes["billcore.given_up"] is True and span.attributes["billcore.sent"] is True
    is_error = method == "POST"  # a cancelled read is not an error
    assert span.attributes.get("billcore.outcome_unknown", False) is is_error
    assert span.attributes.get("error.type") == ("CancelledError" if is_error else None)
    assert span.status.status_code is (trace.StatusCode.ERROR if is_error else trace.StatusCode.UNSET)
    assert "sub_1" not in span.to_json()


def test_the_parent_is_the_span_of_the_call(serve: Serve, recorder: Recorder) -> None:
    server, _ = serve([json_reply({"data": SUBSCRIPTION})] * 3)
    tracer = recorder.provider.get_tracer("test")
    url = server.url + ACCOUNT

    async def awaited() -> None:
        async def call(name: str) -> None:
            with tracer.start_as_current_span(name):
                await client.subscriptions.get("sub_1")

        async with billcore.AsyncClient(base_url=url, api_key=API_KEY, hooks=recorder.hooks) as client:
            await asyncio.gather(call("one"), call("two"))

    client = billcore.Client(base_url=url, api_key=API_KEY, hooks=recorder.hooks)
    with tracer.start_as_current_span("sync"):
        client.subscriptions.get("sub_1")
    asyncio.run(awaited())
    spans = recorder.spans()
    parents = {span.context.span_id: span.name for span in spans if span.context is not None}
    found = [parents[span.parent.span_id] for span in spans if span.parent is not None]
    assert sorted(found) == ["one", "sync", "two"]
