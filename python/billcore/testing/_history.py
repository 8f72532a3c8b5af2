"""What happened in a sandbox, as its control routes show it."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, cast, overload

from ._calls import Calls, arguments
from ._deliveries import Delivery


class LateWork(TypedDict):
    """A request that a fault of the kind `late` delayed. The client never gets the answer, whose status is `status`."""

    due: str
    done_at: str | None
    status: int | None


class RequestRecord(TypedDict):
    """A request as the sandbox received it. `status` is None if the sandbox sent no complete answer.

    `operation` is a name such as "subscriptions.charge", or None if the path or its method is unknown.
    `unknown` has the names of the request's parameters and fields that the operation does not have.
    """

    id: int
    at: str
    account: str | None
    method: str
    target: str
    headers: list[list[str]]
    body: str
    status: int | None
    fault: str | None
    unknown: list[str]
    late: LateWork | None
    operation: str | None


class RequestMatch(TypedDict, total=False):
    """Which requests wait() waits for. In `path` (below the base URL), * stands for any characters except a slash."""

    operation: str
    method: str
    path: str
    status: int


class DeliveryMatch(TypedDict, total=False):
    """Which deliveries wait() waits for. Without `state`, wait() waits for deliveries that have ended."""

    event: str
    state: Literal["pending", "on_hold", "delivered", "held_back", "failed", "dropped"]
    endpoint_id: int


class WantedSubscription(TypedDict):
    """wait() waits until the subscription with this id has this status."""

    id: str | int
    status: str


class WantedOrder(TypedDict):
    """wait() waits until the order with this id has this state."""

    id: str | int
    state: str


class HistoryControl(Calls):
    """Methods of Control."""

    def state(self) -> dict[str, Any]:
        """The sandbox's seed, clock, options and pending faults, and the number of records by account and status."""
        return cast(dict[str, Any], self._call("GET", "state"))

    def ledger(
        self, kind: str | None = None, *, since: int | None = None, limit: int | None = None
    ) -> list[dict[str, Any]]:
        """The effects in the ledger, or only those of one kind, oldest first.

        Args:
            kind: Only effects of this kind, such as "charge".
            since: Only effects after the effect with this id.
            limit: Maximum number of effects; the oldest are returned.
        """
        return cast(list[dict[str, Any]], self._call("GET", "ledger", query=arguments(locals()))["effects"])

    def requests(
        self, operation: str | None = None, *, since: int | None = None, limit: int | None = None
    ) -> list[RequestRecord]:
        """The requests that the service received, oldest first.

        Args:
            operation: A name such as "subscriptions.charge"; the part after the dot is enough if it is unambiguous.
            since: Only requests after the request with this id.
            limit: Maximum number of requests; the oldest are returned.
        """
        return cast(list[RequestRecord], self._call("GET", "requests", query=arguments(locals()))["requests"])

    @overload
    def wait(
        self, *, request: RequestMatch, count: int = 1, since: int = 0, timeout: float = 30.0
    ) -> list[RequestRecord]: ...
    @overload
    def wait(
        self, *, delivery: DeliveryMatch, count: int = 1, since: int = 0, timeout: float = 30.0
    ) -> list[Delivery]: ...
    @overload
    def wait(self, *, subscription: WantedSubscription, timeout: float = 30.0) -> dict[str, Any]: ...
    @overload
    def wait(self, *, order: WantedOrder, timeout: float = 30.0) -> dict[str, Any]: ...
    def wait(self, *, count: int = 1, since: int = 0, timeout: float = 30.0, **what: Any) -> Any:
        """Wait until something has happened; pass one of `request`, `delivery`, `subscription` and `order`.

        Args:
            request: Which requests, such as {"operation": "charge", "status": 200}.
            delivery: Which deliveries, such as {"event": "order.paid"}.
            subscription: The id of a subscription, and the status to wait for.
            order: The id of an order, and the state to wait for.
            count: How many requests or deliveries to wait for.
            since: Only requests after this id, or deliveries after this `seq`.
            timeout: Seconds of real time.

        Returns:
            All matching requests or deliveries; or the subscription or order, as the REST interface shows it.

        Raises:
            TimeoutError: Nothing matched in time. The error's message says what happened instead.
        """
        answer = self._wait(timeout, **what, count=count, since=since)
        return next(iter(answer.values()))
