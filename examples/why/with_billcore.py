"""The client and the receiver of afternoon.py and by_hand.py, with billcore, its journal and its inbox."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import Any

import billcore
from billcore import inbox, webhooks
from billcore.journal import Journal, schema

TABLES = f"""{schema("sqlite")}
{inbox.schema("sqlite")}
CREATE TABLE shipped (order_id TEXT);
CREATE TABLE members (subscription TEXT PRIMARY KEY, status TEXT);
"""


class Billing:
    """The client. A charge has a key, such as the number of an invoice, and is made once for each key."""

    def __init__(self, base_url: str, api_key: str, database: str, timeout: float = 10.0, settle: float = 60.0) -> None:
        self.database = database
        self.client = billcore.Client(base_url=base_url, api_key=api_key, timeout=timeout)
        self.journal = Journal(
            lambda: sqlite3.connect(database, timeout=30), self.client, settle=settle, timeout=timeout
        )

    def subscription(self, subscription: str) -> billcore.Subscription:
        return self.client.subscriptions.get(subscription)

    def orders(self, subscription: str, per_page: int = 200) -> Iterator[billcore.Order]:
        """All orders, latest first."""
        orders = self.client.subscriptions.orders(subscription, per_page=per_page, strict=True)
        yield from orders
        if not orders.verdict:
            raise RuntimeError(f"an order may be missing: {orders.verdict}")

    def charge(self, key: str, subscription: str, product: int, cents: int) -> str | float:
        """Charges once for this key. Returns the order's id, or the seconds after which to call again."""
        try:
            return str(self.journal.charge(key, subscription, product_id=product, amount=cents).id)
        except billcore.BillcoreError as error:
            after: float | None = getattr(error, "retry_after", None)
            if after is None:
                raise
            return min(after, 0.5)  # a call before that does no harm: it looks for the order


class Receiver:
    """A WSGI application that ships each paid order once, and keeps the status of each subscription."""

    def __init__(self, secrets: list[str], billing: Billing) -> None:
        self.verifier, self.billing = webhooks.Verifier(secrets), billing

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response(f"{self.receive(environ)} Done", [("Content-Length", "0")])
        return []

    def receive(self, environ: dict[str, Any]) -> int:
        try:
            event = webhooks.from_wsgi(environ, self.verifier)
            with closing(sqlite3.connect(self.billing.database, timeout=30)) as db, db:
                db.execute("BEGIN IMMEDIATE")
                if inbox.claim(db, event):
                    self.handle(db, event)
        except (webhooks.SignatureError, billcore.DecodeError, inbox.InboxBusyError) as error:
            return error.http_status
        except (billcore.BillcoreError, sqlite3.OperationalError):
            return 503  # the service delivers the event again
        return 204

    def handle(self, db: sqlite3.Connection, event: webhooks.AnyEvent) -> None:
        match event:
            case webhooks.OrderPaid(data=order):
                db.execute("INSERT INTO shipped VALUES (?)", (str(order.id),))
            case (
                webhooks.SubscriptionCreated(data=changed)
                | webhooks.SubscriptionUpdated(data=changed)
                | webhooks.SubscriptionRenewed(data=changed)
                | webhooks.SubscriptionCancelled(data=changed)
            ):  # events arrive in any order, so ask for the present status
                now = self.billing.subscription(str(changed.id))
                db.execute("INSERT OR REPLACE INTO members VALUES (?, ?)", (now.id, now.status))
            case _:
                pass
