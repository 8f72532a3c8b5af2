"""Resources for unit tests, as the client would return them; public as billcore.testing.order and so on."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack, cast

from .._errors import BillcoreError, InvalidArgumentError
from .._not_given import NOT_GIVEN
from ._fields import FIELDS_OF_EVENT, OrderFields, ProductFields, ProductGroupFields, SubscriptionFields
from ._samples import catalog, changed, plain, require_known

if TYPE_CHECKING:
    from .._webhook import Order, Product, ProductGroup, Resource, Subscription

_numbers = itertools.count(700_001)


def order(*, data: Mapping[str, Any] | Resource | None = None, **fields: Unpack[OrderFields]) -> Order:
    """Make an order for unit tests, as the client returns it, without a server.

        order = billcore.testing.order(total=19900, reference_id="customer-7")

    The default values are like those of the service; each call makes a new id. A field with the value NOT_GIVEN is left
    out. subscription(), product() and product_group() do the same for other resources.

    Args:
        data: All members of the resource, with any names; `fields` replace members of the same name.
        fields: Fields of the resource. A value may also be an aware datetime, a Decimal or a resource.

    Raises:
        TypeError: The resource does not have a field of this name, which may be misspelt.
        InvalidArgumentError: A field has a value of the wrong type.

    Service interface: Order.
    """
    return cast("Order", _made("order", "Order", "order.paid", data, fields))


def subscription(
    *, data: Mapping[str, Any] | Resource | None = None, **fields: Unpack[SubscriptionFields]
) -> Subscription:
    """Make a subscription for unit tests; by default it is active and paid for. See order().

    Service interface: Subscription.
    """
    return cast("Subscription", _made("subscription", "Subscription", "subscription.created", data, fields))


def product(*, data: Mapping[str, Any] | Resource | None = None, **fields: Unpack[ProductFields]) -> Product:
    """Make a product for unit tests; by default it is sold once, not by subscription. See order().

    Service interface: Product.
    """
    return cast("Product", _made("product", "Product", "product.updated", data, fields))


def product_group(
    *, data: Mapping[str, Any] | Resource | None = None, **fields: Unpack[ProductGroupFields]
) -> ProductGroup:
    """Make a product group for unit tests. See order().

    Service interface: Product group.
    """
    return cast("ProductGroup", _made("product_group", "ProductGroup", "product-group.updated", data, fields))


def _made(function: str, kind: str, event: str, data: Any, fields: Any) -> Any:
    from .._webhook import _restore

    require_known(function, fields, FIELDS_OF_EVENT[event].__annotations__)
    if data is None:
        number = next(_numbers)
        data = catalog()[1][event] | {"id": number if kind.startswith("Product") else str(number)}
    try:
        members = changed(plain(data, kind), {name: plain(value, name) for name, value in fields.items()})
        made = _restore(kind, json.dumps(members, allow_nan=False), "")
        for name, value in fields.items():
            if value is not NOT_GIVEN:
                getattr(made, name)
    except (BillcoreError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, InvalidArgumentError):
            raise
        raise InvalidArgumentError(f"these values make no {kind}: {error}") from None
    return made
