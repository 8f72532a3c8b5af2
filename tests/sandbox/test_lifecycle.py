"""What customers buy and what renews: the objects and dates that the actions of the table of states leave behind."""

from __future__ import annotations

from billcore.testing import SandboxAccount
from sandbox.support import Receiver, Service, ended, events


def test_a_checkout_makes_what_the_customer_asked_for(mine: SandboxAccount) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    wanted = service.product("subscription")
    made = control.checkout(wanted["id"], reference_id="new-1", reference_name="Zoë", metadata={"a": 1})
    assert (made["order"]["state"], made["subscription"]["status"]) == ("created", "pending")
    assert made["order"]["total"] == made["subscription"]["price"] == wanted["price_without_vat"]
    assert service.subscription("new-1") == made["subscription"]
    assert (made["subscription"]["reference_name"], made["subscription"]["metadata"]) == ("Zoë", {"a": 1})
    assert service.charge("new-1").data["state"] == "paid"
    assert service.subscription("new-1")["status"] == "pending", "only its first order activates it"
    done = control.confirm(made["order"]["id"])
    assert (done["order"]["state"], done["subscription"]["status"]) == ("paid", "active")
    assert done["order"]["remote_id"] is not None
    again = [effect["kind"] for effect in control.ledger()]
    assert control.pay(made["order"]["id"])["order"] == done["order"], "paying again changes nothing"
    assert [effect["kind"] for effect in control.ledger()] == again == ["checkout", "charge", "confirm"]


def test_renewals_before_their_date(mine: SandboxAccount, receiver: Receiver) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    control.create_endpoint(receiver.url)
    before, failing = service.subscription("demo-active"), service.subscription("demo-declined")
    after = control.renew(before["id"])
    assert after["subscription"] == service.subscription("demo-active")
    assert (after["order"]["state"], after["order"]["total"]) == ("paid", before["price"])
    again = control.renew(before["id"])["subscription"]
    assert before["renews_at"] < after["subscription"]["renews_at"] < again["renews_at"]
    for status in ("delayed", "delayed", "unpaid", "unpaid"):
        answer = control.renew(failing["id"])
        assert (answer["subscription"]["status"], answer["order"]) == (status, None)
    assert [effect["failures"] for effect in control.ledger("renew_failed")] == [1, 2, 3, 4]
    assert service.subscription("demo-declined")["renews_at"] < failing["renews_at"], "the date has come"
    ended(control)
    assert events(receiver.received)[6:] == ["subscription.updated"] * 2
    assert [item.event["data"]["status"] for item in receiver.received[6:]] == ["delayed", "unpaid"]
