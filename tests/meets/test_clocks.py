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

from billcore import webhooks

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
