"""The fields of the resources: typed, absent, null and wrong."""

from __future__ import annotations

import json
import pickle
import traceback
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import billcore
from billcore import webhooks

from .model_support import NAMES, event_data, raw_event
from .support import GROUP, ORDER, PRODUCT, SECRET, SUBSCRIPTION, event, resource, sign, subscription


def test_subscription_fields() -> None:
    made = subscription()
    assert (made.id, made.price, made.vat, made.currency, made.status) == ("sub_1", 1500, 2500, "NOK", "active")
    assert made.created_at == datetime(2025, 4, 25, 10, tzinfo=UTC) and made.created_at.tzinfo is UTC
    assert made.renews_at == datetime(2025, 5, 25, 12, 30, 15, 250000, timezone(timedelta(hours=2)))
    assert made.renews_at is not None and made.renews_at.utcoffset() == timedelta(hours=2)
    assert (made.ends_at, made.trial_ends_at, made.reference_id, made.reference_name) == (None, None, "ref-1", None)
    assert made.update_card_url.endswith("S1") and made.invoices_url.endswith("S2") and made.cancel_url.endswith("S3")
    (field,) = made.custom_fields
    assert (field.id, field.label, field.type, field.value) == (1, "Size", "text", {"a": [1, None]})
    assert made.metadata == {"seats": 3}


def test_order_fields() -> None:
    made = resource(ORDER, "order.paid")
    assert (made.id, made.total, made.total_with_vat, made.state, made.remote_id) == (
        "ord_1",
        1500,
        1875,
        "paid",
        "pay_1",
    )
    assert made.created_at == datetime(2025, 4, 25, 10, tzinfo=UTC), "UTC when no offset is given"
    assert made.delivery is not None and made.delivery.link == "https://example.com/file"
    assert (made.custom_fields, made.metadata, made.reference_id) == ([], {}, None)
    assert resource({**ORDER, "delivery": None}, "order.paid").delivery is None


def test_product_fields() -> None:
    made = resource(PRODUCT, "product.updated")
    assert (made.id, made.name, made.description, made.type, made.interval) == (
        42,
        "Café",
        None,
        "subscription",
        "1 month",
    )
    assert (made.price, made.price_with_vat, made.price_without_vat) == (1000, 1250, 1000)
    assert made.vat_rate == Decimal("12.5") and type(made.vat_rate) is Decimal
    assert made.images[0].portrait.src.endswith("/p") and made.images[0].square.src.endswith("/s")
    assert (made.use_cart, made.stock_tracking, made.out_of_stock) == (True, False, False)
    assert (made.strings.interval, made.strings.type, made.strings.price) == ("per month", "Subscription", "kr 10")
    assert (made.strings.price_with_vat, made.strings.price_without_vat) == (None, None)
    group = resource(GROUP, "product-group.updated")
    assert (group.id, group.name, group.products) == (5, "All", [42, 43])


def test_numbers_of_any_size_and_their_digits() -> None:
    made = raw_event(
        '{"id": 123456789012345678901234567890, "price": -99999999999999999999, "vat": 18446744073709551615}'
    )
    assert (made.id, made.price, made.vat) == (123456789012345678901234567890, -(10**20) + 1, 2**64 - 1)
    assert made.to_dict() == json.loads(made.raw)
    body = b'{"name": "product.updated", "data": {"vat_rate": 25.10, "id": 1}}'
    assert str(event_data(body).vat_rate) == "25.10"


@pytest.mark.parametrize("field", sorted(SUBSCRIPTION))
def test_every_field_absent_null_and_wrong(field: str) -> None:
    nullable = field in ("renews_at", "ends_at", "trial_ends_at", "reference_id", "reference_name")
    absent = event({key: value for key, value in SUBSCRIPTION.items() if key != field}).data
    null = event({**SUBSCRIPTION, field: None}).data
    assert field not in absent and field in null
    for made, kind in ((absent, billcore.MissingFieldError), (null, billcore.DecodeError)):
        if nullable:
            assert getattr(made, field) is None
            continue
        with pytest.raises(kind, match=rf"^data\.{field} is ") as caught:
            getattr(made, field)
        assert type(caught.value) is kind and caught.value.path == f"data.{field}"
    for wrong in ({"a": 1} if field != "metadata" else [1], True):
        with pytest.raises(billcore.DecodeError, match=rf"^data\.{field} is ") as caught:
            getattr(event({**SUBSCRIPTION, field: wrong}).data, field)
        assert type(caught.value) is billcore.DecodeError
        assert (caught.value.status, caught.value.path) == (None, f"data.{field}")


# The required fields of each type: an empty object has none of them.
REQUIRED: list[tuple[str, str, str]] = [
    ("order.paid", "", "id created_at total total_with_vat currency state custom_fields metadata"),
    ("order.paid", "delivery", "link"),
    ("order.paid", "custom_fields", "id label type value"),
    ("product.updated", "", "id name type price price_with_vat price_without_vat currency vat_rate images use_cart"),
    ("product.updated", "", "stock_tracking out_of_stock strings"),
    ("product.updated", "images", "portrait square"),
    ("product.updated", "images.portrait", "src"),
    ("product.updated", "strings", "interval type"),
    ("product-group.updated", "", "id name products"),
    ("subscription.updated", "custom_fields", "id label type value"),
]


@pytest.mark.parametrize(("name", "inside", "fields"), REQUIRED)
def test_an_absent_field_is_an_absent_attribute(name: str, inside: str, fields: str) -> None:
    kind, _ = NAMES[name]
    empty: Any = {}
    for part in reversed([part for part in inside.split(".") if part]):
        empty = {part: [empty] if part in ("custom_fields", "images") else empty}
    made = resource(empty, name)
    assert type(made) is kind
    path = "data"
    for part in [part for part in inside.split(".") if part]:
        made = getattr(made, part)
        path += f".{part}"
        if isinstance(made, list):
            (made,) = made
            path += "[0]"
    for field in fields.split():
        assert not hasattr(made, field) and getattr(made, field, None) is None and field not in made
        with pytest.raises(billcore.MissingFieldError) as caught:
            getattr(made, field)
        error = caught.value
        assert (str(error), error.path, error.name) == (f"{path}.{field} is absent", f"{path}.{field}", field)
        assert error.obj is None, "the error keeps no payload alive"
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), again.path, again.name) == (str(error), error.path, field)


def test_class_patterns_match_what_is_there() -> None:
    def seen(made: object) -> str:
        match made:
            case billcore.Subscription(vat=vat, price=price):
                return f"{price} with {vat}"
            case billcore.Subscription(price=price):
                return f"{price}"
            case webhooks.Event(account=account):
                return f"account {account}"
            case webhooks.Event():
                return "nothing"
        return "no match"

    assert seen(subscription()) == "1500 with 2500"
    assert seen(resource({"price": 5})) == "5"
    assert seen(resource({})) == "no match"
    assert seen(event(None)) == "account 3"
    assert seen(webhooks.unwrap(b"{}", sign(b"{}"), SECRET)) == "nothing"
    with pytest.raises(billcore.DecodeError):
        seen(resource({"price": None}))


def test_a_missing_field_is_a_decode_error() -> None:
    with pytest.raises(billcore.DecodeError) as caught:
        _ = resource({}).vat
    assert isinstance(caught.value, AttributeError) and not caught.value.outcome_unknown
    assert "".join(traceback.format_exception(caught.value)).endswith("MissingFieldError: data.vat is absent\n")


@pytest.mark.parametrize("text", ["", "yesterday", "2025-02-30T00:00:00Z", "2025-04-25", "0000-01-01T00:00:00Z"])
def test_times_that_are_none(text: str) -> None:
    with pytest.raises(billcore.DecodeError, match=r"data\.created_at"):
        _ = subscription(created_at=text).created_at


@given(st.datetimes(timezones=st.just(UTC)), st.integers(-23 * 60 - 59, 23 * 60 + 59))
def test_times_keep_instant_and_offset(moment: datetime, offset: int) -> None:
    try:
        given_time = moment.astimezone(timezone(timedelta(minutes=offset)))
    except OverflowError:
        return
    read = subscription(created_at=given_time.isoformat()).created_at
    assert read == given_time and read.utcoffset() == given_time.utcoffset()
