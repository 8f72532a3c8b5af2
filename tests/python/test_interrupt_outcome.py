"""Signals that arrive while a call is in flight, and whose handlers have not run when the answer arrives.

Python runs signal handlers between two bytecodes. If the call did not check for signals itself, the exception of a
handler would discard the call's result: a charge would be made, and the caller would not know.
"""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request, ScriptedServer

from .interrupt_support import CHARGE, Interrupter, interrupt
from .support import ACCOUNT, API_KEY, ORDER, SUBSCRIPTION, data, page

# Times of the signal and of the answer, in milliseconds after the request arrives. No signal is sent right after the
# answer: it could arrive after the call has returned but before Python assigns the result, when the client can no
# longer check for signals.
OFFSETS = [(at, 30) for at in (1, 5, 10, 15, 20, 25, 28, 29, 30, 130, 200)] + [(0, 0), (0, 1), (10, 200), (199, 200)]


def test_no_charge_is_lost_in_silence() -> None:
    caller = Interrupter(f"each(*[lambda: {CHARGE}] * {len(OFFSETS)})")
    made: list[str] = []

    def script(_: Request) -> Reply:
        at, answered = OFFSETS[len(made)]
        made.append(f"ord_{len(made)}")
        reply = data({**ORDER, "id": made[-1]})
        if at > answered:
            time.sleep(answered / 1000)
            threading.Timer((at - answered) / 1000, caller.signal, [signal.SIGINT]).start()
        else:
            time.sleep(at / 1000)
            caller.signal(signal.SIGINT)
            time.sleep((answered - at) / 1000)
        return reply

    known = caller.run(script)
    assert len(known) == len(OFFSETS)
    for order, (at, answered), line in zip(made, OFFSETS, known, strict=True):
        assert line["names"][0] == "KeyboardInterrupt"
        noted = any("may or may not have happened" in note or f"id {order}" in note for note in line["notes"])
        assert line["bound"] == order or noted, (order, at, answered, line)


SENT = "POST /subscription/s/order: interrupted after "
LOOK = "it may or may not have happened: look before you send it again"
OUTCOMES: list[tuple[str, Reply, str, str | None]] = [
    (
        CHARGE,
        data(ORDER),
        "POST /subscription/s/order: interrupted after the answer came: status 200, it was done (id ord_1)",
        None,
    ),
    (CHARGE, data(ORDER, 201), "status 201, it was done", None),
    (CHARGE, Reply(status=402), "status 402, it was refused", "PaymentError"),
    (CHARGE, Reply(status=404), "status 404, it was refused", "NotFoundError"),
    (CHARGE, Reply(status=408), "status 408, " + LOOK, "ApiError"),
    (CHARGE, Reply(status=500), "status 500, " + LOOK, "ServerError"),
    (CHARGE, Reply(status=504, body=b"late"), "status 504, " + LOOK, "ServerError"),
    (CHARGE, Reply(status=307), "status 307, " + LOOK, "ApiError"),
    (CHARGE, Reply(status=200, body=b"<html>"), "status 200, it was done", "DecodeError"),
    (CHARGE, Reply(raw=b"", ending="close"), LOOK, "OutcomeUnknownError"),
    (CHARGE, Reply(status=200, body=b"{}", send_only=30, ending="close"), LOOK, "OutcomeUnknownError"),
    ('client.subscriptions.cancel("s")', data(SUBSCRIPTION), "status 200, it was done (id sub_1)", None),
    (
        "client.products.delete(1)",
        Reply(status=204),
        "DELETE /product/1: interrupted after the answer came: status 204, it was done",
        None,
    ),
    ('client.webhook_endpoints.create(url="https://a.example/")', Reply(body=b"ok"), "status 200, it was done", None),
    ('client.request("PUT", "/x", raise_on_error=False)', Reply(status=409), "status 409, it was refused", None),
    ('client.request("PUT", "/x", raise_on_error=False)', Reply(status=503), "status 503, " + LOOK, None),
    (
        'client.with_options(timeout=9).products.update(1, name="x")',
        Reply(status=422),
        "status 422, it was refused",
        "ValidationError",
    ),
]


def test_the_note_says_what_the_answer_means() -> None:
    left = list(OUTCOMES)
    for _ in range(10):
        calls = ", ".join(f"lambda: {code}" for code, *_ in left)
        known = interrupt(f"each({calls})", [reply for _, reply, *_ in left])
        assert len(known) == len(left)
        left = [row for row, line in zip(left, known, strict=True) if not says_what_is_meant(row, line)]
        if not left:
            return
    raise AssertionError("every attempt was interrupted before its answer")


def says_what_is_meant(row: tuple[str, Reply, str, str | None], line: dict[str, Any]) -> bool:
    """Checks the outcome that the program printed for its call. Returns False, without a check, if the client handled
    the signal before the answer."""
    code, _, text, error = row
    if sent_only(line) and not any(text in note for note in line["notes"]):
        return False
    assert line["bound"] == "None" and line["names"][0] == "KeyboardInterrupt", (code, line)
    assert len(line["notes"]) == 1 and text in line["notes"][0], (code, line)
    assert line["names"][1:2] == ([error] if error else []), (code, line)
    return True


def test_a_read_needs_no_note() -> None:
    calls = ['client.subscriptions.get("s")', "client.products.get(1)", 'client.request("GET", "/x")']
    replies = [data(SUBSCRIPTION), Reply(status=404), Reply(body=b"{}")]
    known = interrupt(f"each({', '.join('lambda: ' + call for call in calls)})", replies)
    assert [line["notes"] for line in known] == [[]] * 3
    assert all(line["names"][0] == "KeyboardInterrupt" for line in known)


def test_what_other_handlers_raise_has_the_note_too() -> None:
    line = interrupted_after_the_answer(signal.SIGALRM)
    assert line["names"] == ["Alarm"] and "status 200, it was done (id ord_1)" in line["notes"][0]
    # After several signals the call raises the last handler's exception; the earlier ones are its __context__.
    line = interrupted_after_the_answer(signal.SIGALRM, signal.SIGINT)
    assert sorted(line["names"]) == ["Alarm", "KeyboardInterrupt"]
    assert "status 200, it was done (id ord_1)" in line["notes"][0]


def interrupted_after_the_answer(*signals: int) -> dict[str, Any]:
    """Returns the outcome that a program prints for a charge whose answer arrived before the client handled signals."""
    for _ in range(10):
        (line,) = interrupt(f"each(lambda: {CHARGE})", [data(ORDER)], *signals)
        assert len(line["notes"]) == 1, line
        if not sent_only(line):
            return line
    raise AssertionError("every attempt was interrupted before its answer")


def sent_only(line: dict[str, Any]) -> bool:
    """Whether the client handled the signal before the answer arrived, which may happen on a busy machine."""
    return any("interrupted after it was sent" in note for note in line["notes"])


def test_handlers_that_return_change_nothing() -> None:
    code = f"""
heard = []
signal.signal(signal.SIGINT, lambda number, frame: heard.append(client.products))
say(id={CHARGE}.id, heard=len(heard))
try:
    {CHARGE}
except PaymentError as error:
    say(status=error.status, context=repr(error.__context__), notes=getattr(error, "__notes__", []), heard=len(heard))
pager = client.subscriptions.orders("s")
states = []
signal.signal(signal.SIGINT, lambda number, frame: heard.append(pager.fetched_pages))
say(ids=[order.id for order in pager], heard=len(heard))
"""
    replies = [data(ORDER), Reply(status=402), page([ORDER], 1, 1)]
    charged, refused, listed = interrupt(code, replies)
    assert charged == {"id": "ord_1", "heard": 1}
    assert refused == {"status": 402, "context": "None", "notes": [], "heard": 2}
    assert listed == {"ids": ["ord_1"], "heard": 3}


HOOKS = """
class Loud:
    def on_{hook}(self, attempt):
        {act}
loud = billcore.Client(hooks=Loud(), **options)
{before}
each(lambda: loud.subscriptions.charge("s", product_id=1, amount=1))
"""


@pytest.mark.parametrize("hook", ["request", "response"])
@pytest.mark.parametrize(
    ("act", "name"),
    [
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("signal.raise_signal(signal.SIGINT); time.sleep(60)", "KeyboardInterrupt"),
        ("signal.raise_signal(signal.SIGALRM); time.sleep(60)", "Alarm"),
    ],
)
@pytest.mark.parametrize("before", ["", "signal.signal(signal.SIGINT, signal.SIG_IGN)"])
def test_what_a_hook_is_interrupted_by(hook: str, act: str, name: str, before: str) -> None:
    if before and "SIGINT" in act:
        pytest.skip("nothing is raised")
    caller = Interrupter(HOOKS.format(hook=hook, act=act, before=before))
    (line,) = caller.run(lambda _: data(ORDER))
    assert line["names"] == [name] and len(line["notes"]) <= 1
    # An interrupt in on_request may end the call before the request is sent: then there is no note about a write.
    if hook == "response":
        assert "status 200, it was done (id ord_1)" in line["notes"][0]


def test_a_hook_interrupts_the_thread_that_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loud:
        def on_response(self, _: billcore.Attempt) -> None:
            raise SystemExit(3)

    ends: list[BaseException] = []

    def work() -> None:
        try:
            client.orders.get("o")
        except BaseException as error:
            ends.append(error)

    with ScriptedServer(lambda _: data(ORDER)) as server:
        client = billcore.Client(base_url=server.url + ACCOUNT, api_key=API_KEY, hooks=Loud())
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        client.close()
    assert [type(end) for end in ends] == [SystemExit]


def test_an_interrupted_awaited_charge_is_known() -> None:
    code = """
import asyncio
async def main():
    async with billcore.AsyncClient(**options) as client:
        await client.subscriptions.charge("s", product_id=1, amount=1)
        await asyncio.sleep(60)
for _ in range(6):
    try:
        asyncio.run(main())
    except KeyboardInterrupt as error:
        say(**told(error))
"""
    known = interrupt(code, [data(ORDER)] * 5 + [Reply(status=402)])
    assert len(known) == 6
    for line in known[:5]:
        # Either the call returned (and the sleep was interrupted), or the exception has a note about the charge.
        assert "may or may not" in str(line) or "it was done" in str(line) or line["notes"] == [], line
