"""A verifier with a freshness limit refuses a signed event that the verifier's clock finds too old or in the
future."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

import billcore
from billcore import webhooks

from .support import SECRET, event, sign

BODY = b'{"id": 9, "name": "order.paid", "account": 1, "created_at": "2025-04-25T10:00:00Z", "data": null}'
CREATED = datetime(2025, 4, 25, 10, tzinfo=UTC)  # created_at of BODY


@pytest.mark.parametrize("freshness", [300, 300.0, timedelta(minutes=5)])
@pytest.mark.parametrize("away", [timedelta(minutes=5), timedelta(minutes=-5), timedelta()])
@pytest.mark.parametrize("as_seconds", [True, False])
def test_freshness(freshness: float | timedelta, away: timedelta, as_seconds: bool) -> None:
    now = CREATED + away

    def clock() -> float | datetime:
        return now.timestamp() if as_seconds else now.astimezone(timezone(timedelta(hours=2)))

    verifier = webhooks.Verifier(SECRET, freshness=freshness, clock=clock)
    assert verifier.verify(BODY, sign(BODY))
    assert verifier.unwrap(BODY, sign(BODY)).id == 9
    now += timedelta(seconds=1 if away >= timedelta() else -1)
    if away:
        for call in (verifier.verify, verifier.unwrap):
            with pytest.raises(webhooks.SignatureError) as caught:
                call(BODY, sign(BODY))
            assert (caught.value.reason, caught.value.http_status) == ("stale", 400)
            assert "301 s" in str(caught.value) and "300 s" in str(caught.value)


def test_freshness_with_the_clock_of_the_machine() -> None:
    body = event(None, created_at=datetime.now(UTC).isoformat()).raw
    verifier = webhooks.Verifier(SECRET, freshness=60)
    assert verifier.unwrap(body, sign(body)).id == 7
    with pytest.raises(webhooks.SignatureError, match="stale"):
        verifier.unwrap(BODY, sign(BODY))


def test_freshness_wants_the_whole_body() -> None:
    with pytest.raises(billcore.ConfigError, match="freshness"):
        webhooks.Verifier(SECRET, freshness=60).stream()


@pytest.mark.parametrize("freshness", [0, -1, -0.5, timedelta(0)])
def test_freshness_must_be_positive(freshness: Any) -> None:
    with pytest.raises(billcore.ConfigError, match="freshness"):
        webhooks.Verifier(SECRET, freshness=freshness)


@pytest.mark.parametrize("freshness", ["60", True, float("nan"), float("inf"), 1e300, b""])
def test_freshness_of_the_wrong_type(freshness: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="freshness"):
        webhooks.Verifier(SECRET, freshness=freshness)


def test_a_clock_that_gives_no_time_is_refused() -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="clock"):
        webhooks.Verifier(SECRET, freshness=1, clock=5)  # type: ignore[arg-type]
    for wrong in (None, "now", datetime(2025, 4, 25), float("nan")):
        verifier = webhooks.Verifier(SECRET, freshness=1, clock=lambda wrong=wrong: wrong)  # type: ignore[misc]
        with pytest.raises(billcore.InvalidArgumentError, match="clock"):
            verifier.verify(BODY, sign(BODY))

    def broken() -> float:
        raise ZeroDivisionError

    large = event({"text": "x" * 200_000}).raw  # large enough to be verified without the GIL
    for body in (BODY, large):
        with pytest.raises(ZeroDivisionError):
            webhooks.Verifier(SECRET, freshness=1, clock=broken).unwrap(body, sign(body))
    # The clock is not called when the signature is wrong.
    with pytest.raises(webhooks.SignatureError, match="mismatch"):
        webhooks.Verifier(SECRET, freshness=1, clock=broken).unwrap(BODY, sign(b""))
