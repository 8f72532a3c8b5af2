"""A client of the billing service and a receiver of its webhooks, with httpx, hmac and sqlite3: an afternoon's work."""

from __future__ import annotations

import functools
import hashlib
import hmac
import json
import random
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx

TRIES = 5
CLOCKS_DIFFER = timedelta(minutes=5)  # at most, between the service and this machine
MAX_BODY = 1 << 20
TABLES = """
CREATE TABLE charges (key TEXT PRIMARY KEY, state TEXT, attempt INTEGER, began REAL,
  order_id TEXT UNIQUE);
CREATE TABLE events (account TEXT, id TEXT, PRIMARY KEY (account, id));
CREATE TABLE shipped (order_id TEXT);
CREATE TABLE members (subscription TEXT PRIMARY KEY, status TEXT);
"""
P = ParamSpec("P")
T = TypeVar("T")
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


def retried(call: Callable[Concatenate[Billing, str, P], T]) -> Callable[Concatenate[Billing, str, P], T]:
    """Repeats an HTTP call that may be repeated, after Retry-After or with exponential backoff and jitter."""

    @functools.wraps(call)
    def repeated(self: Billing, method: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        deadline = time.monotonic() + self.timeout
        for number in range(TRIES):
            try:
                return call(self, method, *args, **kwargs)
            except NotDone as error:
                after = random.uniform(0.1, 0.2 * 2**number) if error.after is None else error.after
                last = number + 1 == TRIES or time.monotonic() + after > deadline
                if last or (method != "GET" and isinstance(error, Unknown)):
                    raise
            time.sleep(after)
        raise AssertionError("unreachable")

    return repeated


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

    @retried
    def _call(self, method: str, /, path: str, **more: Any) -> Json:
        try:
            response = self.http.request(method, path, **more)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NotDone(f"{path}: no connection: {error}") from error
        except httpx.TransportError as error:
            raise Unknown(f"{path}: no answer: {error!r}") from error
        status, after = response.status_code, response.headers.get("Retry-After", "")
        text = f"{method} {path}: {status} {response.text[:200]}"
        if status == 429:
            raise NotDone(text, float(after) if after.isdecimal() else None)
        if status == 408 or status >= 500:
            raise Unknown(text, float(after) if after.isdecimal() else None)
        if status != 200:
            raise {401: Unauthorized, 402: Declined}.get(status, BillingError)(text)
        try:
            answer: Json = response.json()
        except ValueError as error:
            raise Unknown(f"{path}: the answer is not JSON") from error
        return answer

    def subscription(self, subscription: str) -> Json:
        found: Json = self._call("GET", f"/subscription/{subscription}")["data"]
        return found

    def orders(self, subscription: str, per_page: int = 200, **filters: Any) -> Iterator[Json]:
        """All orders, latest first. An order that moves to the next page is not repeated."""
        seen: set[str] = set()
        page = pages = 1
        while page <= pages:
            query = {"page": page, "per_page": per_page, **filters}
            answer = self._call("GET", f"/subscription/{subscription}/orders", params=query)
            for order in answer["data"]:
                if order["id"] not in seen:
                    seen.add(order["id"])
                    yield order
            page, pages = answer["pagination"]["current_page"] + 1, answer["pagination"]["total_pages"]

    def charge(self, key: str, subscription: str, product: int, cents: int) -> str | float:
        """Charges once for this key. Returns the order's id, or the seconds after which to call again."""
        now = time.time()
        with self.transaction() as db:
            row = db.execute("SELECT state, attempt, began, order_id FROM charges WHERE key = ?", (key,)).fetchone()
            exists = row is not None
            if not exists:
                row = ("new", 0, now, None)
                db.execute("INSERT INTO charges VALUES (?, 'sending', 0, ?, NULL)", (key, now))
        state, attempt, began, order = row
        if state == "charged":
            return str(order)
        if state == "declined":
            raise Declined(f"{key} was declined")
        if state == "sending" and began + self.timeout > now:
            return float(began + self.timeout - now)  # another worker is about to charge
        if exists:
            if state != "new":
                if (found := self._find(key, subscription, product, cents, began)) is not None:
                    return found
                if began + self.timeout + self.settle > now:
                    return 0.5  # the service may still make it
            with self.transaction() as db:
                claim = "UPDATE charges SET state = 'sending', attempt = attempt + 1, began = ?"
                mine = db.execute(f"{claim} WHERE key = ? AND attempt = ?", (time.time(), key, attempt))
                if mine.rowcount == 0:
                    return 0.1
        body = {"product_id": product, "amount": cents}
        try:
            made = str(self._call("POST", f"/subscription/{subscription}/order", json=body)["data"]["id"])
        except Unknown:
            self._note(key, "unknown")
            found = self._find(key, subscription, product, cents, now)
            return 0.5 if found is None else found
        except Declined:
            self._note(key, "declined")
            raise
        except BillingError as error:
            self._note(key, "new")
            if isinstance(error, NotDone):
                return error.after or 0.5
            raise
        self._note(key, "charged", made)
        return made

    def _note(self, key: str, state: str, order: str | None = None) -> None:
        with self.transaction() as db:
            db.execute("UPDATE charges SET state = ?, order_id = ? WHERE key = ?", (state, order, key))

    def _find(self, key: str, subscription: str, product: int, cents: int, began: float) -> str | None:
        """Looks for the order of a charge whose outcome is unknown, among those that no other key has."""
        since = datetime.fromtimestamp(began, UTC) - CLOCKS_DIFFER
        for order in self.orders(subscription, **{"filter[product_id]": product}):
            if datetime.fromisoformat(order["created_at"]) < since:
                break
            if order["total"] == cents:
                try:
                    self._note(key, "charged", order["id"])
                except sqlite3.IntegrityError:
                    continue
                return str(order["id"])
        return None


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
        signature = environ.get("HTTP_SERVICE_SIGNATURE", "")
        right = [hmac.new(each.encode(), body, hashlib.sha256).hexdigest() for each in self.secrets]
        if not any(hmac.compare_digest(each, signature) for each in right):
            return "401 Unauthorized"
        try:
            event = json.loads(body)
            account, number = str(event["account"]), str(event["id"])
        except (ValueError, KeyError, TypeError):
            return "400 Bad Request"
        try:
            with self.billing.transaction() as db:
                if db.execute("INSERT OR IGNORE INTO events VALUES (?, ?)", (account, number)).rowcount:
                    self.handle(db, event["name"], event.get("data") or {})
        except (NotDone, sqlite3.OperationalError):
            return "503 Service Unavailable"  # the service delivers the event again
        return "204 No Content"

    def handle(self, db: sqlite3.Connection, name: str, data: Json) -> None:
        if name == "order.paid":
            db.execute("INSERT INTO shipped VALUES (?)", (str(data["id"]),))
        elif name.startswith("subscription."):  # events arrive in any order, so ask for the present status
            now = self.billing.subscription(data["id"])
            db.execute("INSERT OR REPLACE INTO members VALUES (?, ?)", (now["id"], now["status"]))
