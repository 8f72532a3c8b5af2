"""Loaded by schemathesis in test_openapi.py: the refusals that it may find, and bounds for what it sends."""

from __future__ import annotations

import os
from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response

from billcore_sandbox.service.routes import OPERATIONS

WRONG = "validation_error"
# Codes that answer a request which is right in form, for a reason that a schema cannot state.
REFUSALS: dict[str, set[str]] = {
    **{operation.name: {*operation.refuses} for operation in OPERATIONS},
    "control.post.checkout": {"invalid_product"},
    "control.post.clock": {WRONG},  # a time that has passed, or fields that contradict each other
    "control.delete.accounts.uuid": {"first_account"},
    "control.post.endpoints": {"invalid_url", "url_taken"},
    "control.post.faults": {WRONG},
    "control.post.groups": {"invalid_product"},
    "control.post.groups.id.change": {"invalid_product"},
    "control.post.subscriptions.id.change_billing": {WRONG},  # neither of its fields
    "control.get.deliveries": {WRONG},  # a name of an event that does not exist
    "control.get.requests": {WRONG},  # a name of an operation that does not exist
    "control.post.wait": {WRONG},  # not exactly one thing, or one that cannot happen
    "control.post.deliveries.id.edit": {WRONG},  # both of its fields, or neither
    "control.post.deliveries.id.replay": {WRONG},  # an edited delivery without an id
    "control.post.trigger": {"unknown_scenario"},
}
BY_STATE = "not_allowed"  # of each control route that lets a cause happen to an object
MOST = {"days": 40, "seconds": 40 * 86400, "timeout": 0.2}


@schemathesis.check
def refused_for_a_listed_reason(context: CheckContext, response: Response, case: Case[Any]) -> None:
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code not in (402, 422):
        return
    name = str(case.operation.definition.raw["operationId"])
    allowed = REFUSALS.get(name, set()) | ({BY_STATE} if "{id}" in case.operation.path else set())
    code = response.json()["error"]["code"]
    assert code in allowed, f"{name} must not refuse a request that fits its schema with {code}"


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    # In JSON Schema 1.0 is an integer; in the sandbox it is not, as in many JSON decoders with types.
    body = case.body = whole(case.body)
    # Half of the charges are for a product that takes charges.
    product = body.get("product_id") if isinstance(body, dict) else None
    if case.operation.path.endswith("/order") and type(product) is int and product > 0 and product % 2:
        body["product_id"] = int(os.environ["ONE_TIME_PRODUCT"])
    if not case.operation.path.startswith("/_sandbox/"):
        return
    # schemathesis makes UUIDs that no account has.
    for fields in (case.query, body):
        if isinstance(fields, dict) and isinstance(fields.get("account"), str):
            del fields["account"]
    if not isinstance(body, dict):
        return
    # Decades with renewals take minutes, and what is waited for may never happen.
    for name, most in MOST.items():
        if isinstance(body.get(name), int | float) and 0 <= body[name] <= 10**10:
            body[name] %= most


def whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: whole(each) for name, each in value.items()}
    if isinstance(value, list):
        return [whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
