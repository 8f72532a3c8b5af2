"""A verifier's default clock is time.time, which freezegun and time-machine replace in tests of programs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

import freezegun
import pytest
import time_machine

import billcore
from billcore import testing, webhooks
from billcore.testing import SandboxAccount

SECRET = "0123456789abcdef0123456789abcdef"
NOW = datetime(2012, 1, 14, 12, tzinfo=UTC)


def event(created: datetime, text: str = "") -> tuple[bytes, str]:
    values = {"id": 9, "name": "order.paid", "account": 1, "created_at": created.isoformat(), "data": {"text": text}}
    body = json.dumps(values).encode()
    return body, webhooks.sign(body, SECRET)


CLOCKS = {"freezegun": freezegun.freeze_time, "time-machine": lambda now: time_machine.travel(now, tick=False)}
TEXTS = {"small": "", "large": "x" * 200_000}  # a large body is verified without the GIL


@pytest.mark.parametrize("set_clock", CLOCKS.values(), ids=CLOCKS.keys())
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_freshness_under_a_changed_clock(
    set_clock: Callable[[datetime], AbstractContextManager[Any]], text: str
) -> None:
    """Also of a verifier that was made before, as a module's constant is."""
    old = webhooks.Verifier(SECRET, freshness=300)
    with set_clock(NOW):
        for verifier in (old, webhooks.Verifier(SECRET, freshness=300)):
            assert verifier.unwrap(*event(NOW - timedelta(seconds=300), text)).id == 9
            with pytest.raises(webhooks.SignatureError, match="301 s before") as caught:
                verifier.unwrap(*event(NOW - timedelta(seconds=301), text))
            assert caught.value.reason == "stale"
    assert old.unwrap(*event(datetime.fromtimestamp(time.time(), UTC), text)).id == 9


def test_an_event_grows_old() -> None:
    verifier = webhooks.Verifier(testing.SECRET, freshness=300)
    with freezegun.freeze_time("2030-01-01 12:00:00"):
        body, signature = testing.event("order.paid")
    with freezegun.freeze_time("2030-01-01 12:05:00"):
        verifier.unwrap(body, signature)
    with freezegun.freeze_time("2030-01-01 12:05:01"), pytest.raises(webhooks.SignatureError):
        verifier.unwrap(body, signature)


@pytest.mark.parametrize("set_clock", CLOCKS.values(), ids=CLOCKS.keys())
def test_a_changed_clock_moves_no_deadline(
    billcore_sandbox: SandboxAccount, set_clock: Callable[[datetime], AbstractContextManager[Any]]
) -> None:
    """The client's time-outs, and the times by which find_charges() searches, are those of the real clock."""
    ids, control = billcore_sandbox.ids, billcore_sandbox.control
    subscription, product = ids["subscriptions"]["demo-active"], ids["products"]["one_time"]
    control.fault("delay", delay=60, operation="products.get")
    control.fault("reset_after", operation="charge")
    with (
        billcore.Client(base_url=billcore_sandbox.base_url, api_key=billcore_sandbox.api_key, max_retries=0) as client,
        set_clock(NOW),
    ):
        with pytest.raises(billcore.TimeoutError):
            client.products.get(product, timeout=0.2)
        with pytest.raises(billcore.OutcomeUnknownError) as caught:
            client.subscriptions.charge(subscription, product_id=product, amount=1500)
        assert caught.value.attempted_at is not None and caught.value.attempted_at.year > NOW.year
        assert [each.total for each in client.subscriptions.find_charges(caught.value)] == [1500]
