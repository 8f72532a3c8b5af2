"""The stubs match the run-time behaviour, and typical user code passes the strict checker."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import billcore

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(os.path.abspath(billcore.__file__)).parent.parent

USER = """
import asyncio
import datetime
from decimal import Decimal
from typing import assert_type

import billcore
from billcore import webhooks

def run(client: billcore.Client, event: webhooks.Event) -> None:
    for order in client.subscriptions.orders("s", state=["paid", "confirmed"]):
        assert_type(order, billcore.Order)
        assert_type(order.total, int)
        assert_type(order.delivery, billcore.Delivery | None)
    for page in client.products.list().pages():
        assert_type(page.items, list[billcore.Product])
        assert_type(page.items[0].vat_rate, Decimal)
    assert_type(client.products.list().to_arrow(fields=["id", "price"]), billcore.ArrowStream)
    assert_type(client.products.list().to_arrow().error, billcore.BillcoreError | None)
    for batch in client.products.list().to_batches():
        assert_type(batch, billcore.ArrowBatch)
        assert_type(batch.num_rows, int)
    assert_type(billcore.same_id(event.id, "7"), bool)
    assert_type(billcore.testing.event("order.paid", total=1), tuple[bytes, str])
    assert_type(billcore.otel.OpenTelemetryHooks(), billcore.otel.OpenTelemetryHooks)
    pager: billcore.Pager[billcore.Subscription] = client.subscriptions.list()
    first = pager.first()
    assert_type(first, billcore.Subscription | None)
    if first is not None:
        assert_type(first.id, str | int)
        assert_type(first.renews_at, datetime.datetime | None)
        assert_type(first.custom_fields, list[billcore.CustomFieldValue])
        status: billcore.SubscriptionStatus | str = first.status
    if isinstance(event.data, billcore.Order):
        assert_type(event.data.state, billcore.OrderState | str)
    try:
        client.subscriptions.charge(7, product_id=1, amount=2, timeout=None)
    except billcore.OutcomeUnknownError as error:
        assert_type(error.attempted_at, datetime.datetime)
        assert_type(client.subscriptions.find_charges(error, skew=60), list[billcore.Order])
        assert_type(client.subscriptions.find_charges(7, since=error.attempted_at), list[billcore.Order])
    except billcore.PaymentError as error:
        assert_type(error.code, str | None)
    except webhooks.SignatureError as error:
        assert_type(error.reason, billcore.SignatureReason)
    client.products.update(1, {"name": "x"}, price=5, timeout=1.5)
    webhooks.Verifier(["a", b"b"]).unwrap_request(b"", {"a": "b"})
    webhooks.Verifier("a").unwrap_request(bytearray(), [("a", "b"), (b"c", b"d")])

class Counter:
    def on_response(self, attempt: billcore.Attempt) -> None:
        assert_type(attempt.status, int | None)

async def run_awaited() -> None:
    async with billcore.AsyncClient(hooks=Counter()) as client:
        async for order in client.subscriptions.orders("s"):
            assert_type(order, billcore.Order)
        async for page in client.products.list().pages():
            assert_type(page.items, list[billcore.Product])
        async for batch in client.products.list().to_batches(["id"]):
            assert_type(batch, billcore.ArrowBatch)
        assert_type(await client.subscriptions.list().first(), billcore.Subscription | None)
        await asyncio.gather(client.subscriptions.get(1), client.orders.get("o"))
        task = asyncio.create_task(client.products.get(5))
        assert_type(await task, billcore.Product)
        try:
            await client.subscriptions.charge(7, product_id=1, amount=2)
        except billcore.OutcomeUnknownError as error:
            assert_type(await client.subscriptions.find_charges(error), list[billcore.Order])
"""

WRONG = {
    "client.subscriptions.charge(1, product_id=1, amount=1.5)": "arg-type",
    "client.subscriptions.charge(1, product_id=1)": "call-arg",
    "client.subscriptions.list(sort=True)": "call-arg",
    "client.subscriptions.list(strict=1)": "arg-type",
    "client.subscriptions.list(resume=b'p1.')": "arg-type",
    "billcore.Client(concurrency='8')": "arg-type",
    "client.products.list().to_arrow(5)": "arg-type",
    "client.subscriptions.find_charges(7)": "call-overload",
    "client.subscriptions.find_charges(7, since='now')": "call-overload",
    "client.nothing": "attr-defined",
    "billcore.AsyncNothing": "attr-defined",
    "billcore.AsyncClient().subscriptions.get('s').price": "attr-defined",
    "billcore.Client(hooks=5)": "arg-type",
    "webhooks.verify('text', 'x', 'y')": "arg-type",
    "webhooks.unwrap(b'', None, 5)": "arg-type",
    "client.subscriptions.get('s').price = 5": "misc",
}


def check(command: list[str], folder: Path) -> tuple[int, str]:
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), "MYPY_CACHE_DIR": str(folder / "cache")}
    environment.pop("LD_PRELOAD", None)  # the sanitizer's run-time would only slow the checker down
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, cwd=folder, env=environment, timeout=600
    )
    return done.returncode, done.stdout + done.stderr


def test_user_code_passes_the_strict_checker(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text(USER)
    code, output = check(["mypy", "--strict", "user.py"], tmp_path)
    assert code == 0, output


def test_wrong_user_code_does_not(tmp_path: Path) -> None:
    wrong = list(WRONG)
    body = "".join(f"    {line}\n" for line in wrong)
    head = "import billcore\nfrom billcore import webhooks\n\ndef run(client: billcore.Client) -> None:\n"
    (tmp_path / "user.py").write_text(head + body)
    code, output = check(["mypy", "--strict", "user.py"], tmp_path)
    assert code == 1
    for number, line in enumerate(wrong, start=5):
        errors = [text for text in output.splitlines() if text.startswith(f"user.py:{number}:")]
        assert any(f"[{WRONG[line]}]" in text for text in errors), (line, output)


@pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="stubtest imports the modules, which then need the sanitizer")
def test_stubs_say_what_is_there(tmp_path: Path) -> None:
    allowed = str(ROOT / "python/stubtest-allowlist.txt")
    code, output = check(["mypy.stubtest", "billcore", "--allowlist", allowed], tmp_path)
    assert code == 0, output
