"""The commands `run` and `trigger`, the text on a terminal, and the options that name receivers and data."""

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
from sandbox.support import Receiver, Service, account, refused, run, sign, started
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


@pytest.mark.parametrize("module", ["billcore_sandbox", "billcore"])
def test_run_gives_a_command_the_addresses_and_ends_with_its_status(module: str) -> None:
    own = ["run", "--seed", "7", "--deliver", "http://127.0.0.1:9/hook"]
    done = run(*(["sandbox", *own] if module == "billcore" else own), *python(USE), module=module, env=WITHOUT)
    assert (done.returncode, done.stderr) == (7, "")
    found = json.loads(done.stdout)
    assert (found["products"], found["seed"]) == (280, 7)
    assert len(found["BILLCORE_WEBHOOK_SECRET"]) == 32
    assert is_gone(found["BILLCORE_SANDBOX_CONTROL"])


def test_run_without_a_receiver_sets_no_secret() -> None:
    done = run("run", *python(USE), env=WITHOUT)
    assert json.loads(done.stdout)["BILLCORE_WEBHOOK_SECRET"] is None


def test_run_passes_the_arguments_on_as_they_are() -> None:
    done = run("run", *python("import sys; print(sys.argv[1:])"), "--port", "x", "--", "a b")
    assert (done.returncode, done.stdout) == (0, "['--port', 'x', '--', 'a b']\n")


def test_run_ends_like_a_shell_when_a_signal_ends_the_command() -> None:
    assert run("run", *python("import os; os.kill(os.getpid(), 9)")).returncode == 128 + 9


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
    command = [sys.executable, "-m", "billcore_sandbox", "run", *python(code)]
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


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--", "/no/such/command"], 127, "cannot run /no/such/command: No such file or directory"),
        (["--", "/"], 127, "cannot run /: Permission denied"),
        ([], 2, "name a command after --"),
        (["--"], 2, "name a command after --"),
        (["--port", "x", "--", "true"], 2, "argument --port"),
        (["true"], 2, "unrecognized arguments: true"),
        (["--db", "/", "--", "true"], 1, "cannot read /: Is a directory"),
    ],
)
def test_run_without_a_command_that_runs(arguments: list[str], status: int, message: str) -> None:
    assert message in refused("run", *arguments, status=status)


def test_trigger_lists_the_scenarios(sandbox: Sandbox, control: Control) -> None:
    listed = run("trigger", "--control-url", sandbox.control_url, env=WITHOUT)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert {line.split()[0]: line.split(maxsplit=1)[1] for line in listed.stdout.splitlines()} == control.scenarios()


def test_trigger_lets_a_scenario_happen(sandbox: Sandbox, service: Service, control: Control) -> None:
    control.create_endpoint("https://shop.example/")
    done = run("trigger", "renewal-fails", env=WITHOUT | {"BILLCORE_SANDBOX_CONTROL": sandbox.control_url})
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(done.stdout)
    assert (told["scenario"], told["subscription"]["status"]) == ("renewal-fails", "delayed")
    assert service.get(f"/subscription/{told['subscription']['id']}").data == told["subscription"]
    assert [each["event"] for each in told["deliveries"]] == ["subscription.updated"]


def test_trigger_on_an_existing_subscription(sandbox: Sandbox, service: Service) -> None:
    number = service.subscription("demo-active")["id"]
    done = run("trigger", "unpaid", "--on", number, "--control-url", sandbox.control_url + "/")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["subscription"]["id"] == number
    assert service.subscription("demo-active")["status"] == "unpaid"


def test_trigger_names_what_it_cannot_find(sandbox: Sandbox, service: Service, control: Control) -> None:
    def told(*arguments: str, url: str = sandbox.control_url) -> str:
        return refused("trigger", *arguments, "--control-url", url, env=WITHOUT)

    unknown = told("sunset")
    assert unknown.startswith("billcore-sandbox trigger: There is no scenario 'sunset': there are first-order, ")
    assert all(name in unknown for name in control.scenarios())
    assert "was not found" in told("renewal", "--on", "1")
    service.post(f"/subscription/{service.subscription('demo-active')['id']}/cancel")
    assert "does not take renew: it takes change_product" in told("renewal", "--on", "480001")
    assert "is not the http URL" in told(url="https://127.0.0.1:1/_sandbox")
    assert "is not the http URL" in told(url="127.0.0.1")
    assert "no sandbox listens at http://127.0.0.1:1/_sandbox" in told("renewal", url="http://127.0.0.1:1/_sandbox")
    assert "it answers 401" in told(url=service.base_url)
    assert "BILLCORE_SANDBOX_CONTROL" in refused("trigger", "renewal", status=2, env=WITHOUT)
    assert "unrecognized arguments" in refused("trigger", "renewal", "--off", status=2, env=WITHOUT)


@pytest.mark.parametrize("command", [[], ["run"]])
def test_help_and_version(command: list[str]) -> None:
    shown = run(*command, "--version")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert re.fullmatch(r"billcore-sandbox [0-9]+\.[0-9]+\.[0-9]+\n", shown.stdout)
    assert "--deliver-to HOST|CIDR" in run(*command, "--help").stdout


@pytest.fixture
def banner(receiver: Receiver) -> Iterator[str]:
    """The text that a running sandbox with a receiver has printed on a terminal."""
    primary, terminal = pty.openpty()
    command = [sys.executable, "-m", "billcore_sandbox", "--deliver", receiver.url, f"--delivery-timeout={GENEROUS}"]
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
    assert {*VARIABLES} <= values.keys()
    service = Service(Account(values["BILLCORE_BASE_URL"], values["BILLCORE_API_KEY"]))
    assert service.charge().status == 200
    (item, _) = receiver.wait(2)
    secret = values["BILLCORE_WEBHOOK_SECRET"]
    assert item.headers["Service-Signature"] == sign(item.body, secret)
    assert Control(values["BILLCORE_SANDBOX_CONTROL"]).ledger("charge") != []


def test_deliver_registers_receivers_and_tells_their_secrets(receiver: Receiver) -> None:
    second = receiver.url.replace("/hook", "/second")
    with started("--deliver", receiver.url, "--deliver", second) as (_, ready):
        assert [each["url"] for each in ready["endpoints"]] == [receiver.url, second]
        secrets = {urlsplit(each["url"]).path: each["secret"] for each in ready["endpoints"]}
        service = Service(Account(ready["base_url"], ready["api_key"]))
        assert service.charge().status == 200
        for item in receiver.wait(4):
            expected = sign(item.body, secrets[urlsplit(item.path).path])
            assert item.headers["Service-Signature"] == expected
        control = Control(ready["control_url"])
        control.reset()
        kept = [{"url": each["url"], "secret": each["secret"]} for each in control.endpoints()]
        assert kept == ready["endpoints"], "a reset keeps them"


def test_deliver_finds_its_receiver_again_in_a_database_file(tmp_path: Path) -> None:
    arguments = ("--db", str(tmp_path / "billing.db"), "--deliver", "http://127.0.0.1:9/hook")
    seen = []
    for _ in range(2):
        with started(*arguments) as (_process, ready):
            seen.append(ready["endpoints"])
            assert len(Control(ready["control_url"]).endpoints()) == 1
    assert seen[0] == seen[1]


@pytest.mark.parametrize("url", ["127.0.0.1:9/hook", "ftp://127.0.0.1/", "http://søren.example/"])
def test_deliver_refuses_what_is_not_a_url(url: str) -> None:
    assert f"--deliver {url} is not an absolute http or https URL" in refused("--deliver", url)


@pytest.mark.parametrize("allowed", ["0.0.0.0", "0.0.0.0/8"])
def test_deliver_to_reaches_hosts_and_networks_and_no_others(receiver: Receiver, allowed: str) -> None:
    # 0.0.0.0 is not a loopback address, but a connection to it reaches this machine.
    near, far = receiver.url.replace("127.0.0.1", "0.0.0.0"), "http://192.0.2.1/hook"
    with started("--deliver-to", allowed, "--deliver", near, "--deliver", far) as (process, ready):
        control = Control(ready["control_url"])
        control.test_hook()
        control.test_hook()
        assert receiver.wait(2)[0].event["name"] == "test.hook"
        assert sorted(each["state"] for each in control.wait_for_deliveries(failed_ok=True)) == [
            "delivered",
            "delivered",
            "held_back",
            "held_back",
        ]
        process.terminate()
        told = process.communicate(timeout=GENEROUS)[1]
    assert told == ("billcore sandbox: deliveries to 192.0.2.1 are held back: allow them with --deliver-to 192.0.2.1\n")


def test_deliver_to_refuses_what_is_not_a_network() -> None:
    for value in ("10.0.0.0/99", "http://shop.example/"):
        assert f"--deliver-to takes a host or a network such as 10.0.0.0/8: {value!r}" in refused(
            "--deliver-to", value, status=2
        )


SEED_FILE = """
[[products]]
name = "Gym pass"
price = 19900
vat_rate = 12.5
interval = "week"

[[products]]
name = "Course"
type = "fixed_cycle"
cycles = 2

[[products]]
name = "Towel"
type = "one_time"
currency = "EUR"

[[subscriptions]]
product = "Gym pass"
reference_id = "customer-7"
reference_name = "Zoë"
metadata = { plan = "gold" }

[[subscriptions]]
product = "Course"
reference_id = "ended"
status = "expired"

[[subscriptions]]
product = "Gym pass"
reference_id = "tries"
status = "trialing"

[[subscriptions]]
product = "Gym pass"
reference_id = "fails"
status = "delayed"
declines = true
"""


def test_a_seed_file_replaces_the_data_of_the_first_account(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(SEED_FILE, "utf-8")
    with Sandbox(seed_file=file) as sandbox:
        service, control = account(sandbox), sandbox.control
        products = service.products()
        assert [(each["name"], each["type"], each["price"], each["vat_rate"]) for each in products] == [
            ("Gym pass", "subscription", 19900, 12.5),
            ("Course", "fixed_cycle", 10_000, 25),
            ("Towel", "one_time", 10_000, 25),
        ]
        assert [each["interval"] for each in products] == ["week", "month", None]
        known = service.subscription("customer-7")
        assert (known["status"], known["price"], known["vat"], known["metadata"]) == (
            "active",
            19900,
            1250,
            {"plan": "gold"},
        )
        assert service.charge("customer-7").data["state"] == "paid"
        assert len(account(sandbox, 1).products()) == 30
        names = ("customer-7", "ended", "tries", "fails")
        assert [service.subscription(name)["status"] for name in names] == ["active", "expired", "trialing", "delayed"]
        control.advance(days=8)
        assert [service.subscription(name)["status"] for name in names] == ["active", "expired", "active", "unpaid"]
        assert len(control.ledger("renew")) == 2
        file.unlink()
        control.reset()
        assert service.products() == products
        assert service.subscription("tries")["status"] == "trialing"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read the seed file"),
        ("products = [", "is not TOML: "),
        ("[[subscriptions]]\nproduct = 'Gym pass'", "missing required field `products`"),
        ("[[products]]\nname = 'Gym pass'\nprise = 5", "unknown field `prise` - at `$.products[0]`"),
        ("[[products]]\nname = 'Gym pass'\nprice = '5'", "Expected `int`, got `str` - at `$.products[0].price`"),
        ("[[products]]\nname = 'Gym pass'\nprice = -1", "Expected `int` >= 0"),
        ("[[products]]\nname = 'Gym pass'\ntype = 'weekly'", "Invalid enum value 'weekly'"),
        ("[[products]]\nname = 'Gym pass'\n[[products]]\nname = 'Gym pass'", "two products have one name"),
        (
            "[[products]]\nname = 'Gym pass'\n[[subscriptions]]\nproduct = 'Gym'",
            "no recurring product is named 'Gym'",
        ),
        (
            "[[products]]\nname = 'Towel'\ntype = 'one_time'\n[[subscriptions]]\nproduct = 'Towel'",
            "no recurring product is named 'Towel'",
        ),
        (
            "[[products]]\nname = 'A'\n[[subscriptions]]\nproduct = 'A'\nmetadata = { since = 2026-01-12 }",
            "JSON has no dates",
        ),
    ],
)
def test_a_seed_file_with_a_mistake(tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "mine.toml"
    if text is not None:
        file.write_text(text, "utf-8")
    told = refused("--seed-file", str(file))
    assert message in told
    assert str(file) in told


def test_run_leaves_no_sandbox_when_it_is_killed() -> None:
    code = "import os; print(os.environ['BILLCORE_SANDBOX_CONTROL'], flush=True); input()"
    command = [sys.executable, "-m", "billcore_sandbox", "run", *python(code)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        control_url = process.stdout.readline().strip()
        connection = http.client.HTTPConnection(urlsplit(control_url).netloc, timeout=GENEROUS)
        connection.request("GET", "/healthz")
        assert connection.getresponse().read() == b"ok\n"
        connection.close()
        process.kill()
    until(lambda: is_gone(control_url))
