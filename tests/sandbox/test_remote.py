"""The commands that control a running sandbox, as processes in a pipe."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import SandboxAccount
from billcore_sandbox.remote import parsers
from billcore_sandbox.scenarios import SCENARIOS
from sandbox.support import MODULE, Receiver, Service, run
from support.waiting import GENEROUS

README = (Path(__file__).resolve().parents[2] / "python" / "sandbox" / "README.md").read_text("utf-8")


def arguments(mine: SandboxAccount, *command: str) -> list[str]:
    uuid = mine.base_url.rpartition("/")[2]
    return [command[0], f"--control-url={mine.control_url}", f"--account={uuid}", *command[1:]]


def lines(mine: SandboxAccount, *command: str) -> list[str]:
    done = run(*arguments(mine, *command))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def records(mine: SandboxAccount, *command: str) -> list[Any]:
    return [json.loads(line) for line in lines(mine, *command, "--json")]


def service(mine: SandboxAccount) -> Service:
    return Service(mine.accounts[0])


@pytest.mark.parametrize("event", [event for each in SCENARIOS.values() for event in each.fires])
def test_trigger_by_the_name_of_an_event(mine: SandboxAccount, receiver: Receiver, event: str) -> None:
    mine.control.create_endpoint(receiver.url)
    (shown,) = records(mine, "trigger", event)
    assert event in [each["event"] for each in shown["deliveries"]]


def test_trigger_test_hook(mine: SandboxAccount, receiver: Receiver) -> None:
    endpoint = mine.control.create_endpoint(receiver.url)["id"]
    assert records(mine, "trigger", "test.hook") == [{"endpoints": [endpoint]}]


def test_advance_by_a_duration_and_to_a_time(mine: SandboxAccount) -> None:
    mine.control.freeze()
    before = mine.control.state()["accounts"][0]["now"]
    (moved,) = records(mine, "advance", "1d2h30m")
    assert (moved["now"] > before, moved["pending_deliveries"]) == (True, 0)
    shown = lines(mine, "advance", "40d")
    assert any(re.match(r"\S+\trenew\tsubscription\t\d+", line) for line in shown)
    to = datetime.fromisoformat(moved["now"]) + timedelta(days=80)
    (there,) = records(mine, "advance", to.isoformat(), "--no-settle", "--timeout", str(GENEROUS))
    assert there["now"] == to.isoformat()


def test_a_fault_is_registered_listed_and_deleted(mine: SandboxAccount) -> None:
    (fault,) = records(mine, "fault", "status", "operation=charge", "status=418", 'headers={"A": "b"}', "optional=true")
    assert service(mine).charge().status == 418
    assert [each["id"] for each in records(mine, "fault")] == [fault["id"]]
    lines(mine, "fault", "--delete", str(fault["id"]))
    assert lines(mine, "fault") == []


def test_wait_for_a_request_and_a_status(mine: SandboxAccount) -> None:
    service(mine).charge()
    (charge,) = records(mine, "wait", "request", "operation=charge", "status=200")
    assert charge["operation"] == "subscriptions.charge"
    number = mine.ids["subscriptions"]["demo-active"]
    assert records(mine, "wait", "subscription", f"id={number}", "status=active")[0]["id"] == number
    late = run(*arguments(mine, "wait", "request", "operation=cancel", "--timeout", "0.05"))
    assert (late.returncode, late.stderr.count("\n")) == (1, 1) and "0 of 1 requests" in late.stderr


def test_the_latest_requests_and_deliveries(mine: SandboxAccount, receiver: Receiver) -> None:
    mine.control.create_endpoint(receiver.url)
    for _ in range(2):
        service(mine).charge()
    mine.control.wait_for_deliveries(GENEROUS)
    assert [line.split("\t")[2:5] for line in lines(mine, "requests")][-1] == [
        "200",
        "POST",
        f"/subscription/{mine.ids['subscriptions']['demo-active']}/order",
    ]
    (latest,) = lines(mine, "deliveries", "--limit", "1", "--event", "order.paid")
    assert latest.split("\t")[2:] == ["order.paid", "delivered", "1", "200"]
    done = run(*arguments(mine, "deliveries", "--limit", "1"))
    assert done.stderr == "the latest 1 of 4: --limit N shows more\n"
    assert [each["operation"] for each in records(mine, "requests", "--operation", "charge")] == [
        "subscriptions.charge"
    ] * 2


@contextmanager
def following(*command: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen([sys.executable, "-m", MODULE, *command], stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=GENEROUS)


def test_follow_prints_what_happens_until_ctrl_c(mine: SandboxAccount, receiver: Receiver) -> None:
    mine.control.create_endpoint(receiver.url)
    service(mine).charge()
    mine.control.wait_for_deliveries(GENEROUS)
    with (
        following(*arguments(mine, "requests", "--follow", "--json", "--operation", "charge")) as requests,
        following(*arguments(mine, "deliveries", "--follow", "--event", "order.paid")) as deliveries,
    ):
        assert requests.stdout is not None and deliveries.stdout is not None
        first, tried = json.loads(requests.stdout.readline()), deliveries.stdout.readline()
        service(mine).get("/products")
        service(mine).charge()
        second = json.loads(requests.stdout.readline())
        assert (first["operation"], second["operation"], second["status"]) == (*["subscriptions.charge"] * 2, 200)
        assert first["id"] + 1 < second["id"]
        assert (
            tried.split("\t")[2:]
            == deliveries.stdout.readline().split("\t")[2:]
            == ["order.paid", "delivered", "1", "200\n"]
        )
        requests.send_signal(signal.SIGINT)
        assert requests.wait(GENEROUS) == 130


@pytest.mark.parametrize(
    ("command", "status", "told"),
    [
        ("fault status operation", 2, "'operation' is not NAME=VALUE, such as operation=charge"),
        ("fault explode", 1, "explode"),
        ("advance yesterday", 1, "must be a time as ISO 8601 writes it"),
        ("wait order id=1 state=paid", 1, "was not found"),
        ("wait request --count 0", 1, "count"),
        ("requests --limit 0", 1, "limit"),
        ("requests --status 2x", 2, "--status"),
    ],
)
def test_a_mistake_is_told_in_one_line(mine: SandboxAccount, command: str, status: int, told: str) -> None:
    done = run(*arguments(mine, *command.split()))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (status, "", 1) and told in done.stderr


def test_each_command_is_in_the_readme_and_has_an_example() -> None:
    for name, parser in parsers("billcore-sandbox").items():
        assert f"`billcore-sandbox {name}" in README or f"`{name}`" in README
        assert parser.examples and parser.examples[0].startswith(f"billcore-sandbox {name}")
