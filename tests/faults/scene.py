"""Makes calls through a proxy with faults, and checks that their results agree with the effects in the sandbox's
ledger."""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import pytest

import billcore
from billcore.testing import Sandbox
from conformance.drivers import Driver, ThreadDriver, make_driver
from conformance.python_driver import PythonDriver
from sandbox.support import account
from support.waiting import LATE

from .proxy import Proxy, Step

READS = ("orders.get", "subscriptions.list")
WRITES = (
    "subscriptions.charge",
    "subscriptions.cancel",
    "products.update",
    "products.delete",
    "webhook_endpoints.create",
)
# Operations whose answer may have any body, because the service interface does not specify the body.
ANY_BODY = ("products.delete", "webhook_endpoints.create")

# Maps an operation to the kind of its effect in the ledger, and to a function that returns the field of the effect by
# which the call is found.
_EFFECTS: dict[str, tuple[str, Callable[[dict[str, Any]], Any]]] = {
    "subscriptions.charge": ("charge", lambda effect: effect["amount"]),
    "subscriptions.cancel": ("cancel", lambda effect: effect["subscription_id"]),
    "products.update": ("product_update", lambda effect: effect["fields"]["price"]),
    "products.delete": ("product_delete", lambda effect: effect["product_id"]),
    "webhook_endpoints.create": ("webhook_endpoint_create", lambda effect: effect["url"]),
}


class AttemptsDriver(PythonDriver):
    """The Python conformance driver, with `attempts` in error replies, and with bodies as repr(), because they may be
    invalid UTF-8."""

    def _error(self, error: Any) -> dict[str, Any]:
        return {**super()._error(error), "attempts": getattr(error, "attempts", None)}

    def _response(self, response: Any) -> Any:
        return {"status": response.status, "headers": dict(response.headers), "body": repr(response.body)}


def languages() -> list[str]:
    """Returns the drivers to test: Python's; and C's on a loop if $BILLCORE_C_DRIVER names it, otherwise C++'s if
    $BILLCORE_CPP_DRIVER does."""
    if os.environ.get("BILLCORE_C_DRIVER"):
        return ["python", "c-loop"]
    return ["python", "cpp"] if os.environ.get("BILLCORE_CPP_DRIVER") else ["python"]


def skip_on_a_loop(language: str) -> None:
    """Skips a test that counts connections: over HTTP/2, calls on a loop, and awaited ones, may open one more."""
    if language in ("c-loop", "rust-async"):
        pytest.skip("a call on a loop may open a further connection")


def new_driver(language: str) -> Driver:
    return ThreadDriver(AttemptsDriver()) if language == "python" else make_driver(language)


@dataclass
class Outcome:
    """The result of a call. mark: finds the call's effect in the ledger; None for a read. took: duration in
    seconds."""

    operation: str
    mark: Any
    reply: dict[str, Any]
    took: float
    timeout: float | None

    @property
    def error(self) -> dict[str, Any]:
        return dict(self.reply.get("error", {}))

    @property
    def name(self) -> str:
        """The text "ok", or the class of the error, followed by a slash and the class of its cause if it has one."""
        if "ok" in self.reply:
            return "ok"
        cause = self.error.get("cause")
        return str(self.error["class"]) + (f"/{cause}" if cause else "")

    @property
    def unknown(self) -> bool:
        return bool(self.error.get("outcome_unknown"))

    @property
    def certain(self) -> int | None:
        """The number of effects that the client's result states: 1, 0, or None when the outcome is unknown."""
        if "ok" in self.reply:
            return 1
        if self.unknown:
            return None
        # If a complete 2xx answer cannot be decoded, the write was done; only the returned resource is missing.
        status = self.error.get("http_status") or 0
        return 1 if self.error["class"] == "DecodeError" and 200 <= status < 300 else 0

    def __str__(self) -> str:
        return f"{self.operation} {self.mark}: {self.name} after {self.took:.3f} s: {self.error.get('message', '')}"


class World:
    """The sandbox, the resources that tests use up, and the drivers."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self.scenes = 0  # number of Scene objects that are in use
        self._drivers: dict[str, Driver] = {}
        self._numbers = itertools.count(1000)
        self._lock = threading.Lock()
        parts = urlsplit(sandbox.base_url)
        assert parts.hostname is not None and parts.port is not None
        self.address, self.root = (parts.hostname, parts.port), parts.path
        self._fill()

    def driver(self, language: str) -> Driver:
        if language not in self._drivers:
            self._drivers[language] = new_driver(language)
        return self._drivers[language]

    def close(self) -> None:
        for driver in self._drivers.values():
            driver.close()

    def enough(self) -> bool:
        """Whether there are still enough subscriptions to cancel and products to delete for any test."""
        return min(len(self._to_cancel), len(self._to_delete)) >= 20

    def fresh(self) -> None:
        """Resets the sandbox, and makes new resources to cancel and delete."""
        self.sandbox.control.reset()
        self._fill()

    def arguments(self, operation: str) -> tuple[dict[str, Any], Any]:
        """Returns arguments for a call, and the value in them that identifies the effect of this call in the ledger."""
        with self._lock:
            number = next(self._numbers)
            if operation == "orders.get":
                return {"args": {"id": self._order}}, None
            if operation == "subscriptions.list":
                return {"args": {"reference_id": "demo-active"}, "take": "all"}, None
            if operation == "subscriptions.charge":
                return {"args": {"id": self._active, "product_id": self._one_time, "amount": number}}, number
            if operation == "subscriptions.cancel":
                subscription = self._to_cancel.pop()
                return {"args": {"id": subscription}}, subscription
            if operation == "products.update":
                return {"args": {"id": self._one_time, "fields": {"price": number}}}, number
            if operation == "products.delete":
                product = self._to_delete.pop()
                return {"args": {"id": product}}, product
            url = f"https://hooks.example/{number}"
            return {"args": {"url": url}}, url

    def _fill(self) -> None:
        service = account(self.sandbox)
        demo = service.subscription("demo-active")
        self._active = demo["id"]
        self._order = service.get(f"/subscription/{self._active}/orders").data[0]["id"]
        self._one_time = service.product()["id"]
        self._to_delete = [product["id"] for product in service.products() if product["id"] != self._one_time]
        self._to_cancel = []
        for page in itertools.count(1):
            listed = service.get(f"/subscriptions?page={page}").json
            self._to_cancel += [
                found["id"] for found in listed["data"] if found["status"] == "active" and found["id"] != self._active
            ]
            if listed["pagination"]["links"]["next"] is None:
                break


class Scene:
    """A proxy and the calls through it. When the `with` block ends, every call is checked against the ledger."""

    def __init__(self, world: World, language: str = "python", *, script: Iterable[Step] = (), **proxy: Any) -> None:
        self.world = world
        self.driver = world.driver(language)
        self.outcomes: list[Outcome] = []
        self._lock = threading.Lock()
        if world.scenes == 0 and not world.enough():
            world.fresh()
        world.scenes += 1
        ledger = world.sandbox.control.ledger()
        self._before = ledger[-1]["id"] if ledger else 0
        self.tls = proxy.get("tls") is not None
        self._given = {"http2": True} if getattr(proxy.get("kind"), "http2", False) else {}
        self.proxy = Proxy(world.address, script, **proxy)
        self.base_url = f"{'https' if self.tls else 'http'}://localhost:{self.proxy.port}{world.root}"
        if not self.tls:
            self.base_url = self.base_url.replace("localhost", "127.0.0.1")
        self.settle: Callable[[], None] = self.proxy.close

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.settle()
        self.world.scenes -= 1
        if kind is None:
            self.judge()

    def options(self, *, timeout: float | None = 10.0, **more: Any) -> dict[str, Any]:
        """Returns options for a client. The driver reuses its client and the client's connections as long as the
        options are equal."""
        return {
            "base_url": self.base_url,
            "api_key": self.world.sandbox.api_key,
            "timeout": timeout,
            **self._given,
            **more,
        }

    def call(self, operation: str, *, timeout: float | None = 10.0, **client: Any) -> Outcome:
        """Makes a call with the driver. timeout: of this call alone, so calls with different time-outs share
        connections."""
        rest, mark = self.world.arguments(operation)
        request = {"op": operation, "client": self.options(**client), **rest}
        if timeout != self.options()["timeout"]:
            request["timeout"] = timeout
        begun = time.monotonic()
        reply = self.driver.run(request)
        return self.record(Outcome(operation, mark, reply, time.monotonic() - begun, timeout))

    def run(self, operation: str, timeout: float | None, call: Callable[[dict[str, Any]], object]) -> Outcome:
        """Runs an operation with the test's own Python client, instead of the driver's: passes the operation's
        arguments to `call`, which uses this client."""
        rest, mark = self.world.arguments(operation)
        driver = AttemptsDriver()
        begun = time.monotonic()
        try:
            call(rest["args"])
            reply: dict[str, Any] = {"ok": None}
        except billcore.BillcoreError as error:
            reply = {"error": driver._error(error)}
        return self.record(Outcome(operation, mark, reply, time.monotonic() - begun, timeout))

    def record(self, outcome: Outcome) -> Outcome:
        with self._lock:
            self.outcomes.append(outcome)
        return outcome

    def judge(self) -> None:
        ledger = self.world.sandbox.control.ledger(since=self._before)
        found: Counter[tuple[str, Any]] = Counter()
        for effect in ledger:
            operation = next(op for op, (kind, _) in _EFFECTS.items() if kind == effect["kind"])
            found[operation, _EFFECTS[operation][1](effect)] += 1
        writes = 0
        for outcome in self.outcomes:
            effects = found.pop((outcome.operation, outcome.mark), 0) if outcome.mark is not None else 0
            if outcome.timeout is not None:
                assert outcome.took <= outcome.timeout + LATE, f"too late: {outcome}"
            if outcome.mark is None:
                continue
            writes += 1
            assert effects <= 1, f"{effects} effects: {outcome}"
            assert outcome.certain in (None, effects), f"{effects} effects, but the client's result differs: {outcome}"
            outcome.reply["effects"] = effects
        assert not found, f"effects of no call: {found}"
        assert self.proxy.writes <= writes, f"a write was sent twice: {[str(outcome) for outcome in self.outcomes]}"
