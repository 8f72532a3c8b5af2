"""Journal and AsyncJournal; import them from billcore.journal."""

from __future__ import annotations

import asyncio
import inspect
import math
import operator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast
from urllib.parse import urlsplit

from .. import _client
from .._durations import seconds
from .._errors import InvalidArgumentError
from .._webhook import Order
from . import _table as table
from ._charge import ARGUMENTS, REQUIRED, Charge
from ._machine import Machine
from ._steps import Row, Settings, Sql, StepsTo, T
from ._store import Store
from ._table import schema as schema

if TYPE_CHECKING:
    from .._client import AsyncClient, Client

_C = TypeVar("_C", "Client", "AsyncClient")
_MAX_KEY = 1000


class _Base(Generic[_C]):
    def __init__(
        self,
        engine_or_connect: Any,
        client: _C,
        *,
        settle: float | None = None,
        timeout: float = 30.0,
        create: bool = False,
        horizon: float | None = None,
    ) -> None:
        asynchronous = isinstance(self, AsyncJournal)
        if isinstance(client, _client.Client if asynchronous else _client.AsyncClient):
            kinds = ("an AsyncJournal", "AsyncClient") if asynchronous else ("a Journal", "Client")
            raise TypeError(f"{kinds[0]} takes a billcore.{kinds[1]}, not a {type(client).__name__}")
        self._client: Any = client
        # The account is a UUID. Lower case, so that the journal finds its keys even if base_url changes the case.
        self._account = urlsplit(client.base_url).path.rstrip("/").rpartition("/")[2].lower()
        self._settings = Settings(
            self._account,
            None if settle is None else seconds(settle, "settle", zero=True),
            seconds(timeout, "timeout"),
            None if horizon is None else seconds(horizon, "horizon", longest=math.inf),
        )
        self._store = Store(engine_or_connect, asynchronous, create)

    def _machine(self, key: str, wanted: dict[str, Any]) -> Machine:
        if not isinstance(key, str) or not key.isprintable() or not 0 < len(key.encode()) <= _MAX_KEY:
            raise InvalidArgumentError(f"key must be printable text of 1 to {_MAX_KEY} bytes in UTF-8")
        return Machine(self._settings, key, wanted)

    def _charge(self, given: dict[str, Any]) -> StepsTo[Order]:
        """`given`: locals() of charge() at its beginning, which are its arguments."""
        wanted = {name: _integer(given[name], name) if kind is int else given[name] for name, kind in ARGUMENTS.items()}
        for name in REQUIRED:
            if wanted[name] is None:
                raise InvalidArgumentError(f"{name} is missing")
        subscription = given["subscription"]
        if not isinstance(subscription, str | int) or isinstance(subscription, bool):
            raise InvalidArgumentError("subscription must be the subscription's id, as text or as an int")
        wanted = {"subscription": str(subscription), **wanted}
        for name, text in wanted.items():
            is_text = ARGUMENTS.get(name, str) is str and text is not None
            if is_text and (not isinstance(text, str) or any("\ud800" <= each <= "\udfff" for each in text)):
                raise InvalidArgumentError(f"{name} must be text without lone surrogates")
        return self._machine(given["key"], wanted).charge()

    def _get(self, key: str) -> StepsTo[Charge | None]:
        rows = yield Sql(table.READ, {"account": self._account, "key": self._machine(key, {})._key})
        return Row(rows[0]).public() if rows else None

    def _accept(self, field: str, per: str) -> StepsTo[None]:
        if field not in ("total", "total_with_vat") or per not in ("amount", "amount_times_quantity"):
            raise InvalidArgumentError(
                "field is 'total' or 'total_with_vat', and per is 'amount' or 'amount_times_quantity'"
            )
        rule, mismatch = ({"account": self._account, "name": name} for name in ("total_rule", "sum_mismatch"))
        yield Sql(table.FORGET, rule)
        yield Sql(table.NOTE, rule | {"value": f"{field} {per}"})
        yield Sql(table.FORGET, mismatch)

    def _open(self) -> StepsTo[list[Charge]]:
        rows = yield Sql(table.READ_OPEN, {"account": self._account})
        return [Row(each).public() for each in rows]

    def _purge(self, before: datetime) -> StepsTo[int]:
        if not isinstance(before, datetime) or before.utcoffset() is None:
            raise InvalidArgumentError("before must be aware, such as datetime.now(UTC) - timedelta(days=90)")
        if (horizon := self._settings.horizon) is not None:
            now = (yield Sql(table.NOW, {}))[0][0]
            if before.timestamp() > now - horizon:
                raise InvalidArgumentError(f"before must be at least {horizon:.0f} s ago, the journal's horizon")
        return int((yield Sql(table.PURGE, {"account": self._account, "before": before.timestamp()}, many=True)))


def _integer(value: Any, name: str) -> int | None:
    if value is None:
        return None
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise InvalidArgumentError(f"{name} must be an int, not {type(value).__name__}") from None
    if not -(2**63) <= number < 2**63:
        raise InvalidArgumentError(f"{name} is too large")
    return number


class Journal(_Base["Client"]):
    """Records each charge before it is sent, so that its outcome can be found out after a crash.

    The journal makes at most one charge for each key, provided that the service, if it received a charge, lists the
    charge's order at most `settle` seconds after the charge's deadline. After a charge of unknown outcome, the journal
    takes an equal purchase of the same product by somebody else for its own charge. While it is unknown whether a key
    was charged, the journal refuses other keys for the same subscription and product. After any error, call charge()
    again with the same key. See python/docs/journal.md.

    Threads: any number may share a journal. After a fork, the child process can also use the journal; if the journal
    has an engine, the child must first call the engine's dispose(close=False).

    Args:
        engine_or_connect: An SQLAlchemy Engine, or a function that returns a new connection of sqlite3 or psycopg. The
            journal gets a new connection from the function for each statement; an engine keeps its connections open,
            and so is faster with PostgreSQL.
        client: A billcore.Client. A key is valid only for the account of this client's base URL.
        settle: Number of seconds after a charge's deadline within which the service lists the charge's order, if the
            service received the charge. If None, the journal never sends a charge again that may have been made: see
            resolve().
        timeout: Seconds that an attempt may take.
        create: Make the journal's tables if the database has none, and log a warning. Leave it out in a service: in a
            database that lost its tables, each key would be charged again. See schema().
        horizon: For a database that may lose its latest commits (failover, a restored backup): if an order that equals
            the charge of a new key was made within this number of seconds, and no key owns the order, charge() sends
            nothing and raises AmbiguousChargeError. More seconds than such an outage takes. None: no check.

    Service interface: Endpoints, Subscriptions.
    """

    def charge(
        self,
        key: str,
        subscription: str | int,
        *,
        product_id: int,
        amount: int,
        quantity: int | None = None,
        vat: int | None = None,
        description: str | None = None,
    ) -> Order:
        """Charge once for this key: send the charge, or find out whether it was made; returns the order.

        Args:
            key: Your name for this charge, such as the id of an invoice: printable text, 1 to 1000 bytes in UTF-8. Keys
                that differ in case or white space, or in their Unicode form, are different keys.
            subscription: The subscription's id.
            product_id: Id of a one-time product of the account.
            amount: The amount in cents, without VAT.
            quantity: Number of pieces; the total is amount times quantity.
            vat: VAT in basis points (2500 = 25 %). If not given, the service uses 2500.
            description: Description of the order.

        Returns:
            The charge's order. The order may be in any state, so read `state`.

        Raises:
            PaymentError: The service refused the charge (402). The refusal is final: to try again, use a new key.
            ChargeInProgressError: The charge may be in flight, or another key has an open charge.
            ChargePendingError: It is not known yet whether the charge was made: call again after `retry_after` seconds.
            UnresolvedChargeError: A person must find out whether the charge was made: see resolve().
            AmbiguousChargeError: Orders that nobody owns may belong to the charge: see resolve().
            KeyReusedError: The key belongs to a charge with other arguments.
            JournalError: The database failed. If the error's `order` is set, the charge was made.
            BillcoreError: Any other error of Client.subscriptions.charge() that says that nothing was charged.

        Service interface: Endpoints, Subscriptions.
        """
        return self._run(self._charge(locals()))

    def resolve(self, key: str, order_id: str | int | None, *, force: bool = False) -> Order | None:
        """Record what a person found out about a charge; returns the order.

        Args:
            key: The charge's key.
            order_id: Id of the charge's order, which must be in the list of the subscription and product. None: nothing
                was charged, so the next charge() sends the charge again. None is refused while the charge may still be
                made, and when there are new orders that nobody owns: the error shows them; call again if none of
                them is the charge's.
            force: Take the order although its sum or its state does not fit the charge.

        Raises:
            ChargePendingError: It is too early to say that nothing was charged: call again after `retry_after` seconds.
            AmbiguousChargeError: Look at the `candidates` first.
            JournalError: There is nothing to resolve, or the order cannot be the charge's.
            BillcoreError: The orders could not be read.
        """
        return self._run(self._machine(key, {}).resolve(order_id, force))

    def accept_total_rule(
        self, *, field: Literal["total", "total_with_vat"], per: Literal["amount", "amount_times_quantity"]
    ) -> None:
        """Say how the service computes an order's total, after an answer that did not fit; stored for the account.

        A look-up takes an order for the charge's only if `field` is equal to `per`. Without this call the rule is that
        `total` is the amount times the quantity. An answer that contradicts the rule stops all look-ups.

        Args:
            field: The order's field that has the sum.
            per: The sum: the charge's amount, or its amount times its quantity.
        """
        self._run(self._accept(field, per))

    def get(self, key: str) -> Charge | None:
        """What the journal knows about a key; None if the key was never used. Reads only the database."""
        return self._run(self._get(key))

    def open(self) -> list[Charge]:
        """The charges that may have been made, but whose order the journal does not know, and the late ones."""
        return self._run(self._open())

    def purge(self, before: datetime) -> int:
        """Delete the keys that were first used before this time (aware) and are settled; returns their number.

        charge() with a deleted key charges again. Keys with an open charge are kept, and so are keys that were settled
        after an open charge began. A time within the journal's horizon is refused.
        """
        return self._run(self._purge(before))

    def _run(self, steps: StepsTo[T]) -> T:
        result: Any = None
        error: BaseException | None = None
        while True:
            try:
                step = steps.send(result) if error is None else steps.throw(error)
            except StopIteration as end:
                return cast(T, end.value)
            result = error = None
            try:
                result = self._store.run(step) if isinstance(step, Sql) else step.function(self._client)
            except BaseException as raised:
                error = raised


class AsyncJournal(_Base["AsyncClient"]):
    """Journal for asyncio: the same methods, awaited. See Journal.

    Args:
        engine_or_connect: An SQLAlchemy AsyncEngine, or an argument that Journal accepts; without an AsyncEngine,
            statements run in threads.
        client: A billcore.AsyncClient.
        settle: See Journal.
        timeout: See Journal.
        create: See Journal.
        horizon: See Journal.
    """

    async def charge(
        self,
        key: str,
        subscription: str | int,
        *,
        product_id: int,
        amount: int,
        quantity: int | None = None,
        vat: int | None = None,
        description: str | None = None,
    ) -> Order:
        """Journal.charge(), awaited. A cancelled call may have charged: call again with the same key.

        The __cause__ of the CancelledError is the error of the journal, if there is one; that error's `order` is the
        order, if the charge was made but could not be recorded.
        """
        return await self._run(self._charge(locals()))

    async def resolve(self, key: str, order_id: str | int | None, *, force: bool = False) -> Order | None:
        """Journal.resolve(), awaited."""
        return await self._run(self._machine(key, {}).resolve(order_id, force))

    async def accept_total_rule(
        self, *, field: Literal["total", "total_with_vat"], per: Literal["amount", "amount_times_quantity"]
    ) -> None:
        """Journal.accept_total_rule(), awaited."""
        await self._run(self._accept(field, per))

    async def get(self, key: str) -> Charge | None:
        """Journal.get(), awaited."""
        return await self._run(self._get(key))

    async def open(self) -> list[Charge]:
        """Journal.open(), awaited."""
        return await self._run(self._open())

    async def purge(self, before: datetime) -> int:
        """Journal.purge(), awaited."""
        return await self._run(self._purge(before))

    async def _run(self, steps: StepsTo[T]) -> T:
        result: Any = None
        error: BaseException | None = None
        cancelled: asyncio.CancelledError | None = None  # a cancellation that the caller must get in the end
        told = False  # whether the steps know of it
        while True:
            try:
                step = steps.send(result) if error is None else steps.throw(error)
            except StopIteration as end:
                if cancelled is not None:
                    raise cancelled from None
                return cast(T, end.value)
            except BaseException as raised:
                if cancelled is None or raised is cancelled:
                    raise
                raise cancelled from raised
            result = error = None
            try:
                if isinstance(step, Sql):
                    # Cancelling cannot stop a statement's thread: wait for the statement, then raise CancelledError.
                    task = asyncio.ensure_future(self._store.run_async(step))
                    while not task.done():
                        try:
                            await asyncio.wait([task])
                        except asyncio.CancelledError as raised:
                            cancelled = cancelled or raised
                    result = task.result()
                elif cancelled is not None and not told:
                    cancelled.nothing_sent = told = True  # type: ignore[attr-defined]
                    error = cancelled
                else:
                    result = step.function(self._client)
                    if inspect.isawaitable(result):
                        result = await result
            except asyncio.CancelledError as raised:
                cancelled, told, error = cancelled or raised, True, raised
            except BaseException as raised:
                error = raised


for _value in (AsyncJournal, Charge, Journal, schema):
    _value.__module__ = "billcore.journal"
del _value
