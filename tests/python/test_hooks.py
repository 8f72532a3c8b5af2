"""Hooks and the logger "billcore": when they are called, the values that they get, and hooks that fail."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request, ScriptedServer, json_reply

from .async_support import Run, each_loop, serving, silent
from .calls_support import calling, each_kind
from .support import ACCOUNT, API_KEY, ORDER, SUBSCRIPTION, data, in_threads, page, run_program


class Recorder(billcore.Hooks):
    """Records the arguments and the thread of each hook call."""

    def __init__(self) -> None:
        self.told: list[tuple[str, billcore.Attempt]] = []
        self.threads: set[int] = set()

    def on_request(self, attempt: billcore.Attempt, /) -> None:
        self._note("request", attempt)

    def on_response(self, attempt: billcore.Attempt, /) -> None:
        self._note("response", attempt)

    def on_retry(self, attempt: billcore.Attempt, /) -> None:
        self._note("retry", attempt)

    def _note(self, hook: str, attempt: billcore.Attempt) -> None:
        self.told.append((hook, attempt))
        self.threads.add(threading.get_ident())

    def lines(self) -> list[tuple[Any, ...]]:
        return [(hook, a.method, a.route, a.attempt, a.status, a.error) for hook, a in self.told]


# What hooks receive.

Call = Callable[[Any], Any]
ROUTES: dict[str, tuple[Call, Reply]] = {
    "GET /subscription/{id}": (lambda c: c.subscriptions.get("secret-id"), data(SUBSCRIPTION)),
    "POST /subscription/{id}/order": (
        lambda c: c.subscriptions.charge("secret-id", product_id=1, amount=1),
        data(ORDER),
    ),
    "GET /subscriptions": (lambda c: c.subscriptions.list(reference_id="secret-id").collect(), page([], 1, 1, 0)),
    "DELETE /product/{id}": (lambda c: c.products.delete(4242), Reply(status=204)),
    "POST /webhooks/endpoints": (
        lambda c: c.webhook_endpoints.create(url="https://secret-id.example"),
        json_reply({}, 201),
    ),
    "PUT /subscription/{id}/orders": (lambda c: c.request("PUT", "/subscription/a%2Fsecret-id/orders"), Reply()),
    "PUT (other)": (lambda c: c.request("PUT", "/invoices/secret-id"), Reply()),
}


@pytest.mark.parametrize("route", ROUTES)
def test_the_route_and_not_the_id(route: str) -> None:
    hooks = Recorder()
    call, reply = ROUTES[route]
    with calling("blocking", [reply], hooks=hooks) as (_, calls):
        call(calls.client)
    method, path = route.split(" ")
    assert hooks.lines() == [
        ("request", method, path, 1, None, None),
        ("response", method, path, 1, reply.status, None),
    ]
    for _, attempt in hooks.told:
        texts = repr([getattr(attempt, name) for name in dir(attempt)]) + repr(attempt)
        assert "secret-id" not in texts and "4242" not in texts and API_KEY not in texts


@each_kind
def test_attempts_and_retries_are_told_and_logged(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    hooks = Recorder()
    replies = [
        Reply(status=503, headers={"X-Request-Id": "req_1", "Retry-After": "1"}),
        Reply(raw=b"", ending="reset"),
        data(SUBSCRIPTION, delay=0.05),
    ]
    replies[2].headers["X-Request-Id"] = "req_3"
    with (
        caplog.at_level(logging.DEBUG, "billcore"),
        calling(kind, replies, hooks=hooks, max_retries=2) as (_, calls),
    ):
        calls.done(calls.client.with_options(timeout=50).subscriptions.get("secret-id"))
    where = ("GET", "/subscription/{id}")
    assert hooks.lines() == [
        ("request", *where, 1, None, None),
        ("response", *where, 1, 503, None),
        ("retry", *where, 1, 503, None),
        ("request", *where, 2, None, None),
        ("response", *where, 2, None, "ConnectionError"),
        ("retry", *where, 2, None, "ConnectionError"),
        ("request", *where, 3, None, None),
        ("response", *where, 3, 200, None),
    ]
    by_hook = {(hook, attempt.attempt): attempt for hook, attempt in hooks.told}
    assert by_hook["response", 1].request_id == by_hook["retry", 1].request_id == "req_1"
    assert by_hook["response", 2].request_id is None and by_hook["response", 3].request_id == "req_3"
    assert by_hook["response", 3].duration >= 0.05 and by_hook["retry", 1].wait == 1.0
    assert all(attempt.duration > 0 and attempt.sent for hook, attempt in hooks.told if hook == "response")
    assert all(attempt.duration == 0 and attempt.wait == 0 for hook, attempt in hooks.told if hook == "request")
    assert repr(by_hook["retry", 1]) == "<Attempt GET /subscription/{id} attempt=1 503>"
    lines = [(r.levelname, r.getMessage()) for r in caplog.records if r.name == "billcore"]
    assert [level for level, _ in lines] == ["DEBUG", "INFO", "DEBUG", "INFO", "DEBUG"]
    for (_, line), outcome in zip(
        lines, ["503 after", "503, again in 1000 ms", "Conn", "Conn", "200 after"], strict=True
    ):
        assert line.startswith(f"GET /subscription/{{id}}: {outcome}")
    assert lines[0][1].endswith(" ms (attempt 1, request id req_1)")
    assert lines[1][1].endswith(" ms (attempt 2, request id req_1)")


def echo(request: Request) -> Reply:
    """Answers 503, with the API key of the request in several headers."""
    key = request.header("X-API-KEY") or ""
    headers = {"X-Request-Id": f"req-{key}", "X-Echo": key, "Retry-After": "0"}
    return Reply(status=503, headers=headers, body=b'{"error": {"code": "x", "message": "secret-body"}}')


@each_kind
def test_secrets_are_in_no_record(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    hooks = Recorder()
    requests: list[Call] = [
        lambda c: c.subscriptions.get("secret-id"),
        lambda c: c.subscriptions.charge("secret-id", product_id=1, amount=1, description="secret-body"),
        lambda c: c.subscriptions.list(reference_id="secret-id").collect(),
        lambda c: c.request("POST", "/subscription/secret-id/cancel", query={"q": "secret-id"}, json="secret-body"),
    ]
    options = {"max_retries": 1, "headers": {"X-Extra": "secret-header"}, "hooks": hooks}
    with caplog.at_level(logging.DEBUG, "billcore"), calling(kind, echo, **options) as (_, calls):
        for request in requests:
            with pytest.raises(billcore.ServerError):
                calls.done(request(calls.client))
    own = [record for record in caplog.records if record.name == "billcore"]
    assert len(own) >= 8 and max(record.levelno for record in own) <= logging.INFO
    texts = [record.getMessage() + repr(vars(record)) for record in own]
    texts += [repr([getattr(attempt, name) for name in dir(attempt)]) for _, attempt in hooks.told]
    for text in texts:
        for secret in (API_KEY, "secret-id", "secret-body", "secret-header", "127.0.0.1"):
            assert secret not in text


# Tests of valid and invalid hooks.


@each_kind
@pytest.mark.parametrize("hook", ["on_request", "on_response", "on_retry"])
def test_one_hook_is_enough(kind: str, hook: str) -> None:
    told: list[billcore.Attempt] = []
    hooks = type("Partial", (), {hook: lambda self, attempt: told.append(attempt)})()
    with calling(kind, [Reply(status=503), data(ORDER)], hooks=hooks, max_retries=1) as (_, calls):
        calls.done(calls.client.orders.get("o"))
    assert len(told) == (1 if hook == "on_retry" else 2)


@pytest.mark.parametrize("make", [billcore.Client, billcore.AsyncClient])
@pytest.mark.parametrize("wrong", [object(), "on_request", {"on_request": print}])
def test_an_object_without_any_hook_is_refused(make: Any, wrong: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="hooks"):
        make(base_url="https://service.example/x", api_key="k", hooks=wrong)


# Hooks that fail.


class Failing(Recorder):
    def _note(self, hook: str, attempt: billcore.Attempt) -> None:
        super()._note(hook, attempt)
        raise RuntimeError(f"the error of {hook}")


@each_kind
def test_what_a_hook_raises_is_logged_and_ignored(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    hooks = Failing()
    with calling(kind, [Reply(status=503), data(ORDER)], hooks=hooks, max_retries=1) as (_, calls):
        assert calls.done(calls.client.orders.get("o")).id == "ord_1"
    assert len(hooks.told) == 5
    errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [record.name for record in errors] == ["billcore"] * 5
    assert "the error of request" in str(errors[0].exc_info)
    assert "on_request of Failing failed" in errors[0].getMessage()


INTERRUPTED = """
import asyncio, signal, sys, billcore, uvloop
signal.signal(signal.SIGINT, signal.default_int_handler)
class Hooks:
    def on_request(self, attempt):
        raise KeyboardInterrupt
options = dict(base_url=sys.argv[1], api_key=sys.argv[2], timeout=None, hooks=Hooks())
async def main():
    await billcore.AsyncClient(**options).subscriptions.get("s")
try:
    if sys.argv[3] == "blocking":
        billcore.Client(**options).subscriptions.get("s")
    else:
        getattr(sys.modules[sys.argv[3]], "run")(main())
except KeyboardInterrupt:
    print("KeyboardInterrupt")
"""


@each_kind
def test_ctrl_c_within_a_hook_ends_the_call(kind: str) -> None:
    """The server never answers and there is no deadline: only the interrupt can end the call."""
    with ScriptedServer(silent) as server:
        done = run_program(INTERRUPTED, server.url + ACCOUNT, API_KEY, kind)
    assert (done.returncode, done.stdout, done.stderr) == (0, "KeyboardInterrupt\n", "")


DROPPED = """
import asyncio, gc, sys, billcore
class Hooks:
    def end(self, attempt):
        if calls:
            ENDING
        gc.collect()
    on_HOOK = end
calls = []
async def main():
    async with billcore.AsyncClient(base_url=sys.argv[1], api_key=sys.argv[2], hooks=Hooks()) as client:
        calls.append(client.subscriptions.get("bad"))
        calls[0].send(None)
        while calls:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        print((await client.subscriptions.get("good")).id)
asyncio.run(main())
"""


@pytest.mark.parametrize(
    ("hook", "ending"),
    [
        ("response", "calls.clear()"),
        ("response", "calls.pop().close()"),
        ("retry", "try: calls.pop().throw(KeyError)\n            except KeyError: pass"),
    ],
)
def test_a_call_that_is_given_up_within_its_own_hook(hook: str, ending: str) -> None:
    def script(request: Request) -> Reply:
        # With Retry-After: 0 a retry would follow at once; after the hook has dropped the call, the client must not
        # retry.
        failing = Reply(status=503, headers={"Retry-After": "0"})
        return failing if request.target.endswith("/bad") else data(SUBSCRIPTION)

    with ScriptedServer(script) as server:
        code = DROPPED.replace("HOOK", hook).replace("ENDING", ending)
        done = run_program(code, server.url + ACCOUNT, API_KEY)
        assert (done.returncode, done.stdout, done.stderr) == (0, "sub_1\n", "")
        assert [r.target.rsplit("/", 1)[1] for r in server.requests] == ["bad", "good"]


# Where hooks run.


def test_hooks_of_threads() -> None:
    hooks = Recorder()
    with ScriptedServer(lambda _: data(SUBSCRIPTION)) as server:
        client = billcore.Client(base_url=server.url + ACCOUNT, api_key=API_KEY, hooks=hooks)
        threads = in_threads(lambda _: [client.subscriptions.get(n) for n in range(10)], range(4))
        client.close()
    assert len(hooks.told) == 80 and hooks.threads == {thread.ident for thread in threads}


VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE", default="none")


@each_loop
def test_hooks_run_in_the_context_of_their_call(run: Run) -> None:
    seen: list[tuple[str, int, str]] = []

    class Looking(billcore.Hooks):
        def on_request(self, attempt: billcore.Attempt, /) -> None:
            seen.append(("request", attempt.attempt, VARIABLE.get()))

        def on_response(self, attempt: billcore.Attempt, /) -> None:
            seen.append(("response", attempt.attempt, VARIABLE.get()))
            VARIABLE.set("the hook's own")

    failed: set[str] = set()

    def script(request: Request) -> Reply:
        first = request.target not in failed
        failed.add(request.target)
        return Reply(status=503) if first else data(SUBSCRIPTION)

    with serving(script, hooks=Looking(), max_retries=1) as (_, client):

        async def call(name: str) -> None:
            VARIABLE.set(name)
            await client.subscriptions.get(name)
            assert VARIABLE.get() == name

        async def main() -> None:
            async with client:
                await asyncio.gather(*(asyncio.create_task(call(f"task {n}")) for n in range(5)))
            assert VARIABLE.get() == "none"

        run(main())
    assert len(seen) == 20 and {("request", 1, f"task {n}") for n in range(5)} <= set(seen)
    assert {name for hook, number, name in seen if (hook, number) == ("response", 1)} == {f"task {n}" for n in range(5)}
