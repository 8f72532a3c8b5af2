"""Tests a process that is suspended (SIGSTOP) during a call: if it resumes after the call's deadline, it must not
send the request."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.children import child_environment

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
                await result
    except billcore.BillcoreError as error:
        print(json.dumps([type(error).__name__, str(error), error.outcome_unknown]))

asyncio.run(run())
"""


@pytest.fixture(scope="module")
def stop_when_connected(tmp_path_factory: pytest.TempPathFactory) -> str:
    library = tmp_path_factory.mktemp("stop") / "stop.so"
    source = Path(__file__).with_name("stop.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return str(library)


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
    world: World, language: str, stop_when_connected: str, operation: str, kept: bool, awaited: bool
) -> None:
    with Scene(world, language) as scene:
        rest, _ = world.arguments(operation)
        calls = [(operation, {**rest["args"], "timeout": TIMEOUT})]
        if kept:
            calls.insert(0, ("orders.get", world.arguments("orders.get")[0]["args"]))
        given = json.dumps({"client": scene.options(), "calls": calls, "awaited": awaited})
        environment = child_environment() if kept else child_environment(LD_PRELOAD=stop_when_connected)
        command = [sys.executable, "-c", PROGRAM, given]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            how = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            assert how is not None and how.si_status == signal.SIGSTOP, "the process did not stop"
            time.sleep(TIMEOUT)
            os.kill(process.pid, signal.SIGCONT)
            output, _ = process.communicate(timeout=60)
    name, message, unknown = json.loads(output)
    assert (name, unknown) == ("TimeoutError", False), message
    assert "nothing was sent" in message
    assert len(scene.proxy.seen) == int(kept), "it was sent after the deadline"
