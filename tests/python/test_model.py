"""Events and resource views: plain JSON, equality, copies, pickles, redaction, memory."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import sys
import weakref
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import billcore
from billcore import webhooks

from .model_support import NAMES, raw_event
from .support import ORDER, SECRET, SUBSCRIPTION, event, sign, subscription


@pytest.mark.parametrize("name", NAMES)
def test_events_are_typed_by_their_name(name: str) -> None:
    kind, sample = NAMES[name]
    made = event(sample, name)
    assert type(made.data) is kind and made.data is made.data
    assert made.data.to_dict() == sample and made.data.response_info is None
    assert (made.id, made.name, made.account) == (7, name, 3)
    assert made.created_at == datetime(2025, 4, 25, 10, tzinfo=UTC)


@pytest.mark.parametrize("value", [None, "text", 5, 1.5, True, [], [1, {"a": None}]])
def test_data_that_is_no_object_is_plain(value: Any) -> None:
    made = event(value).data
    assert made == value and type(made) is type(value)


def test_an_event_without_anything() -> None:
    made = webhooks.unwrap(b"{}", sign(b"{}"), SECRET)
    assert made.data is None
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
