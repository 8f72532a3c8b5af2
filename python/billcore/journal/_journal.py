"""Journal and AsyncJournal; import them from billcore.journal."""

from __future__ import annotations

import asyncio
import inspect
import operator
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from .._durations import seconds
from .._errors import InvalidArgumentError
from .._webhook import Order
from . import _table as table
from ._machine import Call, Charge, Machine, Row, Sql, Steps
from ._store import Store

if TYPE_CHECKING:
    from .._client import AsyncClient, Client

_MAX_KEY = 1000


class _Base:
    def __init__(
        self, engine_or_connect: Any, client: Any, *, settle: float | None, timeout: float, skew: float
    ) -> None:
        self._client = client
        # The account is a UUID. Lower case, so that the journal finds its keys even if base_url changes the case.
        self._account = urlsplit(client.base_url).path.rstrip("/").rpartition("/")[2].lower()
        self._settle = None if settle is None else seconds(settle, "settle", zero=True)
        self._timeout = seconds(timeout, "timeout")
        self._skew = seconds(skew, "skew", zero=True)
        self._store = Store(engine_or_connect, isinstance(self, AsyncJournal))

    def _call(self, step: Call) -> Any:
        return step.function(self._client)

    def _machine(self, key: str, wanted: dict[str, Any]) -> Machine:
        if not isinstance(key, str) or not key.isprintable() or not 0 < len(key.encode()) <= _MAX_KEY:
            raise InvalidArgumentError(f"key must be printable text of 1 to {_MAX_KEY} bytes in UTF-8")
        return Machine(self._account, self._settle, self._timeout, self._skew, key, wanted)

    def _charge(self, key: str, subscription: str | int, **wanted: Any) -> Steps:
        for name in ("product_id", "amount", "quantity", "vat"):
            wanted[name] = _integer(wanted[name], name)
        for name in ("product_id", "amount"):
            if wanted[name] is None:
                raise InvalidArgumentError(f"{name} is missing")
        if not isinstance(subscription, str | int) or isinstance(subscription, bool):
            raise InvalidArgumentError("subscription must be the subscription's id, as text or as an int")
        if wanted["description"] is not None and not isinstance(wanted["description"], str):
            raise InvalidArgumentError("description must be text")
        return self._machine(key, {"subscription": str(subscription), **wanted}).charge()

    def _resolve(self, key: str, order_id: str | int | None) -> Steps:
        order = None
        if order_id is not None:
            order = yield Call(lambda client: client.orders.get(order_id))
        return (yield from self._machine(key, {}).resolve(order))

    def _open(self) -> Steps:
        rows = yield Sql(table.READ_OPEN, {"account": self._account})
        return [Row(each).public() for each in rows]

    def _purge(self, before: datetime) -> Steps:
        if before.utcoffset() is None:
            raise InvalidArgumentError("before must be aware, such as datetime.now(UTC) - timedelta(days=90)")
        return (yield Sql(table.PURGE, {"account": self._account, "before": before.timestamp()}))


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


class Journal(_Base):
    """Records each charge before it is sent, so that its outcome can be found out after a crash.

    The journal makes at most one charge for each key, provided that the service, if it received a charge, lists the
    charge's order at most `settle` seconds after the charge's deadline. If other code makes an equal charge of the same
    product at about the same time, the journal may take the order of that charge for the order of its own charge. While
    it is unknown whether a key's charge was made, the journal refuses other keys for the same subscription and product.
    After any error, call charge() again with the same key. See python/journal.md.

    Threads: any number may share a journal. After a fork, the child process can also use the journal; if the journal
    has an engine, the child must first call the engine's dispose(close=False).

    Args:
        engine_or_connect: An SQLAlchemy Engine, or a function that returns a new connection of sqlite3 or psycopg. The
            journal makes its tables in this database. The journal gets a new connection from the function for each
            statement; an engine keeps its connections open, and so is faster with PostgreSQL.
        client: A billcore.Client. A key is valid only for the account of this client's base URL.
        settle: Number of seconds after a charge's deadline within which the service lists the charge's order, if the
            service received the charge. If None, the journal never sends a charge again that may have been made: see
            resolve().
        timeout: Seconds that an attempt may take.
        skew: Seconds by which the clocks of this host and the service may differ.

    Service interface: Endpoints, Subscriptions.
    """

    def __init__(
        self,
        engine_or_connect: Any,
        client: Client,
        *,
        settle: float | None = None,
        timeout: float = 30.0,
        skew: float = 300.0,
    ) -> None:
        super().__init__(engine_or_connect, client, settle=settle, timeout=timeout, skew=skew)

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
            key: Your name for this charge, such as the id of an invoice: printable text, 1 to 1000 bytes in UTF-8.
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
            AmbiguousChargeError: More than one order may belong to the charge: see resolve().
            KeyReusedError: The key belongs to a charge with other arguments.
            JournalError: The database failed. If the error's `order` is set, the charge was made.
            BillcoreError: Any other error of Client.subscriptions.charge().

        Service interface: Endpoints, Subscriptions.
        """
        order: Order = self._run(
            self._charge(
                key,
                subscription,
                product_id=product_id,
                amount=amount,
                quantity=quantity,
                vat=vat,
                description=description,
            )
        )
        return order

    def resolve(self, key: str, *, order_id: str | int | None) -> Order | None:
        """Record what a person found out about a charge. While the charge may be in flight, resolve() raises an error.

        Args:
            key: The charge's key.
            order_id: Id of the charge's order. None: nothing was charged, so the next charge() sends the charge again.
        """
        order: Order | None = self._run(self._resolve(key, order_id))
        return order

    def open(self) -> list[Charge]:
        """The charges that may have been made, but whose order the journal does not know."""
        found: list[Charge] = self._run(self._open())
        return found

    def purge(self, before: datetime) -> int:
        """Delete the keys that were settled before this time (aware); returns their number.

        charge() with a deleted key charges again. Keys with an open charge are kept, and so are keys that were settled
        after an open charge began.
        """
        return int(self._run(self._purge(before)))

    def _run(self, steps: Steps) -> Any:
        result: Any = None
        error: BaseException | None = None
        while True:
            try:
                step = steps.send(result) if error is None else steps.throw(error)
            except StopIteration as end:
                return end.value
            result = error = None
            try:
                result = self._store.run(step) if isinstance(step, Sql) else self._call(step)
            except BaseException as raised:
                error = raised


class AsyncJournal(_Base):
    """Journal for asyncio: the same methods, awaited. See Journal.

    Args:
        engine_or_connect: An SQLAlchemy AsyncEngine, or an argument that Journal accepts; without an AsyncEngine,
            statements run in threads.
        client: A billcore.AsyncClient.
        settle: See Journal.
        timeout: See Journal.
        skew: See Journal.
    """

    def __init__(
        self,
        engine_or_connect: Any,
        client: AsyncClient,
        *,
        settle: float | None = None,
        timeout: float = 30.0,
        skew: float = 300.0,
    ) -> None:
        super().__init__(engine_or_connect, client, settle=settle, timeout=timeout, skew=skew)

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
        """Journal.charge(), awaited. A cancelled call may have charged: call again with the same key."""
        order: Order = await self._run(
            self._charge(
                key,
                subscription,
                product_id=product_id,
                amount=amount,
                quantity=quantity,
                vat=vat,
                description=description,
            )
        )
        return order

    async def resolve(self, key: str, *, order_id: str | int | None) -> Order | None:
        """Journal.resolve(), awaited."""
        order: Order | None = await self._run(self._resolve(key, order_id))
        return order

    async def open(self) -> list[Charge]:
        """Journal.open(), awaited."""
        found: list[Charge] = await self._run(self._open())
        return found

    async def purge(self, before: datetime) -> int:
        """Journal.purge(), awaited."""
        return int(await self._run(self._purge(before)))

    async def _run(self, steps: Steps) -> Any:
        result: Any = None
        error: BaseException | None = None
        cancelled: asyncio.CancelledError | None = None
        while True:
            try:
                step = steps.send(result) if error is None else steps.throw(error)
            except StopIteration as end:
                if cancelled is not None:
                    raise cancelled from None
                return end.value
            result = error = None
            try:
                if isinstance(step, Sql):
                    # Cancelling cannot stop a statement's thread: wait for the statement, then raise CancelledError.
                    task = asyncio.ensure_future(self._store.run_async(step))
                    while not task.done():
                        try:
                            await asyncio.wait([task])
                        except asyncio.CancelledError as raised:
                            cancelled = raised
                    result = task.result()
                elif cancelled is not None:
                    cancelled.nothing_sent = True  # type: ignore[attr-defined]
                    error, cancelled = cancelled, None
                else:
                    result = self._call(step)
                    if inspect.isawaitable(result):
                        result = await result
            except BaseException as raised:
                error = raised


for _value in (AsyncJournal, Charge, Journal):
    _value.__module__ = "billcore.journal"
del _value
