"""What the commands print of subscriptions, orders and products."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .._columns import COLUMNS, SECRETS
from ._output import Row, Shape

if TYPE_CHECKING:
    from .._client import Pager
    from .._webhook import Resource


def _shape(name: str, *columns: str) -> Shape:
    return Shape(columns, [each for each in COLUMNS[name] if each != "more"], SECRETS)


SUBSCRIPTIONS = _shape(
    "subscriptions", "id", "status", "price", "currency", "renews_at", "ends_at", "reference_id", "reference_name"
)
ORDERS = _shape("orders", "id", "state", "total", "total_with_vat", "currency", "created_at", "reference_id")
PRODUCTS = _shape("products", "id", "name", "price", "currency", "vat_rate", "type", "interval")


def rows_of(pager: Pager[Resource]) -> Iterator[Row]:
    """The records of a list, read as they are printed."""
    for record in pager:
        yield record.to_dict()
