"""Shared by the tests of billcore.bulk: an account of a sandbox, and the rows of a reading as plain Python values."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pyarrow
import pytest

import billcore
from billcore import bulk
from billcore.testing import SandboxAccount
from sandbox.support import Service
from support.children import child_environment

LONGER = 60  # seconds: longer than any wait of a test


def rows_of(batch: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pyarrow.record_batch(batch).to_pylist()
    return rows


@dataclass
class Found:
    """What a reading gave: the ids of the orders of each subscription, and the rows of `reads` by their id."""

    orders: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    reads: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, relation: str, batch: Any) -> None:
        for row in rows_of(batch):
            if relation == "orders":
                assert row["subscription_id"] not in self.reads, "an order follows the row of its list"
                self.orders[row["subscription_id"]].append(row["id"])
            else:
                assert relation == "reads" and row["id"] not in self.reads, "one row a list"
                self.reads[row["id"]] = row

    def verdict(self, id: str) -> str:
        return str(self.reads[id]["verdict"])


def found_in(readings: Iterable[Iterable[tuple[str, Any]]]) -> Found:
    found = Found()
    for reading in readings:
        for relation, batch in reading:
            found.add(relation, batch)
    return found


class Scene:
    """An account of the sandbox, a client of it that does not retry, and the account's data by plain HTTP."""

    def __init__(self, account: SandboxAccount) -> None:
        self.account, self.control = account, account.control
        self.service = Service(account.accounts[0])
        self.client = billcore.Client(base_url=account.base_url, api_key=account.api_key, max_retries=0)

    @property
    def many(self) -> str:
        """The subscription with the most orders, 45."""
        return str(self.account.ids["subscriptions"]["demo-many-orders"])

    def client_with(self, **options: Any) -> billcore.Client:
        return billcore.Client(
            **{"base_url": self.account.base_url, "api_key": self.account.api_key, "max_retries": 0, **options}
        )

    def plan(self) -> bulk.Partition:
        (partition,) = bulk.plan(self.client, 1)
        return partition

    def subscriptions(self) -> list[str]:
        return [str(each["id"]) for each in self._all("/subscriptions")]

    def stored(self) -> dict[str, list[str]]:
        """The ids of the orders of each subscription that has orders, latest first."""
        lists = {id: self.orders(id) for id in self.subscriptions()}
        return {id: orders for id, orders in lists.items() if orders}

    def orders(self, id: str) -> list[str]:
        return [str(each["id"]) for each in self._all(f"/subscription/{id}/orders?per_page=200")]

    def _all(self, path: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for page in range(1, 1000):
            answer = self.service.get(f"{path}{'&' if '?' in path else '?'}page={page}").json
            found += answer["data"]
            if page >= answer["pagination"]["total_pages"]:
                break
        return found

    def grow(self, id: str, hundreds: int) -> None:
        """Adds orders to a list."""
        path = f"/subscription/{id}/orders"
        self.control.fault("rows", path=path, insert=100, times=hundreds)
        for _ in range(hundreds):
            self.service.get(f"{path}?per_page=1")

    def asked(self, operation: str = "orders") -> int:
        """How many requests of this operation the service received."""
        return len(self.control.requests(operation=operation))


def threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "billcore-bulk"]


def no_pauses(patch: pytest.MonkeyPatch, seconds: float = 0.0) -> None:
    """Lets the pause before a repeated request, as far as it is random, take so many seconds."""
    patch.setattr("billcore._patience.random.uniform", lambda least, most: seconds)


def one_row_at_a_time(patch: pytest.MonkeyPatch) -> None:
    """Lets a reading give every batch at once."""
    patch.setattr(bulk, "ROWS", 1)


def child(code: str, *arguments: str, python: str = sys.executable, **environment: str) -> subprocess.Popen[str]:
    """A new interpreter. Its environment has no BILLCORE_… but those given."""
    clean = {name: value for name, value in child_environment().items() if not name.startswith("BILLCORE_")}
    return subprocess.Popen(
        [python, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**clean, **environment},
    )
