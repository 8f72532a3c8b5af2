"""POST wait: answers when a condition is true, or after the time-out with 408 and the records that there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, cast

import msgspec

from billcore_sandbox import resources
from billcore_sandbox.control import answers, bodies
from billcore_sandbox.control.common import find, of_account, one_of
from billcore_sandbox.control.deliveries import find_deliveries
from billcore_sandbox.control.history import find_requests
from billcore_sandbox.errors import Refusal, invalid
from billcore_sandbox.lifecycle import SUBJECTS
from billcore_sandbox.resources import ORDER_STATES, SUBSCRIPTION_STATUSES
from billcore_sandbox.world import World

# A function of type Look returns the answer, or None while the condition is false. A function of type Instead returns
# the message of a 408.
Look = Callable[[], dict[str, Any] | None]
Instead = Callable[[], str]


async def wait(world: World, body: bodies.Wait) -> answers.Waited:
    """Wait for requests, deliveries, a status or a state. The message of a 408 lists the records that there are."""
    chosen = [name for name in _KINDS if getattr(body, name) is not None]
    if len(chosen) != 1:
        raise invalid(f"Name what to wait for, and only that: one of {', '.join(_KINDS)}.")
    counts = chosen[0] in ("request", "delivery")
    if body.count != 1 and not counts:
        raise invalid(f"{chosen[0]} takes no count: it is for request and delivery.")
    if body.count > world.options.keep:
        raise invalid(f"count is more than the {world.options.keep} records that are kept: raise --keep.")
    look, instead = _KINDS[chosen[0]](world, body)
    found = await world.history.wait(look, body.timeout)
    if found is None:
        raise Refusal(408, "timeout", instead())
    return cast(answers.Waited, found)


def _requests(world: World, body: bodies.Wait) -> tuple[Look, Instead]:
    match = body.request or bodies.RequestMatch()

    def matching(match: bodies.RequestMatch = match) -> list[dict[str, Any]]:
        return find_requests(world, body.account, body.since, match)

    def there_are() -> str:
        came = matching(bodies.RequestMatch())
        shown = _counted((each["operation"] or "unknown paths", each["status"] or "without an answer") for each in came)
        return f"there are {shown or 'none'}"

    return _several("requests", "requests", body, match, matching, there_are)


def _deliveries(world: World, body: bodies.Wait) -> tuple[Look, Instead]:
    match = body.delivery or bodies.DeliveryMatch()

    def matching() -> list[dict[str, Any]]:
        found = find_deliveries(world, body.account, body.since, match)
        ended = [each for each in found if each["state"] not in ("pending", "on_hold")]
        return ended if match.state is None else found

    what = "deliveries" if match.state is not None else "ended deliveries"
    return _several("deliveries", what, body, match, matching, lambda: _there_are(world, body))


def _several(
    key: str,
    what: str,
    body: bodies.Wait,
    match: msgspec.Struct,
    matching: Callable[[], list[dict[str, Any]]],
    there_are: Callable[[], str],
) -> tuple[Look, Instead]:
    """Waits until `matching` finds as many records as the body asks for; `key` is their name in the answer."""
    given = {name: value for name, value in msgspec.structs.asdict(match).items() if value is not None}
    wanted = f" with {', '.join(f'{name} {value}' for name, value in given.items())}" if given else ""

    def look() -> dict[str, Any] | None:
        found = matching()
        return {key: found} if len(found) >= body.count else None

    def instead() -> str:
        few = f"{len(matching())} of {body.count} {what}{wanted} came within {body.timeout:.3g} s"
        return f"{few}: {there_are()}."

    return look, instead


def _none_pending(world: World, body: bodies.Wait) -> tuple[Look, Instead]:
    given = body.none_pending or bodies.NonePending()

    def matching(state: str | None, limit: int | None = None) -> list[dict[str, Any]]:
        match = bodies.DeliveryMatch(given.event, given.endpoint_id, state)
        return find_deliveries(world, body.account, body.since, match, limit)

    def look() -> dict[str, Any] | None:
        return None if matching("pending", 1) else {"deliveries": matching(None)}

    def instead() -> str:
        pending = len(matching("pending"))
        return f"Deliveries are still pending after {body.timeout:g} s ({pending}): {_there_are(world, body)}."

    return look, instead


def _object(world: World, body: bodies.Wait) -> tuple[Look, Instead]:
    machine = "order" if body.subscription is None else "subscription"
    given: Any = body.order if body.subscription is None else body.subscription
    column = SUBJECTS[machine].column
    wanted = getattr(given, column)
    one_of(column, wanted, ORDER_STATES if machine == "order" else SUBSCRIPTION_STATUSES)
    whose = bodies.Nothing(account=body.account)

    def look() -> dict[str, Any] | None:
        row = find(world, machine, str(given.id), whose)[0]
        if row[column] != wanted:
            return None
        return {machine: resources.order(row) if machine == "order" else resources.subscription(row)}

    def instead() -> str:
        row, account = find(world, machine, str(given.id), whose)
        frozen = "" if account.clock.frozen_at is None else ", and its clock is frozen"
        name = f"The {machine} {given.id}"
        return f"{name} did not become {wanted} within {body.timeout:g} s: it is {row[column]}{frozen}."

    return look, instead


def _there_are(world: World, body: bodies.Wait) -> str:
    """The end of a 408 message: numbers of deliveries by event and state, and why deliveries may stay pending."""
    came = find_deliveries(world, body.account, body.since, bodies.DeliveryMatch())
    text = f"there are {_counted((each['event'], each['state']) for each in came) or 'none'}"
    pending = {each["account"] for each in came if each["state"] == "pending"}
    if any(each.clock.frozen_at is not None for each in world.store.accounts if each.uuid in pending):
        text += "; the clock is frozen, so nothing is tried again until it is moved"
    where, args = of_account(world, body.account)
    if not came and not world.store.all(f"SELECT 1 FROM endpoints WHERE {where} AND state = 'enabled' LIMIT 1", *args):
        text += ", and no enabled endpoint"
    return text


def _counted(pairs: Iterable[tuple[str, str | int]]) -> str:
    return ", ".join(f"{name} {state} ({count})" for (name, state), count in Counter(pairs).most_common())


_KINDS: dict[str, Callable[[World, bodies.Wait], tuple[Look, Instead]]] = {
    "request": _requests,
    "delivery": _deliveries,
    "none_pending": _none_pending,
    "subscription": _object,
    "order": _object,
}
