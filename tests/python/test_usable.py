"""Tests until when a subscription is usable."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

import billcore

from .support import resource, subscription

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
