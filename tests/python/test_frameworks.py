"""Resources as fields of pydantic models and as results of FastAPI endpoints."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import fastapi
import pydantic
import pytest

import billcore

from .support import ORDER, PRODUCT, resource, run_python, subscription


class Receipt(pydantic.BaseModel):
    order: billcore.Order
    product: billcore.Product | None = None


def test_a_field_of_pydantic() -> None:
    order, product = resource(ORDER, "order.paid"), resource(PRODUCT, "product.updated")
    made = Receipt(order=order, product=product)
    assert made.order is order
    assert json.loads(made.model_dump_json()) == {"order": ORDER, "product": PRODUCT}
    assert made.model_dump()["order"] == ORDER
    again = Receipt.model_validate_json(made.model_dump_json())
    assert again == made and isinstance(again.order, billcore.Order)
    assert Receipt.model_json_schema()["properties"]["order"] == {"title": "Order", "type": "object"}


@pytest.mark.parametrize(
    "wrong",
    [5, "text", None, [], resource(PRODUCT, "product.updated"), {"id": {1, 2}}, {"a": float("nan")}, {"a": "\ud800"}],
)
def test_pydantic_refuses_other_values_for_a_resource(wrong: Any) -> None:
    with pytest.raises(pydantic.ValidationError, match="order\n"):
        Receipt(order=wrong)


def test_a_type_adapter() -> None:
    adapter = pydantic.TypeAdapter(list[billcore.Subscription])
    made = subscription()
    assert adapter.validate_python([made]) == [made]
    assert adapter.dump_python([made], mode="json") == [made.to_dict()]


def test_a_result_of_fastapi() -> None:
    app = fastapi.FastAPI()

    @app.get("/order")
    def show() -> billcore.Order:
        order: billcore.Order = resource(ORDER, "order.paid")
        return order

    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": "/order",
        "query_string": b"",
        "headers": [],
        "http_version": "1.1",
    }
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 200 and json.loads(sent[1]["body"]) == ORDER
    answer = app.openapi()["paths"]["/order"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer["type"] == "object"


def test_pydantic_is_not_imported() -> None:
    loaded = run_python("import sys, billcore\nbillcore.Order, billcore.Client\nprint(*sys.modules)").split()
    assert "billcore._client" in loaded and not {"pydantic", "pydantic_core", "rich"} & {*loaded}
