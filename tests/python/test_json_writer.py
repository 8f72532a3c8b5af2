"""Random objects as JSON bodies: either Python's json module reads equal values from the sent body, or the client
raises a typed error and sends nothing."""

from __future__ import annotations

import enum
import json
from collections import ChainMap, OrderedDict, UserDict, defaultdict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import billcore
from conformance.server import Reply

from .calls_support import calling

DEEPEST = 512


class Integer(int):
    def __repr__(self) -> str:
        return "an integer"

    __str__ = __repr__


class Float(float):
    def __repr__(self) -> str:
        return "a float"

    __str__ = __repr__


class Money(Decimal):
    """A Decimal whose __str__() is not JSON and whose is_finite() is always true."""

    def __str__(self) -> str:
        return "1,234.50"

    def is_finite(self) -> bool:
        return True


class Text(str):
    def __str__(self) -> str:
        return "a text"

    __repr__ = __str__


class Index:
    """An object that converts to an int through __index__(), like NumPy's integers."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __index__(self) -> int:
        return self._number


Pair = namedtuple("Pair", "one two")
Color = enum.IntEnum("Color", {"RED": 7})
Word = enum.StrEnum("Word", {"ONE": 'o"ne'})

NUMBERS = (
    st.builds(lambda kind, number: kind(number), st.sampled_from([int, Integer, Index]), st.integers())
    | st.builds(lambda power, sign: sign * (1 << power), st.sampled_from([63, 64, 14_000]), st.sampled_from([1, -1]))
    | st.builds(
        lambda kind, number: kind(number),
        st.sampled_from([float, Float]),
        st.floats(allow_nan=False, allow_infinity=False),
    )
    | st.builds(
        lambda kind, number: kind(number),
        st.sampled_from([Decimal, Money]),
        st.decimals(allow_nan=False, allow_infinity=False),
    )
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=9)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS | TEXTS.map(Text) | st.sampled_from([Color.RED, Word.ONE])
MAPPINGS: list[Callable[[Any], Any]] = [
    dict,
    OrderedDict,
    UserDict,
    MappingProxyType,
    ChainMap,
    lambda plain: defaultdict(int, plain),
]
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=5).map(tuple)
        | st.builds(Pair, inner, inner)
        | st.builds(
            lambda kind, plain: kind(plain), st.sampled_from(MAPPINGS), st.dictionaries(TEXTS, inner, max_size=5)
        )
    ),
    max_leaves=25,
)


def said(value: Any) -> Any:
    """What a body with this value says, in the form that read() returns."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, float):
        return "number", float.__repr__(value)
    if isinstance(value, Decimal):
        return "number", Decimal.__str__(value)
    if hasattr(value, "__index__"):
        return "number", int.__repr__(value.__index__())
    if isinstance(value, Mapping):
        return "object", [(said(name), said(one)) for name, one in value.items()]
    return [said(one) for one in value]


def read(text: bytes) -> Any:
    """The content of a JSON text, with numbers as digits and objects as pairs in their order."""

    def number(digits: str) -> tuple[str, str]:
        return "number", digits

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    return json.loads(
        text,
        parse_int=number,
        parse_float=number,
        parse_constant=refuse,
        object_pairs_hook=lambda pairs: ("object", pairs),
    )


@pytest.fixture(scope="module")
def sent() -> Iterator[Callable[[Any], bytes]]:
    """Returns a function that sends a value and returns its body."""
    with calling("blocking", lambda _: Reply(status=204)) as (server, calls):

        def send(value: Any) -> bytes:
            before = len(server.requests)
            try:
                calls.client.request("POST", "/x", json=value)
            except Exception:
                assert len(server.requests) == before, "refused, but sent"
                raise
            (request,) = server.requests[before:]
            return request.body

        yield send


@given(value=VALUES)
def test_random_objects_as_bodies(sent: Callable[[Any], bytes], value: Any) -> None:
    assert read(sent(value)) == said(value)


class Raises:
    def __index__(self) -> int:
        raise ZeroDivisionError


class RaisesItems(UserDict[str, Any]):
    def items(self) -> Any:
        raise ZeroDivisionError


def endless(kind: type) -> Any:
    value: Any = kind()
    if kind is dict:
        value["self"] = value
    else:
        value.append(value)
    return value


REFUSED: list[Callable[[], Any]] = [
    lambda: float("nan"),
    lambda: Float("inf"),
    lambda: Decimal("sNaN"),
    lambda: Decimal("-Infinity"),
    lambda: Money("NaN"),
    lambda: "a\ud800",
    lambda: Text("\udfff"),
    lambda: 10**5000,
    lambda: b"x",
    lambda: {1, 2},
    lambda: object(),
    lambda: 1j,
    lambda: iter([1]),
    lambda: datetime(2025, 1, 1),
    lambda: {None: 2},
    lambda: {"\udc80": 2},
    lambda: endless(list),
    lambda: endless(dict),
    Raises,
    RaisesItems,
]


@pytest.mark.parametrize("make", REFUSED)
@pytest.mark.parametrize("around", [lambda one: one, lambda one: [1, one], lambda one: {"a": (one,)}])
def test_what_is_no_json_is_refused(
    sent: Callable[[Any], bytes], make: Callable[[], Any], around: Callable[[Any], Any]
) -> None:
    expected = ZeroDivisionError if make in (Raises, RaisesItems) else billcore.InvalidArgumentError
    with pytest.raises(expected) as caught:
        sent(around(make()))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("levels", [DEEPEST, DEEPEST + 1, 5000])
def test_deep_objects(sent: Callable[[Any], bytes], levels: int) -> None:
    value: Any = 1
    for level in range(levels):
        value = [value] if level % 2 else {"": value}
    if levels > DEEPEST:
        with pytest.raises(billcore.InvalidArgumentError):
            sent(value)
    else:
        assert sent(value).count(b"[") == levels // 2


class Empties:
    """Empties the container that holds this object, while the container is being written."""

    def __init__(self, holder: list[Any] | dict[str, Any]) -> None:
        self._holder = holder

    def __index__(self) -> int:
        self._holder.clear()
        return 1


def test_a_container_that_changes_while_it_is_written(sent: Callable[[Any], bytes]) -> None:
    items: list[Any] = [1, 2, 3]
    items.insert(1, Empties(items))
    assert read(sent(items)) == [("number", "1")] * 2
    members: dict[str, Any] = {"a": 1}
    members |= {"b": Empties(members), "c": 2}
    with pytest.raises(RuntimeError):
        sent(members)
