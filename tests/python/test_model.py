"""Resource views: fields, plain JSON, equality, copies, pickles, redaction, memory."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import sys
import traceback
import weakref
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import billcore
from billcore import webhooks

from .support import GROUP, ORDER, PRODUCT, SECRET, SUBSCRIPTION, event, resource, sign, subscription

NAMES = {
    "subscription.created": (billcore.Subscription, SUBSCRIPTION),
    "subscription.updated": (billcore.Subscription, SUBSCRIPTION),
    "subscription.renewed": (billcore.Subscription, SUBSCRIPTION),
    "subscription.cancelled": (billcore.Subscription, SUBSCRIPTION),
    "order.confirmed": (billcore.Order, ORDER),
    "order.paid": (billcore.Order, ORDER),
    "product.updated": (billcore.Product, PRODUCT),
    "product.deleted": (billcore.Product, PRODUCT),
    "product-group.updated": (billcore.ProductGroup, GROUP),
    "product-group.deleted": (billcore.ProductGroup, GROUP),
    "test.hook": (billcore.Resource, {"any": "thing"}),
    "from.the.future": (billcore.Resource, {"any": "thing"}),
}


def event_data(body: bytes) -> Any:
    return webhooks.unwrap(body, sign(body), SECRET).data


def raw_event(data: str) -> Any:
    body = f'{{"id": 1, "name": "subscription.updated", "data": {data}}}'.encode()
    return event_data(body)


@pytest.mark.parametrize("name", NAMES)
def test_events_are_typed_by_their_name(name: str) -> None:
    kind, sample = NAMES[name]
    made = event(sample, name)
    assert type(made.data) is kind and made.data is made.data
    assert made.data.to_dict() == sample and made.data.response_info is None
    assert (made.id, made.name, made.account) == (7, name, 3)
    assert made.created_at == datetime(2025, 4, 25, 10, tzinfo=UTC)
    assert repr(made) == f"<billcore.webhooks.Event id=7 name={name!r}>"


@pytest.mark.parametrize("value", [None, "text", 5, 1.5, True, [], [1, {"a": None}]])
def test_data_that_is_no_object_is_plain(value: Any) -> None:
    made = event(value).data
    assert made == value and type(made) is type(value)


def test_an_event_without_anything() -> None:
    made = webhooks.unwrap(b"{}", sign(b"{}"), SECRET)
    assert made.data is None and repr(made) == "<billcore.webhooks.Event id=? name=?>"
    for name in ("id", "name", "account", "created_at"):
        with pytest.raises(billcore.MissingFieldError, match=rf"^{name} is absent"):
            getattr(made, name)
        assert not hasattr(made, name) and getattr(made, name, "default") == "default"


def test_envelope_ids_as_received() -> None:
    assert event(None, id="evt_1").id == "evt_1"
    assert event(None, id=10**30).id == 10**30
    others: list[Any] = [True, 1.5, [], None]
    for wrong in others:
        with pytest.raises(billcore.DecodeError, match=r"^id "):
            _ = event(None, id=wrong).id


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


# What each type of the package reads: an object with nothing in it has none of the required fields.
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


def test_items_and_containment() -> None:
    made = subscription(surprise={"new": [1.5, True]})
    assert made["surprise"] == {"new": [1.5, True]} and "surprise" in made
    assert made["created_at"] == SUBSCRIPTION["created_at"] and made["renews_at"] == SUBSCRIPTION["renews_at"]
    assert "ends_at" in made and made["ends_at"] is None
    for missing in ("nothing", "\udc80", "", 5, None):
        assert missing not in made
        with pytest.raises(KeyError):
            made[missing]  # type: ignore[index]
    with pytest.raises(TypeError):
        iter(made)  # type: ignore[call-overload]
    with pytest.raises(AttributeError):
        made.price = 1  # type: ignore[misc]


def test_the_last_of_equal_names_wins() -> None:
    made = raw_event('{"id": 1, "id": 2, "metadata": {"a": 1, "b": 2, "a": 3}}')
    assert made.id == 2 and made["id"] == 2
    assert made.metadata == {"a": 3, "b": 2} and list(made.metadata) == ["a", "b"]


def test_raw_is_the_text_as_received() -> None:
    text = '{ "id" : "s\\u00f8",  "metadata":{} ,"price":1.0e2 }'
    made = raw_event(text)
    assert made.raw == text and type(made.raw) is str
    assert made.id == "sø"
    with pytest.raises(billcore.DecodeError, match=r"data\.price"):
        _ = made.price


def test_deep_nesting() -> None:
    depth = 508
    made = raw_event('{"metadata": ' + '{"a": ' * depth + "1" + "}" * depth + "}")
    inner = made.metadata
    for _ in range(depth):
        inner = inner["a"] if inner != 1 else inner
    assert inner == 1 and copy.copy(made).metadata == made.metadata


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(st.text(), JSON, max_size=6), st.booleans())
def test_to_dict_is_json_loads(value: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    try:
        text.encode()
    except UnicodeEncodeError:
        return  # lone surrogates are no JSON of the service
    if "\\ud" in text:
        return
    made = raw_event(text)
    expected = json.loads(text)
    assert made.to_dict() == expected and repr(made.to_dict()) == repr(expected)
    assert made.raw == text
    for key, item in expected.items():
        assert made[key] == item and type(made[key]) is type(item)


def test_equality_is_type_and_content() -> None:
    a, b = subscription(), subscription()
    assert a == b and a is not b and (a != b) is False
    assert subscription(price=1) != subscription(price=2)
    assert raw_event('{"a": 1, "b": 2}') == raw_event('{"b": 2.0, "a": true}'), "as the dicts are equal"
    assert event(SUBSCRIPTION, "order.paid").data != a and a != SUBSCRIPTION
    with pytest.raises(TypeError, match="unhashable"):
        hash(a)
    with pytest.raises(TypeError):
        _ = a < b  # type: ignore[operator]


@pytest.mark.parametrize("name", NAMES)
def test_pickle_and_copy(name: str) -> None:
    _, sample = NAMES[name]
    made = event(sample, name).data
    copies = [pickle.loads(pickle.dumps(made, protocol)) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    for again in [*copies, copy.copy(made), copy.deepcopy(made)]:
        assert type(again) is type(made) and again == made and again is not made and again.raw == made.raw


def test_parts_pickle_and_keep_their_path() -> None:
    made = subscription(custom_fields=[{"id": 1}])
    for again in (pickle.loads(pickle.dumps(made.custom_fields[0])), copy.copy(made.custom_fields[0])):
        with pytest.raises(billcore.DecodeError, match=r"^data\.custom_fields\[0\]\.label is absent"):
            _ = again.label


def test_a_forged_pickle_is_an_error() -> None:
    reduced: Any = subscription().__reduce__()
    restore = reduced[0]
    for arguments in (("Client", "{}", ""), ("Order", "[]", ""), ("Order", "{", "")):
        with pytest.raises(billcore.DecodeError):
            restore(*arguments)


def test_types_cannot_be_made() -> None:
    for kind in (billcore.Subscription, billcore.Resource, webhooks.Event, billcore.Pager, billcore.ResponseInfo):
        with pytest.raises(billcore.ConfigError, match="cannot be made by hand"):
            kind()
        with pytest.raises(TypeError):
            object.__new__(kind)
    with pytest.raises(TypeError):
        type("Mine", (billcore.Subscription,), {})


def test_repr_is_short_and_redacted() -> None:
    made = subscription()
    assert repr(made) == "<billcore.Subscription id='sub_1' status='active'>"
    assert repr(made.custom_fields[0]) == "<billcore.CustomFieldValue id=1 type='text'>"
    for name, (_, sample) in NAMES.items():
        shown = repr(event(sample, name).data) + str(event(sample, name).data)
        assert "http" not in shown and "metadata" not in shown and len(shown) < 200
    assert len(repr(subscription(id="x" * 5000))) < 200
    assert repr(subscription(id=[1], status=None)) == "<billcore.Subscription>"
    assert repr(resource(ORDER, "order.paid").delivery) == "<billcore.Delivery>"


NOW = datetime(2025, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize("status", ["pending", "future_start", "unpaid", "expired"])
@pytest.mark.parametrize("ends", [{}, {"ends_at": None}, {"ends_at": "2999-01-01T00:00:00Z"}, {"ends_at": 5}])
def test_not_usable_whenever_it_ends(status: str, ends: dict[str, Any]) -> None:
    assert resource({"status": status, **ends}).usable_at(NOW) is False


@pytest.mark.parametrize("status", ["active", "trialing", "delayed", "cancelled"])
def test_usable_until_ends_at(status: str) -> None:
    def at(**ends: Any) -> Any:
        return resource({"status": status, **ends}).usable_at(NOW)

    assert at(ends_at="2025-05-01T00:00:01Z") is True
    assert at(ends_at="2025-05-01T00:00:00Z") is False and at(ends_at="1999-01-01T00:00:00Z") is False
    assert at(ends_at=None) is (status != "cancelled")
    with pytest.raises(billcore.MissingFieldError, match=r"^data\.ends_at is absent") as caught:
        at()
    assert caught.value.path == "data.ends_at"
    no_times: list[Any] = ["tomorrow", 5, True, [], {}]
    for wrong in no_times:
        with pytest.raises(billcore.DecodeError, match=r"^data\.ends_at is ") as other:
            at(ends_at=wrong)
        assert type(other.value) is billcore.DecodeError


@pytest.mark.parametrize("status", ["from_the_future", "", "Active", "active "])
def test_usable_cannot_be_told_of_an_unknown_status(status: str) -> None:
    for ends in ({}, {"ends_at": None}, {"ends_at": "1999-01-01T00:00:00Z"}):
        made = resource({"status": status, **ends})
        assert made.status == status
        with pytest.raises(billcore.DecodeError, match=r"^data\.status is not a status this version knows") as caught:
            made.usable_at(NOW)
        assert type(caught.value) is billcore.DecodeError and caught.value.path == "data.status"


def test_usable_needs_a_status() -> None:
    for made, kind in (
        (resource({"ends_at": None}), billcore.MissingFieldError),
        (resource({"status": None}), billcore.DecodeError),
    ):
        with pytest.raises(billcore.DecodeError, match=r"^data\.status is ") as caught:
            made.usable_at(NOW)
        assert type(caught.value) is kind


def test_usable_until_the_paid_period_ends() -> None:
    made = subscription(status="cancelled", ends_at="2025-06-01T00:00:00+02:00")
    end = datetime(2025, 5, 31, 22, tzinfo=UTC)
    assert made.usable_at(end - timedelta(microseconds=1)) and not made.usable_at(end)
    assert made.usable_at((end - timedelta(seconds=1)).astimezone(timezone(timedelta(hours=-5))))
    for status in ("active", "trialing", "delayed"):
        assert subscription(status=status).usable_at(end)
    wrong: list[Any] = [datetime(2025, 5, 1), "2025-05-01", None, 5]
    for now in wrong:
        with pytest.raises(billcore.InvalidArgumentError, match="now"):
            made.usable_at(now)


def test_a_resource_outlives_its_event() -> None:
    made = subscription()
    fields = made.custom_fields
    del made
    gc.collect()
    assert fields[0].value == {"a": [1, None]}


def test_nothing_leaks() -> None:
    class Body(bytearray):
        pass

    body = json.dumps({"id": 10**30, "name": "order.paid", "data": {**ORDER, "custom_fields": [{"id": 1}]}}).encode()
    right = sign(body)
    verifier = webhooks.Verifier(SECRET)

    def once() -> None:
        made = verifier.unwrap(body, right)
        order: Any = made.data
        _ = (made.id, made.raw, repr(made), order.id, order.created_at, order.to_dict(), order["total"], order.delivery)
        _ = (order.custom_fields, order == copy.copy(order), pickle.loads(pickle.dumps(order)), order.metadata)
        for broken in ("nothing", "x"):
            with pytest.raises(KeyError):
                order[broken]
        with pytest.raises(billcore.DecodeError):
            _ = order.custom_fields[0].label

    once()
    kinds = (billcore.Order, billcore.Delivery, billcore.CustomFieldValue, webhooks.Event, type(None), bytes)
    before = [sys.getrefcount(kind) for kind in kinds] + [sys.getrefcount(body), sys.getrefcount(verifier)]
    for _ in range(200):
        once()
    gc.collect()
    after = [sys.getrefcount(kind) for kind in kinds] + [sys.getrefcount(body), sys.getrefcount(verifier)]
    assert all(late - early < 20 for early, late in zip(before, after, strict=True)), (before, after)

    changing = Body(body)
    gone = weakref.ref(changing)
    kept = verifier.unwrap(changing, right)
    del changing
    assert gone() is None and kept.raw == body
