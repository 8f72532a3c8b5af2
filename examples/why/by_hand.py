"""The client and the receiver of afternoon.py, with what the days of bad_days.py ask for."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import queue
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import takewhile
from typing import Any

import httpx

MAX_BODY = 1 << 20
TABLES = """
CREATE TABLE charges (
  key TEXT PRIMARY KEY, state TEXT, attempt INTEGER, began REAL, newest TEXT, order_id TEXT UNIQUE);
CREATE TABLE events (account TEXT, id TEXT, PRIMARY KEY (account, id));
CREATE TABLE shipped (order_id TEXT);
CREATE TABLE members (subscription TEXT PRIMARY KEY, status TEXT);
"""
Json = dict[str, Any]


class BillingError(Exception):
    """A call failed for good."""


class Unauthorized(BillingError):
    """The API key is missing or invalid: no call can succeed."""


class Declined(BillingError):
    """The service refused the charge (402)."""


class NotDone(BillingError):
    """The service did nothing, so even a charge may be sent again. after: the seconds of Retry-After."""

    def __init__(self, text: str, after: float | None = None) -> None:
        super().__init__(text)
        self.after = after


class Unknown(NotDone):
    """The service may have done it, so only a read may be sent again."""


class Billing:
    """The client. A charge has a key, such as the number of an invoice, and is made once for each key.

    timeout: seconds for a call. settle: seconds after a call, within which the service has made a charge or never does.
    """

    def __init__(self, base_url: str, api_key: str, database: str, timeout: float = 10.0, settle: float = 60.0) -> None:
        self.timeout, self.settle, self.database = timeout, settle, database
        self.http = httpx.Client(base_url=base_url, headers={"X-API-KEY": api_key}, timeout=timeout)

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.database, timeout=30, isolation_level=None)) as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def _call(self, method: str, path: str, **more: Any) -> Json:
        """Repeats what may be repeated, after Retry-After or with exponential backoff and jitter, to the deadline."""
        deadline, backoff = time.monotonic() + self.timeout, 0.2
        while True:
            try:
                return self._attempt(deadline, method, path, **more)
            except NotDone as error:
                after = random.uniform(0.1, backoff) if error.after is None else error.after
                if time.monotonic() + after > deadline or (method != "GET" and isinstance(error, Unknown)):
                    raise
            time.sleep(after)
            backoff *= 2

    def _attempt(self, deadline: float, method: str, path: str, **more: Any) -> Json:
        answers: queue.SimpleQueue[httpx.Response | Exception] = queue.SimpleQueue()

        def trace(event: str, info: Json) -> None:  # a connection that came too late must not charge
            if event.endswith("send_request_headers.started") and time.monotonic() > deadline:
                raise httpx.ConnectTimeout("no connection before the deadline")

        def send() -> None:
            try:
                left = max(deadline - time.monotonic(), 0.001)
                answers.put(self.http.request(method, path, timeout=left, extensions={"trace": trace}, **more))
            except Exception as error:
                answers.put(error)

        # httpx limits the time of each read, but not of the whole answer: a thread does.
        threading.Thread(target=send, daemon=True).start()
        try:
            response = answers.get(timeout=max(deadline - time.monotonic(), 0))
        except queue.Empty:
            raise Unknown(f"{method} {path}: no complete answer within {self.timeout} s") from None
        if isinstance(response, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)):
            raise NotDone(f"{method} {path}: no connection: {response}")
        if isinstance(response, Exception):
            raise Unknown(f"{method} {path}: no answer: {response!r}")
        status, after = response.status_code, response.headers.get("Retry-After", "")
        text = f"{method} {path}: {status} {response.text[:200]}"
        if status in (408, 429) or status >= 500:
            raise (NotDone if status == 429 else Unknown)(text, float(after) if after.isdecimal() else None)
        if status != 200:
            raise {401: Unauthorized, 402: Declined}.get(status, BillingError)(text)
        try:
            return dict(response.json())
        except (TypeError, ValueError) as error:
            raise Unknown(f"{method} {path}: the answer is not JSON") from error

    def subscription(self, subscription: str) -> Json:
        return dict(self._call("GET", f"/subscription/{subscription}")["data"])

    def orders(self, subscription: str, per_page: int = 200, **filters: Any) -> Iterator[Json]:
        """All orders, latest first. Orders that move while the list is read are neither repeated nor left out."""
        seen: set[str] = set()
        page, pages, total = 1, 1, 0
        while page <= pages:
            query = {"page": page, "per_page": per_page, **filters}
            answer = self._call("GET", f"/subscription/{subscription}/orders", params=query)
            new = [order for order in answer["data"] if order["id"] not in seen]
            seen.update(order["id"] for order in new)
            yield from new
            now = answer["pagination"]
            gone, total, pages = total - now["total"], now["total"], now["total_pages"]
            # When orders were removed, later ones have moved to pages that were read: read those pages again.
            page = max(1, page - math.ceil(gone / per_page)) if gone > 0 else page + 1

    def charge(self, key: str, subscription: str, product: int, cents: int) -> str | float:
        """Charges once for this key. Returns the order's id, or the seconds after which to call again."""
        try:
            return self._charge(key, subscription, product, cents)
        except NotDone as error:
            return error.after or 0.5

    def _charge(self, key: str, subscription: str, product: int, cents: int) -> str | float:
        filters = {"filter[product_id]": product}
        with self.transaction() as db:
            row = db.execute("SELECT * FROM charges WHERE key = ?", (key,)).fetchone()
        if row is None:
            newest = next((order["id"] for order in self.orders(subscription, **filters)), None)
            with self.transaction() as db:
                begin = "INSERT OR IGNORE INTO charges VALUES (?, 'sending', 1, ?, ?, NULL)"
                if not db.execute(begin, (key, time.time(), newest)).rowcount:
                    return 0.1  # another worker was faster
        else:
            _, state, attempt, began, newest, order = row
            left = began + self.timeout - time.time()
            if state == "charged":
                return str(order)
            if state == "declined":
                raise Declined(f"{key} was declined")
            if state == "sending" and left > 0:
                return float(min(left, 0.5))  # another worker is about to charge
            if (found := self._find(key, subscription, cents, newest, filters)) is not None:
                return found
            if left + self.settle > 0:
                return float(min(left + self.settle, 0.5))  # the service may still be working on it
            with self.transaction() as db:
                claim = "UPDATE charges SET state = 'sending', attempt = attempt + 1, began = ? WHERE key = ?"
                if not db.execute(f"{claim} AND attempt = ?", (time.time(), key, attempt)).rowcount:
                    return 0.1
        body = {"product_id": product, "amount": cents}
        try:
            made = str(self._call("POST", f"/subscription/{subscription}/order", json=body)["data"]["id"])
        except Unknown:
            with self.transaction() as db:  # the call is over: settle begins now
                over = "UPDATE charges SET state = 'unknown', began = ? WHERE key = ?"
                db.execute(over, (time.time() - self.timeout, key))
            return self._find(key, subscription, cents, newest, filters) or 0.5
        except Declined:
            self._note(key, "declined")
            raise
        except BillingError:
            with self.transaction() as db:
                db.execute("DELETE FROM charges WHERE key = ?", (key,))  # it was not made, nor by an earlier attempt
            raise
        return made if self._note(key, "charged", made) else 0.5

    def _note(self, key: str, state: str, order: str | None = None) -> bool:
        """Stores the state of a charge. Returns false if the order is that of another key."""
        try:
            with self.transaction() as db:
                db.execute("UPDATE charges SET state = ?, order_id = ? WHERE key = ?", (state, order, key))
        except sqlite3.IntegrityError:
            return False
        return True

    def _find(self, key: str, subscription: str, cents: int, newest: str | None, filters: Json) -> str | None:
        """Looks for a charge's order: the oldest that is newer than its first attempt, and that no other key has."""
        newer = takewhile(lambda order: order["id"] != newest, self.orders(subscription, **filters))
        found = [str(order["id"]) for order in newer if order["total"] == cents]
        return next((order for order in reversed(found) if self._note(key, "charged", order)), None)


class Receiver:
    """A WSGI application that ships each paid order once, and keeps the status of each subscription."""

    def __init__(self, secrets: list[str], billing: Billing) -> None:
        self.secrets, self.billing = secrets, billing

    def __call__(self, environ: Json, start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response(self.receive(environ), [("Content-Length", "0")])
        return []

    def receive(self, environ: Json) -> str:
        length = environ.get("CONTENT_LENGTH") or ""
        if not length.isdecimal() or int(length) > MAX_BODY:
            return "413 Content Too Large"
        body = environ["wsgi.input"].read(int(length))
        signature = environ.get("HTTP_SERVICE_SIGNATURE", "").encode("latin-1")
        right = [hmac.new(each.encode(), body, hashlib.sha256).hexdigest().encode() for each in self.secrets]
        if not any(hmac.compare_digest(each, signature) for each in right):
            return "401 Unauthorized"
        try:
            event = json.loads(body)
            account, number, name, data = str(event["account"]), str(event["id"]), event["name"], event.get("data")
        except (ValueError, KeyError, TypeError, RecursionError):
            return "400 Bad Request"
        try:
            with self.billing.transaction() as db:
                if db.execute("INSERT OR IGNORE INTO events VALUES (?, ?)", (account, number)).rowcount:
                    self.handle(db, name, data)
        except (NotDone, sqlite3.OperationalError):
            return "503 Service Unavailable"  # the service delivers the event again
        return "204 No Content"

    def handle(self, db: sqlite3.Connection, name: str, data: Any) -> None:
        if not isinstance(data, dict) or "id" not in data:
            return  # events may lack fields
        if name == "order.paid":
            db.execute("INSERT INTO shipped VALUES (?)", (str(data["id"]),))
        elif str(name).startswith("subscription."):  # events arrive in any order, so ask for the present status
            now = self.billing.subscription(data["id"])
            db.execute("INSERT OR REPLACE INTO members VALUES (?, ?)", (now["id"], now["status"]))
