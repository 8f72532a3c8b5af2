"""Tests a process that is suspended (SIGSTOP) during a call, and resumes after the call's deadline.

It must not send the request; if it was suspended too late for that, the result of the call says so.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from support.children import child_environment
from support.stopped import build_stops

from . import steps
from .certificates import Certificates
from .proxy import Exchange, Proxy
from .scene import Scene, World

pytestmark = pytest.mark.one_language
TIMEOUT = 2.0
# If the program makes two requests, it suspends itself in the on_request hook of the second request.
PROGRAM = """
import asyncio, json, os, signal, sys
import billcore

given = json.loads(sys.argv[1])

class Stop(billcore.Hooks):
    requests = 0
    def on_request(self, attempt, /):
        self.requests += 1
        if self.requests == 2:
            os.kill(os.getpid(), signal.SIGSTOP)

async def run():
    client = (billcore.AsyncClient if given["awaited"] else billcore.Client)(**given["client"], hooks=Stop())
    try:
        for operation, arguments in given["calls"]:
            resource, name = operation.split(".")
            positional = [arguments.pop("id")] if "id" in arguments else []
            result = getattr(getattr(client, resource), name)(*positional, **arguments)
            if name == "list":
                result = result.first()
            if given["awaited"]:
                result = await result
        print(json.dumps(["ok", "", result.response_info.sent_late]))
    except billcore.BillcoreError as error:
        unknown = error.outcome_unknown
        print(json.dumps([type(error).__name__, str(error), error.sent_late if unknown else unknown]))

asyncio.run(run())
"""


@pytest.fixture(scope="module")
def stops(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build_stops(tmp_path_factory.mktemp("stop"))


def run_stopped(
    command: list[str],
    environment: dict[str, str],
    meanwhile: Callable[[], object] | None = None,
    given: str | None = None,
) -> Any:
    """Runs a program that stops itself, and resumes it after the time-out of its call; returns its output."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        if given is not None:
            assert process.stdin is not None
            process.stdin.write(given)
            process.stdin.flush()
        how = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        assert how is not None and how.si_status == signal.SIGSTOP, "the process did not stop"
        if meanwhile is not None:
            meanwhile()
        time.sleep(TIMEOUT)
        os.kill(process.pid, signal.SIGCONT)
        output, _ = process.communicate(timeout=60)
    return json.loads(output)


@pytest.mark.parametrize("awaited", [False, True], ids=["blocking", "awaited"])
@pytest.mark.parametrize(
    ("operation", "kept"),
    [
        ("orders.get", True),
        ("orders.get", False),
        ("subscriptions.list", False),  # the time-out of a page begins when the caller waits for the page
        ("subscriptions.charge", True),
        ("subscriptions.charge", False),
    ],
)
def test_a_process_that_was_stopped(
    world: World, language: str, stops: str, operation: str, kept: bool, awaited: bool
) -> None:
    with Scene(world, language) as scene:
        rest, _ = world.arguments(operation)
        calls = [(operation, {**rest["args"], "timeout": TIMEOUT})]
        if kept:
            calls.insert(0, ("orders.get", world.arguments("orders.get")[0]["args"]))
        given = json.dumps({"client": scene.options(), "calls": calls, "awaited": awaited})
        environment = child_environment() if kept else child_environment(LD_PRELOAD=stops, BILLCORE_STOP="connected")
        name, message, unknown = run_stopped([sys.executable, "-c", PROGRAM, given], environment)
    assert (name, unknown) == ("TimeoutError", False), message
    assert "nothing was sent" in message
    assert len(scene.proxy.seen) == int(kept), "it was sent after the deadline"


@pytest.mark.parametrize("way", ["blocking", "awaited", "cpp"])
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("point", ["sending", "sent"])
def test_a_process_that_was_stopped_at_the_last_moment(
    stops: str, certificates: Certificates, point: str, tls: bool, way: str
) -> None:
    """A write that may have left after its deadline is given up, and marked; if its answer is there, that counts."""
    was_reset = []
    answered = threading.Event()

    def step(exchange: Exchange) -> None:
        exchange.read()
        if point == "sent":
            exchange.send(steps.ORDER)
            answered.set()
        else:
            was_reset.append(exchange.was_reset() or tls)  # Python's ssl does not tell a reset from an end

    proxy = Proxy(("", 0), [step], tls=certificates.good if tls else None)
    client = {
        "base_url": f"{'https' if tls else 'http'}://localhost:{proxy.port}/account",
        "api_key": "key",
        "ca_bundle": str(certificates.bundle),
    }
    charge = {"id": "s", "product_id": 1, "amount": 1, "timeout": TIMEOUT}
    environment = child_environment(LD_PRELOAD=stops, BILLCORE_STOP=point)
    meanwhile = answered.wait if point == "sent" else None
    if way == "cpp":
        driver = os.environ.get("BILLCORE_CPP_DRIVER") or pytest.skip("there is no driver of C++")
        timeout = charge.pop("timeout")
        request = {"op": "subscriptions.charge", "client": client, "args": charge, "timeout": timeout}
        reply = run_stopped([driver], environment, meanwhile, json.dumps(request) + "\n")
        # The reply of a success does not say that it was sent late.
        name, late = ("ok", True) if "ok" in reply else (reply["error"]["class"], reply["error"]["sent_late"])
    else:
        calls = [("subscriptions.charge", charge)]
        given = json.dumps({"client": client, "calls": calls, "awaited": way == "awaited"})
        name, _, late = run_stopped([sys.executable, "-c", PROGRAM, given], environment, meanwhile)
    proxy.close()
    assert (name, late) == ("ok" if point == "sent" else "OutcomeUnknownError", True)
    assert was_reset == ([] if point == "sent" else [True])
