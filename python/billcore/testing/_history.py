"""What happened in a sandbox, as its control routes show it."""

from __future__ import annotations

from typing import Any, TypedDict, cast

from ._calls import Calls


class LateWork(TypedDict):
    """The work of a request after the end of its connection. `status` is that of the answer that nobody got."""

    due: str
    done_at: str | None
    status: int | None


class RequestRecord(TypedDict):
    """A request as the sandbox received it. `status` is None if the sandbox sent no complete answer.

    `unknown` has the names of query parameters and fields that the operation does not have.
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


class HistoryControl(Calls):
    """Methods of Control."""

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
