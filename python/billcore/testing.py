"""A billing service for your tests: `Sandbox` runs it as a child process, `Control` steers it.

    with billcore.testing.Sandbox() as sandbox:
        client = billcore.Client(base_url=sandbox.base_url, api_key=sandbox.api_key)
        sandbox.control.fault("reset_after", method="POST", path="/subscription/*/order")

`event` makes one signed webhook, for unit tests without a server:

    body, signature = billcore.testing.event("order.paid", total=19900)

Sandbox needs Starlette and uvicorn (the extra `sandbox`); this module itself is standard library only.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypedDict, cast
from urllib.parse import quote, urlsplit

from ._durations import seconds
from ._sample_event import SECRET, event

__all__ = ["SECRET", "Account", "Control", "ControlError", "Sandbox", "SandboxError", "event"]

FaultKind = Literal["status", "delay", "reset_before", "reset_after", "half_body"]

_UNSET: Any = object()


class SandboxError(RuntimeError):
    """The sandbox did not start, or has ended. The text holds what it wrote to stderr."""


class ControlError(RuntimeError):
    """A control route refused. status, code: of its answer."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code


@dataclass(frozen=True)
class Account:
    """What a client needs to use one account; account["base_url"] works, too, as in the line the command prints."""

    base_url: str
    api_key: str

    def __getitem__(self, name: Literal["base_url", "api_key"]) -> str:
        return {"base_url": self.base_url, "api_key": self.api_key}[name]


class RequestRecord(TypedDict):
    """A request as received. status: None where no complete answer was sent."""

    id: int
    at: str
    account: str | None
    method: str
    target: str
    headers: list[list[str]]
    body: str
    status: int | None
    fault: str | None


class Attempt(TypedDict):
    """One attempt of a delivery: the receiver's status, or why there is none."""

    at: str
    status: int | None
    error: str | None


class Delivery(TypedDict):
    """One event for one endpoint. id: the envelope's; the same for every attempt."""

    id: int
    account: str
    endpoint_id: int
    event: str
    url: str
    state: Literal["pending", "delivered", "held_back", "failed"]
    attempts: list[Attempt]
    body: str
    signature: str


class Endpoint(TypedDict):
    """A registered webhook endpoint, with the secret that the service never tells."""

    id: int
    account: str
    url: str
    secret: str


class Control:
    """The control routes of a sandbox. Works with any sandbox: Control(control_url). Threads: any number."""

    def __init__(self, control_url: str, timeout: float = 30.0) -> None:
        parts = urlsplit(control_url)
        if parts.scheme != "http" or parts.hostname is None:
            raise ValueError("control_url must be the http URL of the sandbox's ready line")
        self._host, self._port, self._prefix = parts.hostname, parts.port, parts.path.rstrip("/")
        self._timeout = seconds(timeout, "timeout")

    def state(self) -> dict[str, Any]:
        """Seed, clock, options, counts by status and account, waiting faults."""
        return cast(dict[str, Any], self._call("GET", "state"))

    def ledger(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Every effect (of one kind), oldest first."""
        effects = cast(list[dict[str, Any]], self._call("GET", "ledger")["effects"])
        return [effect for effect in effects if kind in (None, effect["kind"])]

    def requests(self) -> list[RequestRecord]:
        """Every request the service received, oldest first."""
        return cast(list[RequestRecord], self._call("GET", "requests")["requests"])

    def deliveries(self) -> list[Delivery]:
        """Every delivery, oldest first."""
        return cast(list[Delivery], self._call("GET", "deliveries")["deliveries"])

    def endpoints(self) -> list[Endpoint]:
        """Every webhook endpoint, with its secret."""
        return cast(list[Endpoint], self._call("GET", "endpoints")["endpoints"])

    def checkout(
        self,
        product_id: int,
        *,
        reference_id: str | None = None,
        reference_name: str | None = None,
        billing: Literal["card", "mobile", "invoice"] = "card",
        trial_days: int = 0,
        starts_in_days: int = 0,
        declines: bool = False,
        metadata: Mapping[str, Any] | None = None,
        account: str | None = None,
    ) -> dict[str, Any]:
        """A visitor starts to buy. Returns {"order": …, "subscription": … or None} as the REST interface shows them."""
        fields = {
            "product_id": product_id,
            "reference_id": reference_id,
            "reference_name": reference_name,
            "billing": billing,
            "trial_days": trial_days,
            "starts_in_days": starts_in_days,
            "declines": declines,
            "metadata": dict(metadata or {}),
            "account": account,
        }
        return cast(dict[str, Any], self._call("POST", "checkout", fields))

    def confirm(self, order_id: str | int) -> dict[str, Any]:
        """The visitor confirms the order; where its billing method settles at once, it is paid, too."""
        return cast(dict[str, Any], self._call("POST", f"orders/{_segment(order_id)}/confirm", {}))

    def pay(self, order_id: str | int) -> dict[str, Any]:
        """The order's payment settles; an order that is paid stays as it is."""
        return cast(dict[str, Any], self._call("POST", f"orders/{_segment(order_id)}/pay", {}))

    def renew(self, subscription_id: str | int) -> dict[str, Any]:
        """The subscription's renewal date comes."""
        return cast(dict[str, Any], self._call("POST", f"subscriptions/{_segment(subscription_id)}/renew", {}))

    def replay(self, delivery_id: int) -> int:
        """Send a delivery's payload again; returns the new envelope id."""
        return int(self._call("POST", f"deliveries/{_segment(delivery_id)}/replay", {})["id"])

    def test_hook(self, endpoint_id: int | None = None, *, data: Any = None) -> list[int]:
        """Send test.hook to one endpoint or to all; returns the ids of those endpoints."""
        fields = {"data": data} if endpoint_id is None else {"data": data, "endpoint_id": endpoint_id}
        return cast(list[int], self._call("POST", "test-hook", fields)["endpoints"])

    def fault(
        self,
        kind: FaultKind,
        *,
        method: str | None = None,
        path: str | None = None,
        times: int = 1,
        status: int = 503,
        body: Any = _UNSET,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
        delay: float = 1.0,
        effect: bool = False,
        abort: bool = False,
    ) -> int:
        """Let the next `times` requests that match meet a fault; returns its id.

        path: a glob on the path below the base URL. body: JSON, or with content_type a string that is sent as it is.
        effect (status): the service does its work first. abort (half_body): a reset after the half.
        """
        fields: dict[str, Any] = {
            "kind": kind,
            "method": method,
            "path": path,
            "times": times,
            "status": status,
            "content_type": content_type,
            "headers": dict(headers or {}),
            "delay": delay,
            "effect": effect,
            "abort": abort,
        }
        if body is not _UNSET:
            fields["body"] = body
        return int(self._call("POST", "faults", fields)["id"])

    def reset(self) -> None:
        """Back to the seeded state: ledger, requests, deliveries, endpoints and faults are empty."""
        self._call("POST", "reset", {})

    def wait_for_deliveries(self, timeout: float = 30.0) -> list[Delivery]:
        """Wait until no delivery is pending; returns all of them. Raises TimeoutError."""
        deadline = time.monotonic() + seconds(timeout, "timeout", zero=True)
        while True:
            deliveries = self.deliveries()
            if all(delivery["state"] != "pending" for delivery in deliveries):
                return deliveries
            if time.monotonic() > deadline:
                raise TimeoutError(f"deliveries are still pending after {timeout:g} s")
            time.sleep(0.02)

    def _call(self, method: str, path: str, fields: Mapping[str, Any] | None = None) -> Any:
        # http.client, because urllib would take a proxy from the environment. One connection a call: no shared state.
        connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        try:
            body = None if fields is None else json.dumps(fields).encode()
            headers = {} if body is None else {"Content-Type": "application/json"}
            connection.request(method, f"{self._prefix}/{path}", body, headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ControlError(response.status, answer["error"]["code"], answer["error"]["message"])
        return answer


class Sandbox:
    """A running sandbox: started by the constructor, ended by close() or at the end of `with`.

    It ends with this process, however this process ends. Options left out are the sandbox's own defaults; what they
    mean: `billcore sandbox --help`.
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
        # "--name=value", so that a value which begins with a dash is still a value.
        arguments = [f"--{name}={value}" for name, value in given.items() if value is not None]
        if deliver_anywhere:
            arguments.append("--deliver-anywhere")
        self._owner = os.getpid()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115  it lives as long as the child
        self._process = subprocess.Popen(
            [sys.executable, "-m", "billcore.sandbox", "--exit-with-stdin", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=_environment(),
            # Ctrl-C in a terminal is this process's to handle; the child ends when its stdin does.
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
        """What the sandbox has written to stderr so far."""
        if self._stderr.closed:
            return ""
        # pread: the child writes at the same file offset, which must not move.
        return os.pread(self._stderr.fileno(), 1 << 20, 0).decode("utf-8", "replace")

    def close(self) -> None:
        """End the child process; a second call does nothing."""
        if os.getpid() != self._owner:
            return  # a fork's copy: the child belongs to the process that started it
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
        return f"<billcore.testing.Sandbox pid={getattr(self, 'pid', None)}>"


def _segment(value: str | int) -> str:
    return quote(str(value), safe="")


def _environment() -> dict[str, str]:
    """The child's environment: it must find the same billcore as this process, however that was found here."""
    here = str(Path(__file__).resolve().parent.parent)
    paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])] if "site-packages" not in here else None
    environment = dict(os.environ)
    if paths is not None:
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    return environment
