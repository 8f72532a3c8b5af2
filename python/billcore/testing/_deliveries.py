"""Webhook endpoints of a sandbox, and the deliveries to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict, cast

from .._not_given import NOT_GIVEN
from ._calls import Calls, Records, arguments, given, segment


class DeliveryFailed(AssertionError):
    """A receiver did not get a delivery, or did not accept it. The error's message has the receiver's last answer."""


class Attempt(TypedDict):
    """One attempt of a delivery: `status` is the receiver's HTTP status; if there is no answer, `error` says why.

    `headers` are the headers that were sent; `fault` is the kind of the fault that affected this attempt. If the fault
    changed the body or the signature, `body` or `signature` is the text that was sent. `answer_body` has only the
    beginning of a long answer; it is base64 if `answer_encoding` is "base64" and not "utf-8".
    """

    number: int
    at: str
    status: int | None
    error: str | None
    headers: list[list[str]]
    answer_headers: list[list[str]]
    answer_body: str
    answer_encoding: Literal["utf-8", "base64"]
    fault: str | None
    duration_ms: float
    signature: NotRequired[str]
    body: NotRequired[str]


class Delivery(TypedDict):
    """The delivery of one event to one endpoint. `id` is the envelope's id, which is the same in every attempt.

    `seq` is different for each delivery, also for duplicates. `reason` says why the delivery ended without an answer,
    or is on hold; `faults` has the kinds of the faults that affected the delivery when the sandbox made it.
    `next_attempt` is the time of a pending delivery's next attempt, or None if it is due. `request_id`, `effect_id` and
    `state_id` are the ids of the request, the effect in the ledger and the change of a state that made the event.
    """

    seq: int
    id: int
    account: str
    endpoint_id: int
    event: str
    url: str
    state: Literal["pending", "on_hold", "delivered", "held_back", "failed", "dropped"]
    reason: str | None
    faults: list[str]
    attempts: list[Attempt]
    body: str
    signature: str
    next_attempt: str | None
    request_id: int | None
    effect_id: int | None
    state_id: int | None


class Endpoint(TypedDict):
    """A registered webhook endpoint, with its secret, which the REST interface never returns."""

    id: int
    account: str
    url: str
    secret: str
    state: Literal["enabled", "disabled"]
    old_secret: str | None
    old_secret_until: str | None
    concurrency: int
    paused: bool
    retry_schedule: list[float] | None
    keep_alive: bool


class EndpointFields(TypedDict, total=False):
    """The settings of a receiver; see DeliveryControl.create_endpoint()."""

    secret: str
    concurrency: int
    paused: bool
    retry_schedule: Sequence[float]
    keep_alive: bool


class DeliveryControl(Calls):
    """Methods of Control."""

    def endpoints(self) -> list[Endpoint]:
        """Every webhook endpoint, with its secret."""
        return cast(list[Endpoint], self._call("GET", "endpoints")["endpoints"])

    def create_endpoint(
        self,
        url: str,
        *,
        secret: str | None = None,
        concurrency: int | None = None,
        paused: bool | None = None,
        retry_schedule: Sequence[float] | None = None,
        keep_alive: bool | None = None,
    ) -> Endpoint:
        """Register a webhook receiver; returns the endpoint, with its secret.

        Args:
            url: Where events are sent.
            secret: The signing secret, 32 characters. Default: a new secret, which the sandbox makes.
            concurrency: How many attempts are made at once. Default: 1.
            paused: True: deliveries wait until change_endpoint() ends the pause.
            retry_schedule: Seconds before each further attempt, instead of the account's option.
            keep_alive: Whether connections are kept open between attempts. Default: True.
        """
        fields = arguments(locals())
        if retry_schedule is not None:
            fields["retry_schedule"] = list(retry_schedule)
        return cast(Endpoint, self._call("POST", "endpoints", fields))

    def change_endpoint(
        self,
        endpoint_id: int,
        *,
        concurrency: int | None = None,
        paused: bool | None = None,
        retry_schedule: Sequence[float] | None = NOT_GIVEN,
        keep_alive: bool | None = None,
    ) -> Endpoint:
        """Change settings of a receiver, from the next attempt on. retry_schedule=None: the account's."""
        fields = given({"concurrency": concurrency, "paused": paused, "keep_alive": keep_alive})
        if retry_schedule is not NOT_GIVEN:
            fields["retry_schedule"] = None if retry_schedule is None else list(retry_schedule)
        return cast(Endpoint, self._call("POST", f"endpoints/{segment(endpoint_id)}", fields))

    def endpoint(self, endpoint_id: int, cause: Literal["enable", "disable", "delete"]) -> dict[str, Any]:
        """Enable, disable or delete a webhook receiver."""
        return cast(dict[str, Any], self._call("POST", f"endpoints/{segment(endpoint_id)}/{cause}", {}))

    def rotate_secret(self, endpoint_id: int, *, secret: str | None = None, overlap: float = 0) -> str:
        """Give a receiver a new secret. For `overlap` seconds, deliveries with an even `seq` use the old secret."""
        fields = given({"overlap": overlap, "secret": secret})
        return cast(str, self._call("POST", f"endpoints/{segment(endpoint_id)}/rotate_secret", fields)["secret"])

    def deliveries(
        self,
        event: str | None = None,
        *,
        state: Literal["pending", "on_hold", "delivered", "held_back", "failed", "dropped"] | None = None,
        since: int | None = None,
        before: int | None = None,
        limit: int | None = None,
        order: Literal["asc", "desc"] | None = None,
        search: str | None = None,
        request_id: int | None = None,
        effect_id: int | None = None,
    ) -> Records[Delivery]:
        """The deliveries, oldest first.

        Args:
            event: Only deliveries of events with this name, such as "order.paid".
            state: Only deliveries in this state.
            since: Only deliveries after the delivery with this `seq`.
            before: Only deliveries before the delivery with this `seq`.
            limit: Maximum number of deliveries; the oldest are returned, or with order="desc" the latest.
            order: "desc": the latest delivery is the first.
            search: Only deliveries that contain this text.
            request_id: Only deliveries of events that this request caused.
            effect_id: Only deliveries of events that this effect of the ledger caused.
        """
        return Records(self._call("GET", "deliveries", query=arguments(locals())), "deliveries")

    def redeliver(self, delivery_id: int | str, *, after: float = 0) -> int:
        """Send a delivery once more with the same id and bytes, as a duplicate; returns the `seq` of the new delivery.

        Args:
            delivery_id: The id of the event, or "seq:" and the seq of a delivery.
            after: Seconds of the account's clock until the new delivery is sent.
        """
        return int(self._again(delivery_id, "redeliver", {"after": after})["seq"])

    def replay(self, delivery_id: int | str, *, after: float = 0) -> int:
        """Send the event of a delivery again, in an envelope with a new id; returns this id, also the new `seq`."""
        return int(self._again(delivery_id, "replay", {"after": after})["id"])

    def edit(
        self,
        delivery_id: int | str,
        *,
        body: str | None = None,
        changes: Mapping[str, Any] | None = None,
        sign: bool = True,
        after: float = 0,
    ) -> int:
        """Send a delivery again with another body; returns the `seq` of the new delivery.

        Args:
            delivery_id: The id of the event, or "seq:" and the seq of a delivery.
            body: The new body, which is sent verbatim.
            changes: Instead of a body: members to replace in the envelope; of `data`, only the given members change.
            sign: False keeps the signature of the original body, which does not fit the new body.
            after: Seconds of the account's clock until the new delivery is sent.
        """
        fields = {"body": body, "changes": None if changes is None else dict(changes), "sign": sign, "after": after}
        return int(self._again(delivery_id, "edit", fields)["seq"])

    def _again(self, delivery_id: int | str, how: str, fields: dict[str, Any]) -> dict[str, Any]:
        return cast(dict[str, Any], self._call("POST", f"deliveries/{segment(delivery_id)}/{how}", fields))

    def hold(self, delivery_id: int | str) -> int:
        """Keep a pending delivery, or its next retry, from being sent until release(); returns its `seq`.

        The fault event_hold holds a delivery before its first attempt. advance() and wait_for_deliveries() do not wait
        for deliveries on hold; later events are not delayed.

        Args:
            delivery_id: The id of the event, or "seq:" and the seq of a delivery.
        """
        return int(self._again(delivery_id, "hold", {})["seq"])

    def release(self, delivery_id: int | str) -> int:
        """Send a delivery that is on hold; returns its `seq`."""
        return int(self._again(delivery_id, "release", {})["seq"])

    def test_hook(self, endpoint_id: int | None = None, *, data: Any = None) -> list[int]:
        """Send test.hook to one endpoint or to all; returns the ids of those endpoints."""
        fields = {"data": data} if endpoint_id is None else {"data": data, "endpoint_id": endpoint_id}
        return cast(list[int], self._call("POST", "test-hook", fields)["endpoints"])

    def wait_for_deliveries(self, timeout: float = 30.0, *, failed_ok: bool = False, since: int = 0) -> list[Delivery]:
        """Wait until no delivery is pending and no clock is being moved; returns all deliveries.

        Args:
            timeout: Seconds of real time.
            failed_ok: True: return failed deliveries too, instead of raising DeliveryFailed.
            since: Only deliveries after the delivery with this `seq`.

        Raises:
            DeliveryFailed: A receiver did not accept a delivery. The error's message has the receiver's answer.
            WaitTimeout: Deliveries are still pending; the error's message counts them.
            ControlError: The sandbox has deleted records of deliveries (`code` "forgotten"), or was reset.
        """
        deliveries = cast(list[Delivery], self._wait(timeout, none_pending={}, since=since)["deliveries"])
        if not failed_ok:
            check(deliveries)
        return deliveries


def check(deliveries: list[Delivery]) -> None:
    """Raise DeliveryFailed if a delivery has ended, but was not accepted by its receiver."""
    failed = [each for each in deliveries if each["state"] not in ("delivered", "pending", "on_hold")]
    if failed:
        more = f" ({len(failed)} of {len(deliveries)} deliveries did not arrive)" if len(deliveries) > 1 else ""
        raise DeliveryFailed(f"{told(failed[0])}{more}")


def told(delivery: Delivery) -> str:
    """Why a delivery did not arrive."""
    what = f"{delivery['event']} (id {delivery['id']}) to {delivery['url']}"
    if delivery["state"] == "held_back":
        return f"{what} was held back, because its host is not loopback: allow it with --deliver-to"
    last = delivery["attempts"][-1] if delivery["attempts"] else None
    if last is None:
        return f"{what} {delivery['state']}: {delivery['reason'] or 'no attempt was made'}"
    answer = last["error"] or f"the receiver answered {last['status']} {last['answer_body']}".rstrip()
    more = f", and {delivery['reason']}" if delivery["reason"] is not None else ""
    return f"{what} {delivery['state']} after {len(delivery['attempts'])} attempts: {answer}{more}"
