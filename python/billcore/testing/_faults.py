"""Faults, with which a sandbox makes requests and deliveries go wrong on demand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict, cast

from .._not_given import NOT_GIVEN
from ._calls import Calls, arguments, segment

FaultKind = Literal[
    "status",
    "delay",
    "drip",
    "reset_before",
    "reset_after",
    "half_body",
    "wrong_length",
    "late",
    "rows",
    "beyond_end",
    "event_integers",
    "event_unknown_name",
    "event_unknown_fields",
    "event_escapes",
    "event_duplicate",
    "event_reorder",
    "event_delay",
    "event_hold",
    "event_drop",
    "event_signature",
    "event_old_secret",
    "event_truncated",
    "event_oversize",
]


class FaultRecord(TypedDict):
    """A fault: its selectors, how many requests or events matched (`seen`), and how often it happened (`fired`).

    `left` is how often the fault can still happen. A selector that was not given is None.
    """

    id: int
    kind: str
    account: str | None
    operation: str | None
    method: str | None
    path: str | None
    query: dict[str, str] | None
    event: str | None
    endpoint_id: int | None
    nth: int
    times: int
    probability: float
    optional: bool
    seen: int
    fired: int
    left: int


class FaultControl(Calls):
    """Methods of Control."""

    def fault(
        self,
        kind: FaultKind,
        *,
        operation: str | None = None,
        method: str | None = None,
        path: str | None = None,
        query: Mapping[str, str | int] | None = None,
        event: str | None = None,
        endpoint_id: int | None = None,
        nth: int | None = None,
        times: int | None = None,
        probability: float | None = None,
        optional: bool | None = None,
        status: int | None = None,
        retry_after: int | None = None,
        body: Any = NOT_GIVEN,
        content_type: str | None = None,
        headers: Mapping[str, str] | None = None,
        effect: bool | None = None,
        delay: float | None = None,
        abort: bool | None = None,
        by: int | None = None,
        insert: int | None = None,
        delete: int | None = None,
        answer: Literal["empty", "not_found", "last_page"] | None = None,
        copies: int | None = None,
        concurrent: bool | None = None,
        bytes: int | None = None,
        style: Literal["raw", "html", "pretty"] | None = None,
        account: str | None = None,
    ) -> int:
        """Make matching requests or events go wrong; returns the fault's id.

        Without a selector, every request matches; if the kind begins with `event_`, every event matches. The sandbox
        refuses a selector that nothing can match, and an argument that faults of this kind do not use.

        Args:
            kind: What goes wrong; the sandbox's README has a table of the kinds.
            operation: Name such as "subscriptions.charge"; the part after the dot, "charge", is enough.
            method: HTTP method.
            path: Path below the base URL, in which `*` stands for any characters except a slash.
            query: Query parameters that a request must have, with their values.
            event: For kinds that begin with `event_`: the name of the event, such as "order.paid".
            endpoint_id: For kinds that begin with `event_`: the id of the endpoint that gets the event.
            nth: The fault begins with the n-th matching request or event, also if older faults happened to the earlier
                ones. Default: 1.
            times: How often the fault happens. Default: 1.
            probability: Probability of the fault for each match (default: 1.0); the sandbox's seed sets the outcome.
            optional: True: the fixture does not fail the test if the fault happens less often than `times`.
            status: For `status`: the status of the answer. Default: 503.
            retry_after: For `status`: the value of the answer's header Retry-After, in seconds.
            body: For `status`: the body of the answer as JSON, or with `content_type` a string that is sent verbatim.
            content_type: For `status`: the type of a verbatim `body`.
            headers: For `status`: further headers of the answer.
            effect: For `status`: True: the service carries the request out before the answer is replaced.
            delay: For `delay` and `drip`: real seconds (default: 1). For `late` and `event_delay` (default: 1) and
                `event_reorder` (default: 60): seconds of the account's clock.
            abort: For `half_body`: True: the connection is reset after half of the body.
            by: For `wrong_length`: how many bytes Content-Length is too large, or if negative, too small.
            insert: For `rows`: how many rows are inserted at the front of the list after a page was read.
            delete: For `rows`: how many rows are deleted at the front of the list after a page was read.
            answer: For `beyond_end`: the answer to a request for a page after the last page.
            copies: For `event_duplicate`: how many additional copies are sent. Default: 1.
            concurrent: For `event_duplicate`: True: all copies are sent at once, each over its own connection.
            bytes: For `event_oversize`: how many bytes are added to the body. Default: 2 MiB.
            style: For `event_escapes`: "raw" (UTF-8 without escapes), "html" (escaped for HTML) or "pretty" (indented).
            account: UUID of the account. Default: the account of this Control, or if it has none, any account.
        """
        fields = arguments(locals())
        if body is NOT_GIVEN:
            del fields["body"]
        else:
            fields["body"] = body
        if query is not None:
            fields["query"] = {name: str(value) for name, value in query.items()}
        if headers is not None:
            fields["headers"] = dict(headers)
        return int(self._call("POST", "faults", fields)["id"])

    def faults(self) -> list[FaultRecord]:
        """Every fault, oldest first, even if the fault can no longer happen."""
        return cast(list[FaultRecord], self._call("GET", "faults")["faults"])

    def delete_fault(self, fault_id: int) -> None:
        """Remove a fault."""
        self._call("DELETE", f"faults/{segment(fault_id)}")
