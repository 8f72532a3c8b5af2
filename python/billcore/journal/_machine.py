"""The decisions of the journal, as generators that yield SQL statements and client calls, and receive the results.

Journal and AsyncJournal run the same generators. python/docs/journal.md has the table of states.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Generator, Sequence
from typing import Any

from .. import _clock
from .._errors import BillcoreError, PaymentError
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
from ._lookup import LookUp
from ._orders import dump_error, dump_order, load_error, load_order, may_pass, state_after
from ._steps import SOON, Call, Row, Sql, Steps, StepsTo
from ._window import Baseline

_log = logging.getLogger("billcore")
# An attempt that returns this much later than its deadline was stopped on the way, and may have sent late.
_GRACE = 1.0


class Machine(LookUp):
    """Decides what to do for one key."""

    _unsure = True  # whether the key may have been charged; nobody knows before its row was read

    def charge(self) -> Steps:
        """Make the charge, or find out whether it was made; returns its order."""
        try:
            return (yield from self._charge())
        except BillcoreError as error:
            if type(error) is JournalError:
                error.outcome_unknown = self._unsure
            elif may_pass(error):
                error.retry_after = getattr(error, "retry_after", None) or SOON  # type: ignore[attr-defined]
            raise

    def _charge(self) -> Steps:
        while True:
            row = yield from self._read()
            self._unsure = row is not None and (row.is_unsure or row.state in ("held", "sending", "unknown", "unread"))
            if row is None:
                order = yield from self._first_attempt()
            elif {name: row.columns[name] for name in self._wanted} != self._wanted:
                raise KeyReusedError(
                    f"the key {self._key!r} belongs to a charge with other arguments: use a new key for a new charge",
                    key=self._key,
                    outcome_unknown=False,
                )
            elif row.state == "sending":
                yield from self._lapse(row)
                continue
            elif row.state in ("charged", "declined") and row.late is not None:
                yield from self._check_late(row)
                continue
            elif row.state == "charged":
                return load_order(row.columns["answer"])
            elif row.state == "declined":
                raise load_error(row.columns["answer"])
            elif row.state == "held":
                raise (yield from self._held(row.ids("candidates")))
            elif row.state in ("refused", "not_sent") and not row.is_unsure:
                # After resolve(None) the baseline stays, because an order of an earlier attempt may still turn up.
                asserted = row.columns["shown"] is not None
                baseline, held = (row.baseline, []) if asserted else (yield from self._before_certain())
                order = yield from self._attempt_again(row, baseline, held)
            else:
                order = yield from self._resume(row)
            if order is not None:
                return order

    def resolve(self, order_id: str | int | None, force: bool) -> StepsTo[Order | None]:
        """Record what a person found out: the charge's order, or that nothing was charged."""
        row = yield from self._read()
        while row is not None and row.state == "sending":
            yield from self._lapse(row)
            row = yield from self._read()
        if row is None:
            raise JournalError(f"the journal has no key {self._key!r}", key=self._key)
        if row.state == "charged" or (row.state == "declined" and (row.late is None or order_id is None)):
            return (yield from self._confirm(row, order_id))
        if row.state not in ("held", "unknown", "unread") and not row.is_unsure:
            text = f"{self._key!r} is {row.state}: there is nothing to resolve"
            raise JournalError(text, key=self._key, outcome_unknown=False)
        self._wanted = {name: row.columns[name] for name in table.ARGUMENTS}
        orders = yield from self._read_list(row.baseline)
        if order_id is None:
            changed = yield from self._assert_nothing(row, orders)
            order = None
        else:
            order = yield from self._named(row, orders, order_id, force)
            changed = yield from self._adopt(row, order)
        if not changed:
            raise JournalError(
                f"{self._key!r} was not resolved: its state changed meanwhile, or the order belongs to another key; "
                "look at open() and try again",
                key=self._key,
            )
        return order

    def _confirm(self, row: Row, order_id: str | int | None) -> StepsTo[Order | None]:
        """Resolves a key whose outcome is known: a person has looked for a second charge, sent late."""
        stored = load_order(row.columns["answer"]) if row.state == "charged" else None
        right = order_id is None if stored is None else order_id is not None and same_id(order_id, stored.id)
        if not right or (stored is None and row.late is None):
            what = f"its order is {stored.id}" if stored is not None else "the service has declined it"
            raise JournalError(f"{self._key!r} is resolved: {what}", key=self._key, outcome_unknown=False)
        if row.late is not None:
            yield Sql(table.NOT_LATE, self._at(row) | {"late": row.late})
        return stored

    def _assert_nothing(self, row: Row, orders: list[Order]) -> Steps:
        left = row.left(self._settle)
        if row.state != "held" and left > 0:
            raise self._pending(left)
        newer = yield from self._unowned(row, orders, every=True)
        seen = {*row.ids("candidates"), *row.ids("shown")}
        ids = [str(order.id) for order in newer]
        if row.state != "held" and not seen.issuperset(ids):
            yield Sql(table.SHOW, self._at(row) | {"shown": json.dumps([*seen, *ids])})
            raise self._ambiguous(newer, "look at them, and call resolve() again")
        # The shown orders stay known, and so does everything before them.
        baseline = row.baseline.with_newer([*ids, *(each for each in seen if each not in ids)])
        return (yield Sql(table.ASSERT_NOTHING, self._at(row) | {"baseline": baseline.dump()}))

    def _named(self, row: Row, orders: list[Order], order_id: str | int, force: bool) -> Steps:
        """The order that a person names, from the list of the subscription and product."""
        found = next((order for order in orders if same_id(order.id, order_id)), None)
        number = 1
        while found is None:
            page = yield Call(self._page(number))
            found = next((order for order in page.items if same_id(order.id, order_id)), None)
            number += 1
            if found is None and (not page.items or number > page.total_pages):
                raise JournalError(
                    f"the order {order_id} is not in the list of the orders of the subscription "
                    f"{self._wanted['subscription']} with the product {self._wanted['product_id']}: look at its list",
                    key=self._key,
                )
        if not force and not (yield from self._equals(found)):
            raise JournalError(
                f"the order {order_id} is {found.state}, its total is {found.total}, and that does not fit the charge"
                f" {self._key!r}: call with force=True if it is the charge's order all the same",
                key=self._key,
            )
        return found

    def _read(self) -> Generator[Sql, Any, Row | None]:
        rows = yield Sql(table.READ, self._this)
        return Row(rows[0]) if rows else None

    def _at(self, row: Row) -> dict[str, Any]:
        return {**self._this, "state": row.state, "attempt": row.columns["attempt"]}

    def _lapse(self, row: Row) -> Steps:
        """Ends the state `sending`, if its deadline has passed."""
        if (left := row.deadline - row.now) > 0:
            text = f"the charge {self._key!r} may be in flight for {left:.1f} s more: call again with the same key then"
            raise ChargeInProgressError(text, key=self._key, retry_after=left)
        yield Sql(table.LAPSE, self._at(row))

    def _pending(self, left: float) -> ChargePendingError:
        text = f"the service may still be working on the charge {self._key!r}: call again in {left:.1f} s"
        return ChargePendingError(text, key=self._key, retry_after=left)

    def _ambiguous(self, candidates: Sequence[Order], why: str) -> AmbiguousChargeError:
        named = ", ".join(str(order.id) for order in candidates[:5]) + (", …" if len(candidates) > 5 else "")
        text = f"orders that may be the one of the charge {self._key!r}: {named}; {why}: resolve(key, order_id=…)"
        return AmbiguousChargeError(text, key=self._key, candidates=candidates)

    def _first_attempt(self) -> Steps:
        baseline, held = yield from self._before_certain()
        begun = _clock.now()
        new = {**self._this, **self._wanted, "baseline": baseline.dump(), "timeout": self._timeout}
        if not (yield Sql(table.INTEND, new | _intent(held))):
            yield from self._refuse_if_blocked()
            return None
        if held:
            raise (yield from self._held(held))
        return (yield from self._send(1, begun, certain=True))

    def _before_certain(self) -> Steps:
        """What to read before an attempt without an uncertain one before it: the baseline, and the ids of `held`."""
        baseline, page = yield from self._read_baseline()
        return baseline, [] if self._horizon is None else (yield from self._within_horizon(page, self._horizon))

    def _held(self, ids: Sequence[str]) -> Steps:
        page = yield Call(self._page(1))
        why = "they were made before the key was used, and no key owns them, so an earlier attempt may be lost"
        return self._ambiguous([order for order in page.items if str(order.id) in ids], why)

    def _attempt_again(self, row: Row, baseline: Baseline, held: Sequence[str] = ()) -> Steps:
        begun = _clock.now()
        more = {"baseline": baseline.dump(), "timeout": self._timeout, **_intent(held)}
        place = {name: self._wanted[name] for name in ("subscription", "product_id")}
        if not (yield Sql(table.INTEND_AGAIN, self._at(row) | more | place)):
            yield from self._refuse_if_blocked()
            return None
        if held:
            raise (yield from self._held(held))
        return (yield from self._send(row.columns["attempt"] + 1, begun, certain=not row.is_unsure))

    def _refuse_if_blocked(self) -> Steps:
        names = ("subscription", "product_id")
        rows = yield Sql(table.BLOCKED_BY, self._this | {name: self._wanted[name] for name in names})
        if rows:
            other = Row(rows[0])
            text = (
                f"the key {other.key!r} has an open charge of the same subscription and product, so two orders could"
                f" not be told apart: finish it first, then call with {self._key!r} again"
            )
            after = max(other.left(self._settle), SOON)
            raise ChargeInProgressError(text, key=self._key, other=other.key, retry_after=after)

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
                text = f"{self._key!r} was not sent: its time was over; call again"
                raise JournalError(text, key=self._key, retry_after=0.0, outcome_unknown=False)
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
            result = {"to": state_after(error, certain), "order_id": None, "answer": dump_error(error)}
        unsure = result["to"] in ("unknown", "unread")
        info = caught if order is None else order.response_info
        late = getattr(info, "sent_late", False) or _clock.now() > begun + self._timeout + _GRACE
        try:
            if order is not None:
                yield from self._check_sum(order)
            changed = yield Sql(table.UNCERTAIN if unsure else table.CERTAIN, where | result)
            if late and (unsure or (order is not None and not changed)):
                yield Sql(table.LATE, self._this)
        except JournalError as error:
            left = max(begun + self._timeout - _clock.now(), SOON)
            self._unsure = order is None and (unsure or not certain)
            if order is None:
                error.retry_after = left
                raise error from caught
            text = (
                f"the charge {self._key!r} was made, its order is {order.id}, but it could not be recorded ({error}):"
                " call again with the same key, which finds the order"
            )
            raise JournalError(text, key=self._key, order=order, retry_after=left) from error
        if order is not None:
            if not changed:
                yield Sql(table.UNCERTAIN, where | {"to": "unread"})  # another key has the order: do not charge again
                yield from self._refuse_other(order)
            # If another attempt of the key has found that it was sent late, there may be two charges.
            return order if not changed or changed[0][0] is None else None
        assert caught is not None
        if isinstance(caught, PaymentError) and not certain:
            return None  # look up first: an earlier attempt may have charged
        if not unsure and not changed and isinstance(caught, BillcoreError):
            return None  # another process has gone on with the key
        if unsure and isinstance(caught, BillcoreError):
            raise self._unknown(begun, late, changed) from caught
        raise caught

    def _unknown(self, begun: float, late: bool, changed: int) -> JournalError:
        """The error of an attempt whose outcome is unknown."""
        left = (self._settle or 0.0) + (0.0 if late else begun + self._timeout - _clock.now())
        if self._settle is None and (late or left <= 0):
            text = (
                f"whether the charge {self._key!r} was made is unknown: call again with the same key, to look for its"
                " order, or find out at the service and call resolve(key, order_id=…)"
            )
            return UnresolvedChargeError(text, key=self._key)
        meanwhile = "" if changed else ", and another process has gone on with the key"
        left = max(left, 0.0)
        text = f"whether the charge {self._key!r} was made is not known yet{meanwhile}: call again in {left:.1f} s"
        return ChargePendingError(text, key=self._key, retry_after=left)

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

    def _check_late(self, row: Row) -> Steps:
        """Looks for a second charge of a key whose outcome is known, after an attempt was sent late."""
        if self._settle is None:
            own = row.columns["order_id"]
            text = (
                f"an attempt of {self._key!r} was sent after its deadline, so it may have charged twice: find out at"
                f" the service, then call resolve(key, order_id={own!r})"
            )
            raise UnresolvedChargeError(text, key=self._key)
        if (left := row.left(self._settle)) > 0:
            raise self._pending(left)
        second = []
        for order in (yield from self._new(row)):
            if str(order.id) != row.columns["order_id"] and (yield from self._equals(order)):
                second.append(order)
        if second:
            if row.state == "declined":
                raise self._ambiguous(second, "the service declined an attempt, but another one was sent late")
            why = "an attempt was sent late, so these may be two charges: refund one if both are real, then confirm"
            raise self._ambiguous([load_order(row.columns["answer"]), *second], why)
        yield Sql(table.NOT_LATE, self._at(row) | {"late": row.late})

    def _resume(self, row: Row) -> Steps:
        """Look the charge up; send it again if not made. Returns the order; None if the row must be read again."""
        yield from self._require_rule()
        found = yield from self._new(row)
        left = row.left(self._settle)
        if left <= 0:
            if row.columns["candidates"] is None:
                ids = json.dumps([str(order.id) for order in found])
                if not (yield Sql(table.FREEZE, self._at(row) | {"candidates": ids})):
                    return None
            else:
                found = [order for order in found if str(order.id) in row.ids("candidates")]
        fits = len(found) == 1 and (yield from self._equals(found[0]))
        if fits and (left <= 0 or row.late is None):  # after a late attempt, there may be a second order
            return found[0] if (yield from self._adopt(row, found[0])) else None
        if left > 0:
            raise self._pending(left)
        if found:
            why = "more than one, or not of the charge's sum and state"
            raise self._ambiguous(
                found, why if len(found) > 1 else "it is not of the charge's sum, or not of its state"
            )
        if row.state == "unread" or self._settle is None:
            reason = "was made, but its answer could not be read" if row.state == "unread" else "may have been made"
            text = (
                f"the charge {self._key!r} {reason}, and no order fits it: find out at the service, then call"
                " resolve(key, order_id=…), with None if nothing was charged"
            )
            raise UnresolvedChargeError(text, key=self._key)
        if row.columns["answer"] is not None:  # refused (402), and no attempt made an order
            yield Sql(table.DECLINE, self._at(row))
            return None
        return (yield from self._attempt_again(row, row.baseline))

    def _adopt(self, row: Row, order: Order) -> Steps:
        more = {"order_id": str(order.id), "answer": dump_order(order)}
        return (yield Sql(table.ADOPT, self._at(row) | more))


def _intent(held: Sequence[str]) -> dict[str, str | None]:
    return {"to": "held" if held else "sending", "candidates": json.dumps([*held]) if held else None}
