"""Times relative to now."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from billcore.cli._times import relative


@pytest.mark.parametrize(
    ("time", "text"),
    [
        ("2026-01-31T12:00:00Z", "now"),
        ("2026-01-31T13:00:01+01:00", "in 1 second"),
        ("2026-01-31T11:58:01Z", "1 minute ago"),
        ("2026-01-31T14:59:59+00:00", "in 2 hours"),
        ("2026-02-03T12:00:00.400Z", "in 3 days"),
        ("2025-12-03T12:00:00Z", "59 days ago"),
        ("2026-04-01T12:00:00Z", "2026-04-01"),
        ("2026-01-31T12:00:00", "2026-01-31T12:00:00"),  # no time zone: nobody knows when that is
        ("soon", "soon"),
    ],
)
def test_relative(time: str, text: str) -> None:
    assert relative(time, datetime(2026, 1, 31, 12, tzinfo=UTC)) == text
