"""Shared by the tests: sample resources, replies, signed events, and functions that run Python in child processes."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import billcore
from billcore import webhooks
from conformance.server import Reply, Request, ScriptedServer, json_reply
from support.children import child_environment
from support.waiting import GENEROUS

T = TypeVar("T")
ACCOUNT = "/0b7e5a52-3f0e-4c55-9d8c-1f2a3b4c5d6e"
API_KEY = "key_python_tests_0123456789"
SECRET = "0123456789abcdefghijklmnopqrstuv"
# True if the modules under test are built with AddressSanitizer. AddressSanitizer finds a defect in few repetitions and
# makes the modules ten times slower, so the tests run many repetitions only with the optimised modules.
SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")

SUBSCRIPTION: dict[str, Any] = {
    "id": "sub_1",
    "price": 1500,
    "vat": 2500,
    "currency": "NOK",
    "created_at": "2025-04-25T10:00:00Z",
    "renews_at": "2025-05-25T12:30:15.250000+02:00",
    "ends_at": None,
    "trial_ends_at": None,
    "reference_id": "ref-1",
    "reference_name": None,
    "status": "active",
    "update_card_url": "https://portal.example/card?signature=S1",
    "invoices_url": "https://portal.example/invoices?signature=S2",
    "cancel_url": "https://portal.example/cancel?signature=S3",
    "custom_fields": [{"id": 1, "label": "Size", "type": "text", "value": {"a": [1, None]}}],
    "metadata": {"seats": 3},
}
ORDER: dict[str, Any] = {
    "id": "ord_1",
    "created_at": "2025-04-25T10:00:00",
    "total": 1500,
    "total_with_vat": 1875,
    "currency": "NOK",
    "reference_id": None,
    "reference_name": None,
    "state": "paid",
    "remote_id": "pay_1",
    "delivery": {"link": "https://example.com/file"},
    "custom_fields": [],
    "metadata": {},
}
PRODUCT: dict[str, Any] = {
    "id": 42,
    "name": "Café",
    "description": None,
    "type": "subscription",
    "price": 1000,
    "price_with_vat": 1250,
    "price_without_vat": 1000,
    "currency": "NOK",
    "vat_rate": 12.5,
    "interval": "1 month",
    "image": None,
    "images": [{"portrait": {"src": "https://example.com/p"}, "square": {"src": "https://example.com/s"}}],
    "use_cart": True,
    "stock_tracking": False,
    "out_of_stock": False,
    "strings": {
        "interval": "per month",
        "type": "Subscription",
        "price": "kr 10",
        "price_with_vat": None,
        "price_without_vat": None,
    },
}
GROUP: dict[str, Any] = {"id": 5, "name": "All", "products": [42, 43]}


def options_for(server: ScriptedServer, **more: Any) -> dict[str, Any]:
    """Options of a client of this server. Retries and prefetching are off, because it sends its answers in order."""
    own = {"base_url": server.url + ACCOUNT, "api_key": API_KEY}
    return {**own, "max_retries": 0, "concurrency": 1, "timeout": GENEROUS, **more}


def data(resource: Any, status: int = 200, **more: Any) -> Reply:
    """An answer with one resource."""
    return json_reply({"data": resource}, status, **more)


def page(items: list[Any], number: int, last: int, total: int | None = None, **more: Any) -> Reply:
    """One page of a list."""
    pagination = {
        "total": len(items) * last if total is None else total,
        "count": len(items),
        "per_page": max(len(items), 1),
        "current_page": number,
        "total_pages": last,
        "links": {"next": None if number >= last else f"http://elsewhere/?page={number + 1}", "previous": None},
    }
    return json_reply({"data": items, "pagination": pagination}, **more)


def number_of(request: Request) -> int:
    """The requested page number."""
    return int(request.target.split("page=")[1].split("&")[0])


def sign(body: bytes, secret: str = SECRET) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def event(value: Any, name: str = "subscription.updated", **envelope: Any) -> webhooks.Event:
    """A verified event with this `data`."""
    whole = {"id": 7, "name": name, "account": 3, "created_at": "2025-04-25T10:00:00Z", "data": value, **envelope}
    body = json.dumps(whole, ensure_ascii=False).encode()
    return webhooks.unwrap(body, sign(body), SECRET)


def resource(value: Any, name: str = "subscription.updated") -> Any:
    """The `data` of a verified event; `name` determines its type."""
    return event(value, name).data


def subscription(**changes: Any) -> billcore.Subscription:
    made = event({**SUBSCRIPTION, **changes}).data
    assert isinstance(made, billcore.Subscription)
    return made


def in_threads(work: Callable[[T], object], arguments: Iterable[T]) -> list[threading.Thread]:
    """Runs `work` in one thread per argument, waits for all threads, and fails if one raised. Returns the threads."""
    failures: list[BaseException] = []

    def guarded(argument: T) -> None:
        try:
            work(argument)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(argument,)) for argument in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    return threads


def measured_environment() -> dict[str, str]:
    """The environment of a child that measures its memory, where AddressSanitizer releases freed memory early."""
    return child_environment(ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1")


def run_program(
    code: str, *arguments: str, flags: Sequence[str] = (), **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs code in a new interpreter that imports the same billcore."""
    return subprocess.run(
        [sys.executable, *flags, "-c", code, *arguments],
        capture_output=True,
        text=True,
        env=child_environment(**environment),
        timeout=300,
    )


def run_python(code: str, *arguments: str, environment: dict[str, str] | None = None) -> str:
    """Runs code in a new interpreter, which must exit with 0; returns the output."""
    done = run_program(code, *arguments, **(environment or {}))
    assert done.returncode == 0, done.stderr
    return done.stdout


def run_together(code: str, calls: Sequence[Sequence[str]], timeout: float = 120.0) -> list[tuple[int, str, str]]:
    """Runs code concurrently, in one new interpreter per argument list; returns each (exit code, stdout, stderr)."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=child_environment(),
        )
        for arguments in calls
    ]
    try:
        outputs = [process.communicate(timeout=timeout) for process in processes]
    finally:
        for process in processes:
            process.kill()
    return [(process.returncode, *output) for process, output in zip(processes, outputs, strict=True)]
