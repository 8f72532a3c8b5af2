"""Hooks for schemathesis in test_openapi.py: the refusals that are allowed, and values that the service accepts."""

from __future__ import annotations

import os
from typing import Any

import schemathesis
from schemathesis import Case, CheckContext, HookContext, Response

from billcore_sandbox.service.routes import OPERATIONS

# For each operation, the error codes for requests that fit its schema: the reasons cannot be stated in a schema.
REFUSALS = {operation.name: {*operation.refuses} for operation in OPERATIONS}


@schemathesis.check
def refused_for_a_listed_reason(context: CheckContext, response: Response, case: Case[Any]) -> None:
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code not in (402, 422):
        return
    name = str(case.operation.definition.raw["operationId"])
    code = response.json()["error"]["code"]
    assert code in REFUSALS[name], f"{name} must not refuse a request that fits its schema with {code}"


@schemathesis.hook
def before_call(context: HookContext, case: Case[Any], kwargs: dict[str, Any]) -> None:
    # JSON Schema counts 1.0 as an integer, but the sandbox refuses it, so send whole numbers as integers.
    body = case.body = whole(case.body)
    # For half of the charges, name a one-time product, so that the service does not refuse them.
    product = body.get("product_id") if isinstance(body, dict) else None
    if case.operation.path.endswith("/order") and type(product) is int and product > 0 and product % 2:
        body["product_id"] = int(os.environ["ONE_TIME_PRODUCT"])


def whole(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: whole(each) for name, each in value.items()}
    if isinstance(value, list):
        return [whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
