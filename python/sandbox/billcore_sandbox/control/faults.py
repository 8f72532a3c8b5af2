"""Control routes for faults: they check the fields of a fault. billcore_sandbox/faults.py stores and selects faults."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from billcore_sandbox import faults, list_faults
from billcore_sandbox.control import answers, bodies
from billcore_sandbox.control.common import named_account, no_endpoint
from billcore_sandbox.errors import Refusal, encode, invalid, not_found
from billcore_sandbox.events import NAMES
from billcore_sandbox.faults import REQUIRED, WHEN
from billcore_sandbox.service.calls import number_of
from billcore_sandbox.service.lists import plain
from billcore_sandbox.service.parameters import QUERY
from billcore_sandbox.service.patterns import matching, named_operation
from billcore_sandbox.world import World

_MAX_REAL = 3600.0  # seconds; the longest real delay of an answer
_FRAMING = ("content-length", "transfer-encoding", "connection")


def create(world: World, body: bodies.Fault) -> answers.Id:
    """Register a fault: the next matching requests or events fail."""
    named_account(world, body.account)
    kind = body.kind
    if kind not in faults.KINDS:
        raise invalid(f"No fault has the kind {kind!r}: there are {', '.join(faults.KINDS)}.")
    all_fields = msgspec.structs.asdict(body)
    given = {name: value for name, value in all_fields.items() if value is not None and value is not msgspec.UNSET}
    if body.body is None:
        given["body"] = None  # the caller gave the JSON value null
    selectors = {name: given.pop(name) for name in faults.SELECTORS if name in given}
    when = {name: given.pop(name) for name in WHEN}
    del given["kind"]
    takes = [*faults.KINDS[kind], *faults.selectors_of(kind), *WHEN]
    for name in (*selectors, *given):
        if name not in takes:
            raise invalid(f"{name!r} is not a field of {kind}: it takes {', '.join(takes)}.")
    fields = {**faults.KINDS[kind], **given}
    if missing := [name for name, value in fields.items() if value is REQUIRED]:
        raise invalid(f"A fault of the kind {kind} needs the field {missing[0]!r}.")
    if kind in faults.REQUEST_KINDS:
        _check_selectors(kind, selectors)
    else:
        _check_event(world, body.account, selectors)
    if kind in _CHECKS:
        _CHECKS[kind](fields, given)
    return {"id": world.faults.add(kind, selectors, fields, **when).id}


def listed(world: World, query: bodies.Nothing) -> answers.Faults:
    """List all faults, also those that cannot happen any more, with the counts `seen` and `fired`."""
    account = named_account(world, query.account)
    return {"faults": world.faults.all(None if account is None else account.uuid)}


def delete(world: World, number: str) -> answers.Id:
    """Remove a fault."""
    if not world.faults.delete(number_of(number)):
        raise not_found()
    return {"id": int(number)}


def _check_selectors(kind: str, selectors: dict[str, Any]) -> None:
    """Refuse selectors that no request can match; normalise the selectors `operation` and `method`."""
    if "operation" in selectors:
        selectors["operation"] = named_operation(selectors["operation"])
    if "method" in selectors:
        selectors["method"] = selectors["method"].upper()
    operations = [each.name for each in matching(*(selectors.get(name) for name in ("operation", "method", "path")))]
    if kind in list_faults.KINDS:
        operations = [name for name in operations if name in list_faults.LISTS]
        if not operations:
            raise invalid(f"A fault of the kind {kind} concerns lists only: {', '.join(list_faults.LISTS)}.")
    there = dict.fromkeys(each for operation in operations for each in QUERY[operation])
    for name in selectors.get("query", {}):
        if plain(name) not in there:
            raise invalid(
                f"No request that matches has the parameter {name!r}: there are {', '.join(there) or 'none'}."
            )


def _check_event(world: World, account: str | None, selectors: dict[str, Any]) -> None:
    """Refuse selectors that no event can match."""
    name, number = selectors.get("event"), selectors.get("endpoint_id")
    if name is not None and name not in NAMES:
        raise invalid(f"No event has the name {name!r}: there are {', '.join(NAMES)}.")
    if number is not None:
        row = world.store.one("SELECT account FROM endpoints WHERE id = ? AND state != 'deleted'", number)
        if row is None or account not in (None, world.store.uuid_of(row["account"])):
            raise no_endpoint(number)


def _check_delay(fields: dict[str, Any], given: dict[str, Any]) -> None:
    if fields["delay"] > _MAX_REAL:
        raise invalid(f"The field 'delay' must be at most {_MAX_REAL:g} seconds, because it is real time.")


def _check_length(fields: dict[str, Any], given: dict[str, Any]) -> None:
    if fields["by"] == 0:
        raise invalid("The field 'by' must not be 0: the length would be right.")


def _check_rows(fields: dict[str, Any], given: dict[str, Any]) -> None:
    if fields["insert"] == fields["delete"] == 0:
        raise invalid("A fault of the kind rows needs the field 'insert' or 'delete', at least 1.")


def _check_status(fields: dict[str, Any], given: dict[str, Any]) -> None:
    """Check the fields that describe the answer of the fault, and encode the answer's body."""
    for name in fields["headers"]:
        if name.lower() in _FRAMING:
            raise invalid(f"The field 'headers' must not have {name}: use the kind wrong_length for a wrong length.")
    if "content_type" in given:
        if not isinstance(fields["body"], str):
            raise invalid("A fault with 'content_type' needs a string 'body', which is sent as it is.")
        fields["body"] = fields["body"].encode()
    elif "body" in given:
        fields["body"] = json.dumps(fields["body"], ensure_ascii=False, separators=(",", ":")).encode()
    else:
        message = "The sandbox was asked to fail this request."
        fields["body"] = encode(Refusal(fields["status"], "fault", message).body())
    if fields["retry_after"] is not None:
        fields["headers"] = {**fields["headers"], "Retry-After": str(fields["retry_after"])}


_CHECKS: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
    "status": _check_status,
    "delay": _check_delay,
    "drip": _check_delay,
    "wrong_length": _check_length,
    "rows": _check_rows,
}
