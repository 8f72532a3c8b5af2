"""billcore.same_id() compares ids of both kinds: webhooks send ids as int, the REST interface sends them as str."""

from __future__ import annotations

import enum
from typing import Any

import pytest

import billcore


class Number(enum.IntEnum):
    SEVEN = 7


class Text(str, enum.Enum):  # noqa: UP042  str() of a StrEnum member would be its value
    SEVEN = "7"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (7, "7"),
        (10**40, "1" + "0" * 40),
        (Number.SEVEN, "7"),
        (Text.SEVEN, 7),
        ("a", "a"),
    ],
)
def test_equal_texts_are_one_id(a: str | int, b: str | int) -> None:
    assert billcore.same_id(a, b) is True
    assert billcore.same_id(b, a) is True


@pytest.mark.parametrize(("a", "b"), [(7, 8), (7, "07"), (7, " 7"), ("a", "A"), ("é", "e\u0301")])
def test_nothing_is_normalised(a: str | int, b: str | int) -> None:
    assert billcore.same_id(a, b) is False
    assert billcore.same_id(b, a) is False


@pytest.mark.parametrize("wrong", [None, True, 7.0, b"7", ["7"], object()])
def test_same_id_refuses_values_that_are_no_id(wrong: Any) -> None:
    for pair in ((wrong, 7), ("7", wrong)):
        with pytest.raises(billcore.InvalidArgumentError, match=r"^an id is a str or an int, not (None|an? \w+): "):
            billcore.same_id(*pair)
