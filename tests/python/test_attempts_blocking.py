"""Hooks of blocking calls and lists that end early because of a signal or a hook. See also test_attempts.py."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from conformance.server import Reply, Request, ScriptedServer

from .async_support import silent
from .interrupt_support import CHARGE, Interrupter, interrupt
from .support import ACCOUNT, API_KEY, ORDER, data, page, run_program
from .test_attempts import MAYBE, WARNING

INTERRUPTED = """
seen, log = [], []
class Hooks:
    def on_request(self, attempt):
        seen.append("begun")
    def on_response(self, attempt):
        seen.append([attempt.status or attempt.error, attempt.sent, attempt.outcome_unknown, attempt.path])
        ACT
loud = billcore.Client(hooks=Hooks(), **options)
PREPARE
try:
    CALL
except (KeyboardInterrupt, Alarm, SystemExit) as error:
    say(seen=seen, log=log, loaded="logging" in sys.modules, **told(error))
assert loud.orders.get("o").id == "ord_1"
"""
LOUD_CHARGE = CHARGE.replace("client", "loud")
LOG = """
import logging
class Keep(logging.Handler):
    def emit(self, record):
        log.append(record.getMessage())
logging.lastResort = Keep()
"""


def interrupted(call: str, number: int = signal.SIGINT, act: str = "pass", prepare: str = "") -> dict[str, Any]:
    """Returns the outcome that a program prints for a call that a signal interrupts before the answer arrives."""
    caller = Interrupter(INTERRUPTED.replace("CALL", call).replace("ACT", act).replace("PREPARE", prepare))

    def script(request: Request) -> Reply:
        if request.target.endswith("/order/o"):
            return data(ORDER)
        caller.signal(number)
        return silent(request)

    (line,) = caller.run(script)
    return line


READS = ["loud.products.get(7)", 'loud.subscriptions.orders("s").collect()']


@pytest.mark.parametrize("call", [CHARGE, LOUD_CHARGE, *READS])
@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, "KeyboardInterrupt"), (signal.SIGALRM, "CancelledError")]
)
def test_a_signal_ends_a_blocking_call(call: str, number: int, error: str) -> None:
    is_write = call not in READS
    line = interrupted(call, number, prepare=LOG)
    end = [error, True, is_write, "/subscription/s/order" if is_write else None]
    assert line["seen"] == ([] if call == CHARGE else ["begun", end])
    assert line["log"] == ([WARNING] if is_write else [])
    assert line["notes"] == ([f"POST /subscription/s/order: {MAYBE}"] if is_write else [])


def test_logging_is_not_imported_for_a_signal() -> None:
    assert interrupted(LOUD_CHARGE)["loaded"] is False


@pytest.mark.parametrize(
    ("act", "names"),
    [
        ("raise KeyboardInterrupt", ["KeyboardInterrupt", "Alarm"]),
        ("raise SystemExit(3)", ["SystemExit", "Alarm"]),
        ("raise ValueError", ["Alarm"]),
    ],
)
def test_what_a_hook_raises_at_the_end_of_an_interrupted_call(act: str, names: list[str]) -> None:
    """If the hook raises KeyboardInterrupt or SystemExit, the interrupted call raises it, not the next call."""
    line = interrupted(LOUD_CHARGE, signal.SIGALRM, act=f"if attempt.error == 'CancelledError': {act}")
    assert line["names"] == names and len(line["seen"]) == 2
    assert line["notes"] == [f"POST /subscription/s/order: {MAYBE}"]


def test_an_answer_that_a_blocking_caller_does_not_get_is_logged() -> None:
    """An exception from a signal handler discards the result, so the client logs the outcome that the answer
    reported."""
    for _ in range(10):
        (line,) = interrupt(
            LOG.replace("log.", "lines.")
            + "lines = []\ntry:\n    each(lambda: "
            + CHARGE
            + ")\nfinally:\n    pass\nsay(lines=lines)",
            [data(ORDER)],
        )[-1:]
        if "the answer came" in str(line):
            break
    assert line["lines"] == [
        "POST /subscription/{id}/order: interrupted after the answer came: status 200, it was done (id ord_1) "
        "(id s, attempt 1, request id None)"
    ]


# A program that drops a list while pages are in flight: the hooks run outside any call.

LEFT = """
import billcore, gc, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores SIGINT
ends = []
class Hooks:
    def on_request(self, attempt):
        ends.append("begun")
    def on_response(self, attempt):
        ends.append(attempt.status or attempt.error)
        if attempt.error is not None:
            raise ERROR
client = billcore.Client(base_url=sys.argv[1], api_key=sys.argv[2], timeout=60, concurrency=2, hooks=Hooks())
try:
    for order in client.subscriptions.orders("s"):
        if ends.count("begun") == 3:
            break
    del order
    gc.collect()
except KeyboardInterrupt:
    ends.append("interrupted")
assert client.orders.get("o").id == "ord_1"
print(ends)
"""


@pytest.mark.parametrize("error", ["KeyboardInterrupt", "SystemExit", "ValueError"])
def test_what_a_hook_raises_when_pages_are_dropped(error: str) -> None:
    """If a hook raises KeyboardInterrupt outside any call, the client turns it back into a signal. The next call
    succeeds."""

    def script(request: Request) -> Reply:
        if request.target.endswith("/order/o"):
            return data(ORDER)
        return page([{**ORDER, "id": n} for n in range(3)], 1, 9) if "page=1" in request.target else silent(request)

    with ScriptedServer(script) as server:
        done = run_program(LEFT.replace("ERROR", error), server.url + ACCOUNT, API_KEY)
    assert done.returncode == 0, done.stderr
    interrupts = ["interrupted"] if error == "KeyboardInterrupt" else []
    ends = ["begun", 200, "begun", "begun", "CancelledError", "CancelledError", *interrupts, "begun", 200]
    assert done.stdout == f"{ends}\n"
    assert ("SystemExit" in done.stderr) is (error == "SystemExit")
