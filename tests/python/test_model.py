"""Resource views: Python's types, plain JSON, equality, copies, pickles, memory. tests/conformance has the values of
each field, and the errors of those that are absent or of another type."""

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

from .model_support import EVENTS, event_data, raw_event
from .support import ORDER, PRODUCT, SECRET, SUBSCRIPTION, event, resource, sign, subscription


def test_fields_have_types_of_python() -> None:
    made = subscription()
    assert made.created_at == datetime(2025, 4, 25, 10, tzinfo=UTC) and made.created_at.tzinfo is UTC
    assert made.renews_at == datetime(2025, 5, 25, 12, 30, 15, 250000, timezone(timedelta(hours=2)))
    assert made.renews_at is not None and made.renews_at.utcoffset() == timedelta(hours=2)
    (field,) = made.custom_fields
    assert (field.id, field.label, field.type, field.value) == (1, "Size", "text", {"a": [1, None]})
    assert resource(ORDER, "order.paid").created_at.tzinfo is UTC, "UTC when no offset is given"
    product = resource(PRODUCT, "product.updated")
    assert product.vat_rate == Decimal("12.5") and type(product.vat_rate) is Decimal and product.use_cart is True
    assert product.images[0].square.src.endswith("/s") and product.strings.price_with_vat is None


def test_numbers_of_any_size_and_their_digits() -> None:
    made = raw_event(
        '{"id": 123456789012345678901234567890, "price": -99999999999999999999, "vat": 18446744073709551615}'
    )
    assert (made.id, made.price, made.vat) == (123456789012345678901234567890, -(10**20) + 1, 2**64 - 1)
    assert made.to_dict() == json.loads(made.raw)
    body = b'{"name": "product.updated", "data": {"vat_rate": 25.10, "id": 1}}'
    assert str(event_data(body).vat_rate) == "25.10"


@pytest.mark.parametrize("text", ["yesterday", "0000-01-01T00:00:00Z"])
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


# A type, the place of an empty object within it, and required fields that the object lacks.
REQUIRED = [
    ("order.paid", "", "id created_at total currency state custom_fields metadata"),
    ("order.paid", "delivery", "link"),
    ("product.updated", "", "id name type price vat_rate images use_cart strings"),
    ("product.updated", "images.portrait", "src"),
    ("product-group.updated", "", "id name products"),
    ("subscription.updated", "custom_fields", "id label type value"),
]


@pytest.mark.parametrize(("name", "inside", "fields"), REQUIRED)
def test_an_absent_field_is_an_absent_attribute(name: str, inside: str, fields: str) -> None:
    parts = inside.split(".") if inside else []
    empty: Any = {}
    for part in reversed(parts):
        empty = {part: [empty] if part in ("custom_fields", "images") else empty}
    made, path = resource(empty, name), "data"
    for part in parts:
        made, path = getattr(made, part), f"{path}.{part}"
        if isinstance(made, list):
            (made,), path = made, f"{path}[0]"
    for field in fields.split():
        assert not hasattr(made, field) and getattr(made, field, None) is None and field not in made
        with pytest.raises(billcore.MissingFieldError) as caught:
            getattr(made, field)
        error = caught.value
        assert (str(error), error.path, error.name) == (f"{path}.{field} is absent", f"{path}.{field}", field)
        assert error.obj is None, "the error keeps no payload alive"
        assert isinstance(error, AttributeError) and not error.outcome_unknown
        assert "".join(traceback.format_exception(error)).endswith(f"MissingFieldError: {error}\n")


def test_a_field_of_another_type() -> None:
    for wrong in (None, True, {"a": 1}):
        with pytest.raises(billcore.DecodeError, match=r"^data\.vat is ") as caught:
            _ = subscription(vat=wrong).vat
        assert type(caught.value) is billcore.DecodeError
        assert (caught.value.status, caught.value.path) == (None, "data.vat")


def test_usable_at() -> None:
    made = subscription(status="cancelled", ends_at="2025-06-01T00:00:00+02:00")
    end = datetime(2025, 5, 31, 22, tzinfo=UTC)
    assert made.usable_at(end - timedelta(microseconds=1)) and not made.usable_at(end)
    assert made.usable_at((end - timedelta(seconds=1)).astimezone(timezone(timedelta(hours=-5))))
    wrong: list[Any] = [datetime(2025, 5, 1), "2025-05-01", None, 5]
    for now in wrong:
        with pytest.raises(billcore.InvalidArgumentError, match="now"):
            made.usable_at(now)
    for fields, path in (({"status": "active"}, "ends_at"), ({"status": "new"}, "status")):
        with pytest.raises(billcore.DecodeError) as caught:
            resource(fields).usable_at(end)
        assert caught.value.path == f"data.{path}"


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
def test_to_dict_gives_what_json_loads_gives(value: dict[str, Any], ascii_only: bool) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    try:
        text.encode()
    except UnicodeEncodeError:
        return  # the service never sends lone surrogates
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


@pytest.mark.parametrize("name", EVENTS)
def test_pickle_and_copy(name: str) -> None:
    made = event(EVENTS[name][2], name).data
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
