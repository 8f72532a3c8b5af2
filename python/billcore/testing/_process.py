"""Sandbox: a sandbox as a child process of the tests; import it from billcore.testing."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self, Unpack, cast

from .._durations import seconds
from ._account import Account, SandboxAccount
from ._calls import arguments
from ._control import Control
from ._options import AccountOptions


class SandboxError(RuntimeError):
    """The sandbox did not start, or has exited. The text contains the sandbox's stderr."""


class Sandbox(SandboxAccount):
    """A running sandbox. The constructor starts the process; close() or the end of `with` ends the process.

    The sandbox also exits when the calling process ends, even if that process is killed. `billcore sandbox --help`
    describes the options and their defaults; AccountOptions are the defaults of all accounts.
    """

    def __init__(
        self,
        seed: int | None = None,
        db: str | os.PathLike[str] | None = None,
        *,
        port: int = 0,
        seed_file: str | os.PathLike[str] | None = None,
        keep: int | None = None,
        keep_bytes: int | None = None,
        log: Literal["ndjson"] | None = None,
        deliver_anywhere: bool = False,
        start_timeout: float = 30.0,
        **options: Unpack[AccountOptions],
    ) -> None:
        given = arguments({**locals(), **options})
        del given["options"]
        super().__init__()
        self._choose(options)
        start_timeout = seconds(given.pop("start_timeout"), "start_timeout")
        flags = [_option(name, value) for name, value in given.items() if value is not False]
        environment = _environment()
        self._owner = os.getpid()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  the file is used until the child exits
        self._process = subprocess.Popen(
            [sys.executable, "-m", "billcore_sandbox", "--exit-with-stdin", *flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=environment,
            # With its own session, the child does not get Ctrl-C from the terminal; it exits when its stdin is
            # closed.
            start_new_session=True,
        )
        try:
            ready = self._read_ready_line(start_timeout)
        except BaseException:
            self.close()
            raise
        self.base_url = ready["base_url"]
        self.api_key = ready["api_key"]
        self.accounts = [Account(entry["base_url"], entry["api_key"]) for entry in ready["accounts"]]
        self.control_url = ready["control_url"]
        self.control = Control(self.control_url)
        self.pid = ready["pid"]
        self.ids = {}
        self._origin = self.base_url.rpartition("/")[0]

    def _read_ready_line(self, timeout: float) -> dict[str, Any]:
        assert self._process.stdout is not None
        killer = threading.Timer(timeout, self._process.kill)
        killer.start()
        try:
            line = self._process.stdout.readline()
        finally:
            killer.cancel()
        if not line:
            status = self._process.wait()
            reason = f"was not ready within {timeout:g} s" if status == -9 else f"ended with status {status}"
            raise SandboxError(f"the sandbox {reason}: {self.stderr().strip() or 'nothing on stderr'}")
        return cast(dict[str, Any], json.loads(line))

    def stderr(self) -> str:
        """The sandbox's stderr so far."""
        if self._stderr.closed:
            return ""
        # pread() does not move the file offset, which this process shares with the child: the child writes there.
        return os.pread(self._stderr.fileno(), 1 << 20, 0).decode("utf-8", "replace")

    def close(self) -> None:
        """End the sandbox's process; a second call does nothing."""
        if os.getpid() != self._owner:
            return  # in a forked process: only the process that started the sandbox may end it
        super().close()
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._stderr):
            if stream is not None:
                stream.close()

    def new_account(self, *, demo: bool = True, **options: Unpack[AccountOptions]) -> SandboxAccount:
        """A new account of this sandbox, so that tests do not see each other's data.

        Args:
            demo: Whether the account has a few products of each type, and subscriptions with the demo reference ids.
            options: Options of this account, instead of the sandbox's: see AccountOptions.
        """
        made = self.control.create_account(demo=demo, **options)
        out = SandboxAccount()
        out._choose({"signature_header": self._signature_header, **options})
        out.base_url, out.api_key = f"{self._origin}/{made['account']}", made["api_key"]
        out.accounts = [Account(out.base_url, out.api_key)]
        out.control_url, out.pid, out.ids = self.control_url, self.pid, made["ids"]
        out.control = Control(self.control_url, account=made["account"])
        return out

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _option(name: str, value: Any) -> str:
    option = f"--{name.replace('_', '-')}"
    if value is True:
        return option
    if isinstance(value, datetime):
        value = value.isoformat()
    elif isinstance(value, Mapping):
        value = json.dumps(value)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        value = ",".join(map(str, value))
    elif isinstance(value, os.PathLike):
        value = os.fspath(value)
    # Not "--name value": argparse would take a value that begins with a dash for an option.
    return f"{option}={value}"


def _environment() -> dict[str, str]:
    """The child's environment, with which the child imports the same billcore_sandbox as this process."""
    if getattr(sys, "frozen", False):  # sys.executable is then the program itself, which would start itself again
        raise SandboxError("a packed program cannot start the sandbox: start billcore-sandbox beside it")
    found = importlib.util.find_spec("billcore_sandbox")
    if found is None or found.origin is None:
        raise SandboxError("billcore-sandbox is not installed: run pip install ./python/sandbox in a checkout")
    folder = str(Path(found.origin).parent.parent)
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    return environment
