"""Webhook endpoints of a sandbox, and the deliveries to them."""

from __future__ import annotations

import time
from typing import Any, Literal, TypedDict, cast

from .._durations import seconds
from ._calls import Calls, segment


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
    state: Literal["enabled", "disabled"]


class DeliveryControl(Calls):
    """Methods of Control."""

    def endpoints(self) -> list[Endpoint]:
        """Every webhook endpoint, with its secret."""
        return cast(list[Endpoint], self._call("GET", "endpoints")["endpoints"])

    def create_endpoint(self, url: str, *, secret: str | None = None) -> Endpoint:
        """Register a webhook receiver; the answer has its secret."""
        fields = {"url": url} if secret is None else {"url": url, "secret": secret}
        return cast(Endpoint, self._call("POST", "endpoints", fields))

    def endpoint(self, endpoint_id: int, cause: Literal["enable", "disable", "delete"]) -> dict[str, Any]:
        """Enable, disable or delete a webhook receiver."""
        return cast(dict[str, Any], self._call("POST", f"endpoints/{segment(endpoint_id)}/{cause}", {}))

    def rotate_secret(self, endpoint_id: int, *, secret: str | None = None, overlap: float = 0) -> str:
        """Give a receiver a new secret. For `overlap` seconds, deliveries with an even number have the old one."""
        fields: dict[str, Any] = {"overlap": overlap} if secret is None else {"overlap": overlap, "secret": secret}
        return cast(str, self._call("POST", f"endpoints/{segment(endpoint_id)}/rotate_secret", fields)["secret"])

    def deliveries(self) -> list[Delivery]:
        """Every delivery, oldest first."""
        return cast(list[Delivery], self._call("GET", "deliveries")["deliveries"])

    def replay(self, delivery_id: int) -> int:
        """Send the event of a delivery again, in an envelope with a new id; returns that id."""
        return int(self._call("POST", f"deliveries/{segment(delivery_id)}/replay", {})["id"])

    def test_hook(self, endpoint_id: int | None = None, *, data: Any = None) -> list[int]:
        """Send test.hook to one endpoint or to all; returns the ids of those endpoints."""
        fields = {"data": data} if endpoint_id is None else {"data": data, "endpoint_id": endpoint_id}
        return cast(list[int], self._call("POST", "test-hook", fields)["endpoints"])

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
