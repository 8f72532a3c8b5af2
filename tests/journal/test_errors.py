"""What a caller reads in the errors of charge(): whether the key may have been charged, and when to call again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import billcore
from billcore.journal import ChargeInProgressError, ChargePendingError, Journal, JournalError, UnresolvedChargeError

from .support import CHARGE, PAST, Scene, on_sqlite, once

pytestmark = on_sqlite

UNREAD: dict[str, Any] = {"status": 200, "body": "{", "content_type": "application/json"}


def fails(scene: Scene, kind: Any, **more: Any) -> None:
    scene.control.fault(kind, method="POST", path=CHARGE, **more)


def blocked(scene: Scene) -> None:
    fails(scene, "reset_before")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal(), "other")


def failing_look_up(scene: Scene) -> None:
    fails(scene, "reset_before")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    scene.control.fault("status", method="GET", path="/subscription/*/orders", status=503)


def in_flight(scene: Scene) -> None:
    failing_look_up(scene)
    scene.database.execute("UPDATE billcore_charges SET state = 'sending', uncertain = NULL")


def down(scene: Scene) -> None:
    scene.charge(scene.journal(), "before")
    scene.database.execute("ALTER TABLE billcore_charges RENAME TO away")


# How the next charge fails, its error, whether the key may have been charged, and whether to call again.
CASES: list[tuple[str, Callable[[Scene], object], type[BaseException], bool, bool]] = [
    ("lost", lambda scene: fails(scene, "reset_after"), ChargePendingError, True, True),
    ("500", lambda scene: fails(scene, "status", status=500), ChargePendingError, True, True),
    ("302", lambda scene: fails(scene, "status", status=302), ChargePendingError, True, True),
    ("unread", lambda scene: fails(scene, "status", **UNREAD), ChargePendingError, True, True),
    ("in flight", in_flight, ChargeInProgressError, True, True),
    ("blocked", blocked, ChargeInProgressError, False, True),
    ("a failing look-up", failing_look_up, ChargePendingError, True, True),
    ("429", lambda scene: fails(scene, "status", status=429, retry_after=7), billcore.RateLimitError, False, True),
    ("422", lambda scene: fails(scene, "status", status=422), billcore.ValidationError, False, False),
    ("402", lambda scene: fails(scene, "status", status=402), billcore.PaymentError, False, False),
    (
        "no baseline",
        lambda scene: once(scene, "GET", lambda: scene.control.fault("status", status=503)),
        billcore.ServerError,
        False,
        True,
    ),
    ("the database is down", down, JournalError, True, True),
]


@pytest.mark.parametrize(
    ("make", "kind", "unknown", "again"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_an_error_says_what_to_do(scene: Scene, make: Any, kind: Any, unknown: bool, again: bool) -> None:
    make(scene)
    with pytest.raises(kind) as raised:
        scene.charge(scene.journal())
    assert type(raised.value) is kind and raised.value.outcome_unknown == unknown
    if again:
        assert isinstance(raised.value.retry_after, float) and raised.value.retry_after >= 0
    else:
        assert getattr(raised.value, "retry_after", None) is None


def test_without_settle_an_unknown_outcome_is_pending_until_the_deadline(scene: Scene) -> None:
    fails(scene, "reset_after")
    with pytest.raises(ChargePendingError) as raised:
        scene.charge(scene.journal(settle=None))
    assert raised.value.retry_after is not None and 0 < raised.value.retry_after <= 30
    assert isinstance(raised.value.__cause__, billcore.OutcomeUnknownError)
    assert "look before" not in str(raised.value)
    with pytest.raises(ChargePendingError):
        Journal(scene.database.connect, scene.client).resolve("k", None)
    order = scene.charge(scene.journal(settle=None))  # the order that is listed before the deadline
    assert [each["order_id"] for each in scene.charges()] == [str(order.id)]


def test_without_settle_a_charge_that_ends_at_its_deadline_asks_a_person(scene: Scene) -> None:
    fails(scene, "delay", delay=60)
    with pytest.raises(UnresolvedChargeError, match="find out at the service") as raised:
        scene.charge(scene.journal(settle=None, timeout=0.5))
    assert isinstance(raised.value.__cause__, billcore.OutcomeUnknownError) and raised.value.retry_after is None
    scene.database.age(PAST)
    assert scene.charge(scene.journal(settle=None)).total == 1500 and len(scene.charges()) == 1
