"""Nights of `billcore export orders --since-last`: what they request and write, and whether an order is lost.

    python -m tests.bench.since_last --lists 100000 --nights 365

A shop of this size lives for so many nights: renewals, invoices that are paid late, refunds, one-off charges, deleted
orders, orders that appear deep in a list, new subscriptions, lists that fail. The pages come from memory instead of a
service; all else is the command. Each night is a process that is killed at random steps and started again until it
ends. Before each night with --full the current view must have all orders of the shop, and after the last one no others.
Prints one line of JSON, with averages of the first night, of nights with --full, and of the others: bytes are those of
the records as JSON, seconds those of processor time, and the megabytes those that the process needs beyond the shop.
"""

from __future__ import annotations

import argparse
import gc
import json
import multiprocessing
import os
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Any
from unittest import mock

from billcore import Client, _client, _ends, bulk, cli

PAGE = 200
COLUMNS = (
    *("id", "created_at", "total", "total_with_vat", "currency", "reference_id", "reference_name", "state"),
    *("remote_id", "delivery", "custom_fields", "metadata", "more", "subscription_id"),
)
BEGUN = datetime(2025, 1, 1, tzinfo=UTC)
FULL_EVERY, REFRESH_EVERY, REFRESH_DAYS = 30, 7, 60
REFUNDED = "payment_refunded"  # no event reports a refund, and a run without --full may not notice it
Order = list[Any]  # id, created_at, total, state
Page = tuple[Any, int]  # a batch, and its bytes as JSON


class Shop:
    """Lists of orders, the latest first."""

    def __init__(self, lists: int, rng: random.Random, most_orders: int = 24) -> None:
        self.lists: dict[str, list[Order]] = {}
        self.pages: dict[str, tuple[int, list[Page]]] = {}  # of each list, with a hash of the list
        self._rng, self._next, self._unpaid = rng, 100_000_000_000, list[Order]()
        self.now = BEGUN
        for _ in range(lists):
            self._subscribe(rng.randrange(most_orders))
        self._long = self._picked(max(1, lists // 500))  # lists of several pages, with an old open order
        for orders in self._long:
            for _ in range(700):
                self._order(orders)
            orders[-1][3] = "payment_failed"

    def live(self) -> None:
        """A day."""
        self.now += timedelta(days=1)
        count = len(self.lists)
        for order in self._unpaid[: len(self._unpaid) // 2]:
            order[3] = "paid"
        del self._unpaid[: len(self._unpaid) // 2]
        for orders in self._picked(count // 30):
            self._order(orders, self._rng.choice(("paid", "paid", "confirmed")))
        for orders in self._picked(max(1, count // 1000)):
            if orders:
                self._rng.choice(orders)[3] = REFUNDED
        for orders in self._picked(max(1, count // 5000)):
            if 0 < len(orders) < 600:  # in the same list, an order that appears between two deletions is not noticed
                orders.remove(self._rng.choice(orders))
        for orders in self._rng.choices(self._long, k=max(1, len(self._long) // 10)):
            self._order(orders, at=self._rng.randrange(len(orders)))
        for _ in range(count // 1000):
            self._subscribe(1)

    def render(self) -> None:
        """Make the pages of the lists that have changed, so that no night spends time on it."""
        for id, orders in self.lists.items():
            content = hash(tuple([part for each in orders for part in (each[0], each[3])]))
            if id not in self.pages or self.pages[id][0] != content:
                self.pages[id] = content, pages_of(id, orders)

    def rows(self) -> Iterator[tuple[str, str, str]]:
        for id, orders in self.lists.items():
            for order in orders:
                yield id, order[0], order[3]

    def _picked(self, count: int) -> list[list[Order]]:
        return [self.lists[id] for id in self._rng.choices([*self.lists], k=count)]

    def _subscribe(self, orders: int) -> None:
        self._next += 1
        made = self.lists[str(self._next)] = []
        for _ in range(orders):
            self._order(made)

    def _order(self, orders: list[Order], state: str = "paid", at: int = 0) -> None:
        self._next += 1
        order = [str(self._next), self.now, self._next % 10_000, state]
        orders.insert(at, order)
        if state == "confirmed":
            self._unpaid.append(order)


class Pager:
    """What the command asks of a list."""

    def __init__(self, shop: Shop, id: str, counts: Any, state: Any = None, is_cut: bool = False) -> None:
        orders = shop.lists[id]
        if state is None:
            self._pages = shop.pages[id][1]
        else:
            orders = [each for each in orders if each[3] in state]
            self._pages = pages_of(id, orders)
        self._counts, self._is_cut = counts, is_cut
        self.total, self.fetched_pages, self._only_grew = len(orders), 0, True
        self.verdict: Any = None

    def to_batches(self, *_: object, **__: object) -> Iterator[Any]:
        for batch, size in self._pages or [(None, 0)]:
            self.fetched_pages += 1
            self._counts[0] += 1
            self._counts[1] += size
            if batch is not None:
                yield batch
            if self._is_cut:
                return


def pages_of(id: str, orders: list[Order]) -> list[Page]:
    pages = []
    for begin in range(0, len(orders), PAGE):
        rows = [
            (*each[:3], each[2], "EUR", None, "Somebody", each[3], None, None, "[]", "{}", None, id)
            for each in orders[begin : begin + PAGE]
        ]
        batch = _client._rows(COLUMNS, rows)
        pages.append((batch, len(_client._lines(batch, "jsonl"))))
    return pages


def night(shop: Shop, lake: Path, counts: Any, more: list[str], form: str, failing: set[str], kill: float) -> int:
    """One process of the command; the status with which it ends."""
    gc.freeze()  # otherwise each process spends seconds on the orders of the shop
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def killing(function: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **named: Any) -> Any:
            if random.random() < kill:
                os._exit(9)
            return function(*arguments, **named)

        return step

    def plan(client: Client, *_: object, fields: Any, **__: object) -> list[bulk.Partition]:
        counts[0] += (len(shop.lists) + 99) // 100
        ids = tuple(shop.lists)
        read = bulk.Read("", 1, len(ids), "complete", "")
        return [bulk.Partition(client.base_url, "orders", ids, tuple(fields), read)]

    def followed(partition: bulk.Partition, *, follow: Any, **_: object) -> Iterator[bulk.Read]:
        for id in partition.ids:
            pager = Pager(shop, id, counts, is_cut=id in failing)
            begun = _ends.Begun(id, pager)  # type: ignore[arg-type]
            take = follow(begun, lambda request: request())
            is_ended = any(take(batch) for batch in pager.to_batches())
            is_whole = is_ended or not (id in failing and pager.total > PAGE)
            verdict, reason = ("complete", "") if is_whole else ("failed", "GET: 403")
            yield bulk.Read(id, pager.fetched_pages, pager.total, verdict, reason, begun.at if is_whole else None)

    class Listed:
        def __init__(self, _: object) -> None: ...

        def orders(self, id: str, *, state: Any, **_: object) -> Pager:
            return Pager(shop, id, counts, state)

    status, before = 70, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        random.seed()
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
        patches = [mock.patch.object(os, name, killing(getattr(os, name))) for name in ("replace", "fsync", "rename")]
        patches += [mock.patch.object(bulk, "plan", plan), mock.patch.object(bulk, "read_followed", followed)]
        patches += [mock.patch("billcore.cli.export._reach", lambda _: None)]
        patches += [mock.patch("billcore.cli._known._subscriptions", Listed)]
        for patch in patches:
            patch.start()
        arguments = ["-o", str(lake), "--format", form, "--since-last", *more]
        status = cli.main(["export", "orders", *arguments])
    finally:
        counts[2] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        os._exit(status)


def simulate(
    lists: int, nights: int, form: str, kill: float, seed: int, lake: Path, orders: int = 24
) -> dict[str, Any]:
    rng = random.Random(seed)
    shop, counts = Shop(lists, rng, orders), multiprocessing.Array("q", 3, lock=False)
    os.environ.update(BILLCORE_BASE_URL="http://127.0.0.1:9/account", BILLCORE_API_KEY="key")
    began, kills, lost = time.monotonic(), 0, 0
    full = {*range(FULL_EVERY - 1, nights, FULL_EVERY), nights - 1}
    measured: dict[str, list[tuple[float, ...]]] = {"first": [], "other": [], "full": []}
    for number in range(nights):
        shop.live()
        shop.render()
        is_full, is_checked = number in full, number + 1 in full
        more = ["--full"] if is_full else []
        if number % REFRESH_EVERY == 0 or is_full:
            more += ["--refresh-since", str(REFRESH_DAYS + (datetime.now(UTC) - shop.now).days)]
        failing = {*rng.choices([*shop.lists], k=lists // 100)} if not is_checked and number < nights - 1 else set()
        counts[:] = [0, 0, 0]
        spent = processor()
        while (status := night(shop, lake, counts, more, form, failing, kill)) == 9:
            kills += 1
        if status not in (0, 3):
            raise SystemExit(f"night {number}: status {status}")
        kind = "full" if is_full else "other" if number else "first"
        written = max(lake.glob("run-*")).joinpath(f"orders.{form}").stat().st_size
        measured[kind].append((*counts[:2], written, processor() - spent, counts[2] >> 10))
        if number % 10 == 0:
            print(f"night {number}: {kills} kills, {lost} lost", file=sys.stderr)
        if is_checked:
            lost += len({each for each in shop.rows() if each[2] != REFUNDED} - {*current(lake, form)})
    names = ("requests", "bytes", "written", "seconds", "megabytes")
    wanted = sorted(shop.rows())
    now = current(lake, form)
    runs = [*lake.glob("run-*")]
    return {
        "lists": len(shop.lists),
        "orders": len(wanted),
        "nights": nights,
        "kills": kills,
        **{
            f"{kind}_night": {
                name: round(mean(column)) for name, column in zip(names, zip(*each, strict=True), strict=True)
            }
            for kind, each in measured.items()
            if each
        },
        "orders_files": sum(each.stat().st_size for each in lake.glob("run-*/orders.*")),
        "reads_files": sum(each.stat().st_size for each in lake.glob("run-*/reads.*")),
        "state": max(each.stat().st_size for each in lake.glob("run-*/state.jsonl")),
        "runs": len(runs),
        "lost": lost + len({*wanted} - {*now}),
        "too_many": len({*now} - {*wanted}) + len(now) - len({*now}),
        "seconds": round(time.monotonic() - began),
    }


def processor() -> float:
    """The processor time, in seconds, of all nights so far: each night is a child process that has ended."""
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])


def current(lake: Path, form: str) -> list[tuple[str, str, str]]:
    import duckdb

    source = (
        f"read_parquet('{lake}/run-*/orders.parquet')"
        if form == "parquet"
        else (
            f"read_json('{lake}/run-*/orders.jsonl', format = 'nd', columns = {{id: 'VARCHAR', "
            "subscription_id: 'VARCHAR', state: 'VARCHAR', observed_at: 'TIMESTAMP', change: 'VARCHAR'})"
        )
    )
    return sorted(
        duckdb.execute(
            f"""SELECT subscription_id, id, state FROM {source}
            QUALIFY row_number() OVER (PARTITION BY subscription_id, id ORDER BY observed_at DESC) = 1
            AND change <> 'gone'"""
        ).fetchall()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--lists", type=int, default=100_000)
    parser.add_argument("--orders", type=int, default=24, help="at the start a list has fewer orders than these")
    parser.add_argument("--nights", type=int, default=365)
    parser.add_argument("--format", choices=("parquet", "jsonl"), default="parquet")
    parser.add_argument("--kill", type=float, default=0.005, help="the probability at each rename and fsync")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        lake = Path(folder, "lake")
        found = simulate(
            options.lists, options.nights, options.format, options.kill, options.seed, lake, options.orders
        )
    print(json.dumps(found))
    sys.exit(1 if found["lost"] or found["too_many"] else 0)


if __name__ == "__main__":
    main()
