"""A common interface to all clients: run(request) returns a reply; both are JSON values.

The drivers of C++, C, Go and Rust are programs that read one request per line and write one reply per line. The Python
package is called in process (python_driver.py): its REST calls run with Client and again with AsyncClient.

request: {"op": "subscriptions.get", "client": {"base_url": …, "api_key": …}, "args": {"id": "sub_1"}}
reply: {"ok": result} or {"error": {"class": "NotFoundError", "status": 12, "message": …, …}}
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Protocol

VARIABLES = {
    "cpp": "BILLCORE_CPP_DRIVER",
    "c": "BILLCORE_C_DRIVER",
    "go": "BILLCORE_GO_DRIVER",
    "rust": "BILLCORE_RUST_DRIVER",
}
# tests/run.sh go and tests/run.sh rust build the driver of one language, and run the fixtures only against that
# driver.
OF_OWN_AREAS = {"go", "rust"}
LANGUAGES = ("cpp", "c", "python", *(name for name in sorted(OF_OWN_AREAS) if os.environ.get(VARIABLES[name])))
# A Go string cannot be absent, so the Go client reports an empty signature as missing.
EMPTY_IS_MISSING = {"go"}
# Clients besides those of LANGUAGES: the driver in C runs the same requests on a loop, and the AsyncClients of Python
# and Rust await them.
CLIENTS = (*LANGUAGES, "c-loop", "python-async", *(["rust-async"] if "rust" in LANGUAGES else []))
DEADLINE = 120.0  # seconds; a call that takes longer counts as hanging

# Maps the name of an exception class to its billcore_status, the same number in every language.
ERRORS = Path(__file__).resolve().parent.parent / "fixtures/errors.json"
STATUS: dict[str, int] = json.loads(ERRORS.read_text("utf-8"))["numbers"]


class Driver(Protocol):
    def run(self, request: dict[str, Any]) -> dict[str, Any]: ...

    def close(self) -> None: ...


def clean_environment() -> dict[str, str]:
    """Returns this process's environment variables, without those that configure a client."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("BILLCORE_") and not name.lower().endswith("_proxy")
    }


class ProgramDriver:
    """A driver program, started at the first call. If the program crashes, the test's error message contains its
    stderr."""

    def __init__(self, program: Path, *arguments: str) -> None:
        self._command: list[str | Path] = [program, *arguments]
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  # used until the driver exits
        self._process: subprocess.Popen[bytes] | None = None
        self._buffer = b""
        self._begin = 0  # offset in _stderr where the output of the current process begins

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        process = self._start()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
            process.stdin.flush()
            line = self._read_line(process)
        except BrokenPipeError:
            line = b""
        if not line:
            code = self._end(kill=True)
            raise AssertionError(f"the driver ended with status {code} during {request!r}\n{self._errors()}")
        reply = json.loads(line)
        assert isinstance(reply, dict) and len(reply.keys() & {"ok", "error"}) == 1, f"not a reply: {line!r}"
        return reply

    def close(self) -> None:
        """Closes the program's stdin and waits for the program to exit. The exit status is non-zero if a sanitizer
        found an error."""
        if self._process is not None:
            code = self._end(kill=False)
            assert code == 0, f"the driver ended with status {code}\n{self._errors()}"
        self._stderr.close()

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._buffer = b""
            self._begin = os.fstat(self._stderr.fileno()).st_size
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=clean_environment(),
            )
        return self._process

    def _read_line(self, process: subprocess.Popen[bytes]) -> bytes:
        assert process.stdout is not None
        deadline = time.monotonic() + DEADLINE
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                process.send_signal(signal.SIGABRT)
                raise AssertionError(f"the driver did not answer within {DEADLINE} s\n{self._errors()}")
            chunk = os.read(process.stdout.fileno(), 1 << 20)
            if not chunk:
                return b""
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line

    def _end(self, *, kill: bool) -> int:
        process, self._process = self._process, None
        assert process is not None and process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        if kill and process.poll() is None:
            try:
                process.wait(timeout=10)  # lets the program finish its output
            except subprocess.TimeoutExpired:
                process.kill()
        code = process.wait(timeout=DEADLINE)
        process.stdout.close()
        return code

    def _errors(self) -> str:
        # Reads with pread(), which does not move the file offset: the driver program writes at the same offset.
        return os.pread(self._stderr.fileno(), 1 << 20, self._begin).decode(errors="replace")[-8000:]


class ThreadDriver:
    """Calls a driver in a thread, so that a hanging call fails one test and not the whole run."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        reply: list[dict[str, Any]] = []
        failure: list[BaseException] = []

        def call() -> None:
            try:
                reply.append(self._driver.run(request))
            except BaseException as error:
                failure.append(error)

        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        thread.join(DEADLINE)
        assert not thread.is_alive(), f"no answer within {DEADLINE} s to {request!r}"
        if failure:
            raise failure[0]
        return reply[0]

    def close(self) -> None:
        self._driver.close()


def make_driver(language: str) -> Driver:
    if language.startswith("python"):
        from .python_driver import PythonDriver

        return ThreadDriver(PythonDriver(awaited=language == "python-async"))
    language, _, way = language.partition("-")
    variable = VARIABLES[language]
    program = os.environ.get(variable, "")
    if not program:
        raise RuntimeError(f"{variable} is not set: build the driver and set it to the program's path")
    if not os.access(program, os.X_OK):
        raise RuntimeError(f"{variable} names no program: {program}")
    return ProgramDriver(Path(program), *([way] if way else []))
