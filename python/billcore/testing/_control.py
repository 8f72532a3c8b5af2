"""The control routes of a sandbox, and their results; public as billcore.testing.X."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping
from typing import Any, Literal, TypedDict, cast
from urllib.parse import quote, urlsplit

from .._durations import seconds
from .._not_given import NOT_GIVEN

FaultKind = Literal["status", "delay", "reset_before", "reset_after", "half_body"]


class ControlError(RuntimeError):
    """A control route refused a request. `status` and `code` are those of the route's answer."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code


class RequestRecord(TypedDict):
    """A request as the sandbox received it. `status` is None if the sandbox sent no complete answer."""

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
    """One attempt of a delivery: `status` is that of the receiver's answer; without an answer, `error` says why."""

    at: str
    status: int | None
    error: str | None


class Delivery(TypedDict):
    """The delivery of one event to one endpoint. `id` is the envelope's id, which is the same in every attempt."""

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
    """A registered webhook endpoint, with its secret, which the REST interface never returns."""

    id: int
    account: str
    url: str
    secret: str


class Control:
    """Calls the control routes of a sandbox. Control(control_url) works with any running sandbox. Thread-safe."""

    def __init__(self, control_url: str, timeout: float = 30.0) -> None:
        parts = urlsplit(control_url)
        if parts.scheme != "http" or parts.hostname is None:
            raise ValueError("control_url must be the http URL of the sandbox's ready line")
        self._host, self._port, self._prefix = parts.hostname, parts.port, parts.path.rstrip("/")
        self._timeout = seconds(timeout, "timeout")

    def state(self) -> dict[str, Any]:
        """The sandbox's seed, clock, options and pending faults, and the number of records by account and status."""
        return cast(dict[str, Any], self._call("GET", "state"))

    def ledger(self, kind: str | None = None) -> list[dict[str, Any]]:
        """All effects in the ledger, or only those of one kind, oldest first."""
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
        """Start a purchase as a visitor of the shop.

        Returns {"order": …, "subscription": … or None}, with the JSON of the REST interface.
        """
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
        """Confirm the order as the visitor; if its billing method settles at once, the order is also paid."""
        return cast(dict[str, Any], self._call("POST", f"orders/{_segment(order_id)}/confirm", {}))

    def pay(self, order_id: str | int) -> dict[str, Any]:
        """Settle the order's payment. Does nothing if the order is already paid."""
        return cast(dict[str, Any], self._call("POST", f"orders/{_segment(order_id)}/pay", {}))

    def renew(self, subscription_id: str | int) -> dict[str, Any]:
        """Renew the subscription as if its renewal date had arrived."""
        return cast(dict[str, Any], self._call("POST", f"subscriptions/{_segment(subscription_id)}/renew", {}))

    def replay(self, delivery_id: int) -> int:
        """Send the event of a delivery again, in an envelope with a new id; returns that id."""
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
        body: Any = NOT_GIVEN,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
        delay: float = 1.0,
        effect: bool = False,
        abort: bool = False,
    ) -> int:
        """Make the next `times` matching requests fail; returns the fault's id.

        `path` is a glob for the path below the base URL. `body` is the body of the answer: JSON, or with
        `content_type` a string that is sent verbatim. If the kind is `status` and `effect` is true, the sandbox
        performs the request before it sends that status. If the kind is `half_body` and `abort` is true, the sandbox
        resets the connection after half of the body.
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
        if body is not NOT_GIVEN:
            fields["body"] = body
        return int(self._call("POST", "faults", fields)["id"])

    def reset(self) -> None:
        """Reset the sandbox to its seeded state: no ledger entries, requests, deliveries, endpoints or faults."""
        self._call("POST", "reset", {})

    def wait_for_deliveries(self, timeout: float = 30.0) -> list[Delivery]:
        """Wait until no delivery is pending; returns all deliveries. Raises TimeoutError."""
        deadline = time.monotonic() + seconds(timeout, "timeout", zero=True)
        while True:
            deliveries = self.deliveries()
            if all(delivery["state"] != "pending" for delivery in deliveries):
                return deliveries
            if time.monotonic() > deadline:
                raise TimeoutError(f"deliveries are still pending after {timeout:g} s")
            time.sleep(0.02)

    def _call(self, method: str, path: str, fields: Mapping[str, Any] | None = None) -> Any:
        # Uses http.client, because urllib would use a proxy from the environment. Each call opens its own connection.
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


def _segment(value: str | int) -> str:
    return quote(str(value), safe="")


for _value in (Attempt, Control, ControlError, Delivery, Endpoint, RequestRecord):
    _value.__module__ = "billcore.testing"
del _value
