"""The records of the history as types, which the OpenAPI document shows."""

from __future__ import annotations

from typing import TypedDict


class Listed(TypedDict):
    """A list of records.

    total: number of records that the filters select, also of those that are not on this page. forgotten: number of
    records that were deleted to keep the history small. cursor: a stream with this `after` begins after these records.
    """

    total: int
    forgotten: int
    cursor: str


class Attempt(TypedDict):
    """One attempt of a delivery: request and answer. status: null without an answer. fault: its kind, or null.

    number: counted from 1. answer_encoding: utf-8, or base64 for an answer_body that is not UTF-8.
    """

    number: int
    at: str
    status: int | None
    error: str | None
    headers: list[list[str]]
    answer_headers: list[list[str]] | None
    answer_body: str | None
    answer_encoding: str
    fault: str | None
    duration_ms: float


class DeliveryRecord(TypedDict):
    """A delivery, which sends one event to one endpoint. reason: why it ended without an answer, or null.

    next_attempt: when a pending delivery is tried again, or null: now. request_id, effect_id, state_id: the request,
    the effect and the change of a state that caused the event; null without one.
    """

    seq: int
    id: int
    account: str | None
    endpoint_id: int
    event: str
    url: str
    state: str
    reason: str | None
    body: str
    signature: str
    faults: list[str]
    attempts: list[Attempt]
    next_attempt: str | None
    request_id: int | None
    effect_id: int | None
    state_id: int | None


class Deliveries(Listed):
    """Deliveries."""

    deliveries: list[DeliveryRecord]


class Effect(TypedDict):
    """An effect, such as a charge. Each kind of effect has further members. request_id: the request that caused it."""

    id: int
    at: str
    account: str | None
    kind: str
    request_id: int | None


class Ledger(Listed):
    """Effects."""

    effects: list[Effect]


class LateWork(TypedDict):
    """A late request. due, done_at: times of the account's clock. status: of the answer, which is not sent."""

    due: str
    done_at: str | None
    status: int | None


class RequestRecord(TypedDict):
    """A request as received, and what was sent of its answer; keys are masked.

    operation: null for an unknown path. status: null if no complete answer was sent. encoding, answer_encoding: utf-8,
    or base64 for a body that is not UTF-8. repeats: the id of the record that the request repeats.
    """

    id: int
    at: str
    account: str | None
    operation: str | None
    method: str
    target: str
    headers: list[list[str]]
    body: str
    encoding: str
    status: int | None
    fault: str | None
    unknown: list[str]
    late: LateWork | None
    repeats: int | None
    duration_ms: float | None
    answer_headers: list[list[str]] | None
    answer_body: str | None
    answer_encoding: str | None


class Requests(Listed):
    """Requests."""

    requests: list[RequestRecord]


# TypedDict is called here, because a class statement cannot define a member with the name "from".
StateChange = TypedDict(
    "StateChange",
    {
        "id": int,
        "at": str,
        "account": str | None,
        "object": str,
        "object_id": str,
        "from": str,
        "to": str,
        "cause": str,
        "event": str | None,
        "request_id": int | None,
        "effect_id": int | None,
    },
)
StateChange.__doc__ = (
    "An object came from a state into another, or stayed in its state. event: the event that this fired."
)
