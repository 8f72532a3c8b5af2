"""Hooks for schemathesis in test_openapi.py: the refusals that are allowed, and limits for the values that it sends."""

from __future__ import annotations

import os
from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response

from billcore_sandbox.service.routes import OPERATIONS

WRONG = "validation_error"
# For each operation, the error codes for requests that fit its schema: the reasons cannot be stated in a schema.
REFUSALS: dict[str, set[str]] = {
    **{operation.name: {*operation.refuses} for operation in OPERATIONS},
    "control.post.checkout": {"invalid_product"},
    "control.post.clock": {WRONG},  # a time in the past, or fields that contradict each other
    "control.delete.accounts.uuid": {"first_account"},
    "control.post.endpoints": {"invalid_url", "url_taken"},
    "control.post.faults": {WRONG},
    "control.post.groups": {"invalid_product"},
    "control.post.groups.id.change": {"invalid_product"},
    "control.post.subscriptions.id.change_billing": {WRONG},  # without billing and declines
    "control.get.deliveries": {WRONG},  # an event's name that does not exist
    "control.get.requests": {WRONG},  # an operation's name that does not exist
    "control.post.wait": {WRONG},  # not exactly one condition, or a condition that cannot become true
    "control.post.deliveries.id.edit": {WRONG},  # with both or without both of body and changes
    "control.post.deliveries.id.replay": {WRONG},  # a delivery whose edited body has no id
    "control.post.trigger": {"unknown_scenario"},
}
BY_STATE = "not_allowed"  # error code of a control route if the object's state does not allow the action
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
    # JSON Schema counts 1.0 as an integer, but the sandbox refuses it, so send whole numbers as integers.
    body = case.body = whole(case.body)
    # For half of the charges, name a one-time product, so that the service does not refuse them.
    product = body.get("product_id") if isinstance(body, dict) else None
    if case.operation.path.endswith("/order") and type(product) is int and product > 0 and product % 2:
        body["product_id"] = int(os.environ["ONE_TIME_PRODUCT"])
    if not case.operation.path.startswith("/_sandbox/"):
        return
    # Remove the random UUIDs that schemathesis sends as accounts, because no such accounts exist.
    for fields in (case.query, body):
        if isinstance(fields, dict) and isinstance(fields.get("account"), str):
            del fields["account"]
    if not isinstance(body, dict):
        return
    # Limit times: moving a clock by decades takes minutes, and a wait may last until its time-out.
    for name, most in MOST.items():
        if isinstance(body.get(name), int | float) and 0 <= body[name] <= 10**10:
            body[name] %= most


def whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: whole(each) for name, each in value.items()}
    if isinstance(value, list):
        return [whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
