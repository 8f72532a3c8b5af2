"""The decisions of the journal, as generators that yield SQL statements and client calls, and receive the results.

Journal and AsyncJournal run the same generators. python/journal.md has the table of states.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from .. import _clock
from .._errors import ApiError, BillcoreError, DecodeError, PaymentError
from .._ids import same_id
from .._webhook import Order
from . import _table as table
from ._errors import (
    AmbiguousChargeError,
    ChargeInProgressError,
    ChargePendingError,
    JournalError,
    KeyReusedError,
    UnresolvedChargeError,
)
from ._orders import dump_error, dump_order, load_error, load_order

_log = logging.getLogger("billcore")
_MISMATCH = "sum_mismatch"


@dataclass(frozen=True, slots=True)
class Sql:
    """Run a statement in its own transaction. The result is the rows, or the number of changed rows.

    If a unique index refuses the statement, the result is 0.
    """

    text: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """Call the client."""

    function: Callable[[Any], Any]


Steps = Generator[Sql | Call, Any, Any]


@dataclass(frozen=True, slots=True)
class Charge:
    """A key of the journal, with the values of the key's row.

    Attributes:
        key: The caller's key.
        state: sending, unknown, unread, charged, declined, refused or not_sent.
        attempt: How many times the journal decided to send the charge.
        subscription: Id of the subscription.
        product_id: Id of the product.
        amount: Cents, without VAT.
        quantity: Number of pieces, or None.
        vat: Basis points, or None.
        description: Description of the order, or None.
        since: Only orders made from this time on may belong to the charge (aware, UTC).
        deadline: The latest attempt cannot be sent after this time (aware, UTC).
        uncertain: The deadline of the latest attempt whose outcome is not known, or None.
        order_id: Id of the charge's order, or None.
    """

    key: str
    state: str
    attempt: int
    subscription: str
    product_id: int
    amount: int
    quantity: int | None
    vat: int | None
    description: str | None
    since: datetime
    deadline: datetime
    uncertain: datetime | None
    order_id: str | None


class Row:
    """A row of billcore_charges, and the database's time when it was read."""

    def __init__(self, values: Any) -> None:
        self.now, self.key, *rest = values
        self.columns: dict[str, Any] = dict(zip(table.COLUMNS, rest, strict=True))
        self.state: str = self.columns["state"]
        self.deadline: float = self.columns["deadline"]
        self.uncertain: float | None = self.columns["uncertain"]

    def public(self) -> Charge:
        shown = {name: value for name, value in self.columns.items() if name not in ("baseline", "answer")}
        for name in ("since", "deadline", "uncertain"):
            shown[name] = None if shown[name] is None else datetime.fromtimestamp(shown[name], UTC)
        return Charge(self.key, **shown)


class Machine:
    """Decides what to do for one key.

    Args:
        account: The account's segment of the base URL.
        settle: Seconds after a charge's deadline within which the service lists the charge's order; None: unknown.
        timeout: Seconds that an attempt may take.
        skew: Seconds by which the clocks of this host and the service may differ.
        key: The caller's key.
        wanted: The arguments of the charge, by column.
    """

    def __init__(
        self, account: str, settle: float | None, timeout: float, skew: float, key: str, wanted: dict[str, Any]
    ) -> None:
        self._this = {"account": account, "key": key}
        self._key = key
        self._settle, self._timeout, self._skew = settle, timeout, skew
        self._wanted = wanted

    def charge(self) -> Steps:
        """Make the charge, or find out whether it was made; returns its order."""
        while True:
            row = yield from self._read()
            if row is None:
                order = yield from self._first_attempt()
            elif {name: row.columns[name] for name in self._wanted} != self._wanted:
                raise KeyReusedError(
                    f"the key {self._key!r} belongs to a charge with other arguments: use a new key for a new charge",
                    key=self._key,
                )
            elif row.state == "charged":
                return load_order(row.columns["answer"])
            elif row.state == "declined":
                raise load_error(row.columns["answer"])
            elif row.state == "sending":
                if row.now < row.deadline:
                    raise self._in_progress(row.deadline - row.now)
                yield Sql(table.LAPSE, self._at(row))
                continue
            elif row.state in ("refused", "not_sent") and row.uncertain is None:
                order = yield from self._attempt_again(row, *(yield from self._baseline()))
            else:
                order = yield from self._resume(row)
            if order is not None:
                return order

    def resolve(self, order: Order | None) -> Steps:
        """Record what a person found out: the charge's order, or that nothing was charged."""
        row = yield from self._read()
        if row is None:
            raise JournalError(f"the journal has no key {self._key!r}", key=self._key)
        if row.state == "charged":
            stored = load_order(row.columns["answer"])
            if order is not None and same_id(order.id, stored.id):
                return stored
            raise JournalError(f"{self._key!r} is resolved: its order is {stored.id}", key=self._key)
        if row.state not in ("sending", "unknown", "unread") and row.uncertain is None:
            raise JournalError(f"{self._key!r} is {row.state}: there is nothing to resolve", key=self._key)
        if row.now < row.deadline and (row.state == "sending" or order is None):
            raise self._in_progress(row.deadline - row.now)
        if order is None:
            changed = yield Sql(table.ASSERT_NOTHING, self._at(row))
        else:
            changed = yield from self._adopt(row, order)
        if not changed:
            raise JournalError(
                f"{self._key!r} was not resolved: its state changed meanwhile, or the order belongs to another key; "
                "look at open() and try again",
                key=self._key,
            )
        return order

    def _read(self) -> Generator[Sql, Any, Row | None]:
        rows = yield Sql(table.READ, self._this)
        return Row(rows[0]) if rows else None

    def _at(self, row: Row) -> dict[str, Any]:
        return {**self._this, "state": row.state, "attempt": row.columns["attempt"]}

    def _in_progress(self, left: float) -> ChargeInProgressError:
        text = f"the charge {self._key!r} may be in flight for {left:.1f} s more: call again with the same key then"
        return ChargeInProgressError(text, key=self._key, retry_after=left)

    def _baseline(self) -> Steps:
        """Returns (baseline, since): a JSON list of order ids, and a time.

        The baseline has the orders that were created at `since` or later, but before the charge is sent.
        """
        subscription, product = self._wanted["subscription"], self._wanted["product_id"]
        host = datetime.now(UTC)

        def first_page(client: Any) -> Any:
            pages = client.subscriptions.orders(subscription, product_id=product, per_page=200).pages()
            return pages.__anext__() if hasattr(pages, "__anext__") else next(pages)

        page = yield Call(first_page)
        try:
            service = parsedate_to_datetime(page.response_info.headers["date"]).astimezone(UTC)
        except (KeyError, ValueError, OverflowError):
            service = host
        # Round down to a second: find_charges() also rounds, and must not find orders from before the baseline.
        since = (min(host, service) - timedelta(seconds=self._skew)).replace(microsecond=0)
        orders = page.items
        if page.current_page < page.total_pages and not (orders and orders[-1].created_at < since):
            orders = yield Call(_look_up(subscription, product, since))
        found = [str(order.id) for order in orders if order.created_at >= since]
        return json.dumps(found), since.timestamp()

    def _first_attempt(self) -> Steps:
        baseline, since = yield from self._baseline()
        begun = _clock.now()
        new = {**self._this, **self._wanted, "baseline": baseline, "since": since, "timeout": self._timeout}
        if not (yield Sql(table.INTEND, new)):
            yield from self._refuse_if_blocked()
            return None
        return (yield from self._send(1, begun, certain=True))

    def _attempt_again(self, row: Row, baseline: str, since: float) -> Steps:
        begun = _clock.now()
        more = {"baseline": baseline, "since": since, "timeout": self._timeout}
        if not (yield Sql(table.INTEND_AGAIN, self._at(row) | more)):
            yield from self._refuse_if_blocked()
            return None
        return (yield from self._send(row.columns["attempt"] + 1, begun, certain=row.uncertain is None))

    def _refuse_if_blocked(self) -> Steps:
        names = ("subscription", "product_id")
        rows = yield Sql(table.BLOCKED_BY, self._this | {name: self._wanted[name] for name in names})
        if rows:
            text = (
                f"the key {rows[0][0]!r} has an open charge of the same subscription and product, so two orders could"
                f" not be told apart: finish it first, then call with {self._key!r} again"
            )
            raise ChargeInProgressError(text, key=self._key, other=rows[0][0])

    def _send(self, attempt: int, begun: float, *, certain: bool) -> Steps:
        """Send the charge, whose row is committed. `certain`: no earlier attempt has an unknown outcome.

        The call's time-out counts from `begun`, a time before the row was written: it ends before the row's deadline.
        """
        where = {**self._this, "attempt": attempt}
        order: Order | None = None
        caught: BaseException | None = None
        result: dict[str, str | None]

        def call(client: Any) -> Any:
            left = begun + self._timeout - _clock.now()
            if left <= 0:
                raise JournalError(f"{self._key!r} was not sent: its time was over; call again", key=self._key)
            wanted = dict(self._wanted)
            return client.subscriptions.charge(wanted.pop("subscription"), **wanted, timeout=left)

        try:
            answered = yield Call(call)
            result = {"to": "charged", "order_id": str(answered.id), "answer": dump_order(answered)}
            order = answered
        except GeneratorExit:
            raise
        except BaseException as error:
            caught = error
            result = {"to": _state_after(error, certain), "order_id": None, "answer": dump_error(error)}
        unsure = result["to"] in ("unknown", "unread")
        try:
            if order is not None:
                yield from self._check_sum(order)
            changed = yield Sql(table.UNCERTAIN if unsure else table.CERTAIN, where | result)
        except JournalError as error:
            if order is None:
                error.outcome_unknown = unsure
                raise error from caught
            text = (
                f"the charge {self._key!r} was made, its order is {order.id}, but it could not be recorded ({error}):"
                " call again with the same key, which finds the order"
            )
            raise JournalError(text, key=self._key, order=order) from error
        if order is None:
            assert caught is not None
            if isinstance(caught, PaymentError) and not certain:
                return None  # look up first: an earlier attempt may have charged
            if not changed and isinstance(caught, Exception):
                text = f"another process has gone on with the charge {self._key!r}: call again with the same key"
                raise ChargePendingError(text, key=self._key, retry_after=0) from caught
            raise caught
        if not changed:
            yield Sql(table.UNCERTAIN, where | {"to": "unread"})  # another key has the order: do not charge again
            yield from self._refuse_other(order)
        return order

    def _refuse_other(self, order: Order) -> Steps:
        """Raises an error if a different result of the key was stored while the charge was in flight."""
        row = yield from self._read()
        if row is not None and row.state == "charged" and same_id(row.columns["order_id"], order.id):
            return
        text = (
            f"the charge {self._key!r} made the order {order.id}, but the journal has another result for the key:"
            " compare the orders and refund one if both are real"
        )
        _log.error("%s", text)
        stored = [load_order(row.columns["answer"])] if row is not None and row.state == "charged" else []
        raise AmbiguousChargeError(text, key=self._key, candidates=[order, *stored])

    def _check_sum(self, order: Order) -> Steps:
        """Checks the order's total: look-ups find orders by a total that the service interface does not define."""
        try:
            fits = self._fits(order)
        except DecodeError:
            fits = False
        if not fits:
            _log.error("order %s has not the sum of its charge: look-ups of this account cannot be believed", order.id)
            note = {"account": self._this["account"], "name": _MISMATCH, "value": str(order.id)}
            yield Sql(table.NOTE, note)

    def _fits(self, order: Order) -> bool:
        amount, quantity = self._wanted["amount"], self._wanted["quantity"]
        sums = {amount, amount * (quantity or 1)}
        return bool(sums & {order.total, order.total_with_vat})

    def _resume(self, row: Row) -> Steps:
        """Look the charge up; send it again if not made. Returns the order; None if the row must be read again."""
        match = yield from self._match(row)
        if match is not None:
            return match if (yield from self._adopt(row, match)) else None
        if row.state == "unread" or self._settle is None:
            reason = "was made, but its answer could not be read" if row.state == "unread" else "may have been made"
            text = (
                f"the charge {self._key!r} {reason}, and no order fits it: find out at the service, then call"
                " resolve(key, order_id=…), with None if nothing was charged"
            )
            raise UnresolvedChargeError(text, key=self._key)
        assert row.uncertain is not None
        left = row.uncertain + self._settle - row.now
        if left > 0:
            text = f"the service may still be working on the charge {self._key!r}: call again in {left:.1f} s"
            raise ChargePendingError(text, key=self._key, retry_after=left)
        if row.columns["answer"] is not None:  # refused (402), and no attempt made an order
            yield Sql(table.DECLINE, self._at(row))
            return None
        return (yield from self._attempt_again(row, row.columns["baseline"], row.columns["since"]))

    def _match(self, row: Row) -> Steps:
        """The order that the uncertain attempts made, or None."""
        account = self._this["account"]
        if noted := (yield Sql(table.READ_NOTE, {"account": account, "name": _MISMATCH})):
            text = (
                f"the order {noted[0][0]} has not the sum of its charge, so no look-up can be believed: find out about"
                f" {self._key!r} at the service, then call resolve(key, order_id=…)"
            )
            raise UnresolvedChargeError(text, key=self._key)
        since = datetime.fromtimestamp(row.columns["since"], UTC)
        known = set(json.loads(row.columns["baseline"]))
        try:
            orders = yield Call(_look_up(self._wanted["subscription"], self._wanted["product_id"], since))
            possible = [order for order in orders if str(order.id) not in known and self._fits(order)]
        except BillcoreError as error:
            text = (
                f"whether {self._key!r} was charged could not be looked up ({error}): call again with the same key, or"
                " find out at the service and call resolve()"
            )
            raise ChargePendingError(text, key=self._key) from error
        fitting = []
        for order in possible:
            if not (yield Sql(table.ADOPTED_BY, {**self._this, "order_id": str(order.id)})):
                fitting.append(order)
        if len(fitting) > 1:
            text = (
                f"{len(fitting)} orders may be the one of the charge {self._key!r}: choose one of .candidates with"
                " resolve(key, order_id=…)"
            )
            raise AmbiguousChargeError(text, key=self._key, candidates=fitting)
        return fitting[0] if fitting else None

    def _adopt(self, row: Row, order: Order) -> Steps:
        more = {"order_id": str(order.id), "answer": dump_order(order)}
        return (yield Sql(table.ADOPT, self._at(row) | more))


def _look_up(subscription: str, product: int, since: datetime) -> Callable[[Any], Any]:
    return lambda client: client.subscriptions.find_charges(subscription, product_id=product, since=since)


def _state_after(error: BaseException, certain: bool) -> str:
    """The state of a key after client.subscriptions.charge() raised this error."""
    if isinstance(error, DecodeError):
        return "unread"
    if isinstance(error, PaymentError):
        return "declined" if certain else "refused"
    if isinstance(error, ApiError):
        return "unknown" if error.outcome_unknown or error.status < 400 else "refused"
    if isinstance(error, BillcoreError):
        return "unknown" if error.outcome_unknown else "not_sent"
    # The call was interrupted or cancelled, or memory ran out: the charge may have been sent.
    return "not_sent" if getattr(error, "nothing_sent", False) else "unknown"
