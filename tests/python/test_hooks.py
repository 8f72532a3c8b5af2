"""Hooks: when the client calls them, and the values of the Attempt that they get."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request, Script, ScriptedServer, json_reply

from .async_support import RUNNERS, Run, each_loop, serving, silent
from .support import ACCOUNT, API_KEY, ORDER, PRODUCT, SUBSCRIPTION, data, in_threads, page, run_program

KINDS = ("blocking", *RUNNERS)
each_kind = pytest.mark.parametrize("kind", KINDS)


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


def drive(kind: str, script: Script, call: Callable[[Any], Any], **options: Any) -> Any:
    """The result or error of a call with a client of the given kind (blocking or async)."""
    with ScriptedServer(script) as server:
        given: dict[str, Any] = {
            "base_url": server.url + ACCOUNT,
            "api_key": API_KEY,
            "max_retries": 0,
            "timeout": 60,
            "concurrency": 1,
        }
        given |= options
        try:
            if kind == "blocking":
                with billcore.Client(**given) as client:
                    return call(client)

            async def main() -> Any:
                async with billcore.AsyncClient(**given) as client:
                    return await call(client)

            return RUNNERS[kind](main())
        except billcore.BillcoreError as error:
            return error


# What hooks receive.

ROUTES: dict[str, tuple[Callable[[Any], Any], Reply]] = {
    "GET /subscription/{id}": (lambda c: c.subscriptions.get("secret-id"), data(SUBSCRIPTION)),
    "POST /subscription/{id}/cancel": (lambda c: c.subscriptions.cancel("secret-id"), data(SUBSCRIPTION)),
    "POST /subscription/{id}/order": (
        lambda c: c.subscriptions.charge("secret-id", product_id=1, amount=1),
        data(ORDER),
    ),
    "GET /subscription/{id}/orders": (lambda c: c.subscriptions.orders("secret-id").collect(), page([ORDER], 1, 1)),
    "GET /subscriptions": (lambda c: c.subscriptions.list(reference_id="secret-id").collect(), page([], 1, 1, 0)),
    "GET /order/{id}": (lambda c: c.orders.get("secret-id"), data(ORDER)),
    "GET /products": (lambda c: c.products.list().collect(), page([PRODUCT], 1, 1)),
    "GET /product/{id}": (lambda c: c.products.get(4242), data(PRODUCT)),
    "DELETE /product/{id}": (lambda c: c.products.delete(4242), Reply(status=204)),
    "POST /webhooks/endpoints": (
        lambda c: c.webhook_endpoints.create(url="https://secret-id.example"),
        json_reply({}, 201),
    ),
}


@each_kind
@pytest.mark.parametrize("route", ROUTES)
def test_the_route_and_not_the_id(kind: str, route: str) -> None:
    hooks = Recorder()
    call, reply = ROUTES[route]
    assert not isinstance(drive(kind, [reply], call, hooks=hooks), BaseException)
    method, path = route.split(" ")
    assert hooks.lines() == [
        ("request", method, path, 1, None, None),
        ("response", method, path, 1, reply.status, None),
    ]
    for _, attempt in hooks.told:
        texts = repr([getattr(attempt, name) for name in dir(attempt)]) + repr(attempt)
        assert "secret-id" not in texts and "4242" not in texts and API_KEY not in texts


@each_kind
@pytest.mark.parametrize(
    ("path", "route"),
    [
        ("/subscription/secret-id", "/subscription/{id}"),
        ("/subscription/secret-id/orders", "/subscription/{id}/orders"),
        ("/product/4242", "/product/{id}"),
        ("/subscriptions", "/subscriptions"),
        ("/subscription/a%2Fb", "/subscription/{id}"),
        ("/invoices/secret-id", "(other)"),
    ],
)
def test_requests_of_ones_own_have_routes_too(kind: str, path: str, route: str) -> None:
    hooks = Recorder()
    drive(kind, [json_reply({})], lambda c: c.request("GET", path), hooks=hooks)
    assert [attempt.route for _, attempt in hooks.told] == [route] * 2


@each_kind
def test_retries_are_told(kind: str) -> None:
    hooks = Recorder()
    replies = [
        Reply(status=503, headers={"X-Request-Id": "req_1"}),
        Reply(raw=b"", ending="reset"),
        data(SUBSCRIPTION, delay=0.05),
    ]
    replies[2].headers["X-Request-Id"] = "req_3"
    drive(kind, replies, lambda c: c.subscriptions.get("s"), hooks=hooks, max_retries=2)
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
    assert by_hook["response", 3].duration >= 0.05
    assert all(attempt.duration > 0 for hook, attempt in hooks.told if hook == "response")
    assert all(attempt.duration == 0 and attempt.wait == 0 for hook, attempt in hooks.told if hook == "request")
    assert all(0 <= attempt.wait <= 8 for _, attempt in hooks.told)
    assert repr(by_hook["retry", 1]) == "<Attempt GET /subscription/{id} attempt=1 503>"


@each_kind
def test_the_wait_that_was_asked_for(kind: str) -> None:
    hooks = Recorder()
    replies = [Reply(status=503, headers={"Retry-After": "1"}), data(SUBSCRIPTION)]
    drive(kind, replies, lambda c: c.subscriptions.get("s"), hooks=hooks, max_retries=1)
    assert [attempt.wait for hook, attempt in hooks.told if hook == "retry"] == [1.0]


@each_kind
@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(raw=b"", ending="hang"), "TimeoutError"),
        (Reply(raw=b"", ending="reset"), "ConnectionError"),
        (Reply(headers={"Content-Length": "50"}, body=b"{", ending="close"), "ConnectionError"),
        (Reply(body=b"x" * 5000), "DecodeError"),
    ],
    ids=["timeout", "reset", "cut off", "too large"],
)
def test_errors_are_told_by_class(kind: str, reply: Reply, error: str) -> None:
    hooks = Recorder()
    options = {"hooks": hooks, "max_response": 4000, "timeout": 2 if error == "TimeoutError" else 60}
    end = drive(kind, [reply], lambda c: c.subscriptions.cancel("s"), **options)
    assert isinstance(end, billcore.OutcomeUnknownError) and type(end.__cause__).__name__ == error
    assert hooks.lines()[1] == ("response", "POST", "/subscription/{id}/cancel", 1, None, error)
    ended = hooks.told[1][1]
    assert ended.duration > 0 and ended.sent and ended.outcome_unknown and ended.path is None


@each_kind
@pytest.mark.parametrize(("status", "unknown"), [(200, False), (307, True), (402, False), (408, True), (503, True)])
def test_what_a_status_says_of_a_write(kind: str, status: int, unknown: bool) -> None:
    hooks = Recorder()
    drive(kind, [data(SUBSCRIPTION, status)] * 2, lambda c: c.subscriptions.cancel("s"), hooks=hooks)
    drive(kind, [data(SUBSCRIPTION, status)] * 2, lambda c: c.subscriptions.get("s"), hooks=hooks)
    told = [(attempt.sent, attempt.outcome_unknown, attempt.path) for _, attempt in hooks.told]
    assert told == [(False, False, None), (True, unknown, None), (False, False, None), (True, False, None)]


@each_kind
def test_an_attempt_that_was_not_sent_says_so(kind: str) -> None:
    hooks = Recorder()
    end = drive(kind, [], lambda c: c.subscriptions.cancel("s"), hooks=hooks, base_url="http://127.0.0.1:1/a")
    assert isinstance(end, billcore.ConnectionError)
    assert [(attempt.sent, attempt.outcome_unknown) for _, attempt in hooks.told] == [(False, False)] * 2


@each_kind
def test_every_page_is_told(kind: str) -> None:
    hooks = Recorder()
    replies = [page([{**ORDER, "id": n}], n, 3) for n in (1, 2, 3)]
    drive(kind, replies, lambda c: c.subscriptions.orders("s").collect(), hooks=hooks)
    assert [hook for hook, _ in hooks.told] == ["request", "response"] * 3


@each_kind
def test_clients_of_with_options_have_the_same_hooks(kind: str) -> None:
    hooks = Recorder()
    drive(kind, [data(ORDER)], lambda c: c.with_options(timeout=5).orders.get("o"), hooks=hooks)
    assert len(hooks.told) == 2


# Tests of valid and invalid hooks.


@each_kind
@pytest.mark.parametrize("hook", ["on_request", "on_response", "on_retry"])
def test_one_hook_is_enough(kind: str, hook: str) -> None:
    told: list[billcore.Attempt] = []
    hooks = type("Partial", (), {hook: lambda self, attempt: told.append(attempt)})()
    drive(kind, [Reply(status=503), data(ORDER)], lambda c: c.orders.get("o"), hooks=hooks, max_retries=1)
    assert len(told) == (1 if hook == "on_retry" else 2)


@pytest.mark.parametrize("make", [billcore.Client, billcore.AsyncClient])
@pytest.mark.parametrize("wrong", [object(), 5, "on_request", {"on_request": print}, lambda attempt: None])
def test_an_object_without_any_hook_is_refused(make: Any, wrong: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="hooks"):
        make(base_url="https://service.example/x", api_key="k", hooks=wrong)


def test_hooks_none_means_no_hooks() -> None:
    assert drive("blocking", [data(ORDER)], lambda c: c.orders.get("o"), hooks=None).id == "ord_1"


# Hooks that fail.


class Failing(Recorder):
    def _note(self, hook: str, attempt: billcore.Attempt) -> None:
        super()._note(hook, attempt)
        raise RuntimeError(f"the error of {hook}")


@each_kind
def test_what_a_hook_raises_is_logged_and_ignored(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    hooks = Failing()
    charge = drive(kind, [data(ORDER)], lambda c: c.subscriptions.charge("s", product_id=1, amount=1), hooks=hooks)
    assert charge.id == "ord_1" and len(hooks.told) == 2
    errors = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert [record.name for record in errors] == ["billcore"] * 2
    assert (
        "the error of request" in str(errors[0].exc_info) and "on_request of Failing failed" in errors[0].getMessage()
    )


@each_kind
def test_a_hook_that_fails_does_not_stop_retries(kind: str) -> None:
    hooks = Failing()
    end = drive(kind, [Reply(status=503), data(ORDER)], lambda c: c.orders.get("o"), hooks=hooks, max_retries=1)
    assert end.id == "ord_1" and len(hooks.told) == 5


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
    with serving(silent) as (server, _):
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


@pytest.mark.parametrize("hook", ["response", "retry"])
@pytest.mark.parametrize(
    "ending",
    ["calls.clear()", "calls.pop().close()", "try: calls.pop().throw(KeyError)\n            except KeyError: pass"],
)
def test_a_call_that_is_given_up_within_its_own_hook(hook: str, ending: str) -> None:
    def script(request: Request) -> Reply:
        # With Retry-After: 0 a retry would follow at once; after the hook has dropped the call, the client must not
        # retry.
        failing = Reply(status=503, headers={"Retry-After": "0"})
        return failing if request.target.endswith("/bad") else data(SUBSCRIPTION)

    with serving(script) as (server, _):
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


def test_blocking_hooks_run_in_the_context_of_their_call() -> None:
    seen: list[str] = []
    hooks = type("Looking", (), {"on_response": lambda self, attempt: seen.append(VARIABLE.get())})()

    def call(client: Any) -> Any:
        VARIABLE.set("of the call")
        return client.orders.get("o")

    contextvars.copy_context().run(drive, "blocking", [data(ORDER)], call, hooks=hooks)
    assert seen == ["of the call"]
