"""Objects as JSON bodies: the client sends the JSON text of an object, or raises a typed error and sends nothing."""

from __future__ import annotations

import enum
from collections import ChainMap, OrderedDict, UserDict, defaultdict, namedtuple
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest

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

# A value, and the JSON text that is sent for it.
VALUES: list[tuple[Any, str]] = [
    (None, "null"),
    ([True, False], "[true,false]"),
    ([Integer(-7), Index(7), Color.RED], "[-7,7,7]"),
    ([2**63, -(2**64), 10**30], f"[{2**63},{-(2**64)},{10**30}]"),
    (1 << 14_000, str(1 << 14_000)),
    ([1.5, Float(0.1), -0.0, 1e300, 5e-324], "[1.5,0.1,-0.0,1e+300,5e-324]"),
    ([Decimal("25.10"), Money("1234.50"), Decimal("1E+5"), Decimal("-0")], "[25.10,1234.50,1E+5,-0]"),
    ([Text("x"), Word.ONE, "", '\x00\t\x7f"\\/'], '["x","o\\"ne","","\\u0000\\t\x7f\\"\\\\/"]'),
    ("bl\u00e5b\u00e6r \u20ac \U0001f4b3\u2028", '"bl\u00e5b\u00e6r \u20ac \U0001f4b3\u2028"'),
    ([(), (1, [2]), Pair(3, {})], "[[],[1,[2]],[3,{}]]"),
    ({"": 1, "b": {Text("a"): 2}, Word.ONE: [{}]}, '{"":1,"b":{"a":2},"o\\"ne":[{}]}'),
    *(
        (kind({"b": 1, "a": None}), '{"b":1,"a":null}')
        for kind in (OrderedDict, UserDict, MappingProxyType, ChainMap, lambda plain: defaultdict(int, plain))
    ),
]


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


@pytest.mark.parametrize(("value", "text"), VALUES, ids=lambda value: str(type(value).__name__))
def test_objects_as_bodies(sent: Callable[[Any], bytes], value: Any, text: str) -> None:
    assert sent(value).decode() == text


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
    assert sent(items) == b"[1,1]"
    members: dict[str, Any] = {"a": 1}
    members |= {"b": Empties(members), "c": 2}
    with pytest.raises(RuntimeError):
        sent(members)
