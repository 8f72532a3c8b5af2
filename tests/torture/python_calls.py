"""Torture of the Python module: each allocation that the module makes fails in turn.

    python_calls.py BUILD [--point N] [SCENARIO...]

BUILD is an optimised build with tests. The script tests the module that its Python imports, which must be installed as
users install it. A call fails only if the extension module is among its callers: calls that the interpreter makes for
itself succeed. Each failure is tried in a forked process; the result of the Python call is compared with the requests
that the server received.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import logging
import mmap
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HANG_SECONDS = 60
MEMORY = 1  # TORTURE_MEMORY of interposer.h
logging.getLogger("billcore").setLevel(logging.CRITICAL)  # hides the warnings about abandoned writes


class Run(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int),
        ("fail_at", ctypes.c_long),
        ("keep_failing", ctypes.c_int),
        ("only", ctypes.c_char * 32),
        ("count", ctypes.c_long),
        ("failed", ctypes.c_long),
        ("what", ctypes.c_char * 32),
        ("depth", ctypes.c_int),
        ("frames", ctypes.c_void_p * 48),
    )


class Server:
    def __init__(self, build: Path) -> None:
        program = [str(build / "tests/torture/torture"), "--serve"]
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.base_url = self.process.stdout.readline().strip()

    def ask(self, line: object) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(line, file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())


def charge(client: Any, amount: int) -> Any:
    return client.subscriptions.charge("sub", product_id=1, amount=amount, description="one that is not short")


def get(client: Any, _amount: int) -> Any:
    return client.orders.get("an-order-with-a-long-name-beyond-short-strings")


def blocking(
    call: Callable[[Any, int], Any], options: dict[str, Any], starved: Callable[[], Any]
) -> BaseException | None:
    import billcore

    failure = None
    with billcore.Client(**options) as client:
        try:
            with starved():
                call(client, 1)
        except (billcore.BillcoreError, MemoryError) as error:
            failure = error
        call(client, 2)
    return failure


def awaited(
    call: Callable[[Any, int], Any], options: dict[str, Any], starved: Callable[[], Any]
) -> BaseException | None:
    import billcore

    async def main() -> BaseException | None:
        failure = None
        async with billcore.AsyncClient(**options) as client:
            try:
                with starved():
                    await call(client, 1)
            except (billcore.BillcoreError, MemoryError) as error:
                failure = error
            await call(client, 2)
        return failure

    return asyncio.run(main())


def read_all(client: Any, _amount: int) -> Any:
    return client.subscriptions.orders("sub").collect()


SCENARIOS = {
    "get": (blocking, get),
    "charge": (blocking, charge),
    "list": (blocking, read_all),
    "asyncio-get": (awaited, get),
    "asyncio-charge": (awaited, charge),
    "asyncio-list": (awaited, read_all),
}


def problem(failure: BaseException | None) -> str:
    """Returns why `failure` is a wrong error for a lack of memory; empty if `failure` is right."""
    cause = getattr(failure, "__cause__", None)
    if failure is None or isinstance(failure, MemoryError) or isinstance(cause, MemoryError):
        return ""
    # In two places, both before it sends anything, libcurl reports a lack of memory as one of the errors below.
    if "Could not resolve host: 127.0.0.1" in str(failure) or "No URL set" in str(failure):
        return ""
    return f"it does not say that memory ran out: {failure!r}"


def told(failure: BaseException | None) -> str:
    if failure is None:
        return "done"
    return "unknown" if getattr(failure, "outcome_unknown", False) else "not done"


class Torture:
    def __init__(self, build: Path) -> None:
        self.library = ctypes.CDLL(str(build / "tests/torture/libtorture-interposer.so"))
        self.server = Server(build)
        self.run = Run.from_buffer(mmap.mmap(-1, ctypes.sizeof(Run)))  # shared memory, which survives a child's crash
        self.options = {"base_url": self.server.base_url, "api_key": "key", "max_retries": 0, "timeout": 300.0}

    @contextlib.contextmanager
    def starved(self, run: Run) -> Any:
        self.library.torture_begin(ctypes.byref(run))
        try:
            yield
        finally:
            self.library.torture_end()

    def show_place(self) -> None:
        frames = self.run.frames
        ctypes.CDLL(None).backtrace_symbols_fd(frames, min(self.run.depth, len(frames)), sys.stdout.fileno())

    def is_of_libcurl(self) -> bool:
        """Whether memory ran out within libcurl itself."""
        library = ctypes.CDLL(None)
        library.backtrace_symbols.restype = ctypes.POINTER(ctypes.c_char_p)
        depth = min(self.run.depth, len(self.run.frames))
        names = library.backtrace_symbols(self.run.frames, depth)
        callers = [name for name in map(bytes, names[:depth]) if b"torture-interposer" not in name]
        return bool(callers) and b"/libcurl" in callers[0]

    def child(self, name: str, number: int, pipe: int) -> None:
        signal.alarm(HANG_SECONDS)
        how, call = SCENARIOS[name]
        run = self.run
        run.kind, run.fail_at, run.only = MEMORY, number, b"/_client."
        failure = how(call, self.options, lambda: self.starved(run))
        text = f"{run.failed}\n{told(failure)}\n{problem(failure)}"
        os.write(pipe, text.encode())

    def point(self, name: str, number: int) -> tuple[bool, str]:
        """Runs a scenario in which the call with this number fails. Returns whether the scenario makes a call with
        this number, and a description of the problem, if any."""
        self.server.ask("forget")
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                self.child(name, number, writer)
                status = 0
            finally:
                sys.stderr.flush()
                os._exit(status)
        os.close(writer)
        with os.fdopen(reader) as said:
            answer = said.read()
        _, status = os.waitpid(child, 0)
        received = self.server.ask(1)
        if status != 0 or not answer:
            code = os.waitstatus_to_exitcode(status)
            if code == -signal.SIGFPE and self.is_of_libcurl():
                return True, ""  # a division by zero in libcurl 7.88, which judge.cpp describes
            return True, "it hangs" if code == -signal.SIGALRM else f"it ended with status {code}"
        failed, outcome, wrong = answer.split("\n", 2)
        if name.endswith("charge"):
            if received > 1:
                wrong = f"the service received {received} charges for one"
            elif outcome == "not done" and received:
                wrong = "the service received a charge that is reported as not made"
            elif outcome == "done" and not received:
                wrong = "a charge succeeded that the service did not receive"
        return failed != "0", wrong


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("--point", type=int)
    parser.add_argument("scenarios", nargs="*")
    words = parser.parse_intermixed_args()
    build = words.build.resolve()
    library = str(build / "tests/torture/libtorture-interposer.so")
    if os.environ.get("LD_PRELOAD") != library:
        environment = {**os.environ, "LD_PRELOAD": library}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)
    torture = Torture(build)
    bad = 0
    for name in words.scenarios or SCENARIOS:
        how, call = SCENARIOS[name]
        # First a run without failures, in which the library also allocates the memory that it keeps.
        if how(call, torture.options, contextlib.nullcontext) is not None:
            raise SystemExit(f"{name} does not work")
        number = words.point or 1
        tried = wrong = 0
        while True:
            there, text = torture.point(name, number)
            if text:
                wrong += 1
                print(f"WRONG  python {name}, point {number}: {text}", flush=True)
                torture.show_place()
                print(f"  alone: {sys.argv[0]} {words.build} --point {number} {name}")
            if not there:
                break
            tried += 1
            if words.point:
                break
            number += 1
        bad += wrong
        print(f"python {name}: {tried} points tried, {wrong} wrong", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
