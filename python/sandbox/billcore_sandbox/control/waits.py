"""POST wait: answers when a condition is true, or after the time-out with 408 and the records that there are."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any, Protocol, cast

import msgspec

from billcore_sandbox import attempts, resources
from billcore_sandbox.control import answers, bodies
from billcore_sandbox.control.common import find, named_account, of_account, one_of
from billcore_sandbox.control.deliveries import matched_deliveries, record
from billcore_sandbox.control.history import matched_requests
from billcore_sandbox.control.lists import Conditions
from billcore_sandbox.control.matches import Matches
from billcore_sandbox.errors import Refusal, invalid
from billcore_sandbox.faults import glob
from billcore_sandbox.history import request
from billcore_sandbox.lifecycle import SUBJECTS
from billcore_sandbox.resources import ORDER_STATES, SUBSCRIPTION_STATUSES
from billcore_sandbox.service.routes import split_path
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

_FAILED = ("failed", "held_back", "dropped")
_NOT_SENT: Conditions = {"state NOT IN (?, ?)": ["pending", "on_hold"]}
_PENDING = "deliveries INDEXED BY deliveries_pending WHERE state = 'pending' AND"
_MOST_SHOWN = 200  # characters of a receiver's answer


class _Condition(Protocol):
    """What a wait waits for."""

    def look(self) -> dict[str, Any] | None:
        """The answer, or None while the condition is false."""

    def arrived(self) -> int:
        """How many of the awaited records there are."""

    def instead(self) -> str:
        """The message of a 408."""


async def wait(world: World, body: bodies.Wait) -> answers.Waited:
    """Wait for requests, deliveries, a status or a state. The message of a 408 lists the records that there are."""
    chosen = [name for name in _KINDS if getattr(body, name) is not None]
    if len(chosen) != 1:
        raise invalid(f"Name what to wait for, and only that: one of {', '.join(_KINDS)}.")
    if body.count != 1 and chosen[0] not in ("request", "delivery"):
        raise invalid(f"{chosen[0]} takes no count: it is for request and delivery.")
    if body.until_failed and chosen[0] != "delivery":
        raise invalid(f"{chosen[0]} takes no until_failed: it is for delivery.")
    keep = world.options.keep
    if keep is not None and body.count > keep:
        raise invalid(f"count is more than the {keep} records that are kept: raise --keep.")
    condition = _KINDS[chosen[0]](world, body)
    found = await world.history.wait(condition.look, body.timeout)
    if found is not None:
        return cast(answers.Waited, found)
    pending, answer = _pending(world, body.account)
    details = {"arrived": condition.arrived(), "pending": pending, "last_answer": answer}
    raise Refusal(408, "timeout", f"{condition.instead()}.", details=details)


class _Several:
    """Requests or deliveries: as many as the body asks for. failed: deliveries that end the wait at once."""

    def __init__(
        self,
        body: bodies.Wait,
        match: msgspec.Struct,
        what: str,
        matches: Matches,
        failed: Matches | None,
        show: Callable[[list[sqlite3.Row]], dict[str, Any]],
        there_are: Callable[[], str],
    ) -> None:
        self._body, self._what, self._matches, self._failed = body, what, matches, failed
        self._show, self._there_are = show, there_are
        given = {name: value for name, value in msgspec.structs.asdict(match).items() if value is not None}
        self._wanted = f" with {', '.join(f'{name} {value}' for name, value in given.items())}" if given else ""

    def look(self) -> dict[str, Any] | None:
        if self.arrived() >= self._body.count or (self._failed is not None and self._failed.found()):
            return self._show(self._matches.rows())
        return None

    def arrived(self) -> int:
        return len(self._matches.found())

    def instead(self) -> str:
        few = f"{self.arrived()} of {self._body.count} {self._what}{self._wanted}"
        return f"{few} came within {self._body.timeout:.3g} s: {self._there_are()}"


def _requests(world: World, body: bodies.Wait) -> _Condition:
    match = body.request or bodies.RequestMatch()

    def fits(target: str) -> bool:
        path = split_path(target.partition("?")[0])[1]
        return match.path is None or glob(match.path).fullmatch(path) is not None

    def there_are() -> str:
        shown = _counted(world, body, "requests", "coalesce(operation, 'unknown paths')", "id")
        return f"there are {shown or 'none'}"

    def show(rows: list[sqlite3.Row]) -> dict[str, Any]:
        return {"requests": [request(world.store, row) for row in rows]}

    matches = Matches(world, "requests", body.account, body.since, matched_requests(match), "target", fits)
    return _Several(body, match, "requests", matches, None, show, there_are)


def _deliveries(world: World, body: bodies.Wait) -> _Condition:
    match = body.delivery or bodies.DeliveryMatch()
    conditions = matched_deliveries(world, match)

    def matches(more: Conditions) -> Matches:
        return Matches(world, "deliveries", body.account, body.since, {**conditions, **more}, "state")

    def show(rows: list[sqlite3.Row]) -> dict[str, Any]:
        return {"deliveries": [record(world, row) for row in rows]}

    failed = matches({"state IN (?, ?, ?)": [*_FAILED]}) if body.until_failed else None
    what = "deliveries" if match.state is not None else "ended deliveries"
    wanted = matches(_NOT_SENT if match.state is None else {})
    return _Several(body, match, what, wanted, failed, show, lambda: _there_are(world, body))


class _NonePending:
    """No pending delivery, and no move of a clock, which would make more."""

    def __init__(self, world: World, body: bodies.Wait) -> None:
        self._world, self._body = world, body
        given = body.none_pending or bodies.NonePending()
        self._conditions = matched_deliveries(world, bodies.DeliveryMatch(given.event, given.endpoint_id))
        self._pending = self._matches({"state = ?": "pending"})

    def _matches(self, more: Conditions) -> Matches:
        conditions = {**self._conditions, **more}
        return Matches(self._world, "deliveries", self._body.account, self._body.since, conditions, "state")

    def look(self) -> dict[str, Any] | None:
        if self._pending.found() or self._moves():
            return None
        return {"deliveries": [record(self._world, row) for row in self._matches({}).rows()]}

    def arrived(self) -> int:
        return len(self._matches(_NOT_SENT).found())

    def instead(self) -> str:
        pending, moves = len(self._pending.found()), ", and a clock is being moved" if self._moves() else ""
        still = f"Deliveries are still pending after {self._body.timeout:g} s ({pending})"
        return f"{still}: {_there_are(self._world, self._body)}{moves}"

    def _moves(self) -> bool:
        return self._world.jobs.moves(named_account(self._world, self._body.account))


class _Object:
    """A subscription with a status, or an order with a state."""

    def __init__(self, world: World, body: bodies.Wait) -> None:
        self._world, self._body = world, body
        self._machine = "order" if body.subscription is None else "subscription"
        self._given: Any = body.order if body.subscription is None else body.subscription
        self._column = SUBJECTS[self._machine].column
        self._wanted = getattr(self._given, self._column)
        one_of(self._column, self._wanted, ORDER_STATES if self._machine == "order" else SUBSCRIPTION_STATUSES)

    def _find(self) -> tuple[sqlite3.Row, Account]:
        return find(self._world, self._machine, str(self._given.id), bodies.Nothing(account=self._body.account))

    def look(self) -> dict[str, Any] | None:
        row, _ = self._find()
        if row[self._column] != self._wanted:
            return None
        return {self._machine: resources.order(row) if self._machine == "order" else resources.subscription(row)}

    def arrived(self) -> int:
        return 0

    def instead(self) -> str:
        row, account = self._find()
        frozen = "" if account.clock.frozen_at is None else ", and its clock is frozen"
        name = f"The {self._machine} {self._given.id}"
        return (
            f"{name} did not become {self._wanted} within {self._body.timeout:g} s: it is {row[self._column]}{frozen}"
        )


def _pending(world: World, uuid: str | None) -> tuple[int, attempts.Record | None]:
    """The number of pending deliveries, and the last attempt of the first of them that was attempted."""
    where, args = of_account(world, uuid)
    attempted = f"SELECT * FROM {_PENDING} {where} AND attempts != '[]' ORDER BY seq LIMIT 1"
    row = world.store.one(attempted, *args)
    return world.store.count(f"{_PENDING} {where}", *args), None if row is None else attempts.shown(row)[-1]


def _there_are(world: World, body: bodies.Wait) -> str:
    """The end of a 408 message: numbers of deliveries by event and state, and why deliveries may stay pending."""
    came = _counted(world, body, "deliveries", "event", "seq", "state")
    text = f"there are {came or 'none'}"
    where, args = of_account(world, body.account)
    pending = {row[0] for row in world.store.all(f"SELECT DISTINCT account FROM {_PENDING} {where}", *args)}
    if any(each.clock.frozen_at is not None for each in world.store.accounts if each.number in pending):
        text += "; the clock is frozen, so nothing is tried again until it is moved"
    if not came and not world.store.all(f"SELECT 1 FROM endpoints WHERE {where} AND state = 'enabled' LIMIT 1", *args):
        text += ", and no enabled endpoint"
    if (last := _pending(world, body.account)[1]) is not None:
        answer = last["error"] or f"the receiver answered {last['status']} {last['answer_body']}"
        text += f"; {' '.join(answer[:_MOST_SHOWN].split())}"
    return text


def _counted(world: World, body: bodies.Wait, table: str, name: str, key: str, column: str = "status") -> str:
    """The numbers of records after `since`, by name and by another column."""
    where, args = of_account(world, body.account)
    state = f"coalesce({column}, 'without an answer')"
    sql = f"SELECT {name}, {state}, count(*) AS n FROM {table} WHERE {key} > ? AND {where} GROUP BY 1, 2"
    rows = world.store.all(f"{sql} ORDER BY n DESC, min({key})", body.since, *args)
    return ", ".join(f"{row[0]} {row[1]} ({row[2]})" for row in rows)


_KINDS: dict[str, Callable[[World, bodies.Wait], _Condition]] = {
    "request": _requests,
    "delivery": _deliveries,
    "none_pending": _NonePending,
    "subscription": _Object,
    "order": _Object,
}
