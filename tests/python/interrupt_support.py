"""Interrupts the calls of a child program with signals, and returns the outcome that the program prints for each."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from conformance.server import Reply, Request, ScriptedServer
from support.children import child_environment

from .support import ACCOUNT, API_KEY

# A program that makes calls one after the other. Each call is interrupted once; then the program prints its result, and
# the exceptions with their notes.
CALLER = """
import json, signal, sys, time, billcore
from billcore import *

class Alarm(Exception):
    pass

def ring(number, frame):
    raise Alarm(number)

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGALRM, ring)
options = dict(base_url=sys.argv[1], api_key=sys.argv[2], timeout=60, max_retries=0, concurrency=1)
client = billcore.Client(**options)

def told(error):
    names, notes = [], []
    while error is not None:
        names.append(type(error).__name__)
        notes += getattr(error, "__notes__", [])
        error = error.__context__
    return {"names": names, "notes": notes}

def say(**known):
    print(json.dumps(known), flush=True)

def each(*calls):
    for call in calls:
        bound = None
        try:
            bound = call()
            time.sleep(60)
        except (KeyboardInterrupt, Alarm) as error:
            say(bound=getattr(bound, "id", None) or repr(bound), **told(error))

exec(compile(sys.argv[3], "calls", "exec"))
"""
CHARGE = 'client.subscriptions.charge("s", product_id=1, amount=1)'


class Interrupter:
    """Runs the program CALLER against a server; the script of that server may send signals to the program."""

    def __init__(self, code: str) -> None:
        self._code = code
        self._started = threading.Event()
        self._process: subprocess.Popen[str] | None = None
        self.errors = ""  # what the program wrote to stderr

    def signal(self, *numbers: int) -> None:
        assert self._started.wait(60) and self._process is not None
        for number in numbers:
            self._process.send_signal(number)

    def run(self, script: Callable[[Request], Reply]) -> list[dict[str, Any]]:
        with ScriptedServer(script) as server:
            self._process = subprocess.Popen(
                [sys.executable, "-c", CALLER, server.url + ACCOUNT, API_KEY, self._code],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=child_environment(),
            )
            self._started.set()
            try:
                output, self.errors = self._process.communicate(timeout=120)
            finally:
                self._process.kill()
                self._process.wait()
        assert self._process.returncode == 0, self.errors
        return [json.loads(line) for line in output.splitlines()]


def interrupt(code: str, replies: list[Reply], *signals: int, lead: float = 0.002) -> list[dict[str, Any]]:
    """Runs calls in the program CALLER; signals the program at each request, and answers `lead` seconds later."""
    caller = Interrupter(code)
    left = iter(replies)

    def script(_: Request) -> Reply:
        caller.signal(*(signals or (signal.SIGINT,)))
        time.sleep(lead)
        return next(left)

    return caller.run(script)
