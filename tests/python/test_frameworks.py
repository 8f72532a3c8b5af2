"""Resources as fields of pydantic models, and therefore as results of FastAPI endpoints."""

from __future__ import annotations

import json
from typing import Any

import pydantic
import pytest

import billcore

from .support import ORDER, PRODUCT, resource, subscription


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
