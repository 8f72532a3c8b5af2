"""The sandbox as a process: its ready line, its end, its log, and what its packages need."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from billcore.testing import Sandbox, SandboxError
from sandbox.support import Receiver, account, ended, of_ready, run, started
from support.answer import Answer
from support.waiting import GENEROUS, until

ROOT = Path(__file__).resolve().parents[2]


def test_the_ready_line() -> None:
    with started("sandbox", "--port", "0", module="billcore") as (process, ready):
        assert sorted(ready) == ["accounts", "api_key", "base_url", "control_url", "pid"]
        assert ready["pid"] == process.pid
        assert ready["accounts"][0] == {"base_url": ready["base_url"], "api_key": ready["api_key"]}
        assert len(ready["accounts"]) == 2
        assert ready["control_url"] == ready["base_url"].rpartition("/")[0] + "/_sandbox"
        assert urlsplit(ready["control_url"]).port != 0


@pytest.mark.parametrize(
    ("arguments", "origin"),
    [(("--host", "::1"), "http://[::1]:"), (("--host", "0.0.0.0", "--allow-non-loopback"), "http://127.0.0.1:")],
)
def test_the_address_that_clients_use(arguments: tuple[str, ...], origin: str) -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("no IPv6 loopback here")
    with started(*arguments) as (_, ready):
        assert ready["base_url"].startswith(origin)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_also_with_a_delayed_answer_and_a_wait(number: signal.Signals) -> None:
    with started() as (process, ready):
        service, control = of_ready(ready)
        control.fault("delay", delay=3600)
        parts = urlsplit(ready["control_url"])
        waiting = http.client.HTTPConnection(parts.netloc, timeout=GENEROUS)
        body = json.dumps({"delivery": {}, "timeout": 600})
        with socket.create_connection((service.host, service.port or 80), timeout=GENEROUS) as delayed:
            delayed.sendall(f"GET /x/ HTTP/1.1\r\nHost: {service.host}\r\n\r\n".encode())
            until(control.requests)
            waiting.request("POST", f"{parts.path}/wait", body, {"Content-Type": "application/json"})
            control.state()  # the sandbox reads requests in the order in which they were sent
            process.send_signal(number)
            answer = Answer.read(waiting.getresponse())
            waiting.close()
            assert (answer.status, answer.code) == (503, "stopped")
            assert process.wait(GENEROUS) == 0
        assert process.stderr is not None and process.stderr.read() == ""


def test_it_ends_when_its_stdin_does() -> None:
    with started("--exit-with-stdin") as (process, _):
        assert process.stdin is not None
        process.stdin.write("anything\n")
        process.stdin.close()
        process.stdin = None
        assert process.wait(GENEROUS) == 0


def test_it_ends_when_the_process_that_started_it_is_killed() -> None:
    code = "import time\nfrom billcore.testing import Sandbox\nprint(Sandbox().pid, flush=True)\ntime.sleep(3600)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()

    def ended() -> bool:
        try:
            return Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            return True

    until(ended)


LOADED = (  # the compiled half of the client is not loaded, and the pytest plugin loads no other package
    "import sys, pytest\n"
    "before = set(sys.modules)\n"
    "import billcore._pytest_plugin\n"
    "others = [name for name in set(sys.modules) - before if not name.startswith('billcore')]\n"
    "import billcore_sandbox.http.server, billcore.testing, billcore.cli\n"
    "sys.exit(str(others + [name for name in ('billcore._webhook', 'billcore._client') if name in sys.modules]))"
)
WITHOUT_SERVER = (
    "import sys\n"
    "sys.modules.update(dict.fromkeys(('uvicorn', 'h11')))\n"
    "from billcore.cli import main\n"
    "sys.exit(main(sys.argv[1:]))"
)
NOT_INSTALLED = (
    "import importlib.util, sys\n"
    "found = importlib.util.find_spec\n"
    "importlib.util.find_spec = lambda name, *rest: None if name == 'billcore_sandbox' else found(name, *rest)\n"
    "from billcore.cli import main\n"
    "sys.exit(main(['sandbox']))"
)


@pytest.mark.parametrize(
    ("code", "arguments", "status", "told"),
    [
        (LOADED, [], 1, "[]\n"),
        (WITHOUT_SERVER, ["sandbox", "--help"], 0, ""),
        (WITHOUT_SERVER, ["sandbox", "--port", "x"], 2, "argument --port"),
        (NOT_INSTALLED, [], 2, "billcore-sandbox is not installed: run pip install ./python/sandbox in a checkout\n"),
    ],
    ids=["loaded", "help", "mistake", "not installed"],
)
def test_what_is_imported(code: str, arguments: list[str], status: int, told: str) -> None:
    done = run(*arguments, code=code)
    assert done.returncode == status, done.stderr
    assert told in done.stderr


def test_the_samples_of_events_are_what_the_sandbox_sends() -> None:
    """To update the samples: python -m billcore_sandbox.catalog > python/billcore/testing/samples.json"""
    printed = subprocess.run([sys.executable, "-m", "billcore_sandbox.catalog"], capture_output=True, check=True)
    assert printed.stdout == (ROOT / "python/billcore/testing/samples.json").read_bytes()


# ---- billcore.testing.Sandbox ----------------------------------------------------------------------------------------


def test_a_sandbox_that_does_not_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match=r"ended with status 2: .*the secret must be 32 ASCII characters"):
        Sandbox(secret="short")
    with pytest.raises(SandboxError, match=r"ended with status 1: billcore sandbox: cannot read .*: Is a directory"):
        Sandbox(db=tmp_path)


def test_a_sandbox_runs_anywhere_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    sandbox = Sandbox()
    assert (sandbox.control.requests(), sandbox.stderr()) == ([], "")
    sandbox.close()
    sandbox.close()
    with pytest.raises(ProcessLookupError):
        os.kill(sandbox.pid, 0)


# ---- --log ndjson ----------------------------------------------------------------------------------------------------


def lines(sandbox: Sandbox, kind: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in sandbox.stderr().splitlines()]
    return [each for each in found if each["kind"] == kind]


def test_each_request_attempt_effect_and_warning_is_a_line(receiver: Receiver) -> None:
    receiver.script = [503]
    with Sandbox(log="ndjson", retry_schedule=[0.01], delivery_timeout=GENEROUS) as sandbox:
        control, service = sandbox.control, account(sandbox)
        endpoint = control.create_endpoint(receiver.url)
        control.create_endpoint("http://192.0.2.1/hook")
        control.fault("reset_before", path="/products")
        with pytest.raises(ConnectionError):
            service.get("/products")
        service.send("GET", "/order/1", headers={"authorization": "Bearer token-77"})
        order = service.charge(description="x" * 3000 + "end").data
        ended(control)
        # The sandbox logs a request after it has sent the answer, so wait for the log line of the charge.
        until(lambda: len(lines(sandbox, "request")) == 5)
        requests, attempts, effects, warnings = (
            lines(sandbox, kind) for kind in ("request", "attempt", "effect", "warning")
        )
        recorded, text = control.requests(), sandbox.stderr()
    assert not any(hidden in text for hidden in (service.api_key, endpoint["secret"], "token-77"))

    assert [(each["operation"], each["status"], each["fault"]) for each in requests] == [
        ("products.list", None, "reset_before"),
        ("orders.get", 404, None),
        ("subscriptions.list", 200, None),
        ("products.list", 200, None),
        ("subscriptions.charge", 200, None),
    ]
    for name in ("id", "at", "target"):
        assert [each[name] for each in requests] == [record[name] for record in recorded]
    assert ["X-API-KEY", "***"] in requests[0]["headers"] and ["authorization", "***"] in requests[1]["headers"]
    assert len(requests[-1]["body"]) == 2000 and "end" not in requests[-1]["body"]

    confirmed = [(each["status"], each["state"]) for each in attempts if each["event"] == "order.confirmed"]
    assert confirmed == [(503, "pending"), (200, "delivered")]
    where = {(each["account"], each["url"], each["endpoint_id"]) for each in attempts}
    assert where == {(service.account, receiver.url, endpoint["id"])}
    assert [each["effect"] for each in effects] == ["webhook_endpoint_create"] * 2 + ["charge"]
    assert (effects[-1]["order_id"], effects[-1]["account"]) == (order["id"], service.account)
    held = "deliveries to 192.0.2.1 are held back: allow them with --deliver-to 192.0.2.1"
    assert [each["message"] for each in warnings] == [held]
