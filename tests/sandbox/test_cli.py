"""The commands `run` and `trigger`, the text on a terminal, the receivers of --deliver, and what commands refuse."""

from __future__ import annotations

import http.client
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from billcore.testing import Account, Control, Sandbox
from sandbox.support import CLOSED, MODULE, Receiver, Service, of_ready, refused, run, sign, started
from support.waiting import GENEROUS, until

VARIABLES = ("BILLCORE_BASE_URL", "BILLCORE_API_KEY", "BILLCORE_SANDBOX_CONTROL", "BILLCORE_WEBHOOK_SECRET")
WITHOUT = {name: value for name, value in os.environ.items() if name not in VARIABLES}
# A program that prints the variables, the number of products and the seed as JSON, and exits with status 7.
USE = (
    "import json, os, sys, urllib.request as r\n"
    f"found = {{name: os.environ.get(name) for name in {VARIABLES}}}\n"
    "asked = r.Request(found['BILLCORE_BASE_URL'] + '/products', headers={'X-API-KEY': found['BILLCORE_API_KEY']})\n"
    "open = r.build_opener(r.ProxyHandler({})).open\n"
    "found['products'] = json.load(open(asked))['pagination']['total']\n"
    "found['seed'] = json.load(open(found['BILLCORE_SANDBOX_CONTROL'] + '/state'))['seed']\n"
    "print(json.dumps(found))\n"
    "sys.exit(7)"
)


def is_gone(control_url: str) -> bool:
    parts = urlsplit(control_url)
    with socket.socket() as probe:
        return probe.connect_ex((parts.hostname, parts.port)) != 0


def python(code: str) -> list[str]:
    return ["--", sys.executable, "-c", code]


@pytest.mark.parametrize(("options", "length"), [((), 0), (("--deliver", CLOSED), 32)])
def test_run_gives_a_command_the_addresses_and_ends_with_its_status(options: tuple[str, ...], length: int) -> None:
    done = run("run", "--seed", "7", *options, *python(USE), env=WITHOUT)
    assert (done.returncode, done.stderr) == (7, "")
    found = json.loads(done.stdout)
    assert (found["products"], found["seed"]) == (280, 7)
    assert len(found["BILLCORE_WEBHOOK_SECRET"] or "") == length
    assert is_gone(found["BILLCORE_SANDBOX_CONTROL"])


def test_run_passes_the_arguments_on_and_ends_like_a_shell() -> None:
    code = "import os, sys; print(sys.argv[1:], flush=True); os.kill(os.getpid(), 9)"
    done = run("run", *python(code), "--port", "x", "--", "a b")
    assert (done.returncode, done.stdout) == (128 + 9, "['--port', 'x', '--', 'a b']\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_run_lets_the_command_end_in_its_own_way(number: signal.Signals) -> None:
    # sigwait() misses no signal; pause() would miss a signal that comes just before the call.
    code = (
        "import os, signal, sys\n"
        f"signal.pthread_sigmask(signal.SIG_BLOCK, [{int(number)}])\n"
        "print(os.environ['BILLCORE_SANDBOX_CONTROL'], flush=True)\n"
        f"signal.sigwait([{int(number)}])\n"
        "sys.exit(6)"
    )
    command = [sys.executable, "-m", MODULE, "run", *python(code)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as process:
        assert process.stdout is not None
        control_url = process.stdout.readline().strip()
        if number == signal.SIGINT:
            os.killpg(process.pid, number)  # as Ctrl-C in a terminal does
        else:
            process.send_signal(number)
        output, errors = process.communicate(timeout=GENEROUS)
    assert (process.returncode, output, errors) == (6, "", "")
    assert is_gone(control_url)


def test_run_leaves_no_sandbox_when_it_is_killed() -> None:
    code = "import os; print(os.environ['BILLCORE_SANDBOX_CONTROL'], flush=True); input()"
    command = [sys.executable, "-m", MODULE, "run", *python(code)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        control_url = process.stdout.readline().strip()
        connection = http.client.HTTPConnection(urlsplit(control_url).netloc, timeout=GENEROUS)
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok\n"
        connection.close()
        process.kill()
    until(lambda: is_gone(control_url))


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        ("--host 0.0.0.0", 2, "0.0.0.0 is not a loopback address: add --allow-non-loopback"),
        ("--host example.org", 2, "example.org is not a loopback address"),
        ("--secret short", 2, "the secret must be 32 ASCII characters: it has 5"),
        ("--secret " + "ø" * 32, 2, "the secret must be 32 ASCII characters"),
        ("--port 70000", 2, "the port must be between 0 and 65535"),
        ("--products-per-page 0", 2, "page sizes must be between 1 and 100000"),
        ("--keep 0", 2, "--keep must be 1 or more"),
        ("--retry-schedule 1,-1", 2, "--retry-schedule and --delivery-timeout take seconds"),
        ("--delivery-timeout nan", 2, "the time-out: more than 0"),
        ("--renewal-retries 1,x", 2, "argument --renewal-retries: expected numbers such as 0.5,1,2, not '1,x'"),
        ("--start tomorrow", 2, "argument --start: expected a time such as 2025-06-02T09:00:00Z, not 'tomorrow'"),
        ("--allow-host billing:8080", 2, "a name or an address, without a scheme and a port: 'billing:8080'"),
        ("--allow-host http://billing", 2, "without a scheme"),
        ("--signature-header a/b", 2, "the signature header must be the name of a further header"),
        ("--donation-status 500", 2, "invalid choice"),
        ("--unknown", 2, "unrecognized arguments"),
        ("--deliver-to 10.0.0.0/99", 2, "--deliver-to takes a host or a network such as 10.0.0.0/8: '10.0.0.0/99'"),
        ("--deliver 127.0.0.1:9/hook", 1, "--deliver 127.0.0.1:9/hook is not an absolute http or https URL"),
        ("--port {port}", 1, "cannot listen"),
        ("--db /", 1, "cannot read /: Is a directory"),
        ("--db {folder}/missing/billing.db", 1, "unable to open database file"),
        ("run -- /no/such/command", 127, "cannot run /no/such/command: No such file or directory"),
        ("run -- /", 127, "cannot run /: Permission denied"),
        ("run --", 2, "name a command after --"),
        ("run true", 2, "unrecognized arguments: true"),
        ("run --db / -- true", 1, "cannot read /: Is a directory"),
        ("trigger renewal", 2, "BILLCORE_SANDBOX_CONTROL"),
        ("trigger --control-url https://127.0.0.1:1/_sandbox", 1, "is not the http URL"),
        ("trigger --control-url http://127.0.0.1:1/x", 5, "no sandbox listens at http://127.0.0.1:1/x"),
        ("trigger --control-url {base_url}", 1, "it answers 401"),
        ("trigger sunset --control-url {control_url}", 1, "There is no scenario 'sunset': there are first-order, "),
        ("trigger renewal --on 1 --control-url {control_url}", 1, "was not found"),
    ],
)
def test_what_is_refused(process: Sandbox, tmp_path: Path, arguments: str, status: int, message: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port, urls = taken.getsockname()[1], {"base_url": process.base_url, "control_url": process.control_url}
        given = arguments.format(port=port, folder=tmp_path, **urls).split()
        assert message in refused(*given, status=status, env=WITHOUT)


def test_trigger_lists_the_scenarios(process: Sandbox) -> None:
    listed = run("trigger", "--control-url", process.control_url, env=WITHOUT)
    assert (listed.returncode, listed.stderr) == (0, "")
    told = {line.split()[0]: line.split(maxsplit=1)[1] for line in listed.stdout.splitlines()}
    assert told == process.control.scenarios()


def test_trigger_on_a_new_and_on_an_existing_subscription(sandbox: Sandbox, service: Service) -> None:
    number = service.subscription("demo-active")["id"]
    for arguments, id_of in (((), None), (("--on", number), number)):
        environment = WITHOUT | {"BILLCORE_SANDBOX_CONTROL": sandbox.control_url + "/"}
        done = run("trigger", "renewal-fails", *arguments, env=environment)
        assert (done.returncode, done.stderr) == (0, "")
        told = json.loads(done.stdout)
        assert (told["scenario"], told["subscription"]["status"]) == ("renewal-fails", "delayed")
        assert id_of in (None, told["subscription"]["id"])
        assert service.get(f"/subscription/{told['subscription']['id']}").data == told["subscription"]


@pytest.mark.parametrize("command", [[], ["run"]])
def test_help_and_version(command: list[str]) -> None:
    shown = run(*command, "--version")
    assert (shown.returncode, shown.stderr) == (0, "")
    root = Path(__file__).resolve().parents[2]
    version = re.search(r"project\(billcore VERSION ([0-9.]+)", (root / "CMakeLists.txt").read_text("utf-8"))
    assert version is not None and shown.stdout == f"billcore-sandbox {version[1]}\n"
    assert "--deliver-to HOST|CIDR" in run(*command, "--help").stdout


@pytest.fixture
def banner(receiver: Receiver) -> Iterator[str]:
    """The text that a running sandbox with a receiver has printed on a terminal."""
    primary, terminal = pty.openpty()
    command = [sys.executable, "-m", MODULE, "--deliver", receiver.url, f"--delivery-timeout={GENEROUS}"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=terminal)
    os.close(terminal)
    try:
        shown = b""
        while b"trigger" not in shown:
            shown += os.read(primary, 65536)
        yield shown.decode().replace("\r\n", "\n")
    finally:
        process.terminate()
        process.wait(GENEROUS)
        os.close(primary)


def test_a_terminal_shows_what_to_paste_into_a_shell(banner: str, receiver: Receiver) -> None:
    assert banner.startswith("The billing service is ready. Ctrl-C stops it.")
    assert "{" not in banner
    exports = "\n".join(line for line in banner.splitlines() if line.startswith("export "))
    found = subprocess.run(["sh", "-c", f"{exports}\nenv"], env={}, capture_output=True, text=True, check=True).stdout
    values = dict(line.split("=", 1) for line in found.splitlines())
    assert Service(Account(values["BILLCORE_BASE_URL"], values["BILLCORE_API_KEY"])).charge().status == 200
    item = receiver.wait(1)[0]
    assert item.headers["Service-Signature"] == sign(item.body, values["BILLCORE_WEBHOOK_SECRET"])
    assert Control(values["BILLCORE_SANDBOX_CONTROL"]).ledger("charge") != []


def test_receivers_of_deliver_stay_after_a_reset_and_a_restart(tmp_path: Path, receiver: Receiver) -> None:
    urls = [receiver.url, receiver.url + "&second"]
    arguments = ("--db", str(tmp_path / "billing.db"), "--deliver", urls[0], "--deliver", urls[1])
    seen: list[Any] = []
    for _ in range(2):
        with started(*arguments) as (_process, ready):
            seen.append(ready["endpoints"])
            assert [each["url"] for each in ready["endpoints"]] == urls
            service, control = of_ready(ready)
            for reset in (False, True):
                if reset:
                    control.reset()
                kept = [{"url": each["url"], "secret": each["secret"]} for each in control.endpoints()]
                assert kept == ready["endpoints"]
            service.charge()
            control.wait_for_deliveries()
    assert seen[0] == seen[1]
    secrets = {each["url"].partition("/hook")[2]: each["secret"] for each in seen[0]}
    for item in receiver.wait(8):
        assert item.headers["Service-Signature"] == sign(item.body, secrets[item.path.partition("/hook")[2]])
