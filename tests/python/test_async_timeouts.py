"""The causes of asyncio's TimeoutError include an error with the note that a write may have happened."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from support.waiting import GENEROUS

from .async_support import Run, asked, each_loop, serving, silent
from .test_attempts import MAYBE, Call, charge


@asynccontextmanager
async def limited() -> AsyncIterator[None]:
    async with asyncio.timeout(0.2):
        yield


async def awaited(call: Call) -> None:
    async with limited():
        await call()


async def in_a_task(call: Call) -> None:
    async with limited():
        await asyncio.ensure_future(call())


async def in_a_group(call: Call) -> None:
    async with limited(), asyncio.TaskGroup() as group:
        group.create_task(call())  # type: ignore[arg-type]


async def gathered_together(call: Call) -> None:
    async with limited():
        await asyncio.gather(call(), call(), return_exceptions=True)


async def waited_for(call: Call) -> None:
    await asyncio.wait_for(call(), 0.2)


async def waited_for_within(call: Call) -> None:
    async with limited():
        await asyncio.wait_for(call(), GENEROUS)


async def waited_for_twice(call: Call) -> None:
    await asyncio.wait_for(asyncio.wait_for(call(), GENEROUS), 0.2)


async def with_cleanup(call: Call) -> None:
    async with limited():
        try:
            await call()
        finally:
            await asyncio.sleep(0)


def notes_in(error: BaseException | None) -> list[str]:
    """Returns the notes of an error, of its causes and of its contexts."""
    notes: list[str] = []
    while error is not None:
        notes += getattr(error, "__notes__", [])
        error = error.__cause__ or error.__context__
    return notes


@each_loop
@pytest.mark.parametrize(
    "way",
    [
        awaited,
        in_a_task,
        in_a_group,
        gathered_together,
        waited_for,
        waited_for_within,
        waited_for_twice,
        with_cleanup,
    ],
    ids=lambda way: way.__name__,
)
def test_a_timeout_leads_to_the_note(run: Run, way: Any) -> None:
    with serving(silent) as (_, client):

        async def main() -> list[str]:
            with pytest.raises(TimeoutError) as caught:
                await way(lambda: charge(client))
            await client.close()
            return notes_in(caught.value)

        assert f"POST /subscription/s/order: {MAYBE}" in run(main())


@each_loop
def test_a_cancellation_that_is_not_passed_on_gets_no_note(run: Run) -> None:
    with serving(silent) as (server, client):

        async def main() -> BaseException:
            task = asyncio.ensure_future(charge(client))
            await asked(server)
            try:
                raise ValueError("another matter")
            except ValueError as error:
                task.cancel()
                await asyncio.wait([task])
                return error
            finally:
                await client.close()

        assert not hasattr(run(main()), "__notes__")
