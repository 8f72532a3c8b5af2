"""Random objects as JSON bodies: either Python's json module reads equal values from the sent body, or the client
raises a typed error and sends nothing."""

from __future__ import annotations

import enum
import json
import os
import random
import struct
import sys
from collections import ChainMap, OrderedDict, UserDict, defaultdict, namedtuple
from collections.abc import Callable, Iterator
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request

from .conftest import Serve

DEEPEST = 512
ROUNDS = 2000


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


class List(list[Any]):
    pass


class Mine(Exception):
    pass


class Raises:
    def __index__(self) -> int:
        raise Mine


class RaisesItems(UserDict[str, Any]):
    def items(self) -> Any:
        raise Mine


class Empties:
    """Empties the container that holds this object, while the container is being written."""

    def __init__(self, holder: list[Any] | dict[str, Any]) -> None:
        self._holder = holder

    def __index__(self) -> int:
        self._holder.clear()
        return 1


Pair = namedtuple("Pair", "one two")
Color = enum.IntEnum("Color", {"RED": 7})
Word = enum.StrEnum("Word", {"ONE": 'o"ne'})

REFUSED: list[Callable[[], Any]] = [
    lambda: float("nan"),
    lambda: float("-inf"),
    lambda: Float("inf"),
    lambda: Decimal("NaN"),
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
    lambda: range(3),
    lambda: iter([1]),
    lambda: datetime(2025, 1, 1),
    lambda: dict,
    lambda: {1: 2},
    lambda: {None: 2},
    lambda: {True: 2},
    lambda: {b"a": 2},
    lambda: {("a",): 2},
    lambda: OrderedDict([(1.5, 2)]),
    lambda: {"\udc80": 2},
]


class Maker:
    """Makes random objects. make() returns an object and the content expected in the body, in the form that read()
    returns.

    faults: the errors that the made objects may cause; if it is not empty, the client must not send a request.
    strange: the json module does not accept the object, or may write it differently.
    unsteady: the object changes while it is written, so that its JSON is not checked.
    """

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self.faults: set[type[Exception]] = set()
        self.strange = False
        self.unsteady = False

    def make(self, depth: int = 0) -> tuple[Any, Any]:
        chance = self._source.random()
        if chance < 0.01:
            return self._fault()
        if depth > 5 or chance < 0.4 + depth / 10:
            return self._leaf()
        return self._array(depth) if chance < 0.7 + depth / 20 else self._object(depth)

    def deep(self) -> tuple[Any, Any]:
        """An object nested to about the depth limit."""
        value, said = self._leaf()
        levels = self._source.choice([500, DEEPEST - 1, DEEPEST, DEEPEST, DEEPEST + 1, 700, 5000])
        if levels > DEEPEST:
            self.faults.add(billcore.InvalidArgumentError)
        for _ in range(levels):
            if self._source.random() < 0.5:
                value, said = [value], [said]
            else:
                value, said = {"": value}, ("object", [("", said)])
        return value, said

    def _fault(self) -> tuple[Any, Any]:
        if self._source.random() < 0.2:
            self.faults.add(Mine)
            return self._source.choice([Raises, RaisesItems])(), None
        self.faults.add(billcore.InvalidArgumentError)
        return self._source.choice(REFUSED)(), None

    def _leaf(self) -> tuple[Any, Any]:
        kind = self._source.randrange(5)
        if kind == 0:
            return self._source.choice([(None, None), (True, True), (False, False)])
        if kind == 1:
            return self._integer()
        if kind == 2:
            number = struct.unpack("<d", self._source.randbytes(8))[0]
            number = number if number - number == 0 else self._source.choice([0.0, -0.0, 1e16, 5e-324, 0.1, 1e22])
            return self._source.choice([float, Float])(number), ("number", float.__repr__(number))
        if kind == 3:
            return self._decimal()
        text = self._text()
        return self._source.choice([(text, text), (Text(text), text), (Word.ONE, 'o"ne')])

    def _integer(self) -> tuple[Any, Any]:
        number = self._source.getrandbits(self._source.choice([1, 8, 53, 63, 64, 200, 14000]))
        number *= self._source.choice([1, -1])
        kind = self._source.choice([int, int, Integer, Index, Color])
        if kind is Color:
            return Color.RED, ("number", "7")
        self.strange |= kind is Index
        return kind(number), ("number", repr(number))

    def _decimal(self) -> tuple[Any, Any]:
        self.strange = True
        digits = tuple(self._source.choices(range(10), k=self._source.choice([1, 2, 18, 60])))
        exponent = self._source.choice([0, -2, 2, -7, 40, -400, 999_999])
        number = Decimal((self._source.randrange(2), digits, exponent))
        return self._source.choice([Decimal, Money])(number), ("number", Decimal.__str__(number))

    def _text(self) -> str:
        kinds = [
            "\0\x1f\x7f\b\t\n\f\r",
            '"\\/',
            "a{}[]:,",
            "\x80\xe9\u2028\ufeff\uffff\ud7ff\ue000",
            "\U00010000\U0010ffff",
        ]
        return "".join(self._source.choice(self._source.choice(kinds)) for _ in range(self._source.choice([0, 1, 9])))

    def _array(self, depth: int) -> tuple[Any, Any]:
        made = [self.make(depth + 1) for _ in range(self._source.choice([0, 1, 2, 5]))]
        said = [one for _, one in made]
        chance = self._source.random()
        if len(made) == 2 and chance < 0.3:
            return Pair(made[0][0], made[1][0]), said
        value: Any = self._source.choice([list, list, List])(one for one, _ in made)
        if chance > 0.99:
            value.append(value)
            self.faults.add(billcore.InvalidArgumentError)
        elif chance > 0.98:
            value.insert(self._source.randint(0, len(value)), Empties(value))
            self.unsteady = True
        elif chance > 0.7:
            value = tuple(value)
        return value, said

    def _object(self, depth: int) -> tuple[Any, Any]:
        names = dict.fromkeys(self._text() for _ in range(self._source.choice([0, 1, 2, 5])))
        pairs = {name: self.make(depth + 1) for name in names}
        said = ("object", [(name, one) for name, (_, one) in pairs.items()])
        kind = self._source.choice([dict, dict, OrderedDict, UserDict, MappingProxyType, ChainMap, defaultdict])
        plain = {self._source.choice([str, Text])(name): value for name, (value, _) in pairs.items()}
        chance = self._source.random()
        if chance > 0.99:
            plain["self"] = plain
            self.faults.add(billcore.InvalidArgumentError)
        elif chance > 0.98:
            plain["empties"] = Empties(plain)
            self.unsteady = True
        self.strange |= kind in (UserDict, MappingProxyType, ChainMap)
        return (defaultdict(int, plain) if kind is defaultdict else kind(plain)), said


def read(text: str | bytes) -> Any:
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


@pytest.fixture
def _deep_comparisons() -> Iterator[None]:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20 * DEEPEST)
    yield
    sys.setrecursionlimit(limit)


@pytest.mark.usefixtures("_deep_comparisons")
def test_random_objects_as_bodies(serve: Serve) -> None:
    """BILLCORE_SEED=N repeats the run with the seed N."""
    seed = int(os.environ.get("BILLCORE_SEED") or random.SystemRandom().randrange(1 << 30))
    source = random.Random(seed)
    bodies: list[bytes] = []

    def script(request: Request) -> Reply:
        bodies.append(request.body)
        return Reply(status=204)

    _, client = serve(script)
    refused = 0
    for number in range(ROUNDS):
        again = f"round {number}; BILLCORE_SEED={seed} runs this again"
        maker = Maker(source)
        value, said = maker.deep() if number % 50 == 0 else maker.make()
        bodies.clear()
        try:
            client.request("POST", "/x", json=value)
        except (billcore.InvalidArgumentError, Mine, RuntimeError) as error:
            wanted = maker.faults | ({RuntimeError} if maker.unsteady else set())
            assert type(error) in wanted, (again, repr(error))
            assert str(error).isprintable() and not bodies, (again, str(error))
            refused += 1
            continue
        assert len(bodies) == 1, again
        got = read(bodies[0])
        if maker.unsteady:
            continue
        assert not maker.faults, (again, bodies[0][:200])
        assert got == said, (again, bodies[0][:200])
        if not maker.strange:
            assert got == read(json.dumps(value)), (again, bodies[0][:200])
    assert ROUNDS / 50 < refused < ROUNDS / 2, "both happened"
