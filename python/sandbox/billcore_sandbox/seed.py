"""Demo data: the same for the same seed on every machine, with times relative to the start of the account."""

from __future__ import annotations

import functools
import json
import random
import sqlite3
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from billcore_sandbox import store_schema
from billcore_sandbox.clock import add_interval, iso, iso_precise, real
from billcore_sandbox.options import Options
from billcore_sandbox.resources import ORDER_STATES, SUBSCRIPTION_STATUSES, with_vat

ONE_TIME, RECURRING, DONATION, FIXED = "one_time", "subscription", "donation", "fixed_cycle"
MANY_ORDERS = 1_200
_FIRST = {"products": 101, "product_groups": 11, "subscriptions": 480_001, "orders": 9_100_001}

_NOUNS = ("Newspaper", "Gym pass", "Coffee box", "Streaming", "Membership", "Cloud disk", "Meal kit", "Bøger", "Café")
_KINDS = ("Basic", "Plus", "Family", "Student", "Weekend", "Årlig", "Premium", "Trial")
_PEOPLE = ("Ada Lovelace", "Zoë Ångström", "Søren Ø.", "李小龍", "Grace Hopper", "José Núñez", "Anna \N{PARTY POPPER}")
_CURRENCIES = ("DKK", "EUR", "SEK", "USD")
_FIELD_VALUES: tuple[Any, ...] = ("M", 42, 1.5, True, None, ["a", "b"], {"street": "Nørregade 1", "zip": "1165"})


@dataclass(frozen=True)
class _Plan:
    """Size of one account's demo data. many: number of orders of `demo-many-orders`; if it is 0,
    no subscription has a demo name."""

    number: int
    products: int
    groups: int
    subscriptions: int
    many: int


_PLANS = (_Plan(4001, 280, 12, 420, MANY_ORDERS), _Plan(4002, 30, 3, 40, 0))
_CYCLES = 3

Fill = Callable[["Filler", int, datetime], None]  # adds data to the account with this number


def create(
    db: sqlite3.Connection,
    seed: int,
    begin: datetime,
    options: Options,
    fill_first: Fill | None = None,
    identity: str | None = None,
) -> None:
    """Make the tables of an empty database, and fill them.

    fill_first: adds other data than the demo data to the first account.
    identity: determines the UUIDs and API keys of the accounts; None: they depend on the seed, like all other data.
    """
    rng = random.Random(seed)
    # executescript commits an open transaction, so BEGIN is part of the script.
    db.executescript("BEGIN;" + store_schema.TABLES)
    try:
        facts = {"version": str(store_schema.VERSION), "seed": str(seed), "identity": identity}
        db.executemany("INSERT INTO meta VALUES (?, ?)", [fact for fact in facts.items() if fact[1] is not None])
        offset = 0 if options.start is None else (begin - real()) // timedelta(microseconds=1)
        for plan in _PLANS:
            filler = Filler(db, rng, begin)
            filler.new_account(plan, offset, identity)
            if plan.many and fill_first is not None:
                fill_first(filler, plan.number, begin)
            else:
                filler.fill(plan)
            filler.write()
        # The size of the database without any record: see Retention.
        db.execute("INSERT INTO meta SELECT 'pages', page_count FROM pragma_page_count")
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def fill_account(db: sqlite3.Connection, rng: random.Random, number: int, begin: datetime) -> dict[str, Any]:
    """Add products of each type and the subscriptions with demo names to a new account; returns their ids."""
    filler = Filler(db, rng, begin)
    filler.skip("products", 100)  # leave room for products that the fault `rows` inserts at the front of the list
    filler.fill(_Plan(number, 12, 2, 0, 45))
    filler.write()
    ids: dict[str, Any] = {"products": {}, "subscriptions": {}}
    for product in reversed(filler.rows["products"]):
        ids["products"][product["type"]] = product["id"]
    for subscription in filler.rows["subscriptions"]:
        ids["subscriptions"][subscription["reference_id"]] = str(subscription["id"])
    return ids


class Filler:
    """Collects rows and writes each table with one executemany."""

    def __init__(self, db: sqlite3.Connection, rng: random.Random, begin: datetime) -> None:
        self._db = db
        self._rng = rng
        self._begin = begin
        self.rows: dict[str, list[dict[str, Any]]] = {}
        used = {row[0]: row[1] for row in db.execute("SELECT name, seq FROM sqlite_sequence")}
        self._next = {table: max(first, used.get(table, 0) + 1) for table, first in _FIRST.items()}

    def write(self) -> None:
        for table, rows in self.rows.items():
            names = list(rows[0])
            marks = ", ".join("?" * len(names))
            sql = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})"
            self._db.executemany(sql, [tuple(row.values()) for row in rows])

    def add(self, table: str, **row: Any) -> dict[str, Any]:
        if table in self._next:
            row = {"id": self._next[table], **row}
            self._next[table] += 1
        self.rows.setdefault(table, []).append(row)
        return row

    def skip(self, table: str, count: int) -> None:
        """Leave `count` ids unused before the next row."""
        self._next[table] += count

    def new_account(self, plan: _Plan, offset: int, identity: str | None) -> None:
        drawn = [self._rng.getrandbits(128), self._rng.getrandbits(128)]
        if identity is not None:  # the demo data drawn after this is the same in both cases
            own = random.Random(f"{identity} {plan.number}")
            drawn = [own.getrandbits(128), own.getrandbits(128)]
        account_id, key = uuid.UUID(int=drawn[0], version=4), f"key_{drawn[1]:032x}"
        self.add("accounts", number=plan.number, uuid=str(account_id), api_key=key, offset_us=offset)
        self.add("api_keys", account=plan.number, key=key, state="valid")

    def fill(self, plan: _Plan) -> None:
        rng = self._rng
        products = [self._product(plan, index) for index in range(plan.products)]
        for index in range(plan.groups):
            group = self.add("product_groups", account=plan.number, name=f"Group {index + 1}")
            for member in sorted(p["id"] for p in products[index :: plan.groups * 2]):
                self.add("group_members", group_id=group["id"], product_id=member)
        if plan.many:
            self._demos(plan, products)
        recurring = {kind: [p for p in products if p["type"] == kind] for kind in (RECURRING, DONATION, FIXED)}
        one_time = [p for p in products if p["type"] == ONE_TIME]
        for index in range(plan.subscriptions):
            status = SUBSCRIPTION_STATUSES[index % len(SUBSCRIPTION_STATUSES)]
            # Some customers have several subscriptions, and some subscriptions have no reference.
            reference = None if index % 17 == 16 else f"customer-{plan.number}-{index // 3 if index % 5 else index}"
            # Only a subscription of a fixed-cycle product expires.
            kind = FIXED if status == "expired" else rng.choice((RECURRING, RECURRING, DONATION, FIXED))
            row = self._subscription(plan, rng.choice(recurring[kind]), status, reference, index)
            if status == "pending":
                # The first order of a pending subscription is not paid, so that a test can confirm or pay it.
                state = ("created", "confirmed", "payment_pending", "payment_pending_user")[index // 8 % 4]
                self._order(row, rng.choice(one_time), state, rng.randrange(1, 700), is_first=True)
                continue
            for _ in range(rng.randrange(0, 6)):
                self._order(row, rng.choice(one_time), rng.choice(ORDER_STATES), rng.randrange(1, 700) * 1440)

    def _product(self, plan: _Plan, index: int) -> dict[str, Any]:
        rng = self._rng
        kind = (RECURRING, ONE_TIME, RECURRING, FIXED, ONE_TIME, DONATION)[index % 6]
        recurring = kind != ONE_TIME
        image = f"https://cdn.billing.example/p/{index}/square.jpg" if index % 4 else None
        images = []
        if image is not None:
            images.append({"portrait": {"src": image.replace("square", "tall")}, "square": {"src": image}})
        return self.add(
            "products",
            account=plan.number,
            name=f"{_NOUNS[index % len(_NOUNS)]} {_KINDS[index % len(_KINDS)]} {index + 1}",
            description=None if index % 7 == 3 else f"Demo product no. {index + 1} / “{kind}”",
            type=kind,
            price=rng.randrange(10, 900) * 100 - rng.choice((0, 1, 5)),
            currency=_CURRENCIES[index % len(_CURRENCIES)] if index > 11 else "DKK",
            vat_rate=rng.choice((25.0, 25.0, 12.5, 6.0, 0.0)),
            interval=("month", "year", "quarter", "week")[index % 4] if recurring else None,
            # Only one-time products have prices with VAT, because a subscription's price is the price without VAT.
            price_includes_vat=int(not recurring and index % 2),
            image=image,
            images=_json(images),
            use_cart=int(index % 3 == 0),
            stock_tracking=int(index % 5 == 0),
            out_of_stock=int(index % 10 == 0),
            stays_active=int(recurring and index % 4 == 2),
            cycles=_CYCLES if kind == FIXED else None,
        )

    def _demos(self, plan: _Plan, products: list[dict[str, Any]]) -> None:
        def first(kind: str, stays: int = 0) -> dict[str, Any]:
            return next(p for p in products if p["type"] == kind and p["stays_active"] == stays)

        one_time = [p for p in products if p["type"] == ONE_TIME and p["currency"] == "DKK"]
        for name, product in (
            ("demo-active", first(RECURRING)),
            ("demo-declined", first(RECURRING)),
            ("demo-donation", first(DONATION)),
            ("demo-many-orders", first(RECURRING)),
            ("demo-stays-active", first(RECURRING, stays=1)),
            ("demo-invoice", first(RECURRING)),
        ):
            row = self._subscription(plan, product, "active", name, 1)
            row["declines"] = int(name == "demo-declined")
            row["billing"] = "invoice" if name == "demo-invoice" else "card"
            count = {"demo-many-orders": plan.many, "demo-active": max(4, plan.many // 20)}.get(name, 4)
            for index in range(count):
                self._order(row, one_time[index % len(one_time)], ORDER_STATES[index % 8], (count - index) * 311)

    def _subscription(
        self, plan: _Plan, product: dict[str, Any], status: str, reference: str | None, index: int
    ) -> dict[str, Any]:
        rng, begin = self._rng, self._begin
        interval = product["interval"]
        created = begin - timedelta(days=rng.randrange(40, 900), minutes=rng.randrange(1440))
        names = ("starts_at", "renews_at", "ends_at", "trial_ends_at", "retry_at", "anchor")
        times: dict[str, datetime | None] = dict.fromkeys(names)
        soon = begin + timedelta(days=rng.randrange(1, 28), minutes=rng.randrange(1440))
        due = ""
        if status == "future_start":
            times["starts_at"], times["renews_at"], due = soon, add_interval(soon, interval), "start"
            times["anchor"] = soon
        elif status == "trialing":
            times["trial_ends_at"] = times["renews_at"] = times["anchor"] = soon
            due = "renew"
        elif status == "active":
            times["renews_at"] = times["anchor"] = soon
            due = "renew"
        elif status == "delayed":
            times["renews_at"] = times["anchor"] = begin - timedelta(days=2)
            times["retry_at"] = begin + timedelta(days=1, minutes=rng.randrange(1440))
            due = "renew"
        elif status == "unpaid":
            times["renews_at"] = times["anchor"] = begin - timedelta(days=30)
        elif status == "cancelled":
            # Half of the cancelled subscriptions are still usable until ends_at.
            times["ends_at"] = soon if index % 16 < 8 else begin - timedelta(days=50)
        elif status == "expired":
            times["ends_at"] = begin - timedelta(days=10)
        row = self.add(
            "subscriptions",
            account=plan.number,
            product_id=product["id"],
            price=product["price"],
            vat=round(product["vat_rate"] * 100),
            currency=product["currency"],
            created_at=iso(created),
            **{name: None if time is None else iso(time) for name, time in times.items()},
            reference_id=reference,
            reference_name=None if reference is None or index % 6 == 5 else _PEOPLE[index % len(_PEOPLE)],
            status=status,
            cancelled=int(status == "cancelled"),
            billing=("card", "card", "mobile", "invoice")[index % 4],
            declines=int(status in ("delayed", "unpaid")),
            failures={"delayed": 1, "unpaid": 3}.get(status, 0),
            cycles_paid=_CYCLES if status == "expired" else int(status in ("active", "delayed", "unpaid")),
            custom_fields=_custom_fields(index),
            metadata=_json({"source": "demo", "plan": product["name"], "tags": ["a", "b"]} if index % 3 else {}),
        )
        if due:
            at = times["starts_at"] if due == "start" else times["retry_at"] or times["renews_at"]
            assert at is not None
            job = {"kind": "subscription", "subject": row["id"], "cause": due}
            self.add("jobs", account=plan.number, due=iso_precise(at), **job)
        return row

    def _order(
        self,
        subscription: dict[str, Any],
        product: dict[str, Any],
        state: str,
        minutes_ago: int,
        *,
        is_first: bool = False,
    ) -> None:
        rng = self._rng
        total = rng.randrange(5, 500) * 100 + rng.choice((0, 25, 50, 95))
        number = self._next["orders"]
        settled = state in ("paid", "payment_refunded")
        self.add(
            "orders",
            account=subscription["account"],
            subscription_id=subscription["id"],
            product_id=product["id"],
            created_at=iso(self._begin - timedelta(minutes=minutes_ago)),
            total=total,
            total_with_vat=with_vat(total, subscription["vat"]),
            currency=subscription["currency"],
            # Some orders were made without the subscription's references.
            reference_id=None if number % 13 == 5 else subscription["reference_id"],
            reference_name=None if number % 13 in (5, 6) else subscription["reference_name"],
            state=state,
            billing=subscription["billing"],
            remote_id=f"pay_{rng.getrandbits(64):016x}" if settled else None,
            delivery=f"https://files.billing.example/o/{number}" if settled and number % 3 == 0 else None,
            is_first=int(is_first),
            custom_fields=_custom_fields(number) if number % 5 == 0 else "[]",
            metadata=_json({"channel": "web"} if number % 2 else {}),
        )


def _custom_fields(index: int) -> str:
    return _custom_text(index % len(_FIELD_VALUES), index % 3)


@functools.cache
def _custom_text(which: int, count: int) -> str:
    fields = [
        {"id": 1, "label": "Size", "type": "text", "value": _FIELD_VALUES[which]},
        {"id": 2, "label": "Levering / delivery", "type": "select", "value": "Døren"},
    ]
    return _json(fields[:count])


def _json(value: Any) -> str:
    if not value:
        return "[]" if isinstance(value, list) else "{}"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
