"""The view of faults: a form for each kind, faults that one click registers, and the registered faults."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import msgspec

from billcore_sandbox import list_faults
from billcore_sandbox.control import bodies, faults, webhooks
from billcore_sandbox.events import NAMES
from billcore_sandbox.faults import KINDS, REQUEST_KINDS, REQUIRED, SELECTORS, WHEN
from billcore_sandbox.page.render import short
from billcore_sandbox.page.request import PAGE, PageRequest
from billcore_sandbox.page.views.inputs import Input, inputs
from billcore_sandbox.service.calls import Reply
from billcore_sandbox.service.routes import OPERATIONS

# What happens, for each kind of fault.
ABOUT = {
    "status": "The answer is an error, and the service does nothing; with effect it does its work first.",
    "delay": "The service does its work at once, and the answer comes late.",
    "drip": "The service does its work at once, and the answer comes in small pieces.",
    "reset_before": "The connection is reset before the service does anything.",
    "reset_after": "The service does its work, and the connection is reset before the answer.",
    "half_body": "The service does its work, and the answer ends in the middle of its body.",
    "wrong_length": "Content-Length is larger than the body (negative: smaller), and the connection is closed.",
    "late": "The connection is reset, and the service does its work later by the account's clock.",
    "rows": "After this page of a list was made, rows are added or removed at the front of the list.",
    "beyond_end": "A page after the last one of a list has another answer than usual.",
    "event_integers": "The ids and amounts in the event are larger than a 64-bit number or a double can hold.",
    "event_unknown_name": "The event has a name that no program knows: invoice.exploded.",
    "event_unknown_fields": "The event has further fields that no program knows.",
    "event_escapes": "The event is the same JSON value, written in another way.",
    "event_duplicate": "The same event is sent several times.",
    "event_reorder": "The event is sent after the next event.",
    "event_delay": "The event is sent late by the account's clock.",
    "event_hold": "The event is on hold until you release it.",
    "event_drop": "The event is never sent.",
    "event_signature": "One attempt has a wrong signature; its retry is correct.",
    "event_old_secret": "One attempt is signed with the secret before the rotation; its retry is correct.",
    "event_truncated": "One attempt has half of the body, with the signature of the whole body; its retry is correct.",
    "event_oversize": "One attempt has a very large body, which is signed; its retry is correct.",
}
# Values that make a fault of a kind that has no useful defaults.
_SUGGESTED = {"wrong_length": {"by": "10"}, "rows": {"insert": "1"}}
_HELP = {
    "delay": "seconds",
    "retry_after": "seconds",
    "by": "bytes",
    "bytes": "bytes",
    "body": "JSON; with content_type a JSON string, which is sent as it is",
    "headers": "a JSON object of texts",
    "effect": "whether the service does its work",
    "abort": "whether the connection is reset",
    "insert": "rows that are added",
    "delete": "rows that are removed",
    "concurrent": "all at the same moment",
    "nth": "the first match that fails",
    "times": "how often it happens",
    "probability": "more than 0, and at most 1",
    "optional": "a test may end although it did not happen",
    "path": "below the base URL; * is anything but a slash",
    "query": "parameters with their values, as JSON",
}
_CHARGE = {"operation": "subscriptions.charge"}


class Story(NamedTuple):
    """A fault that takes one click. done: what the page says then."""

    label: str
    done: str
    fields: dict[str, Any]


STORIES = (
    Story(
        "Lose the answer after a charge",
        "The next charge is made, and its answer is lost.",
        {"kind": "reset_after", **_CHARGE},
    ),
    Story(
        "Answer 504, but charge",
        "The next charge is made, and its answer is 504.",
        {"kind": "status", "status": 504, "effect": "true", **_CHARGE},
    ),
    Story("Cut an answer in half", "The next answer ends in the middle.", {"kind": "half_body"}),
    Story("Send the next event twice", "The next event is sent twice.", {"kind": "event_duplicate"}),
    Story("Sign the next event wrongly", "The next event has a wrong signature once.", {"kind": "event_signature"}),
    Story(
        "Rate limit: 429 with Retry-After",
        "The next request gets 429 with Retry-After: 2.",
        {"kind": "status", "status": 429, "retry_after": 2},
    ),
)


def show(request: PageRequest) -> Reply:
    """The faults; parameters: account, kind (whose form is open), before (an id), and fields to fill in."""
    account = request.query.get("account") or None
    known: list[Any] = [*faults.listed(request.world, bodies.Nothing(account=account))["faults"]]
    before = request.number("before")
    found = [{**each, "scope": _scope(request, each)} for each in reversed(known) if not before or each["id"] < before]
    endpoints = webhooks.endpoints(request.world, bodies.Nothing(account=account))["endpoints"]
    return request.render(
        "faults.html",
        stories=STORIES,
        groups={
            "Requests": [_kind(request, kind, endpoints) for kind in KINDS if kind in REQUEST_KINDS],
            "Events": [_kind(request, kind, endpoints) for kind in KINDS if kind not in REQUEST_KINDS],
        },
        opened=request.query.get("kind"),
        found=found[:PAGE],
        total=len(known),
        older=found[PAGE - 1]["id"] if len(found) > PAGE else None,
    )


def _kind(request: PageRequest, kind: str, endpoints: list[Any]) -> dict[str, Any]:
    """A kind of fault with the inputs of its form."""
    own = {name: None if default is REQUIRED else default for name, default in KINDS[kind].items()}
    values = {**_SUGGESTED.get(kind, {}), **request.query}
    needed = [name for name, default in KINDS[kind].items() if default is REQUIRED]
    fields = [each._replace(required=each.name in needed) for each in inputs(bodies.Fault, own, values, _HELP)]
    when = {each.name: each.default for each in msgspec.structs.fields(bodies.Fault) if each.name in WHEN}
    return {
        "name": kind,
        "about": ABOUT[kind],
        "fields": fields,
        "scope": _request_scope(kind, values) if kind in REQUEST_KINDS else _event_scope(values, endpoints),
        "when": inputs(bodies.Fault, when, values, _HELP),
    }


def _request_scope(kind: str, values: dict[str, str]) -> list[Input]:
    found = inputs(bodies.Fault, dict.fromkeys(("operation", "method", "path", "query")), values, _HELP)
    operation, method, path, query = found
    names = [*list_faults.LISTS] if kind in list_faults.KINDS else [each.name for each in OPERATIONS]
    # A form of the page has a field `method` of its own: the method of the control route. Hence method:json.
    methods = {json.dumps(each.method): each.method for each in OPERATIONS}
    return [
        operation._replace(type="select", choices={each: each for each in names}),
        method._replace(name="method:json", type="select", choices=methods, value=json.dumps(method.value.upper())),
        path._replace(default="/subscription/*"),
        query._replace(default='{"page": "2"}'),
    ]


def _event_scope(values: dict[str, str], endpoints: list[Any]) -> list[Input]:
    event, endpoint = inputs(bodies.Fault, dict.fromkeys(("event", "endpoint_id")), values)
    return [
        event._replace(type="select", choices={each: each for each in NAMES}),
        endpoint._replace(
            type="select",
            choices={str(each["id"]): f"{each['id']}: {short(each['url'], 60)}" for each in endpoints},
        ),
    ]


def _scope(request: PageRequest, fault: dict[str, Any]) -> str:
    """What a registered fault concerns, in words."""
    given = {name: fault[name] for name in SELECTORS if fault[name] is not None and name != "account"}
    account = request.world.store.by_uuid.get(fault["account"] or "")
    where = "every account" if account is None else f"account {account.number}"
    which = ", ".join(f"{name} {value}" for name, value in given.items())
    if fault["nth"] > 1:
        which += f"; from match {fault['nth']}"
    if fault["probability"] < 1:
        which += f"; with probability {fault['probability']:g}"
    return f"{which or 'all'}, {where}"
