"""The events of the service as types. Service interface: Events, Catalog."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from billcore_sandbox.service import schemas

Id = Annotated[int | str, Meta(description="Opaque: store it as received, and do not validate its format.")]


def _some_of(resource: type[msgspec.Struct], **types: Any) -> Any:
    """The resource's type in events, where every field may be absent. types: field types that differ in events."""
    fields = [
        (field.name, types.get(field.name, field.type) | UnsetType, UNSET) for field in msgspec.structs.fields(resource)
    ]
    about = f"{resource.__doc__} An event may have only some of the fields."
    return msgspec.defstruct(f"{resource.__name__}Data", fields, namespace={"__doc__": about})


_SUBSCRIPTION = _some_of(schemas.Subscription, id=Id)
_ORDER = _some_of(schemas.Order, id=Id)
_PRODUCT = _some_of(schemas.Product)
_GROUP = _some_of(schemas.ProductGroup)


class Envelope(msgspec.Struct, kw_only=True):
    """The fields of every event. id is the same when a delivery is retried: use it to recognise duplicates."""

    id: Id
    account: int
    created_at: schemas.Time


def _event(name: str, data: Any, about: str) -> type[msgspec.Struct]:
    title = "".join(word.capitalize() for word in name.replace("-", ".").split("."))
    fields = [("name", Literal[name]), ("data", data)]
    return msgspec.defstruct(f"{title}Event", fields, bases=(Envelope,), namespace={"__doc__": about}, kw_only=True)


EVENTS: dict[str, type[msgspec.Struct]] = {
    name: _event(name, data, about)
    for name, data, about in (
        ("subscription.created", _SUBSCRIPTION, "A subscription is activated after its first order is paid."),
        ("subscription.updated", _SUBSCRIPTION, "A top-level field changes, such as the product or the status."),
        ("subscription.renewed", _SUBSCRIPTION, "A renewal order is generated and typically paid."),
        ("subscription.cancelled", _SUBSCRIPTION, "A subscription is cancelled. It may stay active until ends_at."),
        ("order.confirmed", _ORDER, "A visitor confirms an order. Its payment may not have settled."),
        ("order.paid", _ORDER, "An order is paid."),
        ("product.updated", _PRODUCT, "A product is created or updated."),
        ("product.deleted", _PRODUCT, "A product is deleted; data shows it as it was."),
        ("product-group.updated", _GROUP, "A product group changes."),
        ("product-group.deleted", _GROUP, "A product group is deleted."),
        ("test.hook", dict[str, Any] | None, "An administrator verifies an endpoint. Only the name is reliable."),
    )
}
