"""Runs the programs of examples/README.md in each language against a new sandbox.

Usage: check_samples.py BUILD

BUILD is a build folder with examples, such as that of quickstart.sh. The programs in Go and Rust run if they were
built. The script needs the Python package with its sandbox.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import billcore
from billcore import webhooks
from billcore.testing import Sandbox

HERE = Path(__file__).resolve().parent
SECRET = "0123456789abcdef0123456789abcdef"
BODY = b'{"id":7,"name":"test.hook","account":1,"created_at":"2025-06-02T09:00:00+00:00","data":null}'


def expect(truth: bool, claim: str) -> None:
    if not truth:
        sys.exit(f"check_samples: check failed: {claim}")


def run(
    command: list[str], *arguments: str, body: bytes = b"", without: str | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Runs a program; `without` names an environment variable to remove."""
    environment = {name: value for name, value in os.environ.items() if name != without}
    return subprocess.run([*command, *arguments], input=body, capture_output=True, timeout=60, env=environment)


def status_of(command: list[str], *arguments: str, body: bytes = b"") -> int:
    return run(command, *arguments, body=body).returncode


def expect_one_line(
    command: list[str], *arguments: str, says: str, body: bytes = b"", without: str | None = None
) -> None:
    """Checks that the program fails with a one-line reason."""
    done = run(command, *arguments, body=body, without=without)
    text = done.stderr.decode()
    expect(
        done.returncode in (1, 2) and done.stdout == b"" and text.count("\n") == 1 and says in text,
        f"{command} {arguments} fails with one line that has {says!r}; it ended with {done.returncode}: {text!r}",
    )


def check_failures(command: list[str], *rest: str) -> None:
    """Checks the errors common to all programs that use the client. `rest`: the arguments after the id."""
    expect_one_line(command, "no-such-id", *rest, says="404")
    check_settings(command, "1", *rest)


def check_settings(command: list[str], *arguments: str) -> None:
    for name in ("BILLCORE_BASE_URL", "BILLCORE_API_KEY"):
        expect_one_line(command, *arguments, says=name, without=name)


def check_charge(command: list[str], sandbox: Sandbox) -> None:
    with billcore.Client() as client:
        product = next(product for product in client.products.list() if product.type == "one_time")
        recurring = next(product for product in client.products.list() if product.type != "one_time")
        active, declined = (
            client.subscriptions.list(reference_id=f"demo-{name}").first() for name in ("active", "declined")
        )
    if active is None or declined is None:
        sys.exit("check_samples: the sandbox has no demo subscriptions")
    sandbox.control.reset()
    done = run(command, str(active.id), str(product.id), "1500")
    expect((done.returncode, done.stdout) == (0, b"charged 1500 cents, 1875 with VAT\n"), f"{command} charges")
    expect(status_of(command, str(declined.id), str(product.id), "1500") == 1, f"{command} says that it was refused")
    charges = [(charge["subscription_id"], charge["amount"]) for charge in sandbox.control.ledger("charge")]
    expect(charges == [(str(active.id), 1500)], f"{command} charges once, the right amount")
    expect_one_line(command, str(declined.id), str(product.id), "1500", says="declined")
    expect_one_line(command, str(active.id), str(recurring.id), "1500", says="422")
    sandbox.control.fault("reset_after", method="POST", path="/subscription/*/order")  # the answer is lost
    expect_one_line(command, str(active.id), str(product.id), "2700", says="; 2 orders were made since then")
    expect(len(sandbox.control.ledger("charge")) == 2, f"{command} does not send the charge again")
    expect_one_line(command, says="usage: charge")
    check_failures(command, str(product.id), "1500")


def check_find(command: list[str]) -> None:
    done = run(command, "demo-active")
    expect((done.returncode, done.stdout) == (0, b"480001 active\n"), f"{command} finds by reference_id")
    expect_one_line(command, "no-such-reference", says="no subscription has this reference_id")
    expect_one_line(command, says="usage: find")
    check_settings(command, "demo-active")


def check_loop(command: list[str]) -> None:
    with billcore.Client() as client:
        several = [(str(each.id), each.status) for each in client.subscriptions.list().collect(20)]
    done = run(command, *(each for each, _ in several))
    told = {tuple(line.split()) for line in done.stdout.decode().splitlines()}
    expect((done.returncode, told) == (0, set(several)), f"{command} gets several at once")
    done = run(command, "0", *(each for each, _ in several))
    told = {tuple(line.split()) for line in done.stdout.decode().splitlines()}
    expect((done.returncode, told) == (1, set(several)), f"{command} goes on after a call that failed")
    expect(b"404" in done.stderr and done.stderr.count(b"\n") == 1, f"{command} says why a call failed")
    expect_one_line(command, says="usage: loop_")
    check_failures(command)


def check_verify(command: list[str]) -> None:
    signature = webhooks.sign(BODY, SECRET)
    expect(status_of(command, signature, body=BODY) == 0, f"{command} accepts a right signature")
    expect(status_of(command, signature, body=BODY + b"\n") == 1, f"{command} refuses another body")
    expect(status_of(command, "", body=BODY) == 1, f"{command} refuses an empty signature")
    order = BODY.replace(b"test.hook", b"order.paid")
    done = run(command, webhooks.sign(order, SECRET), body=order)
    expect((done.returncode, done.stdout) == (0, b"event 7 is order.paid\n"), f"{command} reads an event")
    paid = b'{"id":8,"name":"order.paid","account":1,"data":{"id":"ord_1","total":19900}}'
    done = run(command, webhooks.sign(paid, SECRET), body=paid)
    expect(done.stdout == b"event 8: order ord_1 is paid, 19900 cents\n", f"{command} reads an order")
    # Only the name of a test.hook is reliable, so the programs must not need any other field.
    for body in (BODY, b'{"name":"test.hook"}', b'{"id":{},"name":"test.hook","account":null,"data":[]}'):
        done = run(command, webhooks.sign(body, SECRET), body=body)
        expect((done.returncode, done.stdout) == (0, b"test.hook\n"), f"{command} reads only the name of {body!r}")
    # A program must refuse a body over 1 MiB, even if the signature is valid for the whole body or for its first MiB.
    whole = BODY + b" " * ((1 << 20) - len(BODY))
    expect(status_of(command, webhooks.sign(whole, SECRET), body=whole) == 0, f"{command} takes 1 MiB")
    for longer in (whole + b" ", whole * 3):
        for signed in (whole, longer):
            expect_one_line(command, webhooks.sign(signed, SECRET), body=longer, says="too_large")
    expect_one_line(command, signature, body=BODY, says="WEBHOOK_SECRET", without="WEBHOOK_SECRET")
    expect_one_line(command, webhooks.sign(b"[1]", SECRET), body=b"[1]", says="object")
    expect_one_line(command, webhooks.sign(b'{"name":"order.paid"}', SECRET), body=b'{"name":"order.paid"}', says="id")
    expect_one_line(command, says="usage: verify_webhook")


def check_receiver(command: list[str], address: str) -> None:
    with subprocess.Popen([*command, address], stdout=subprocess.PIPE, text=True) as process:
        try:
            check_deliveries(command, process)
        finally:
            process.kill()  # `with` waits for the end, also when a check has failed


def check_deliveries(command: list[str], process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    url = process.stdout.readline().rpartition(" ")[2].strip()
    order = b'{"id":7,"name":"order.paid","account":1,"data":{}}'

    def post(body: bytes, signature: str) -> int:
        request = urllib.request.Request(url, body, {"Service-Signature": signature})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            return error.code

    for body in (BODY, BODY, order, order):
        expect(post(body, webhooks.sign(body, SECRET)) == 200, f"{command} takes {body!r}")
    expect(post(order, webhooks.sign(BODY, SECRET)) == 401, f"{command} refuses a wrong signature")
    expect(post(b"[]", webhooks.sign(b"[]", SECRET)) == 400, f"{command} refuses what is no event")
    process.terminate()
    told = [line.split(":")[0].strip() for line in process.stdout]
    expect(
        told == ["received test.hook", "received test.hook", "received order.paid", "refused", "refused"],
        f"{command} keeps each event once: {told}",
    )
    expect(process.wait(60) in (0, -signal.SIGTERM), f"{command} ends when told to")


def check_report(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    expect(
        re.fullmatch(r"[1-9]\d* active, [1-9]\d* of the first 50 have orders\n", done.stdout) is not None,
        f"{command} reports",
    )
    check_settings(command)


def check_list(command: list[str], adds_up: str) -> None:
    with billcore.Client() as client:
        subscription = client.subscriptions.list(reference_id="demo-many-orders").first()
    if subscription is None:
        sys.exit("check_samples: the sandbox has no subscription with many orders")
    done = subprocess.run([*command, str(subscription.id)], capture_output=True, text=True, timeout=60)
    expect(
        done.returncode == 0 and adds_up in done.stdout and done.stdout.endswith("read: complete\n"),
        f"{command} adds up",
    )
    expect_one_line(command, says="usage: ")
    check_failures(command)


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = Path(sys.argv[1]).resolve() / "examples"
    compiled = ["cpp", "c", *(language for language in ("go", "rust") if (build / language).exists())]
    os.environ["WEBHOOK_SECRET"] = SECRET
    with Sandbox() as sandbox:
        os.environ["BILLCORE_BASE_URL"], os.environ["BILLCORE_API_KEY"] = sandbox.base_url, sandbox.api_key
        for language in ("python", *compiled):
            checks = (
                ("find", check_find),
                ("charge", lambda it: check_charge(it, sandbox)),
                ("verify_webhook", check_verify),
            )
            for name, check in checks:
                program = [sys.executable, str(HERE / f"python/{name}.py")]
                check(program if language == "python" else [str(build / language / name)])
        for language in compiled:
            server = [str(build / language / "receiver")]
            check_receiver(server, "0" if language in ("c", "cpp") else "127.0.0.1:0")
            expect_one_line(server, *(["x"] if language in ("c", "cpp") else []), says="usage: receiver")
        for loop in ("poll", "uv", "glib"):
            check_loop([str(build / f"c/loop_{loop}")])
        check_report([sys.executable, str(HERE / "python/report.py")])
        pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        for test in ("test_receiver", "test_shop"):
            expect(status_of([*pytest, str(HERE / f"python/{test}.py")]) == 0, f"{test} passes")
        check_list([sys.executable, str(HERE / "python/columns.py")], "total")
        check_list([sys.executable, str(HERE / "python/orders.py")], " cents on ")
    print(f"{11 + 4 * len(compiled)} passed: the programs of examples/README.md work as described")
    return 0


if __name__ == "__main__":
    sys.exit(main())
