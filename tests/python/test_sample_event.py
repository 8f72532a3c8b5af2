"""billcore.testing.event: a complete signed event of each name, without a server."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import billcore
from billcore import webhooks
from billcore.testing import SECRET, event
from support import plugin

from .model_support import EVENTS
from .support import ORDER
from .support import event as event_with

ROWS = json.loads((Path(__file__).resolve().parents[1] / "fixtures" / "fields.json").read_text("utf-8"))["rows"]
NAMES = [name for name, (_, kind, _) in EVENTS.items() if kind is not billcore.Resource]
STATES = {"subscription.cancelled": "cancelled", "order.confirmed": "confirmed", "order.paid": "paid"}


def made(name: str, **fields: Any) -> Any:
    body, signature = event(name, **fields)
    return webhooks.unwrap(body, signature, fields.get("secret", SECRET))


def data_of(name: str, **fields: Any) -> Any:
    return made(name, **fields).data


@pytest.mark.parametrize("name", NAMES)
def test_left_out_everything_is_as_the_service_sends_it(name: str) -> None:
    kind = EVENTS[name][1]
    state = STATES.get(name, "active" if kind is billcore.Subscription else "")
    body, signature = event(name)
    assert signature == hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    found: Any = webhooks.unwrap(body, signature, SECRET)
    assert list(json.loads(body)) == ["id", "name", "account", "created_at", "data"]
    assert found.name == name and type(found.id) is int and type(found.account) is int
    assert abs(datetime.now(UTC) - found.created_at) < timedelta(minutes=10)
    assert type(found.data) is kind and type(found.data.id) is int
    assert getattr(found.data, "status", getattr(found.data, "state", "")) == state
    rows = [row for row in ROWS if row["class"] == kind.__name__]
    assert rows
    for row in rows:
        assert row["field"] in found.data, row["field"]
        getattr(found.data, row["member"])


def test_a_cancelled_subscription_is_usable_until_its_end() -> None:
    data = data_of("subscription.cancelled")
    assert data.renews_at is None and data.usable_at(datetime.now(UTC))
    assert not data.usable_at(data.ends_at + timedelta(seconds=1))


def test_a_test_hook_has_no_data_and_the_id_0() -> None:
    found = made("test.hook")
    assert (found.name, found.id, found.data) == ("test.hook", 0, None)
    assert data_of("test.hook", note="hello").to_dict() == {"note": "hello"}
    left_out: dict[str, Any] = dict.fromkeys(["event_id", "account", "event_created_at", "data"], billcore.NOT_GIVEN)
    assert event("test.hook", **left_out)[0] == b'{"name":"test.hook"}'


def test_fields_are_those_of_the_resource() -> None:
    at = datetime(2025, 6, 2, 9, 0, 0, 250_000, tzinfo=UTC)
    found = made("order.paid", id="ord_7", total=19900, reference_id=None, created_at=at)
    assert (found.data.id, found.data.total, found.data.reference_id) == ("ord_7", 19900, None)
    assert found.data.created_at == at
    assert found.id != "ord_7" and found.created_at != at
    assert data_of("order.paid").total != 19900, "a call leaves no state"


def test_the_envelope_has_names_of_its_own() -> None:
    at = datetime(2025, 6, 2, tzinfo=UTC)
    found = made("order.paid", event_id="d-1", account=7, event_created_at=at)
    assert (found.id, found.account, found.created_at) == ("d-1", 7, at)
    assert isinstance(found.data.id, int) and "account" not in found.data


def test_unset_leaves_a_member_out() -> None:
    found = made("subscription.cancelled", ends_at=billcore.NOT_GIVEN)
    assert "ends_at" not in found.data
    with pytest.raises(billcore.MissingFieldError):
        found.data.usable_at(datetime.now(UTC))
    body, signature = event("order.paid", event_created_at=billcore.NOT_GIVEN)
    with pytest.raises(billcore.MissingFieldError):
        _ = webhooks.unwrap(body, signature, SECRET).created_at


def test_data_takes_the_place_of_all_fields() -> None:
    resource = event_with(ORDER, "order.paid").data
    assert isinstance(resource, billcore.Order)
    assert data_of("order.paid", data=resource) == resource
    assert data_of("order.paid", data=ORDER, total=1).to_dict() == ORDER | {"total": 1}
    assert ORDER["total"] != 1
    assert data_of("order.paid", data=None) is None
    assert data_of("order.refunded", data={"id": 7}).to_dict() == {"id": 7}


@pytest.mark.parametrize("given", [{}, {"data": ORDER}])
def test_a_field_that_the_resource_does_not_have_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(
        TypeError, match=r"^event\(\) got an unexpected keyword argument 'totl': did you mean 'total'\?"
    ):
        event("order.paid", totl=5, **given)
    with pytest.raises(TypeError, match="'status': did you mean 'state'"):
        event("order.paid", status="paid")
    assert data_of("order.paid", data=ORDER | {"colour": "red"}, total=1)["colour"] == "red"
    assert data_of("order.refunded", data=ORDER, colour="red")["colour"] == "red", "nothing is known of this event"


def test_values_as_billcore_reads_them() -> None:
    found = made("product.updated", vat_rate=Decimal("12.5"), price=Decimal(100), images=())
    assert (found.data.vat_rate, found.data.price, found.data.images) == (Decimal("12.5"), 100, [])
    nested = made("order.paid", metadata={"at": datetime(2025, 6, 2, tzinfo=UTC), "text": "Åse / 李\ud83d\ude00"})
    assert nested.data.metadata["at"] == "2025-06-02T00:00:00+00:00"


CIRCULAR: list[Any] = []
CIRCULAR.append(CIRCULAR)


@pytest.mark.parametrize(
    "fields",
    [
        {"total": float("nan")},
        {"metadata": {"x": {1, 2}}},
        {"metadata": CIRCULAR},
        {"reference_id": "\ud800"},
        {"created_at": datetime(2025, 6, 2)},
        {"data": [], "total": 1},
        {"metadata": {"x": billcore.NOT_GIVEN}},
    ],
)
def test_values_that_make_no_event_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(billcore.InvalidArgumentError) as caught:
        event("order.paid", **fields)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 250


@pytest.mark.parametrize("name", ["order.payed", "", "ORDER.PAID", None, ["order.paid"]])
def test_a_name_that_is_no_event_is_refused(name: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match=r"order\.paid.*pass data=") as caught:
        event(name)
    assert {*NAMES, "test.hook"} <= set(re.findall(r"[a-z-]+\.[a-z]+", str(caught.value)))


def test_the_pytest_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import billcore\n"
        "from billcore import webhooks\n"
        "def test_it(signed_event):\n"
        "    body, signature = signed_event('order.paid', total=5)\n"
        "    paid = webhooks.unwrap(body, signature, billcore.testing.SECRET)\n"
        "    assert type(paid) is webhooks.OrderPaid and paid.data.total == 5\n"
        "    other, _ = signed_event('order.paid', total=5)\n"
        "    assert webhooks.parse_unverified(other).id != paid.id\n"
        "def test_nothing_is_collected_from_billcore():\n"
        "    assert webhooks.TestHook.__test__ is False\n"
        "from billcore.webhooks import TestHook\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", *plugin.OPTIONS]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", str(tmp_path)], capture_output=True, text=True, timeout=60, cwd=tmp_path
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr
