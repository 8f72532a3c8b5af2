"""Lists for unit tests, as the client would return them; public as billcore.testing.page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, overload

from .._errors import InvalidArgumentError

if TYPE_CHECKING:
    from .._webhook import PageLinks

Item = TypeVar("Item")


class _Verdict:
    """The verdict of a list that was read to its end."""

    complete, reason = True, None

    def __str__(self) -> str:
        return "complete"


class _Page(Generic[Item]):
    def __init__(self, items: list[Item], total: int) -> None:
        self._left, self._fetched, self._at_end = items, 0, False
        self.total, self.count, self.per_page = total, len(items), max(len(items), 1)
        self.current_page, self.total_pages = 1, -(-total // self.per_page)

    @property
    def items(self) -> list[Item]:
        """A new list with the items that iterating has not yet yielded."""
        return list(self._left)

    @property
    def links(self) -> PageLinks:
        """Links without a next or previous page."""
        from .._webhook import _restore

        made: PageLinks = _restore("PageLinks", '{"next":null,"previous":null}', "")
        return made

    @property
    def fetched_pages(self) -> int:
        """1 if the program has read from the list, otherwise 0."""
        return self._fetched

    @property
    def verdict(self) -> _Verdict | None:
        """None until the last item was read, then a verdict that is true."""
        return _Verdict() if self._at_end else None

    def _first(self) -> Item | None:
        self._fetched = 1
        return self._left[0] if self._left else None

    def _collect(self, limit: int | None) -> list[Item]:
        self._fetched = 1
        out = self._left[:limit]
        del self._left[:limit]
        self._at_end = not self._left
        return out


class SamplePage(_Page[Item]):
    """A list of one page for tests of code that uses Client, with the methods of billcore.Pager and billcore.Page."""

    def __iter__(self) -> Iterator[Item]:
        while taken := self._collect(1):
            yield taken[0]

    def pages(self) -> Iterator[SamplePage[Item]]:
        """Iterate over the only page."""
        if not self._at_end:
            yield SamplePage(self._collect(None), self.total)

    def first(self) -> Item | None:
        """The first item, or None. Does not advance the list."""
        return self._first()

    def collect(self, limit: int | None = None) -> list[Item]:
        """All remaining items, or the next `limit`."""
        return self._collect(limit)


class AsyncSamplePage(_Page[Item]):
    """A list of one page for tests of code that uses AsyncClient; see SamplePage."""

    async def __aiter__(self) -> AsyncIterator[Item]:
        while taken := self._collect(1):
            yield taken[0]

    async def pages(self) -> AsyncIterator[AsyncSamplePage[Item]]:
        """Iterate over the only page."""
        if not self._at_end:
            yield AsyncSamplePage(self._collect(None), self.total)

    async def first(self) -> Item | None:
        """The first item, or None. Does not advance the list."""
        return self._first()

    async def collect(self, limit: int | None = None) -> list[Item]:
        """All remaining items, or the next `limit`."""
        return self._collect(limit)


@overload
def page(items: Iterable[Item], *, total: int | None = None, awaited: Literal[False] = False) -> SamplePage[Item]: ...
@overload
def page(items: Iterable[Item], *, total: int | None = None, awaited: Literal[True]) -> AsyncSamplePage[Item]: ...
def page(
    items: Iterable[Item], *, total: int | None = None, awaited: bool = False
) -> SamplePage[Item] | AsyncSamplePage[Item]:
    """Make a list of one page for unit tests, without a server. Like a list of the client, the list can be read once.

        client = create_autospec(billcore.Client, instance=True)
        client.subscriptions.list.return_value = billcore.testing.page([billcore.testing.subscription()])

    Args:
        items: The items, such as those that billcore.testing.order() makes.
        total: Number of records in the whole list. Default: the number of items.
        awaited: True: make a list such as AsyncClient returns, for `async for`.

    Raises:
        InvalidArgumentError: `items` is not a list of items, or `total` is smaller than their number.
    """
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise InvalidArgumentError(f"page() takes a list of items, not {type(items).__name__}: page([order()])")
    found = list(items)
    if total is not None and total < len(found):
        raise InvalidArgumentError(f"total is {total}, but the page has {len(found)} items")
    total = len(found) if total is None else total
    return AsyncSamplePage(found, total) if awaited else SamplePage(found, total)
