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
import pytest
from sandbox.support import Service

lenient = pytest.mark.billcore_sandbox(strict=False)
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

@pytest.mark.xfail(strict=True)
def test_expected(billcore_sandbox):
    billcore_sandbox.fault("delay")

class TestMarked:
    pytestmark = pytest.mark.billcore_sandbox(demo=False, retry_schedule=[3600])

    def test_settings(self, billcore_sandbox, service):
        assert service.get("/products").data == []
        control = billcore_sandbox.control
        assert control.create_endpoint("http://127.0.0.1:9/")["retry_schedule"] == [3600]
        assert control.create_endpoint("http://127.0.0.1:9/2", retry_schedule=[1])["retry_schedule"] == [1]

    @pytest.mark.billcore_sandbox(demo=True)
    def test_nearest(self, billcore_sandbox, service):
        assert service.get("/products").data
        assert billcore_sandbox.control.create_endpoint("http://127.0.0.1:9/")["retry_schedule"] == [3600]

@pytest.mark.billcore_sandbox(stict=False)
def test_misspelt(billcore_sandbox):
    pass
"""


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
        ("FAILED", "test_allowed_but_unfired"),
        ("FAILED", "test_its_own_error"),
        ("FAILED", "test_unfired"),
        ("FAILED", "test_unknown"),
        ("FAILED", "test_unknown_of_the_other"),
        ("PASSED", "TestMarked::test_nearest"),
        ("PASSED", "TestMarked::test_settings"),
        ("PASSED", "test_allowed"),
        ("PASSED", "test_fine"),
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
            r"Correct its selectors, or pass optional=True",
        ),
        ("test_unknown", r"subscriptions\.charge got the parameter 'quantty' \(1 times\), which .*strict=False"),
        ("test_its_own_error", "AssertionError: mine"),
        ("test_misspelt", r"the marker is billcore_sandbox\(\*, strict=True, .*'stict': False"),
    ],
)
def test_a_failure_says_why(told: str, name: str, message: str) -> None:
    part = told.partition(f" {name} ___")[2].partition("\n____")[0]
    assert re.search(message, part), told
    assert name == "test_its_own_error" or "Traceback" not in part
