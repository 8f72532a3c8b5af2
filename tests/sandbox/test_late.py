"""Late requests: the client gets a reset, and the service performs the request later, by the account's clock."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from billcore.testing import Control, SandboxAccount
from sandbox.support import Receiver, Service
from sandbox.wire import Wire
from support.waiting import until


def lost_charge(service: Service) -> None:
    with Wire(service) as wire:
        wire.charge()
        with pytest.raises(ConnectionResetError):
            wire.read_to_end()


def last_post(control: Control) -> Any:
    return [request for request in control.requests() if request["method"] == "POST"][-1]


def test_late_work_happens_at_its_time_on_the_accounts_clock(mine: SandboxAccount, receiver: Receiver) -> None:
    service, control = Service(mine.accounts[0]), mine.control
    control.create_endpoint(receiver.url)
    begin = datetime.fromisoformat(control.freeze()["now"])
    control.fault("late", operation="charge", delay=60)
    lost_charge(service)
    (jobs, record) = (control.state()["counts"]["jobs"], last_post(control))
    due = begin + timedelta(seconds=60)
    assert (record["status"], record["fault"]) == (None, "late")
    assert record["late"] == {"due": due.isoformat(timespec="microseconds"), "done_at": None, "status": None}
    assert control.advance(seconds=59)["happened"] == []
    assert control.ledger("charge") == []

    happened = control.advance(seconds=1)["happened"]
    assert happened == [{"at": record["late"]["due"], "request": str(record["id"]), "cause": "late"}]
    (effect,) = control.ledger("charge")
    assert (effect["amount"], effect["at"]) == (900, record["late"]["due"])
    assert service.get(f"/order/{effect['order_id']}").status == 200
    assert last_post(control)["late"] == {**record["late"], "done_at": record["late"]["due"], "status": 200}
    assert last_post(control)["status"] is None
    assert [each.event["name"] for each in receiver.wait(2)] == ["order.confirmed", "order.paid"]
    assert control.state()["counts"]["jobs"] == jobs - 1
    control.advance(days=1)
    assert len(control.ledger("charge")) == 1


def test_the_work_happens_by_itself_on_a_running_clock(mine: SandboxAccount) -> None:
    mine.control.fault("late", operation="charge", delay=0.2)
    lost_charge(Service(mine.accounts[0]))
    until(lambda: mine.control.ledger("charge"))
    assert until(lambda: last_post(mine.control)["late"]["done_at"]) >= last_post(mine.control)["late"]["due"]


def test_late_work_that_the_service_refuses(mine: SandboxAccount) -> None:
    """The service decides about a late request when it performs the request, not when the request arrives."""
    service, control = Service(mine.accounts[0]), mine.control
    control.freeze()
    control.fault("late", operation="charge", delay=5)
    lost_charge(service)
    control.subscription(mine.ids["subscriptions"]["demo-active"], "change_billing", declines=True)
    control.advance(seconds=5)
    assert last_post(control)["late"]["status"] == 402
    assert control.ledger("charge") == []
