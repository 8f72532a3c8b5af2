"""billcore.progress(), which draws a progress bar while a list is read. Imported on the first use of progress()."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from rich.console import Console
    from rich.progress import Progress

    from ._client import AsyncPager, Pager

    _T = TypeVar("_T")


@overload
def progress(pager: Pager[_T], description: str = ..., *, console: Console | None = ...) -> Iterator[_T]: ...
@overload
def progress(pager: AsyncPager[_T], description: str = ..., *, console: Console | None = ...) -> AsyncIterator[_T]: ...
def progress(
    pager: Pager[_T] | AsyncPager[_T], description: str = "Reading", *, console: Console | None = None
) -> Iterator[_T] | AsyncIterator[_T]:
    """Iterate over a list and draw a progress bar. Needs the package rich.

    Args:
        pager: A Pager, or an AsyncPager (then use `async for`).
        description: Text before the bar.
        console: The rich Console to draw on. Default: rich's own console.

    Service interface: Resources and their fields, Pagination.
    """
    try:
        from rich.progress import Progress
    except ImportError:
        raise ImportError("billcore.progress() draws with the package rich: pip install rich") from None

    from ._client import AsyncPager

    bar = Progress(console=console)
    if isinstance(pager, AsyncPager):
        return _awaited(pager, bar, description)
    return _blocking(pager, bar, description)


def _blocking(pager: Pager[_T], bar: Progress, description: str) -> Iterator[_T]:
    with bar:
        task = bar.add_task(description, total=None)
        for item in pager:
            yield item
            bar.update(task, advance=1, total=pager.total)


async def _awaited(pager: AsyncPager[_T], bar: Progress, description: str) -> AsyncIterator[_T]:
    with bar:
        task = bar.add_task(description, total=None)
        async for item in pager:
            yield item
            bar.update(task, advance=1, total=pager.total)
