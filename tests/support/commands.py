"""Runs commands of `billcore` in this process, which is ten times as fast as a new one."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Mapping
from contextlib import ExitStack, chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from billcore.cli import main

from .waiting import LONG

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)


def run_here(
    *arguments: object, env: Mapping[str, str], input: bytes = b"", cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a command with this environment; returns its status, and what it wrote.

    As in a new process, the streams are no terminal, and what a thread or a destructor raises is printed on stderr. An
    error for which a process would print a traceback, a warning, and a command that does not end, are errors of the
    test. What only a new interpreter reads, such as PYTHONPATH, has no effect.
    """
    streams = [io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="\n") for data in (input, b"", b"")]
    stdin, out, err = streams
    err.reconfigure(errors="backslashreplace", line_buffering=True)
    with ExitStack() as stack:
        for number in _SIGNALS:
            stack.callback(signal.signal, number, signal.getsignal(number))
        signal.signal(signal.SIGALRM, _is_late)
        stack.callback(signal.alarm, 0)
        signal.alarm(int(LONG))
        stack.enter_context(warnings.catch_warnings(action="error"))
        warnings.simplefilter("ignore", ResourceWarning)  # a garbage collection finds what earlier tests left open
        stack.enter_context(mock.patch.dict(os.environ, env, clear=True))
        stack.enter_context(mock.patch.object(sys, "stdin", stdin))
        stack.enter_context(mock.patch.object(threading, "excepthook", threading.__excepthook__))
        stack.enter_context(mock.patch.object(sys, "unraisablehook", sys.__unraisablehook__))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        stack.enter_context(chdir(cwd or "."))
        status: Any
        try:
            status = main([*map(str, arguments)])
        except SystemExit as ended:
            status = ended.code or 0
            if isinstance(status, str):
                print(status, file=err)
                status = 1
        for stream in (out, err):
            stream.flush()
    written = [stream.detach().getvalue() for stream in (out, err)]
    return subprocess.CompletedProcess(["billcore", *map(str, arguments)], status, *written)


def _is_late(*_: object) -> None:
    pytest.fail("the command did not end")
