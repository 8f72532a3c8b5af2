"""Jobs of RQ with Redis: an error that a job returns is the same error for the caller; one that it raises is text."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
import rq

import billcore
from billcore.testing import Sandbox, SandboxAccount
from support.waiting import until

Run = Callable[..., Any]  # returns a Job of RQ


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """Yields the URL of a Redis server."""
    with tempfile.TemporaryDirectory(prefix="billcore-redis-") as folder:
        command = ["redis-server", "--port", "0", "--unixsocket", f"{folder}/socket", "--save", "", "--dir", folder]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until(lambda: os.path.exists(f"{folder}/socket") or process.poll() is not None)
        yield f"unix://{folder}/socket"
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def account() -> Iterator[SandboxAccount]:
    with Sandbox() as sandbox:
        yield sandbox.new_account()


@pytest.fixture
def run(server: str, account: SandboxAccount) -> Run:
    """Returns the function run(job, …), which queues a charge, lets a worker do what is queued, and returns the job."""

    def run(job: str, amount: int, kind: str = "rq.Worker", **options: Any) -> Any:
        given = account.ids["subscriptions"]["demo-active"], account.ids["products"]["one_time"], amount
        queue = rq.Queue(connection=redis.from_url(server), serializer=rq.serializers.JSONSerializer)
        queued = queue.enqueue(f"meets.rq_jobs.{job}", *given, **options)
        own = {"BILLCORE_BASE_URL": account.base_url, "BILLCORE_API_KEY": account.api_key}
        environment = {**os.environ, **own, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-m", "rq.cli", "worker", "--burst", "--url", server, "-w", kind, "-S", "json"]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return queued

    return run


def made(account: SandboxAccount, amount: int) -> int:
    return sum(each["amount"] == amount for each in account.control.ledger("charge"))


@pytest.mark.parametrize("kind", ["rq.Worker", "rq.SimpleWorker"])
def test_a_returned_error_is_the_same_error(account: SandboxAccount, run: Run, kind: str) -> None:
    """Also in a worker that forks a process for each job."""
    amount = {"rq.Worker": 1501, "rq.SimpleWorker": 1502}[kind]
    account.control.fault("reset_after", operation="charge")
    error = billcore.BillcoreError.from_dict(run("charge", amount, kind).return_value()["error"])
    assert type(error) is billcore.OutcomeUnknownError and error.outcome_unknown
    with billcore.Client(base_url=account.base_url, api_key=account.api_key) as client:
        assert [each.total for each in client.subscriptions.find_charges(error)][:1] == [amount]
    order = run("charge", amount, kind).return_value()["order"]
    assert order in [each["order_id"] for each in account.control.ledger("charge")] and made(account, amount) == 2


def test_retry_charges_twice(account: SandboxAccount, run: Run) -> None:
    """RQ keeps the text of an error, and its Retry runs a job again whatever the error says."""
    account.control.fault("reset_after", operation="charge")
    result = run("charge_and_raise", 1503).latest_result()
    assert result.return_value is None and "billcore.OutcomeUnknownError: " in result.exc_string
    assert made(account, 1503) == 1
    account.control.fault("reset_after", operation="charge")
    run("charge_and_raise", 1504, retry=rq.Retry(max=1))
    assert made(account, 1504) == 2
