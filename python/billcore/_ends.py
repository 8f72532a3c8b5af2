"""What the end of a list means: its row of the relation `reads`, and which errors belong to one list alone.

Knows nothing of threads, requests and files, so that every reader of lists ends them in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

from ._client import Pager
from ._errors import ApiError, DecodeError, NotFoundError, PaginationError
from ._patience import pause_after

_BEYOND = (400, 404, 405, 410, 416, 422)  # answers of services to a page beyond the last one that they give
_RANKS = {"failed": 0, "not_found": 0, "possibly_missed": 1, "complete": 2}


class Read(NamedTuple):
    """How a list was read: a row of the relation `reads`."""

    id: str
    """The subscription whose orders were listed; empty for the list of subscriptions or of products."""
    pages: int
    """Number of pages that the service answered with."""
    total: int
    """Number of records in the list, according to the service."""
    verdict: str
    """'complete', 'possibly_missed', 'not_found' (the subscription was deleted after the plan was made), or 'failed' (a
    record could not be read, or the service refused the list)."""
    reason: str
    """A VerdictReason, or the text of the error that ended the list; empty if the verdict is 'complete'."""
    as_of: datetime | None = None
    """Each record that was in the list at this time was given (aware, UTC, by the clock of this machine). None if that
    cannot be proved: the list did not only grow at its head while it was read, or was not read to its end."""


@dataclass(frozen=True)
class Begun:
    """A list that is being read."""

    id: str
    pager: Pager[Any]
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    """A time before the first request."""


def read_of(list: Begun, verdict: str = "", reason: str = "") -> Read:
    """The row of a list that has ended; without `verdict`, the pager has read the list to its end."""
    pager, as_of = list.pager, None
    if not verdict:
        found = pager.verdict
        verdict, reason = ("possibly_missed", "stopped") if found is None else (str(found), found.reason or "")
        as_of = list.at if verdict == "complete" or pager._only_grew else None
    return Read(list.id, pager.fetched_pages, pager.total or 0, verdict, reason, as_of)


def meaning(error: Exception, list: Begun) -> Literal["not_found", "possibly_missed", "failed", "unavailable", "stop"]:
    """What an error means that ended a list, after pause_after() and the caller's patience.

    'not_found', 'possibly_missed' and 'failed' are verdicts: the other lists can be read. 'unavailable' is the verdict
    'failed' if the service answers with another list of orders; otherwise the service fails, and the reading stops. A
    list without an id is the only one that is read: it is never 'failed', and a later page that cannot be read ends it.
    """
    has_begun = list.pager.fetched_pages > 0
    if has_begun and (isinstance(error, PaginationError) or (isinstance(error, DecodeError) and not list.id)):
        return "possibly_missed"
    if isinstance(error, ApiError):
        if error.status in (401, 429):  # they are about the account, not about a list
            return "stop"
        if has_begun and error.status in _BEYOND:
            return "possibly_missed"
        if list.id and isinstance(error, NotFoundError):
            return "not_found"
    if not list.id:
        return "stop"
    if pause_after(error) is not None:
        return "unavailable"
    return "failed" if isinstance(error, (ApiError, PaginationError, DecodeError)) else "stop"


def is_error(reason: str) -> bool:
    """Whether the `reason` of a Read is the text of an error: a VerdictReason is a single word."""
    return " " in reason


def without_request_id(text: str) -> str:
    """The text of an error, to compare it with that of another attempt."""
    return text.partition(" [request id ")[0]


def to_json(read: Read) -> dict[str, Any]:
    """The row as the files of an export have it; from_json() reads it."""
    return read._asdict() | {"as_of": read.as_of and time_text(read.as_of)}


def from_json(found: dict[str, Any]) -> Read:
    at = found["as_of"]
    return Read(**found | {"as_of": at and datetime.fromisoformat(at)})


def time_text(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def is_doubtful(read: Read) -> bool:
    """Whether another reading of the list may be better."""
    return read.verdict in ("possibly_missed", "failed")


def is_better(read: Read, former: Read) -> bool:
    """Whether the records of `read` replace those of an earlier reading of the list."""
    return (_RANKS[read.verdict], read.as_of is not None) > (_RANKS[former.verdict], former.as_of is not None)
