"""Wrong arguments, clocks and answers: no charge is lost or made twice, and each error is one clear sentence."""

from __future__ import annotations

import itertools
import random
import time
from types import MethodType, SimpleNamespace
from typing import Any

import pytest
import sqlalchemy

import billcore
from billcore.journal import (
    AsyncJournal,
    ChargeInProgressError,
    ChargePendingError,
    Journal,
    JournalError,
    _store,
    schema,
)

from .support import CHARGE, Scene, is_one_sentence, on_sqlite, settled

ORDERS = "/subscription/*/orders"


@pytest.mark.parametrize("hours", [-24, 24])
def test_the_hosts_clock_jumps_after_an_attempt(scene: Scene, monkeypatch: pytest.MonkeyPatch, hours: int) -> None:
    """A jump of the host's clock does not change how long a new process waits for the deadline of the attempt."""
    crash(scene)
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + hours * 3600)
    for journal in (scene.journal(), scene.journal(sqlalchemy.create_engine(scene.database.url()))):
        with pytest.raises(ChargeInProgressError) as raised:
            scene.charge(journal)
        assert raised.value.retry_after is not None and 0 < raised.value.retry_after <= 30
    settled(scene)


@on_sqlite
def test_the_clock_is_wrong_after_a_boot(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host without a hardware clock boots in 1970, and stored deadlines must not count as decades in the future."""
    crash(scene)
    monkeypatch.setattr(_store, "_boot", lambda: "another")
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    with pytest.raises(ChargeInProgressError) as raised:
        scene.charge(scene.journal())
    assert raised.value.retry_after is not None and 0 < raised.value.retry_after <= 30


def crash(scene: Scene) -> None:
    """Makes the record that remains when a process ends after it recorded the charge and before it sent the request."""
    scene.control.fault("reset_before", method="POST", path=CHARGE)
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    scene.database.execute("UPDATE billcore_charges SET state = 'sending', uncertain = NULL")


@on_sqlite
@pytest.mark.parametrize("key", ["", "k" * 10_000, "語" * 334, "a\0b", "a\nb", "\ud800", b"k", 7, None])
def test_a_wrong_key(scene: Scene, key: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="key must be printable text of 1 to 1000 bytes"):
        scene.charge(scene.journal(), key)
    with pytest.raises(billcore.InvalidArgumentError):
        scene.journal().resolve(key, order_id=None)
    assert scene.sent() == 0


@on_sqlite
@pytest.mark.parametrize(
    ("amount", "text"),
    [(True, "an int, not bool"), (15.0, "an int, not float"), ("15", "not str"), (2**63, "too large")],
)
def test_a_wrong_amount(scene: Scene, amount: Any, text: str) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match=f"amount .*{text}"):
        scene.charge(scene.journal(), amount=amount)
    assert scene.sent() == 0


def test_the_longest_key(scene: Scene) -> None:
    """An entry of a PostgreSQL index can have about 2,700 bytes; random characters cannot be compressed."""
    key = "".join(map(chr, random.Random(1).choices(range(0x4E00, 0x9F00), k=333)))
    order = scene.charge(scene.journal(), key)
    assert scene.charge(scene.journal(), key) == order


@on_sqlite
@pytest.mark.parametrize(
    "changes",
    [
        {"amount": 1.5},
        {"amount": 2**63},
        {"product_id": "7"},
        {"quantity": "1"},
        {"subscription": ""},
        {"description": "a\ud800"},
        {"subscription": "a\ud800"},
    ],
    ids=str,
)
def test_wrong_arguments(scene: Scene, changes: dict[str, Any]) -> None:
    with pytest.raises(billcore.BillcoreError) as raised:
        scene.charge(scene.journal(), **changes)
    assert is_one_sentence(raised.value) and scene.sent() == 0
    settled(scene, "another")


def test_a_nul_in_the_description(scene: Scene) -> None:
    """PostgreSQL cannot store a NUL character in a text."""
    try:
        scene.charge(scene.journal(), description="a\0b")
    except JournalError as error:
        assert "NUL" in str(error) and scene.sent() == 0 and scene.database.state("k") == "none"
    else:
        assert len(scene.charges()) == 1


@on_sqlite
def test_the_list_of_orders_changes_while_it_is_read(scene: Scene) -> None:
    """Each reading of two pages has other orders, so nobody can tell which orders are new."""
    scene.control.fault("reset_after", method="POST", path=CHARGE)
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    made = scene.client.orders.get(scene.charges()[0]["order_id"]).to_dict()
    for reading, number in itertools.product(range(3), (1, 2)):
        page = {"total": 2, "count": 1, "per_page": 1, "current_page": number, "total_pages": 2, "links": {}}
        body = {"data": [made | {"id": f"{reading}{number}"}], "pagination": page}
        scene.control.fault("status", method="GET", path=ORDERS, status=200, body=body)
    with pytest.raises(ChargePendingError, match="changes while it is read") as raised:
        scene.charge(scene.journal())
    assert raised.value.retry_after is not None and scene.database.state("k") == "unknown"
    settled(scene)


@on_sqlite
def test_a_subscription_that_is_gone(scene: Scene) -> None:
    with pytest.raises(billcore.NotFoundError):  # before the intent
        scene.charge(scene.journal(), "other", subscription="1")
    assert scene.database.state("other") == "none"
    scene.control.fault("status", method="POST", path=CHARGE, status=404)  # after the intent
    with pytest.raises(billcore.NotFoundError):
        scene.charge(scene.journal())
    assert scene.database.state("k") == "refused"
    scene.control.fault("reset_after", method="POST", path=CHARGE)
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    scene.control.fault("status", method="GET", path=ORDERS, status=404)  # the look-up gets this fault
    with pytest.raises(ChargePendingError, match=r"could not be looked up .*404.* resolve\(\)"):
        scene.charge(scene.journal())
    settled(scene)


@on_sqlite
def test_other_wrong_arguments(scene: Scene) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="before must be aware"):
        scene.journal().purge(None)  # type: ignore[arg-type]
    with pytest.raises(billcore.InvalidArgumentError, match="field is 'total'"):
        scene.journal().accept_total_rule(field="sum", per="amount")  # type: ignore[arg-type]
    with pytest.raises(billcore.InvalidArgumentError, match="PostgreSQL and SQLite"):
        schema("mysql")  # type: ignore[arg-type]
    other = billcore.AsyncClient(base_url=scene.account.base_url, api_key=scene.account.api_key)
    with pytest.raises(TypeError, match=r"a Journal takes a billcore\.Client, not a AsyncClient"):
        Journal(scene.database.connect, other)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"an AsyncJournal takes a billcore\.AsyncClient"):
        AsyncJournal(scene.database.connect, scene.client)  # type: ignore[arg-type]
    pool = SimpleNamespace(putconn=lambda connection: None)
    with pytest.raises(TypeError, match="which a pool wants back"):
        Journal(MethodType(lambda pool: scene.database.connect(), pool), scene.client)
