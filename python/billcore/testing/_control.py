"""The control routes of a sandbox, and their results; public as billcore.testing.X."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict, cast
from urllib.parse import quote, urlsplit

from .._durations import seconds
from .._not_given import NOT_GIVEN

CauseOfOrder = Literal["confirm", "pay", "await_payment", "await_user", "fail_payment", "cancel_payment", "refund"]
CauseOfSubscription = Literal["renew", "start", "end", "cancel", "change_billing"]
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
    state: Literal["enabled", "disabled"]


class Control:
    """Calls the control routes of a sandbox. Control(control_url) works with any running sandbox. Thread-safe.

    Args:
        control_url: From the sandbox's ready line, or its variable BILLCORE_SANDBOX_CONTROL.
        timeout: Seconds that a call may take.
        account: UUID of an account. Every method then concerns this account alone.
    """

    def __init__(self, control_url: str, timeout: float = 30.0, *, account: str | None = None) -> None:
        parts = urlsplit(control_url)
        if parts.scheme != "http" or parts.hostname is None:
            raise ValueError("control_url must be the http URL of the sandbox's ready line")
        self._host, self._port, self._prefix = parts.hostname, parts.port, parts.path.rstrip("/")
        self._timeout = seconds(timeout, "timeout")
        self._account = account

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

    def advance(self, *, days: float = 0, seconds: float = 0, to: datetime | str | None = None) -> dict[str, Any]:
        """Move the account's clock forward, and let everything happen that is due by then, in order.

        Renewals, their retries, trial ends, starts and expiries happen, and the first attempts of their deliveries are
        done when this returns. A receiver that cannot answer, because it runs in the caller's thread, is waited for
        only one delivery time-out; `pending_deliveries` counts what is left.

        Args:
            days: Days to move forward.
            seconds: Seconds to move forward, added to the days.
            to: The time to move to, instead.

        Returns:
            `now`, `frozen`, `happened` (a list of {"at", "subscription" or "order", "cause"}), `pending_deliveries`.
        """
        fields: dict[str, Any] = {"days": days, "seconds": seconds}
        if to is not None:
            fields = {"to": to if isinstance(to, str) else to.isoformat()}
        return cast(dict[str, Any], self._call("POST", "clock", fields))

    def freeze(self) -> dict[str, Any]:
        """Stop the account's clock; advance() moves it."""
        return cast(dict[str, Any], self._call("POST", "clock", {"freeze": True}))

    def run_clock(self) -> dict[str, Any]:
        """Let the account's clock run on from the time that it shows."""
        return cast(dict[str, Any], self._call("POST", "clock", {"run": True}))

    def trigger(self, name: str, *, on: str | int | None = None) -> dict[str, Any]:
        """Let a scenario happen, such as "renewal-fails", on a new subscription or on the one with the id `on`.

        Returns:
            `subscription` and `order` as the REST interface shows them, and `deliveries` (ids and events).
        """
        fields: dict[str, Any] = {"name": name} if on is None else {"name": name, "on": on}
        return cast(dict[str, Any], self._call("POST", "trigger", fields))

    def scenarios(self) -> dict[str, str]:
        """The names of the scenarios, and what happens in each."""
        return {each["name"]: each["about"] for each in self._call("GET", "scenarios")["scenarios"]}

    def subscription(self, subscription_id: str | int, cause: CauseOfSubscription, **fields: Any) -> dict[str, Any]:
        """Let a cause happen to a subscription. `fields`: for change_billing, `billing` and `declines`."""
        return cast(dict[str, Any], self._call("POST", f"subscriptions/{_segment(subscription_id)}/{cause}", fields))

    def order(self, order_id: str | int, cause: CauseOfOrder) -> dict[str, Any]:
        """Let a cause happen to an order."""
        return cast(dict[str, Any], self._call("POST", f"orders/{_segment(order_id)}/{cause}", {}))

    def create_product(self, name: str, **fields: Any) -> dict[str, Any]:
        """Create a product as an administrator. `fields`: type, price (cents, without VAT), interval, cycles, ….

        Returns:
            The product as the REST interface shows it.
        """
        return cast(dict[str, Any], self._call("POST", "products", {"name": name, **fields})["product"])

    def create_endpoint(self, url: str, *, secret: str | None = None) -> Endpoint:
        """Register a webhook receiver; the answer has its secret."""
        fields = {"url": url} if secret is None else {"url": url, "secret": secret}
        return cast(Endpoint, self._call("POST", "endpoints", fields))

    def endpoint(self, endpoint_id: int, cause: Literal["enable", "disable", "delete"]) -> dict[str, Any]:
        """Enable, disable or delete a webhook receiver."""
        return cast(dict[str, Any], self._call("POST", f"endpoints/{_segment(endpoint_id)}/{cause}", {}))

    def rotate_secret(self, endpoint_id: int, *, secret: str | None = None, overlap: float = 0) -> str:
        """Give a receiver a new secret. For `overlap` seconds, deliveries with an even number have the old one."""
        fields: dict[str, Any] = {"overlap": overlap} if secret is None else {"overlap": overlap, "secret": secret}
        return cast(str, self._call("POST", f"endpoints/{_segment(endpoint_id)}/rotate_secret", fields)["secret"])

    def keys(self) -> list[dict[str, Any]]:
        """The account's API keys: id, api_key, state."""
        return cast(list[dict[str, Any]], self._call("GET", "keys")["keys"])

    def issue_key(self) -> str:
        """One more API key for the account."""
        return cast(str, self._call("POST", "keys", {})["api_key"])

    def revoke_key(self, key_id: int) -> None:
        """Revoke an API key: requests with it get 401."""
        self._call("POST", f"keys/{_segment(key_id)}/revoke", {})

    def rotate_key(self, key_id: int) -> str:
        """Replace an API key: returns a new key, and revokes the old one."""
        return cast(str, self._call("POST", f"keys/{_segment(key_id)}/rotate", {})["new"]["api_key"])

    def create_group(self, name: str, products: Sequence[int]) -> dict[str, Any]:
        """Create a product group; returns its `id`, `name` and `products`."""
        return cast(dict[str, Any], self._call("POST", "groups", {"name": name, "products": list(products)})["group"])

    def change_group(
        self, group_id: int, *, name: str | None = None, products: Sequence[int] | None = None
    ) -> dict[str, Any]:
        """Change the name or the products of a group; returns it as it is now."""
        fields = {"name": name, "products": None if products is None else list(products)}
        return cast(dict[str, Any], self._call("POST", f"groups/{_segment(group_id)}/change", fields)["group"])

    def delete_group(self, group_id: int) -> None:
        """Delete a group; its products remain."""
        self._call("POST", f"groups/{_segment(group_id)}/delete", {})

    def create_account(self, *, demo: bool = True) -> dict[str, Any]:
        """A new account: `account` (its UUID), `number`, `api_key`, and the `ids` of its demo data.

        Args:
            demo: Give it a few products and subscriptions.
        """
        return cast(dict[str, Any], self._call("POST", "accounts", {"demo": demo}))

    def delete_account(self, account: str) -> None:
        """Delete an account with all that it has."""
        self._call("DELETE", f"accounts/{_segment(account)}")

    def reset(self) -> None:
        """Reset the sandbox to its seeded state: no ledger entries, requests, deliveries, endpoints or faults."""
        if self._account is not None:
            raise ValueError("an account cannot be reset: create another one, or reset the whole sandbox")
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
            if self._account is not None and path not in ("accounts", "scenarios"):
                if method == "GET":
                    path += f"?account={self._account}"
                elif fields is not None and fields.get("account") is None:
                    fields = {**fields, "account": self._account}
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
