"""Signals that arrive while a call is in flight, and whose handlers have not run when the answer arrives.

Python runs signal handlers between two bytecodes. If the call did not check for signals itself, the exception of a
handler would discard the call's result: a charge would be made, and the caller would not know.
"""

from __future__ import annotations

import signal
import threading
from typing import Any

import pytest

import billcore
from conformance.server import Reply, ScriptedServer

from .interrupt_support import CHARGE, Interrupter, interrupt
from .support import ACCOUNT, API_KEY, ORDER, SUBSCRIPTION, data, page

LOOK = "it may or may not have happened: look before you send it again"
# A call and its answer, which arrives after the signal; a part of the note; the call's own error, which is the context.
# interrupt_test.cpp has the notes for other statuses.
OUTCOMES: list[tuple[str, Reply, str, str | None]] = [
    (
        CHARGE,
        data(ORDER),
        "POST /subscription/s/order: interrupted after the answer came: status 200, it was done (id ord_1)",
        None,
    ),
    (CHARGE, Reply(status=402), "status 402, it was refused", "PaymentError"),
    (CHARGE, Reply(status=500), "status 500, " + LOOK, "ServerError"),
    (CHARGE, Reply(status=200, body=b"<html>"), "status 200, it was done", "DecodeError"),
    (CHARGE, Reply(raw=b"", ending="close"), LOOK, "OutcomeUnknownError"),
    ('client.request("PUT", "/x", raise_on_error=False)', Reply(status=503), "status 503, " + LOOK, None),
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
    if sent_only(line) and line["names"][1:2] != [error]:
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


TRIES = 50  # to read a list whose signal comes just before the answer


def test_handlers_that_return_change_nothing() -> None:
    code = f"""
heard = []
signal.signal(signal.SIGINT, lambda number, frame: heard.append(client.products))
say(id={CHARGE}.id, heard=len(heard))
try:
    {CHARGE}
except PaymentError as error:
    say(status=error.status, context=repr(error.__context__), notes=getattr(error, "__notes__", []), heard=len(heard))
signal.signal(signal.SIGINT, lambda number, frame: heard.append(pager.fetched_pages))
for _ in range({TRIES}):
    pager = client.subscriptions.orders("s")
    try:
        say(ids=[order.id for order in pager], heard=len(heard))
        break
    except InvalidArgumentError as error:  # beside load, the signal may come well before the answer
        assert "in use" in str(error)
"""
    replies = [data(ORDER), Reply(status=402), *[page([ORDER], 1, 1)] * TRIES]
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
