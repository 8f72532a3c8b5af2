"""The sandbox as a process: command line, ready line, exit, database files, and billcore.testing.Sandbox."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from billcore import testing
from billcore.testing import Sandbox, SandboxError
from sandbox.support import Receiver, Service, account, refused, run, started
from support import plugin
from support.waiting import GENEROUS, until

ROOT = Path(__file__).resolve().parents[2]


def test_the_ready_line() -> None:
    with started("sandbox", "--port", "0", module="billcore") as (process, ready):
        assert sorted(ready) == ["accounts", "api_key", "base_url", "control_url", "pid"]
        assert ready["pid"] == process.pid
        assert ready["accounts"][0] == {"base_url": ready["base_url"], "api_key": ready["api_key"]}
        assert len(ready["accounts"]) == 2
        port = int(ready["base_url"].split("/")[2].rpartition(":")[2])
        assert port != 0
        assert ready["control_url"] == f"http://127.0.0.1:{port}/_sandbox"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_also_with_a_delayed_answer(number: signal.Signals) -> None:
    with started() as (process, ready):
        testing.Control(ready["control_url"]).fault("delay", delay=3600)
        host, port = ready["base_url"].split("/")[2].split(":")
        with socket.create_connection((host, int(port)), timeout=GENEROUS) as waiting:
            waiting.sendall(f"GET /x/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            until(lambda: testing.Control(ready["control_url"]).requests())
            process.send_signal(number)
            assert process.wait(GENEROUS) == 0
    assert process.stderr is not None


def test_it_ends_when_its_stdin_does() -> None:
    with started("--exit-with-stdin") as (process, _):
        assert process.stdin is not None
        process.stdin.write("anything\n")
        process.stdin.flush()
        process.stdin.close()
        process.stdin = None
        assert process.wait(GENEROUS) == 0


def test_it_ends_when_the_process_that_started_it_is_killed() -> None:
    code = "import time\nfrom billcore.testing import Sandbox\nprint(Sandbox().pid, flush=True)\ntime.sleep(3600)"
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait(GENEROUS)
    parent.stdout.close()
    until(lambda: not Path(f"/proc/{child}").exists() or _is_zombie(child))


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_ipv6_loopback() -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("no IPv6 loopback here")
    with started("--host", "::1") as (_, ready):
        assert ready["base_url"].startswith("http://[::1]:")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "0.0.0.0"], "0.0.0.0 is not a loopback address: add --allow-non-loopback"),
        (["--host", "example.org"], "example.org is not a loopback address"),
        (["--secret", "short"], "the secret must be 32 ASCII characters: it has 5"),
        (["--secret", "ø" * 32], "the secret must be 32 ASCII characters"),
        (["--port", "70000"], "the port must be between 0 and 65535"),
        (["--products-per-page", "0"], "page sizes must be 1 or more"),
        (["--retry-schedule", "1,-1"], "--retry-schedule and --delivery-timeout take seconds"),
        (["--delivery-timeout", "nan"], "the time-out: more than 0"),
        (["--renewal-retries", "1,x"], "argument --renewal-retries: expected numbers such as 0.5,1,2, not '1,x'"),
        (["--invoice-days", "-1"], "--invoice-days take days: 0 or more"),
        (["--start", "tomorrow"], "argument --start: expected a time such as 2025-06-02T09:00:00Z, not 'tomorrow'"),
        (["--signature-header", "two words"], "the signature header must be the name of a header"),
        (["--donation-status", "500"], "invalid choice"),
        (["--settlement", "never"], "invalid choice"),
        (["--unknown"], "unrecognized arguments"),
    ],
)
def test_usage_errors(arguments: list[str], message: str) -> None:
    assert message in refused(*arguments, status=2)


def test_a_flag_allows_other_machines() -> None:
    with started("--host", "0.0.0.0", "--allow-non-loopback") as (_, ready):
        assert ready["base_url"].startswith("http://127.0.0.1:")


def test_the_port_is_taken() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert "cannot listen" in refused("--port", str(taken.getsockname()[1]))


def test_without_the_package_it_says_what_to_install() -> None:
    code = (
        "import importlib.util, sys\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'billcore_sandbox' else found(name, *rest)\n"
        "from billcore.cli import main\n"
        "sys.exit(main(['sandbox']))"
    )
    done = run(code=code)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "billcore-sandbox is not installed: run pip install ./python/sandbox in a checkout\n"


def test_the_samples_of_events_are_what_the_sandbox_sends() -> None:
    """To update the samples: python -m billcore_sandbox.catalog > python/billcore/testing/samples.json"""
    printed = subprocess.run([sys.executable, "-m", "billcore_sandbox.catalog"], capture_output=True, check=True)
    assert printed.stdout == (ROOT / "python/billcore/testing/samples.json").read_bytes()


def test_the_two_packages_have_one_version() -> None:
    version = re.search(r"project\(billcore VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text("utf-8"))
    assert version is not None
    printed = run("--version")
    assert printed.stdout == f"billcore-sandbox {version[1]}\n"


def test_help_and_errors_work_without_the_server_packages() -> None:
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('starlette', 'uvicorn', 'h11')))\n"
        "from billcore.cli import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    assert run("sandbox", "--help", code=code).returncode == 0
    assert run("sandbox", "--port", "x", code=code).returncode == 2
    assert run(code=code).returncode == 2


def test_the_sandbox_never_loads_the_compiled_half() -> None:
    code = (
        "import sys\n"
        "import billcore_sandbox.http.server, billcore.testing, billcore.cli, billcore._pytest_plugin\n"
        "loaded = [name for name in sys.modules if name in ('billcore._webhook', 'billcore._client')]\n"
        "sys.exit(1 if loaded else 0)"
    )
    assert run(code=code).returncode == 0


def test_a_seed_gives_the_same_data_and_another_seed_other_data() -> None:
    def everything(seed: int) -> tuple[Any, ...]:
        with Sandbox(seed=seed, start="2026-01-12T09:00:00Z") as sandbox:
            service = account(sandbox)
            listed = [service.get(f"/subscriptions?page={page}").data for page in range(1, 6)]
            path = service.base_url.rpartition("/")[2]
            return path, service.api_key, listed, service.products(), made_by(sandbox)

    def made_by(sandbox: Sandbox) -> tuple[Any, ...]:
        service, control = account(sandbox), sandbox.control
        assert control.state()["accounts"][0]["now"].startswith("2026-01-12T09:")
        endpoint = control.create_endpoint("https://shop.example/")
        order = service.charge().data
        deliveries = control.deliveries()
        own = control.create_account(demo=False)
        assert order["created_at"].startswith("2026-01-12T09:")
        return own, endpoint["secret"], {**order, "created_at": None}, [each["id"] for each in deliveries]

    assert everything(7) == everything(7)
    assert everything(7)[:2] != everything(8)[:2]
    with Sandbox(seed=7, start="2026-01-12T09:00:00Z") as sandbox:
        first = made_by(sandbox)
        sandbox.control.advance(days=400)
        sandbox.control.reset()
        assert made_by(sandbox) == first


def test_without_a_seed_new_ids_and_secrets_never_repeat(tmp_path: Path) -> None:
    """A receiver that drops known ids must not drop the events of the next test, so ids must differ."""

    def made_by(sandbox: Sandbox) -> list[tuple[str, Any]]:
        service, control = account(sandbox), sandbox.control
        secret = control.create_endpoint(f"https://shop{len(control.endpoints())}.example/")["secret"]
        subscription = control.checkout(service.product("subscription")["id"])["subscription"]["id"]
        order = service.charge().data["id"]
        made = [("secret", secret), ("subscription", subscription), ("order", order)]
        return [*made, *(("event", each["id"]) for each in control.deliveries())]

    seen: list[tuple[str, Any]] = []
    for db in (None, None, tmp_path / "billing.db"):
        with Sandbox(db=db) as sandbox:
            assert account(sandbox).subscription("demo-active")["id"] == "480001"
            seen += made_by(sandbox)
            sandbox.control.reset()
            assert account(sandbox).subscription("demo-active")["id"] == "480001"
            seen += made_by(sandbox)
    assert len(seen) == 6 * 5
    with Sandbox(db=tmp_path / "billing.db") as sandbox:
        # The database file has the earlier process's endpoint and deliveries: now two endpoints get two events each.
        before = [("event", each["id"]) for each in sandbox.control.deliveries()]
        seen += [each for each in made_by(sandbox) if each not in before]
    assert len(seen) == 6 * 5 + 7
    assert len(set(seen)) == len(seen)


def test_a_database_file_keeps_everything(tmp_path: Path, receiver: Receiver) -> None:
    db = tmp_path / "billing.db"
    receiver.script = [500] * 1000
    with Sandbox(db=db, seed=5, retry_schedule=[0.01, 3600], delivery_timeout=GENEROUS) as sandbox:
        service = account(sandbox)
        moved = sandbox.control.advance(days=10)
        assert len(moved["happened"]) > 10
        service.post("/webhooks/endpoints", {"url": receiver.url})
        order = service.charge().data
        until(lambda: all(len(delivery["attempts"]) == 2 for delivery in sandbox.control.deliveries()))
        ledger, endpoints = sandbox.control.ledger(), sandbox.control.endpoints()
        requests = sandbox.control.requests()
        accounts = [(account.base_url.rpartition("/")[2], account["api_key"]) for account in sandbox.accounts]
    receiver.script = []
    with Sandbox(db=db, delivery_timeout=GENEROUS) as sandbox:
        service = account(sandbox)
        assert [(account.base_url.rpartition("/")[2], account["api_key"]) for account in sandbox.accounts] == accounts
        assert (sandbox.control.ledger(), sandbox.control.endpoints()) == (ledger, endpoints)
        assert sandbox.control.requests() == requests
        state = sandbox.control.state()
        assert state["seed"] == 5
        assert state["accounts"][0]["now"] > moved["now"]
        # The third attempt of each delivery is due an hour later by the account's clock.
        assert [delivery["state"] for delivery in sandbox.control.deliveries()] == ["pending", "pending"]
        sandbox.control.advance(seconds=3600)
        deliveries = sandbox.control.wait_for_deliveries()
        assert [delivery["state"] for delivery in deliveries] == ["delivered", "delivered"]
        assert [len(delivery["attempts"]) for delivery in deliveries] == [3, 3]
        assert len({item.body for item in receiver.received}) == 2
        assert service.get(f"/order/{order['id']}").data == order
        sandbox.control.reset()
        assert sandbox.control.ledger() == []
        assert service.get(f"/order/{order['id']}").status == 404
        assert service.charge().status == 200


def test_an_effect_is_whole_or_not_at_all_when_the_process_is_killed(tmp_path: Path) -> None:
    db = tmp_path / "billing.db"
    with started("--db", str(db)) as (process, ready):
        service = Service(testing.Account(ready["base_url"], ready["api_key"]))
        service.post("/webhooks/endpoints", {"url": "https://shop.example/"})
        testing.Control(ready["control_url"]).fault("reset_after", method="POST", path="/subscription/*/order")
        with pytest.raises(ConnectionResetError):
            service.charge()
        process.kill()
        process.wait(GENEROUS)
    with Sandbox(db=db) as sandbox:
        (charge,) = sandbox.control.ledger("charge")
        assert account(sandbox).get(f"/order/{charge['order_id']}").data["state"] == "paid"
        assert [d["event"] for d in sandbox.control.deliveries()] == ["order.confirmed", "order.paid"]


def test_a_sandbox_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"ended with status 2: .*the secret must be 32 ASCII characters"):
        Sandbox(secret="short")
    with pytest.raises(SandboxError, match=r"ended with status 1: billcore sandbox: cannot read .*: Is a directory"):
        Sandbox(db=tmp_path)


def test_a_sandbox_can_be_closed_twice_and_leaves_nothing() -> None:
    sandbox = Sandbox()
    pid = sandbox.pid
    assert sandbox.stderr() == ""
    sandbox.close()
    sandbox.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_sandbox_is_found_from_any_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with Sandbox() as sandbox:
        assert sandbox.control.ledger() == []


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with Sandbox() as sandbox:
        assert sandbox.control.requests() == []


def test_the_pytest_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "pids = set()\n"
        "def test_first(billcore_sandbox):\n"
        "    pids.add(billcore_sandbox.pid)\n"
        "    billcore_sandbox.control.fault('delay', optional=True)\n"
        "def test_second(billcore_sandbox):\n"
        "    pids.add(billcore_sandbox.pid)\n"
        "    assert len(pids) == 1\n"
        "    assert billcore_sandbox.control.state()['faults'] == []\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", *plugin.OPTIONS, "-p", "no:cacheprovider"]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, timeout=GENEROUS, cwd=tmp_path)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_the_pytest_plugin_is_cheap() -> None:
    code = (
        "import sys, pytest\n"
        "before = set(sys.modules)\n"
        "import billcore._pytest_plugin\n"
        "new = set(sys.modules) - before\n"
        "sys.exit(str(new) if any(not name.startswith('billcore') for name in new) else 0)"
    )
    done = run(code=code)
    assert done.returncode == 0, done.stderr
