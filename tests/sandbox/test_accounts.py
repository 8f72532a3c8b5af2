"""New accounts: their data, their separation and their keys."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from billcore.testing import ControlError, Sandbox, SandboxAccount
from sandbox.support import CLOSED, Receiver, Service


def test_a_new_account_has_demo_data(process: Sandbox, mine: SandboxAccount) -> None:
    service = Service(mine.accounts[0])
    assert uuid.UUID(service.account).version == 4
    (shown,) = mine.control.state()["accounts"]
    assert (shown["account"], shown["number"] > 4002) == (service.account, True)
    assert sorted(mine.ids["products"]) == ["donation", "fixed_cycle", "one_time", "subscription"]
    for kind, number in mine.ids["products"].items():
        assert service.get(f"/product/{number}").data["type"] == kind
    for reference_id, number in mine.ids["subscriptions"].items():
        assert service.subscription(reference_id)["id"] == number
    assert len(mine.ids["subscriptions"]) == len(service.get("/subscriptions").data) == 6
    assert service.charge().data["state"] == "paid"
    assert service.charge("demo-declined").status == service.charge("demo-donation").status == 402


def test_a_deleted_account_is_gone_with_all_it_had(process: Sandbox, receiver: Receiver) -> None:
    account = process.new_account()
    service, control = Service(account.accounts[0]), account.control
    control.create_endpoint(receiver.url)
    control.fault("status", path="/order/*")
    service.charge()
    control.wait_for_deliveries()
    process.control.delete_account(service.account)
    everything: Any = (process.control.ledger(), process.control.deliveries(), process.control.endpoints())
    everything += (process.control.faults(),)
    # A record of the deleted account, if one were left, would show its account as None.
    assert not [each for records in everything[:3] for each in records if each["account"] is None]
    assert service.account not in str(everything)
    assert service.account not in str([process.control.state(), process.control.requests()])
    for call in (control.state, control.ledger, control.advance, control.keys, lambda: control.trigger("charge")):
        with pytest.raises(ControlError, match="404 not_found: No account has this UUID"):
            call()
    with pytest.raises(ControlError, match="404"):
        process.control.delete_account(service.account)
    assert service.get("/products").status == 401
    again = process.new_account()
    assert again.control.state()["accounts"][0]["number"] > 4002
    assert again.control.ledger() == []


def test_the_first_account_stays(process: Sandbox) -> None:
    with pytest.raises(ControlError, match="422 first_account"):
        process.control.delete_account(Service(process.accounts[0]).account)


def test_records_and_faults_are_those_of_the_account(
    process: Sandbox, mine: SandboxAccount, receiver: Receiver
) -> None:
    accounts = [mine, process.new_account()]
    services = [Service(each.accounts[0]) for each in accounts]
    for each, service in zip(accounts, services, strict=True):
        each.control.create_endpoint(receiver.url)
        service.charge()
        deliveries = each.control.wait_for_deliveries()
        records: list[Any] = [*each.control.ledger(), *each.control.requests(), *deliveries, *each.control.endpoints()]
        assert {record["account"] for record in records} == {service.account}
        counts = each.control.state()["counts"]
        assert [counts[name] for name in ("deliveries", "endpoints", "ledger", "requests")] == [2, 1, 2, 3]
    mine.control.fault("status", status=418, path="/products", times=2)
    assert [each.get("/products").status for each in services] == [418, 200]
    assert [each["account"] for each in mine.control.faults() if each["account"]] == [services[0].account]
    assert [each.control.state()["faults"] == [] for each in accounts] == [False, True]


def test_objects_of_another_account_are_not_found(process: Sandbox, mine: SandboxAccount) -> None:
    other = process.new_account()
    control, theirs = mine.control, other.ids
    endpoint = other.control.create_endpoint(CLOSED)["id"]
    key = other.control.keys()[0]["id"]
    subscription = theirs["subscriptions"]["demo-active"]
    for call in (
        lambda: control.renew(subscription),
        lambda: control.trigger("renewal", on=subscription),
        lambda: control.endpoint(endpoint, "disable"),
        lambda: control.revoke_key(key),
    ):
        with pytest.raises(ControlError, match="404 not_found"):
            call()
    with pytest.raises(ControlError, match="422 invalid_product"):
        control.checkout(theirs["products"]["subscription"])
    with pytest.raises(ControlError, match="422 invalid_product"):
        control._call("POST", "groups", {"name": "Drinks", "products": [theirs["products"]["one_time"]]})
    assert other.control.ledger("renew") == []
    process.control.delete_account(Service(other.accounts[0]).account)


def test_keys_are_issued_revoked_and_rotated(mine: SandboxAccount) -> None:
    service, control = Service(mine.accounts[0]), mine.control

    def status(key: str) -> int:
        return service.send("GET", "/products", headers={"X-API-KEY": key}).status

    all_keys = control.keys
    issued = control.issue_key()
    first, second = all_keys()
    assert [first["api_key"], second["api_key"]] == [service.api_key, issued]
    assert [status(service.api_key), status(issued)] == [200, 200]
    rotated = control._call("POST", f"keys/{second['id']}/rotate", {})
    assert (rotated["id"], rotated["state"]) == (second["id"], "revoked")
    assert [status(issued), status(rotated["new"]["api_key"])] == [401, 200]
    control.revoke_key(first["id"])
    assert [each["state"] for each in all_keys()] == ["revoked", "revoked", "valid"]
    assert (status(service.api_key), service.get("/products").body) == (401, b"null")
    assert [each["kind"] for each in control.ledger()] == ["key_issue", "key_rotate", "key_revoke"]
    for cause in ("revoke", "rotate"):
        with pytest.raises(ControlError, match=f"422 not_allowed: The key is revoked, which does not take {cause}"):
            control._call("POST", f"keys/{first['id']}/{cause}", {})
    assert control.deliveries() == []
