"""Reading the orders of a subscription and product: which are new, which equal a charge, which are another key's."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from .._errors import BillcoreError, DecodeError
from .._webhook import Order
from . import _table as table
from ._errors import ChargePendingError, JournalError, UnresolvedChargeError
from ._steps import SOON, Call, Row, Settings, Sql, Steps
from ._window import PER_PAGE, Baseline, is_whole

_log = logging.getLogger("billcore")
_MISMATCH, _RULE = "sum_mismatch", "total_rule"
_READINGS = 3  # how often pages are read until two readings are equal
# An order in another state was not paid, or not kept: a person decides about it.
_ALIVE = ("created", "confirmed", "payment_pending", "payment_pending_user", "paid")


class LookUp:
    """The look-ups for one key. `wanted`: the arguments of the charge, by column."""

    def __init__(self, settings: Settings, key: str, wanted: dict[str, Any]) -> None:
        self._this = {"account": settings.account, "key": key}
        self._settle, self._timeout, self._horizon = settings.settle, settings.timeout, settings.horizon
        self._key = key
        self._wanted = wanted

    def _page(self, number: int) -> Callable[[Any], Any]:
        subscription, product = self._wanted["subscription"], self._wanted["product_id"]

        def read(client: Any) -> Any:
            orders = client.subscriptions.orders(subscription, product_id=product, per_page=PER_PAGE, page=number)
            pages = orders.pages()
            return pages.__anext__() if hasattr(pages, "__anext__") else next(pages)

        return read

    def _read_baseline(self) -> Steps:
        """Returns the baseline, and the page that it was read from."""
        page = yield Call(self._page(1))
        return Baseline([str(order.id) for order in page.items], is_whole(page)), page

    def _read_list(self, baseline: Baseline) -> Steps:
        """The list's orders, latest first, as far as the baseline reaches.

        One page is a snapshot. Several pages are read until two readings are equal.
        """
        before: list[str] | None = None
        for _ in range(_READINGS):
            orders: list[Order] = []
            number = 1
            while True:
                page = yield Call(self._page(number))
                orders += page.items
                ids, here = [str(order.id) for order in orders], [str(order.id) for order in page.items]
                end = is_whole(page) if number == 1 else not here or number >= page.total_pages
                if baseline.is_reached(ids, here, end):
                    break
                if not here:
                    return orders
                number += 1
            if number == 1 or ids == before:
                return orders
            before = ids
        text = f"the list of orders changes while it is read: call with {self._key!r} again"
        raise ChargePendingError(text, key=self._key, retry_after=SOON)

    def _unowned(self, row: Row, orders: list[Order], *, every: bool = False) -> Steps:
        """The new orders that no other key owns. every: all orders count as new where nobody can tell."""
        newer = row.baseline.newer([str(order.id) for order in orders])
        if newer is None and not every:
            text = (
                f"no order from before the charge {self._key!r} is listed any more, so nobody can tell which orders are"
                " new: find out at the service, then call resolve(key, order_id=…)"
            )
            raise UnresolvedChargeError(text, key=self._key)
        found = []
        for order in orders:
            known = str(order.id) in row.baseline.ids if newer is None else str(order.id) not in newer
            if not known and not (yield Sql(table.ADOPTED_BY, {**self._this, "order_id": str(order.id)})):
                found.append(order)
        return found

    def _new(self, row: Row) -> Steps:
        """The orders that may be the charge's; raises ChargePendingError if they cannot be read."""
        try:
            orders = yield from self._read_list(row.baseline)
        except JournalError:
            raise
        except BillcoreError as error:
            text = (
                f"whether {self._key!r} was charged could not be looked up ({error}): call again with the same key, or"
                " find out at the service and call resolve()"
            )
            after = getattr(error, "retry_after", None)
            raise ChargePendingError(text, key=self._key, retry_after=SOON if after is None else after) from error
        return (yield from self._unowned(row, orders))

    def _equals(self, order: Order) -> Steps:
        """Whether an order is what the charge would make."""
        try:
            return (yield from self._has_sum(order)) and order.state in _ALIVE
        except DecodeError:
            return False

    def _has_sum(self, order: Order) -> Steps:
        rows = yield Sql(table.READ_NOTE, {"account": self._this["account"], "name": _RULE})
        field, per = rows[0][0].split() if rows else ("total", "amount_times_quantity")
        pieces = 1 if per == "amount" else self._wanted["quantity"] or 1
        try:
            return getattr(order, field) == self._wanted["amount"] * pieces
        except DecodeError:
            return False

    def _check_sum(self, order: Order) -> Steps:
        """Checks the order of an answer: look-ups go by a total that the service interface does not define."""
        if not (yield from self._has_sum(order)):
            _log.error("order %s has not the sum of its charge: look-ups of this account stop", order.id)
            note = {"account": self._this["account"], "name": _MISMATCH, "value": str(order.id)}
            yield Sql(table.NOTE, note)

    def _require_rule(self) -> Steps:
        noted = yield Sql(table.READ_NOTE, {"account": self._this["account"], "name": _MISMATCH})
        if noted:
            text = (
                f"the order {noted[0][0]} has not the sum of its charge, so {self._key!r} cannot be looked up: call"
                " accept_total_rule() with the rule that the service follows, or resolve(key, order_id=…)"
            )
            raise UnresolvedChargeError(text, key=self._key)

    def _within_horizon(self, page: Any, horizon: float) -> Steps:
        """The ids of orders that an earlier attempt may have made, if the database has lost that attempt."""
        try:
            service = parsedate_to_datetime(page.response_info.headers["date"]).astimezone(UTC)
        except (KeyError, ValueError, OverflowError):
            service = None  # every equal order counts
        found = []
        for order in page.items:
            try:
                old = service is not None and (service - order.created_at).total_seconds() >= horizon
            except DecodeError:
                old = False
            owned = {**self._this, "order_id": str(order.id)}
            if not old and (yield from self._equals(order)) and not (yield Sql(table.ADOPTED_BY, owned)):
                found.append(str(order.id))
        return found
