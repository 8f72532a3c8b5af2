"""AsyncClient: the features of Client as coroutines. See also test_async_loops, _closing, _cancel and _pager."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import billcore
from conformance.server import Reply, ScriptedServer, json_reply
from support.waiting import until

from .async_support import RUNNERS, UNSENT, Run, each_loop, new_client, serving
from .support import ACCOUNT, API_KEY, ORDER, PRODUCT, SUBSCRIPTION, data, page

# Each operation, with an answer that makes it succeed.
OPERATIONS: dict[str, tuple[Callable[[Any], Any], Reply]] = {
    "subscriptions.get": (lambda c: c.subscriptions.get("a b"), data(SUBSCRIPTION)),
    "subscriptions.cancel": (lambda c: c.subscriptions.cancel(7), data(SUBSCRIPTION)),
    "subscriptions.change_product": (lambda c: c.subscriptions.change_product("s", product_id=4), data(SUBSCRIPTION)),
    "subscriptions.charge": (
        lambda c: c.subscriptions.charge("s", product_id=1, amount=5, quantity=2, vat=0, description="å"),
        data(ORDER),
    ),
    "subscriptions.list": (
        lambda c: c.subscriptions.list(reference_id="r", page=1).collect(),
        page([SUBSCRIPTION], 1, 1),
    ),
    "subscriptions.orders": (
        lambda c: c.subscriptions.orders("s", product_id=1, state=["paid", "confirmed"], per_page=5).collect(),
        page([ORDER], 1, 1),
    ),
    "products.list": (lambda c: c.products.list().collect(), page([PRODUCT], 1, 1)),
    "products.get": (lambda c: c.products.get(42), data(PRODUCT)),
    "products.update": (lambda c: c.products.update(42, {"name": None}, price=5), data(PRODUCT)),
    "products.delete": (lambda c: c.products.delete(42), Reply(status=204)),
    "orders.get": (lambda c: c.orders.get("o"), data(ORDER)),
    "webhook_endpoints.create": (lambda c: c.webhook_endpoints.create(url="https://e.example"), json_reply({}, 201)),
    "request": (lambda c: c.request("PATCH", "/x", query={"a": "b c"}, json=[1, None]), json_reply({"a": 1})),
}
BAD: dict[str, Reply] = {
    "302": Reply(status=302, headers={"Location": "/elsewhere"}),
    "401": Reply(status=401, body=b"null"),
    "402": json_reply({"error": {"code": "card_declined", "message": "No."}}, 402),
    "404": Reply(status=404, headers={"X-Request-Id": "req_1"}),
    "408": Reply(status=408),
    "422": json_reply({"error": {"code": "invalid", "message": f"with the key {API_KEY}"}}, 422),
    "429": Reply(status=429, headers={"Retry-After": "7"}),
    "503": Reply(status=503, body=b"<html>"),
    "no JSON": Reply(body=b"<html>"),
    "no data": json_reply({"data": 5}),
    "cut off": Reply(headers={"Content-Length": "100"}, body=b'{"data"', ending="close"),
    "reset": Reply(raw=b"", ending="reset"),
}


def described(value: Any) -> Any:
    """Converts a result or an error to plain values, without times, so that two results can be compared."""
    if isinstance(value, BaseException):
        own = {name: each for name, each in vars(value).items() if name not in ("attempted_at", "_subscriptions")}
        cause = None if value.__cause__ is None else described(value.__cause__)
        return type(value), str(value), own, getattr(value, "attempted_at", None) is None, cause
    if isinstance(value, list):
        return [described(each) for each in value]
    if isinstance(value, billcore.Response):
        return value.status, value.headers, value.body
    info = None if value is None else value.response_info
    return type(value), value, info and (info.status, info.attempts, info.request_id, info.headers)


def wire(server: ScriptedServer) -> list[Any]:
    return [(r.method, r.target, r.version, r.headers, r.body) for r in server.requests]


def check_parity(call: Callable[[Any], Any], reply: Reply, run: Run) -> Any:
    """Makes the same call with Client and AsyncClient, with the same answer; requests and results must be equal."""
    ends: list[Any] = []
    with ScriptedServer(lambda _: reply) as server:
        with billcore.Client(base_url=server.url + ACCOUNT, api_key=API_KEY, max_retries=0) as client:
            try:
                ends.append(call(client))
            except billcore.BillcoreError as error:
                ends.append(error)
        sent = wire(server)

        async def main() -> None:
            async with new_client(server) as client:
                try:
                    ends.append(await call(client))
                except billcore.BillcoreError as error:
                    ends.append(error)

        run(main())
        assert wire(server) == sent * 2
    assert described(ends[0]) == described(ends[1])
    return ends[1]


@each_loop
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_same_as_the_blocking_client(operation: str, run: Run) -> None:
    call, reply = OPERATIONS[operation]
    assert not isinstance(check_parity(call, reply, run), BaseException)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_same_errors_as_the_blocking_client(operation: str, bad: str) -> None:
    call, _ = OPERATIONS[operation]
    end = check_parity(call, BAD[bad], RUNNERS["asyncio"])
    takes_any_body = operation in ("products.delete", "webhook_endpoints.create", "request")
    assert isinstance(end, billcore.BillcoreError) or (takes_any_body and bad.startswith("no ")), end


@each_loop
def test_retries(run: Run) -> None:
    with serving([Reply(status=503), Reply(raw=b"", ending="reset"), data(ORDER)], max_retries=2) as (server, client):

        async def main() -> None:
            async with client:
                info = (await client.orders.get("o")).response_info
                assert info is not None and info.attempts == 3

        run(main())
        assert len(server.requests) == 3


@each_loop
def test_wrong_arguments_and_timeouts(run: Run) -> None:
    with serving() as (server, client):

        async def main() -> None:
            for wrong in (0, -1, "1", True):
                with pytest.raises(billcore.InvalidArgumentError, match="timeout"):
                    await client.subscriptions.get("s", timeout=wrong)  # type: ignore[arg-type]
            with pytest.raises(billcore.InvalidArgumentError):
                await client.subscriptions.get("..")
            with pytest.raises(TypeError):
                await client.subscriptions.get()  # type: ignore[call-arg]
            await client.close()

        run(main())
        assert server.requests == []


@each_loop
def test_a_charge_of_unknown_outcome_can_be_looked_for(run: Run) -> None:
    made = page([{**ORDER, "created_at": "2999-01-01T00:00:00Z"}, ORDER], 1, 1)
    with serving([Reply(raw=b"", ending="reset"), made, made]) as (_, client):

        async def main() -> list[Any]:
            async with client:
                with pytest.raises(billcore.OutcomeUnknownError) as caught:
                    await client.subscriptions.charge("s", product_id=1, amount=1)
                found = await client.subscriptions.find_charges(caught.value)
                found += await client.subscriptions.find_charges("s", since=caught.value.attempted_at)
                return [order.created_at.year for order in found]

        assert run(main()) == [2999, 2999]


# Tests of misused calls.


@each_loop
def test_a_call_that_was_never_awaited_warns_and_sends_nothing(run: Run) -> None:
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):

        async def main() -> None:
            with pytest.warns(RuntimeWarning, match=r"coroutine 'Subscriptions.cancel' was never awaited"):
                client.subscriptions.cancel("s")  # type: ignore[unused-coroutine]
                gc.collect()
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                call = client.subscriptions.cancel("s")
                call.close()  # like any coroutine, a closed call prints no warning
                with pytest.raises(RuntimeError, match="cannot reuse"):
                    await call
                del call
                gc.collect()
            await asyncio.sleep(UNSENT)
            await client.close()

        run(main())
        assert server.requests == [] and server.connections == 0


@each_loop
def test_a_call_is_awaited_once(run: Run) -> None:
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):

        async def main() -> None:
            async with client:
                call = client.subscriptions.get("s")
                await call
                with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
                    await call

        run(main())
        assert len(server.requests) == 1


@each_loop
@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    "use",
    [
        lambda call: call.close(),
        lambda call: call.send(None),
        lambda call: call.throw(KeyError("x")),
        lambda call: call.__await__().__next__(),
    ],
    ids=["close", "send", "throw", "next"],
)
def test_a_call_is_not_entered_twice(run: Run, use: Callable[[Any], object], write: bool) -> None:
    """A hook that closes or resumes the coroutine of the running call gets a ValueError; the call still succeeds."""
    told: list[str] = []

    class Hooks:
        call: Any = None

        def on_request(self, _: billcore.Attempt) -> None:
            with pytest.raises(ValueError, match="coroutine already executing"):
                use(self.call)
            told.append("refused")

    hooks = Hooks()
    with serving(lambda _: data(ORDER), hooks=hooks) as (server, client):

        async def main() -> None:
            async with client:
                if write:
                    hooks.call = client.subscriptions.charge("s", product_id=1, amount=1)
                else:
                    hooks.call = client.orders.get("o")
                assert (await hooks.call).id == ORDER["id"]

        run(main())
        assert told == ["refused"] and len(server.requests) == 1


def test_a_call_without_a_running_loop_is_refused() -> None:
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):
        call = client.subscriptions.get("s")
        with pytest.raises(RuntimeError, match="no running event loop"):
            call.send(None)
        assert server.requests == []


def test_refuses_to_pickle_or_copy() -> None:
    with serving() as (_, client):
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="AsyncClient cannot be pickled or copied"):
                call(client)
        assert repr(client).startswith("<AsyncClient http") and API_KEY not in repr(client.subscriptions)


def test_options_that_cannot_work() -> None:
    with pytest.raises(billcore.ConfigError):
        billcore.AsyncClient(base_url="http://service.example/x", api_key="k")
    with pytest.raises(billcore.InvalidArgumentError, match="timeout"):
        billcore.AsyncClient(base_url="https://service.example/x", api_key="k", timeout="5")  # type: ignore[arg-type]


@each_loop
def test_a_request_on_a_kept_connection_leaves_at_once(run: Run) -> None:
    """The first step of the coroutine sends the request, without waiting for a turn of the loop."""
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):

        async def main() -> None:
            assert (await client.subscriptions.get("s")).id == "sub_1"
            begun = client.subscriptions.get("t")
            begun.send(None)
            until(lambda: len(server.requests) == 2)  # until() blocks, so the event loop does not run meanwhile
            begun.close()
            assert (await client.subscriptions.get("u")).id == "sub_1"
            await client.close()

        run(main())
        assert [request.target.rpartition("/")[2] for request in server.requests] == ["s", "t", "u"]
