"""What happened in a sandbox, as its control routes show it."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, cast, overload
from urllib.parse import urlencode

from .._durations import seconds
from ._calls import Calls, Records, arguments, given, segment
from ._deliveries import Delivery
from ._stream import Kind, Stream


class LateWork(TypedDict):
    """A request that a fault of the kind `late` delayed. The client never gets the answer, whose status is `status`."""

    due: str
    done_at: str | None
    status: int | None


class RequestRecord(TypedDict):
    """A request as the sandbox received it. `status` is None if the sandbox sent no complete answer.

    `operation` is a name such as "subscriptions.charge", or None if the path or its method is unknown.
    `unknown` has the names of the request's parameters and fields that the operation does not have. `encoding` is
    "utf-8", or "base64" if the bytes of `body` are not UTF-8. `answer_headers` and `answer_body` are what was sent of
    the answer. `repeats` is the id of the record that repeat() repeated. Headers with keys have the value `***`.
    """

    id: int
    at: str
    account: str | None
    method: str
    target: str
    headers: list[list[str]]
    body: str
    encoding: Literal["utf-8", "base64"]
    status: int | None
    fault: str | None
    unknown: list[str]
    late: LateWork | None
    operation: str | None
    repeats: int | None
    duration_ms: float | None
    answer_headers: list[list[str]] | None
    answer_body: str | None
    answer_encoding: Literal["utf-8", "base64"] | None


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
        self,
        kind: str | None = None,
        *,
        since: int | None = None,
        before: int | None = None,
        limit: int | None = None,
        order: Literal["asc", "desc"] | None = None,
        search: str | None = None,
        request_id: int | None = None,
    ) -> Records[dict[str, Any]]:
        """The effects in the ledger, or only those of one kind, oldest first.

        Args:
            kind: Only effects of this kind, such as "charge".
            since: Only effects after the effect with this id.
            before: Only effects before the effect with this id.
            limit: Maximum number of effects; the oldest are returned, or with order="desc" the latest.
            order: "desc": the latest effect is the first.
            search: Only effects that contain this text.
            request_id: Only effects that this request caused.
        """
        return Records(self._call("GET", "ledger", query=arguments(locals())), "effects")

    def requests(
        self,
        operation: str | None = None,
        *,
        since: int | None = None,
        before: int | None = None,
        limit: int | None = None,
        order: Literal["asc", "desc"] | None = None,
        search: str | None = None,
        method: str | None = None,
        status: int | None = None,
    ) -> Records[RequestRecord]:
        """The requests that the service received, oldest first.

        Args:
            operation: A name such as "subscriptions.charge"; the part after the dot is enough if it is unambiguous.
            since: Only requests after the request with this id.
            before: Only requests before the request with this id.
            limit: Maximum number of requests; the oldest are returned, or with order="desc" the latest.
            order: "desc": the latest request is the first.
            search: Only requests that contain this text, or whose answers contain it.
            method: HTTP method.
            status: Status of the answer.
        """
        return Records(self._call("GET", "requests", query=arguments(locals())), "requests")

    def repeat(self, request_id: int) -> RequestRecord:
        """Perform a recorded request again, with the same key and body; returns the record of the new request."""
        return cast(RequestRecord, self._call("POST", f"requests/{segment(request_id)}/repeat", {}))

    def clear_history(self) -> None:
        """Delete the records of requests, effects and ended deliveries; all objects stay as they are."""
        self._call("POST", "history/clear", {})

    def stream(self, *kinds: Kind, after: str | None = None, timeout: float | None = None) -> Stream:
        """Iterate over all that happens from now on; the iterator waits for the next event.

        The iterator ends at a reset, and when the sandbox ends. close() or the end of `with` ends it earlier.

        Args:
            kinds: Only events of these kinds. Default: all.
            after: Begin after this `cursor` of an event or of a list; "0" begins with the oldest record.
            timeout: Seconds of real time that next() waits for an event; then it raises WaitTimeout. Default: no limit.
        """
        wait = None if timeout is None else seconds(timeout, "timeout", zero=True)
        query = given({"kind": ",".join(kinds) or None, "after": after, "account": self._account})
        return Stream(self._host, self._port, f"{self._prefix}/stream?{urlencode(query)}", self._timeout, wait)

    @overload
    def wait(
        self, *, request: RequestMatch, count: int = 1, since: int = 0, timeout: float = 30.0
    ) -> list[RequestRecord]: ...
    @overload
    def wait(
        self,
        *,
        delivery: DeliveryMatch,
        count: int = 1,
        since: int = 0,
        until_failed: bool = False,
        timeout: float = 30.0,
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
            until_failed: Return also as soon as one of the deliveries has failed.
            timeout: Seconds of real time.

        Returns:
            All matching requests or deliveries; or the subscription or order, as the REST interface shows it.

        Raises:
            WaitTimeout: Nothing matched in time. The error's message says what happened instead.
            ControlError: The sandbox has deleted records that might match (`code` "forgotten"), or was reset.
        """
        answer = self._wait(timeout, **what, count=count, since=since)
        return next(iter(answer.values()))
