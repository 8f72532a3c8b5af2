"""Runs the samples of README.md in each language against a sandbox of its own: check_samples.py BUILD

BUILD: a build folder with examples. Needs the Python package with its sandbox.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import billcore
from billcore import webhooks
from billcore.testing import Sandbox

HERE = Path(__file__).resolve().parent
SECRET = "0123456789abcdef0123456789abcdef"
BODY = b'{"id":7,"name":"test.hook","account":1,"created_at":"2025-06-02T09:00:00+00:00","data":null}'


def expect(truth: bool, claim: str) -> None:
    if not truth:
        sys.exit(f"check_samples: this should be so, and is not: {claim}")


def status_of(command: list[str], *arguments: str, body: bytes = b"") -> int:
    return subprocess.run([*command, *arguments], input=body, capture_output=True, timeout=60).returncode


def check_charge(command: list[str], sandbox: Sandbox) -> None:
    with billcore.Client() as client:
        product = next(product for product in client.products.list() if product.type == "one_time")
        active, declined = (
            client.subscriptions.list(reference_id=f"demo-{name}").first() for name in ("active", "declined")
        )
    if active is None or declined is None:
        sys.exit("check_samples: the sandbox has no demo subscriptions")
    sandbox.control.reset()
    expect(status_of(command, str(active.id), str(product.id), "1500") == 0, f"{command} charges")
    expect(status_of(command, str(declined.id), str(product.id), "1500") == 1, f"{command} says that it was refused")
    charges = [(charge["subscription_id"], charge["amount"]) for charge in sandbox.control.ledger("charge")]
    expect(charges == [(str(active.id), 1500)], f"{command} charges once, the right amount")


def check_verify(command: list[str]) -> None:
    signature = webhooks.sign(BODY, SECRET)
    expect(status_of(command, signature, body=BODY) == 0, f"{command} accepts a right signature")
    expect(status_of(command, signature, body=BODY + b"\n") == 1, f"{command} refuses another body")
    expect(status_of(command, "", body=BODY) == 1, f"{command} refuses an empty signature")


def check_report(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    expect(
        re.fullmatch(r"[1-9]\d* active, [1-9]\d* of the first 50 have orders\n", done.stdout) is not None,
        f"{command} reports",
    )


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


def main() -> int:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = Path(sys.argv[1]).resolve() / "examples"
    os.environ["WEBHOOK_SECRET"] = SECRET
    with Sandbox() as sandbox:
        os.environ["BILLCORE_BASE_URL"], os.environ["BILLCORE_API_KEY"] = sandbox.base_url, sandbox.api_key
        for language in ("python", "cpp", "c"):
            for name, check in (("charge", lambda it: check_charge(it, sandbox)), ("verify_webhook", check_verify)):
                program = [sys.executable, str(HERE / f"python/{name}.py")]
                check(program if language == "python" else [str(build / language / name)])
        check_report([sys.executable, str(HERE / "python/report.py")])
        check_list([sys.executable, str(HERE / "python/columns.py")], "total")
        check_list([sys.executable, str(HERE / "python/orders.py")], " cents on ")
    print("9 passed: the samples of README.md do what they say")
    return 0


if __name__ == "__main__":
    sys.exit(main())
