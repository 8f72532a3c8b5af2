"""--log ndjson: a JSON object for each line of stderr."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from billcore.testing import Account, Control, ControlError, Sandbox
from sandbox.support import MODULE, Receiver, Service, account
from support.waiting import GENEROUS, until


def lines(sandbox: Sandbox) -> list[dict[str, Any]]:
    return [json.loads(line) for line in sandbox.stderr().splitlines()]


def test_each_request_attempt_effect_and_warning_is_a_line(receiver: Receiver) -> None:
    receiver.script = [503]
    with Sandbox(log="ndjson", retry_schedule=[0.01], delivery_timeout=GENEROUS) as sandbox:
        control, service = sandbox.control, account(sandbox)
        endpoint = control.create_endpoint(receiver.url)
        held = control.create_endpoint("http://192.0.2.1/hook")
        control.fault("reset_before", path="/products")
        with pytest.raises(ConnectionError):
            service.get("/products")
        service.send("GET", "/order/1", headers={"authorization": "Bearer token-77"})
        order = service.charge(description="x" * 3000 + "end").data
        control.wait_for_deliveries(failed_ok=True)
        # The sandbox logs a request after it has sent the answer, so wait for the log line of the charge.
        until(lambda: len([each for each in lines(sandbox) if each["kind"] == "request"]) == 5)
        logged, text = lines(sandbox), sandbox.stderr()
        attempts = [each for each in logged if each["kind"] == "attempt"]
        recorded = control.requests()
        uuid = service.account
    assert all(line.startswith('{"kind": "') for line in text.splitlines())
    assert not any(hidden in text for hidden in (service.api_key, endpoint["secret"], "token-77"))

    requests = [each for each in logged if each["kind"] == "request"]
    assert [(each["operation"], each["status"], each["fault"]) for each in requests] == [
        ("products.list", None, "reset_before"),
        ("orders.get", 404, None),
        ("subscriptions.list", 200, None),
        ("products.list", 200, None),
        ("subscriptions.charge", 200, None),
    ]
    for each, record in zip(requests, recorded, strict=True):
        assert (each["id"], each["at"], each["target"]) == (record["id"], record["at"], record["target"])
    assert ["X-API-KEY", "***"] in requests[0]["headers"] and ["authorization", "***"] in requests[1]["headers"]
    assert len(requests[-1]["body"]) == 2000 and "end" not in requests[-1]["body"]

    assert [(each["event"], each["status"], each["state"]) for each in attempts if each["event"] != "order.paid"] == [
        ("order.confirmed", 503, "pending"),
        ("order.confirmed", 200, "delivered"),
    ]
    assert {(each["account"], each["url"], each["endpoint_id"]) for each in attempts} == {
        (uuid, receiver.url, endpoint["id"])
    }
    effects = [each for each in logged if each["kind"] == "effect"]
    assert [each["effect"] for each in effects] == ["webhook_endpoint_create"] * 2 + ["charge"]
    assert (effects[-1]["order_id"], effects[-1]["account"]) == (order["id"], uuid)
    warnings = [each["message"] for each in logged if each["kind"] == "warning"]
    assert warnings == [f"deliveries to 192.0.2.1 are held back: allow them with --deliver-to {held['url'][7:16]}"]


def test_an_effect_that_was_undone_is_not_logged() -> None:
    with Sandbox(log="ndjson", cancel="cancelled") as sandbox:
        control, service = sandbox.control, account(sandbox)
        # cancel="cancelled" cancels at once, so the scenario's second step is refused, and its first step is undone.
        with pytest.raises(ControlError, match="422 not_allowed"):
            control.trigger("cancelled-until-end", on=service.subscription("demo-active")["id"])
        control.trigger("cancelled", on=service.subscription("demo-active")["id"])
        effects = [each for each in lines(sandbox) if each["kind"] == "effect"]
        assert [each["id"] for each in effects] == [each["id"] for each in control.ledger("cancel")] == [1]


def test_it_goes_on_when_nobody_reads_the_log() -> None:
    command = [sys.executable, "-m", MODULE, "--log", "ndjson"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None and process.stderr is not None
            ready = json.loads(process.stdout.readline())
            process.stderr.close()
            service = Service(Account(ready["base_url"], ready["api_key"]))
            assert [service.charge().status for _ in range(3)] == [200] * 3
            assert len(Control(ready["control_url"]).ledger("charge")) == 3
        finally:
            process.kill()
            process.wait(GENEROUS)
