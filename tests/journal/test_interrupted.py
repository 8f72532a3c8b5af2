"""Charges that are interrupted: their task is cancelled, or their process gets Ctrl-C."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from billcore.journal import AsyncJournal, JournalError, _table
from support.waiting import until, until_awaited

from .support import CHARGE, Database, Scene, on_sqlite, opened

Source = Callable[[Database], Any]


async def stopped_at(journal: AsyncJournal, statement: str, scene: Scene, cancels: int) -> None:
    """Cancels a charge `cancels` times while it runs this statement."""
    reached, go = asyncio.Event(), asyncio.Event()
    run = journal._store.run_async

    async def run_slowly(sql: Any) -> Any:
        if sql.text == statement:
            reached.set()
            await go.wait()
        return await run(sql)

    journal._store.run_async = run_slowly  # type: ignore[assignment,method-assign]
    task = asyncio.create_task(journal.charge("k", scene.subscription, product_id=scene.product, amount=1500))
    await reached.wait()
    for _ in range(cancels):
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    journal._store.run_async = run  # type: ignore[method-assign]


def by_function(database: Database) -> Any:
    return database.connect


def asyncpg(database: Database) -> Any:
    return create_async_engine(database.url(asynchronous=True))


CANCELLED = {
    "first read": (_table.READ, "none", 0),
    "before the send": (_table.INTEND, "not_sent", 0),
    "after the answer": (_table.CERTAIN, "charged", 1),
}
each_form = pytest.mark.parametrize(
    ("database", "source"), [("sqlite", by_function), ("postgresql", asyncpg)], indirect=["database"]
)


@each_form
@pytest.mark.parametrize("cancels", [1, 5])
@pytest.mark.parametrize("where", CANCELLED)
def test_a_task_is_cancelled_during_a_statement(scene: Scene, source: Source, where: str, cancels: int) -> None:
    """A cancelled charge completes its running statement, then ends. Libraries such as anyio cancel repeatedly."""
    statement, state, sent = CANCELLED[where]

    async def main() -> None:
        async with opened(scene, source(scene.database)) as journal:
            await stopped_at(journal, statement, scene, cancels)
            assert scene.database.state("k") == state and scene.sent() == sent
            await journal.charge("k", scene.subscription, product_id=scene.product, amount=1500)

    asyncio.run(main())
    assert len(scene.charges()) == 1


@each_form
def test_a_task_is_cancelled_during_the_request(scene: Scene, source: Source) -> None:
    async def main() -> None:
        async with opened(scene, source(scene.database)) as journal:
            scene.control.fault("delay", method="POST", path=CHARGE, delay=60)
            task = asyncio.create_task(journal.charge("k", scene.subscription, product_id=scene.product, amount=1500))
            await until_awaited(scene.sent)
            task.cancel()
            with pytest.raises(asyncio.CancelledError) as raised:
                await task
            assert "it may or may not have happened" in raised.value.__notes__[0]
            assert scene.database.state("k") == "unknown"
            await journal.charge("k", scene.subscription, product_id=scene.product, amount=1500)

    asyncio.run(main())
    assert len(scene.charges()) == 1 and scene.sent() == 1


@on_sqlite
def test_ctrl_c_during_the_request(scene: Scene) -> None:
    scene.control.fault("delay", method="POST", path=CHARGE, delay=60)

    def interrupt() -> None:
        until(scene.sent)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            scene.charge(scene.journal())
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    assert scene.database.state("k") == "unknown"
    scene.charge(scene.journal())
    assert len(scene.charges()) == 1 and scene.sent() == 1


@on_sqlite
def test_a_cancellation_at_any_moment_is_never_swallowed(scene: Scene) -> None:
    """Cancels a charge after each number of short sleeps; each key is charged once in the end."""

    async def main() -> None:
        async with opened(scene, scene.database.connect) as journal:
            for turns in itertools.count():
                given: dict[str, Any] = {"product_id": scene.product, "amount": 1500}
                task = asyncio.create_task(journal.charge(f"k{turns}", scene.subscription, **given))
                for _ in range(turns):
                    await asyncio.sleep(0.0005)
                if task.done():
                    await task
                    return  # how many moments there were depends on the load of the machine
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                while True:
                    try:
                        await journal.charge(f"k{turns}", scene.subscription, **given)
                        break
                    except JournalError as error:
                        assert error.retry_after is not None
                        scene.database.age(error.retry_after + 1)
                assert len(scene.charges()) == turns + 1

    asyncio.run(main())


@on_sqlite
def test_a_cancellation_while_the_order_cannot_be_recorded(scene: Scene) -> None:
    """The caller gets the CancelledError, and the order in the error that it is chained to."""

    async def main() -> None:
        async with opened(scene, scene.database.connect) as journal:
            run = journal._store.run_async

            async def fails(sql: Any) -> Any:
                if sql.text != _table.CERTAIN:
                    return await run(sql)
                asyncio.get_running_loop().call_soon(task.cancel)
                await asyncio.sleep(0.01)
                raise JournalError("the database is down")

            journal._store.run_async = fails  # type: ignore[assignment,method-assign]
            task = asyncio.create_task(journal.charge("k", scene.subscription, product_id=scene.product, amount=1500))
            with pytest.raises(asyncio.CancelledError) as raised:
                await task
            cause = raised.value.__cause__
            assert isinstance(cause, JournalError) and cause.order is not None
            assert str(cause.order.id) == scene.charges()[0]["order_id"]

    asyncio.run(main())
