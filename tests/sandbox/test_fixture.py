"""The pytest plugin: the rules of the fixture billcore_sandbox, its marker and its options."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from support import plugin
from support.waiting import GENEROUS

CONFTEST = """
import pytest
from sandbox.support import Service

@pytest.fixture(scope="session")
def billcore_sandbox_options():
    return {"retry_schedule": [7200], "invoice_days": 3}

@pytest.fixture
def service(billcore_sandbox):
    return Service(billcore_sandbox.accounts[0])
"""
TESTS = """
import json

import billcore
import pytest
from sandbox.support import Service

lenient = pytest.mark.billcore_sandbox(strict=False)
reduced = pytest.mark.billcore_sandbox(event_payload="reduced")

def options(control):
    return control.state()["accounts"][0]["options"]

def data(control, service):
    control.create_endpoint("https://shop.example/")  # not loopback, so the deliveries are held back
    service.charge()
    return json.loads(control.deliveries()[0]["body"])["data"]

seen, pids = [], set()

@pytest.mark.parametrize("number", [1, 2])
def test_own_accounts(billcore_sandbox, number):
    control = billcore_sandbox.control
    pids.add(billcore_sandbox.pid)
    seen.extend(account.base_url for account in billcore_sandbox.accounts)
    assert len(seen) == len(set(seen)) == number * 2 and len(pids) == 1
    assert control.ledger() == control.requests() == control.state()["faults"] == []
    path = "/subscription/" + billcore_sandbox.ids["subscriptions"]["demo-active"] + "/cancel"
    assert [Service(account).post(path).status for account in billcore_sandbox.accounts] == [200, 404]
    control.fault("status", times=9, optional=True)
    assert len(control.ledger()) == 1

def test_gone(_billcore_sandbox_process):
    left = {account["account"] for account in _billcore_sandbox_process.control.state()["accounts"]}
    assert len(left) == 2 and left.isdisjoint(url.rpartition("/")[2] for url in seen)

def test_fine(billcore_sandbox, service):
    assert billcore_sandbox.control.state()["options"]["invoice_days"] == 3
    billcore_sandbox.fault("status", operation="products.list", status=503)
    assert service.get("/products").status == 503
    assert len(billcore_sandbox.webhook_secret) == 32

def test_optional(billcore_sandbox):
    billcore_sandbox.fault("delay", optional=True)

def test_unfired(billcore_sandbox, service):
    billcore_sandbox.fault("reset_after", operation="charge", nth=2)
    service.charge()

def test_too_seldom(billcore_sandbox, service):
    billcore_sandbox.fault("status", operation="products.list", times=3)
    assert service.get("/products").status == 503

def test_by_chance(billcore_sandbox, service):
    billcore_sandbox.fault("status", operation="products.list", times=99, probability=0.5)
    assert {service.get("/products").status for _ in range(40)} == {200, 503}

def test_full(billcore_sandbox, service):
    billcore_sandbox.control.create_endpoint("https://shop.example/")  # not loopback, so the deliveries are held back
    for _ in range(2):
        service.charge()
    bodies = [json.loads(each["body"])["data"] for each in billcore_sandbox.control.deliveries()]
    assert [each["metadata"] for each in bodies] == [{}] * 4
    assert [type(each["id"]) for each in bodies] == [int, str, int, str]

@reduced
def test_left_out(billcore_sandbox, service):
    data(billcore_sandbox.control, service)
    raise billcore.MissingFieldError("data.metadata is missing", path="data.metadata")  # as `event.data.metadata` does

@reduced
def test_left_out_of_json(billcore_sandbox, service):
    data(billcore_sandbox.control, service)["metadata"]

@reduced
def test_left_out_for_the_receiver(billcore_sandbox, service):
    def shop(environ, start_response):
        json.loads(environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"])))["data"]["metadata"]

    billcore_sandbox.serve(shop, retry_schedule=[])
    service.charge()
    billcore_sandbox.control.wait_for_deliveries()

@reduced
def test_not_left_out(billcore_sandbox, service):
    data(billcore_sandbox.control, service)["colour"]

def test_unknown(service):
    service.charge(quantty=3)

def test_unknown_of_the_other(billcore_sandbox):
    Service(billcore_sandbox.accounts[1]).get("/products?pages=2")

@lenient
def test_allowed(service):
    service.charge(quantty=3)

@lenient
def test_allowed_but_unfired(billcore_sandbox, service):
    service.charge(quantty=3)
    billcore_sandbox.fault("delay")

def test_its_own_error(billcore_sandbox):
    billcore_sandbox.fault("delay")
    assert False, "mine"

def test_a_handler(billcore_sandbox):
    billcore_sandbox._errors.append(LookupError("of a handler of receive()"))

def test_its_own_error_and_a_handler(billcore_sandbox):
    billcore_sandbox._errors.append(LookupError("of another handler"))
    assert False, "mine"

@pytest.mark.xfail(strict=True)
def test_expected(billcore_sandbox):
    billcore_sandbox.fault("delay")

class TestMarked:
    pytestmark = pytest.mark.billcore_sandbox(demo=False, retry_schedule=[3600])

    def test_settings(self, billcore_sandbox, service):
        assert service.get("/products").data == []
        control = billcore_sandbox.control
        assert options(control) == {"retry_schedule": [3600], "event_payload": "full"}
        assert control.create_endpoint("http://127.0.0.1:9/")["retry_schedule"] is None

    @pytest.mark.billcore_sandbox(demo=True, event_payload="mixed")
    def test_nearest(self, billcore_sandbox, service):
        assert service.get("/products").data
        assert options(billcore_sandbox.control) == {"retry_schedule": [3600]}

@pytest.mark.billcore_sandbox(stict=False)
def test_misspelt(billcore_sandbox):
    pass
"""

LEFT_OUT = (
    r"the sandbox left created_at, .*metadata out of order\.\w+ \(id \d+\), because event_payload is 'reduced': "
    r"the events of the service may have only some of the fields"
)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("fixture")
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_mine.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-rA", "-W", "error", "--strict-markers", *plugin.OPTIONS]
    command += ["-p", "no:cacheprovider", "."]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, capture_output=True, text=True, timeout=GENEROUS, cwd=folder, env=env)
    return done.stdout + done.stderr


def test_misuse_of_the_marker_fails_its_test(told: str) -> None:
    outcomes = re.findall(r"^(PASSED|FAILED|ERROR|XFAIL) test_mine\.py::(\S+)", told, re.M)
    assert sorted(outcomes) == [
        ("ERROR", "test_misspelt"),
        ("FAILED", "test_a_handler"),
        ("FAILED", "test_allowed_but_unfired"),
        ("FAILED", "test_its_own_error"),
        ("FAILED", "test_its_own_error_and_a_handler"),
        ("FAILED", "test_left_out"),
        ("FAILED", "test_left_out_for_the_receiver"),
        ("FAILED", "test_left_out_of_json"),
        ("FAILED", "test_not_left_out"),
        ("FAILED", "test_too_seldom"),
        ("FAILED", "test_unfired"),
        ("FAILED", "test_unknown"),
        ("FAILED", "test_unknown_of_the_other"),
        ("PASSED", "TestMarked::test_nearest"),
        ("PASSED", "TestMarked::test_settings"),
        ("PASSED", "test_allowed"),
        ("PASSED", "test_by_chance"),
        ("PASSED", "test_fine"),
        ("PASSED", "test_full"),
        ("PASSED", "test_gone"),
        ("PASSED", "test_optional"),
        ("PASSED", "test_own_accounts[1]"),
        ("PASSED", "test_own_accounts[2]"),
        ("XFAIL", "test_expected"),
    ], told


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "test_unfired",
            r"the fault \d+ \(reset_after\) never happened: 1 matched, and it begins with number 2. "
            r"Correct its selectors or its times, or pass optional=True",
        ),
        ("test_too_seldom", r"the fault \d+ \(status\) happened 1 of 3 times: 1 matched, and it begins with"),
        ("test_unknown", r"subscriptions\.charge got the parameter 'quantty' \(1 times\), which .*strict=False"),
        ("test_its_own_error", "AssertionError: mine"),
        ("test_a_handler", r"LookupError: of a handler of receive\(\)"),
        ("test_its_own_error_and_a_handler", r"a handler of receive\(\) raised LookupError\('of another handler'\)"),
        ("test_misspelt", r"the marker is billcore_sandbox\(\*, strict=True, .*unknown field `stict` \(fields: demo"),
        *((f"test_left_out{more}", LEFT_OUT) for more in ("", "_of_json", "_for_the_receiver")),
    ],
)
def test_a_failure_says_why(told: str, name: str, message: str) -> None:
    part = told.partition(f" {name} ___")[2].partition("\n____")[0]
    assert re.search(message, part), told
    assert name in ("test_its_own_error", "test_left_out_for_the_receiver") or "Traceback" not in part


def test_another_missing_key_is_not_explained(told: str) -> None:
    assert "the sandbox left" not in told.partition(" test_not_left_out ___")[2].partition("\n____")[0]
