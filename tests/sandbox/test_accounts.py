"""New accounts: their data, their separation, ids that do not repeat, keys, and the pytest fixture."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Control, ControlError, Sandbox, SandboxAccount
from sandbox.support import Receiver, Service
from support import plugin
from support.waiting import GENEROUS


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


def test_an_empty_account(process: Sandbox) -> None:
    made = process.control.create_account(demo=False)
    assert made["ids"] == {}
    (shown,) = Control(process.control_url, account=made["account"]).state()["accounts"]
    assert (shown["subscriptions"], shown["orders"], shown["products"]) == ({}, {}, {})
    process.control.delete_account(made["account"])


def test_keys_and_paths_of_accounts(process: Sandbox, mine: SandboxAccount) -> None:
    service, theirs = Service(mine.accounts[0]), Service(process.new_account().accounts[0])
    path = f"/subscription/{mine.ids['subscriptions']['demo-active']}"
    assert service.get(path).status == 200
    assert theirs.get(path).status == 404
    assert service.send("GET", path, headers={"X-API-KEY": theirs.api_key}).status == 404
    process.control.delete_account(theirs.account)
    assert service.send("GET", path, headers={"X-API-KEY": theirs.api_key}).status == 401
    assert theirs.get("/products").status == 401
    theirs.api_key = service.api_key
    assert theirs.get("/products").status == 404


def test_a_deleted_account_is_gone_with_all_it_had(process: Sandbox, receiver: Receiver) -> None:
    account = process.new_account()
    service, control = Service(account.accounts[0]), account.control
    control.create_endpoint(receiver.url)
    control.fault("status", path="/order/*")
    service.charge()
    control.wait_for_deliveries()
    process.control.delete_account(service.account)
    everything = (process.control.ledger(), process.control.deliveries(), process.control.endpoints())
    # A record of the deleted account, if one were left, would show its account as None.
    assert {each["account"] for records in everything for each in records}.isdisjoint({None, service.account})
    assert service.account not in str([process.control.state(), process.control.requests()])
    for call in (control.state, control.ledger, control.advance, control.keys, lambda: control.trigger("charge")):
        with pytest.raises(ControlError, match="404 not_found: No account has this UUID"):
            call()
    with pytest.raises(ControlError, match="404"):
        process.control.delete_account(service.account)
    again = process.new_account()
    assert again.control.state()["accounts"][0]["number"] > 4002
    assert again.control.ledger() == []


def test_the_first_account_stays(process: Sandbox) -> None:
    with pytest.raises(ControlError, match="422 first_account"):
        process.control.delete_account(Service(process.accounts[0]).account)


def test_deleting_an_account_drops_its_attempts(process: Sandbox, receiver: Receiver) -> None:
    receiver.script = [500] * 100
    account = process.new_account(demo=False)
    account.control.create_endpoint(receiver.url)
    for _ in range(5):
        account.control.create_product("Tea")
    receiver.wait(1)
    process.control.delete_account(Service(account.accounts[0]).account)
    other = process.new_account(demo=False)
    other.control.create_endpoint(receiver.url + "&other=1")
    other.control.create_product("Tea")
    receiver.script = []
    assert [each["state"] for each in other.control.wait_for_deliveries()] == ["delivered"]
    assert None not in {each["account"] for each in process.control.deliveries()}
    process.control.delete_account(Service(other.accounts[0]).account)


def test_records_and_faults_are_those_of_the_account(
    process: Sandbox, mine: SandboxAccount, receiver: Receiver
) -> None:
    other = process.new_account()
    services = [Service(each.accounts[0]) for each in (mine, other)]
    for each, service in zip((mine, other), services, strict=True):
        each.control.create_endpoint(receiver.url)
        service.charge()
        deliveries = each.control.wait_for_deliveries()
        assert [delivery["event"] for delivery in deliveries] == ["order.confirmed", "order.paid"]
        records: list[Any] = [*each.control.ledger(), *each.control.requests(), *deliveries, *each.control.endpoints()]
        assert {record["account"] for record in records} == {service.account}
        state = each.control.state()
        assert {name: state["counts"][name] for name in ("deliveries", "endpoints", "ledger")} == {
            "deliveries": 2,
            "endpoints": 1,
            "ledger": 2,
        }
        assert state["counts"]["requests"] == len(each.control.requests())
    mine.control.fault("status", status=418, path="/products", times=2)
    assert services[1].get("/products").status == 200
    assert (services[0].get("/products").status, other.control.state()["faults"]) == (418, [])
    assert [each["account"] for each in mine.control.state()["faults"]] == [services[0].account]
    process.control.delete_account(services[1].account)
    everything = process.control.deliveries()
    assert services[0].account in {each["account"] for each in everything}


def test_objects_of_another_account_are_not_found(process: Sandbox, mine: SandboxAccount) -> None:
    other = process.new_account()
    control, theirs = mine.control, other.ids
    endpoint = other.control.create_endpoint("http://127.0.0.1:9/")["id"]
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


def made(sandbox: Sandbox) -> dict[str, list[Any]]:
    """Makes objects in the first account and in two new accounts; returns their ids and secrets."""
    first = Control(sandbox.control_url, account=Service(sandbox.accounts[0]).account)
    accounts = [sandbox.new_account() for _ in range(2)]
    found: dict[str, list[Any]] = {"subscriptions": [], "orders": [], "deliveries": [], "secrets": []}
    for account in accounts:
        found["subscriptions"] += account.ids["subscriptions"].values()
    for control in (first, *(account.control for account in accounts)):
        found["secrets"].append(control.create_endpoint("http://127.0.0.1:9/")["secret"])
        done = control.trigger("renewal")
        found["subscriptions"].append(done["subscription"]["id"])
        found["orders"].append(done["order"]["id"])
        found["deliveries"] += [each["id"] for each in done["deliveries"]]
    return found


def test_ids_do_not_repeat_over_resets_and_restarts(tmp_path: Path) -> None:
    found: list[dict[str, list[Any]]] = []
    for db in (None, tmp_path / "billing.db", tmp_path / "billing.db"):
        with Sandbox(db=db) as sandbox:
            for _ in range(2):
                found.append(made(sandbox))
                sandbox.control.reset()
    for kind, count in {"subscriptions": 15, "orders": 3, "deliveries": 9, "secrets": 3}.items():
        values = [value for each in found for value in each[kind]]
        assert len({*values}) == len(values) == 6 * count
        if kind != "secrets":
            assert max(map(int, values)) < 2**53  # doubles represent the ids exactly


def test_ids_and_secrets_repeat_with_a_seed() -> None:
    found = []
    for seed in (3, 3, 4):
        with Sandbox(seed=seed) as sandbox:
            once = made(sandbox)
            sandbox.control.reset()
            assert made(sandbox) == once
            found.append((once, Service(sandbox.new_account().accounts[0]).account))
    assert found[0] == found[1]
    assert {*found[0][0]["secrets"]}.isdisjoint(found[2][0]["secrets"])
    assert found[0][1] != found[2][1]


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


def test_the_fixture_gives_each_test_an_account(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import pytest\n"
        "from sandbox.support import Service\n"
        "seen, pids = [], set()\n"
        "@pytest.mark.parametrize('number', [1, 2])\n"
        "def test_it(billcore_sandbox, number):\n"
        "    control, ids = billcore_sandbox.control, billcore_sandbox.ids\n"
        "    pids.add(billcore_sandbox.pid)\n"
        "    seen.extend(account.base_url for account in billcore_sandbox.accounts)\n"
        "    assert len(seen) == len(set(seen)) == number * 2 and len(pids) == 1\n"
        "    assert control.ledger() == control.requests() == control.state()['faults'] == []\n"
        "    own, other = [Service(account) for account in billcore_sandbox.accounts]\n"
        "    path = '/subscription/' + ids['subscriptions']['demo-active'] + '/cancel'\n"
        "    assert [own.post(path).status, other.post(path).status] == [200, 404]\n"
        "    control.fault('status', times=9, optional=True)\n"
        "    assert len(control.ledger()) == 1\n"
        "def test_accounts_of_ended_tests_are_gone(_billcore_sandbox_process):\n"
        "    left = {account['account'] for account in _billcore_sandbox_process.control.state()['accounts']}\n"
        "    assert len(left) == 2 and left.isdisjoint(url.rpartition('/')[2] for url in seen)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", *plugin.OPTIONS, "-p", "no:cacheprovider"]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([*command, "."], capture_output=True, text=True, timeout=GENEROUS, cwd=tmp_path, env=env)
    assert "3 passed" in done.stdout, done.stdout + done.stderr
