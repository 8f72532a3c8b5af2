"""A sandbox as a child process of the tests; public as billcore.testing.X."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, cast

from .._durations import seconds
from ._control import Control


class SandboxError(RuntimeError):
    """The sandbox did not start, or has exited. The text contains the sandbox's stderr."""


@dataclass(frozen=True)
class Account:
    """The base URL and the API key for one account; account["base_url"] also works."""

    base_url: str
    api_key: str

    def __getitem__(self, name: Literal["base_url", "api_key"]) -> str:
        return {"base_url": self.base_url, "api_key": self.api_key}[name]


class Sandbox:
    """A running sandbox. The constructor starts the process; close() or the end of `with` ends it.

    The sandbox also exits when the calling process ends, even if that process is killed. `billcore sandbox --help`
    describes the options and their defaults.
    """

    base_url: str
    api_key: str
    accounts: list[Account]
    control: Control
    control_url: str
    pid: int

    def __init__(
        self,
        seed: int | None = None,
        secret: str | None = None,
        db: str | os.PathLike[str] | None = None,
        *,
        port: int = 0,
        settlement: Literal["by-billing", "immediate", "manual"] | None = None,
        charge_total: Literal["amount-times-quantity", "amount"] | None = None,
        donation_status: Literal[402, 403, 422] | None = None,
        cancel: Literal["by-product", "cancelled", "active"] | None = None,
        second_cancel: Literal["ok", "refuse"] | None = None,
        delete_body: Literal["product", "null", "empty"] | None = None,
        subscriptions_per_page: int | None = None,
        products_per_page: int | None = None,
        event_ids: Literal["mixed", "int", "string"] | None = None,
        event_payload: Literal["mixed", "full", "reduced"] | None = None,
        retry_schedule: Sequence[float] | None = None,
        delivery_timeout: float | None = None,
        deliver_anywhere: bool = False,
        start_timeout: float = 30.0,
    ) -> None:
        start_timeout = seconds(start_timeout, "start_timeout")
        given: dict[str, object] = {
            "seed": seed,
            "secret": secret,
            "db": None if db is None else os.fspath(db),
            "port": port,
            "settlement": settlement,
            "charge-total": charge_total,
            "donation-status": donation_status,
            "cancel": cancel,
            "second-cancel": second_cancel,
            "delete-body": delete_body,
            "subscriptions-per-page": subscriptions_per_page,
            "products-per-page": products_per_page,
            "event-ids": event_ids,
            "event-payload": event_payload,
            "retry-schedule": None if retry_schedule is None else ",".join(map(str, retry_schedule)),
            "delivery-timeout": delivery_timeout,
        }
        # Use "--name=value": in "--name value", argparse would take a value that begins with a dash for an option.
        arguments = [f"--{name}={value}" for name, value in given.items() if value is not None]
        if deliver_anywhere:
            arguments.append("--deliver-anywhere")
        self._owner = os.getpid()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  the file is used until the child exits
        self._process = subprocess.Popen(
            [sys.executable, "-m", "billcore.sandbox", "--exit-with-stdin", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=_environment(),
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Sandbox pid={getattr(self, 'pid', None)}>"


def _environment() -> dict[str, str]:
    """The environment of the child, which makes it import the same billcore as this process."""
    here = str(Path(__file__).resolve().parent.parent.parent)
    paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])] if "site-packages" not in here else None
    environment = dict(os.environ)
    if paths is not None:
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    return environment


for _value in (Account, Sandbox, SandboxError):
    _value.__module__ = "billcore.testing"
del _value
