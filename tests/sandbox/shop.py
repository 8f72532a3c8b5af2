"""An account whose clock is frozen at a known time, for tests that move the clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from billcore.testing import SandboxAccount
from sandbox.support import Service

BEGIN = datetime(2031, 1, 31, 9, tzinfo=UTC)


def time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def after(text: str) -> float:
    """The days from BEGIN to a time."""
    return (time(text) - BEGIN) / timedelta(days=1)


class Shop:
    """An account without demo data whose clock is frozen at BEGIN."""

    def __init__(self, account: SandboxAccount) -> None:
        self.control, self.service = account.control, Service(account.accounts[0])
        self.control.freeze()
        self.control.advance(to=BEGIN)

    def buy(self, kind: str = "subscription", product: dict[str, Any] | None = None, **fields: Any) -> str:
        """Buys a product and confirms the order; returns the id of the subscription."""
        number = self.control.create_product("Tea", type=kind, **product or {})["id"]
        made = self.control.checkout(number, **fields)
        self.control.confirm(made["order"]["id"])
        return str(made["subscription"]["id"])

    def shown(self, subscription: str) -> dict[str, Any]:
        return dict(self.service.get(f"/subscription/{subscription}").data)

    def orders(self, subscription: str) -> list[str]:
        """The dates of the subscription's orders, oldest first."""
        listed = self.service.get(f"/subscription/{subscription}/orders?per_page=200").data
        return [order["created_at"][:10] for order in reversed(listed)]

    def happened(self, **move: Any) -> list[tuple[str, str]]:
        """Moves the clock; returns the actions of the jobs that ran, each with its time in days after BEGIN."""
        return [(each["cause"], f"{after(each['at']):g}") for each in self.control.advance(**move)["happened"]]
