"""A ready webhook receiver for tests; public as billcore.testing.Inbox."""

from __future__ import annotations

import http.client
import itertools
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .._durations import seconds
from .._errors import BillcoreError
from ._calls import WaitTimeout
from ._deliveries import check, told
from ._serve import Receiver

if TYPE_CHECKING:
    from ..webhooks import AnyEvent, Event

E = TypeVar("E", bound="Event")

_ACCEPTED = 204


class Inbox(Receiver):
    """A webhook receiver that verifies events and keeps them; see SandboxAccount.receive().

    Attributes:
        url: The URL of the receiver.
        endpoint_id: The id of the receiver's webhook endpoint, which close() deletes.
        secret: The secret with which the receiver verifies signatures.
    """

    def __init__(
        self,
        secret: str,
        header: str,
        status: int | Sequence[int] | Callable[[AnyEvent], int],
        handler: Callable[[AnyEvent], object] | None,
        errors: list[BaseException],
    ) -> None:
        from .. import webhooks

        self._verifier = webhooks.Verifier(secret, header=header)
        self._status = _script(status)
        self._handler = handler
        self._errors = errors  # of handlers: they belong to the test, not to the thread of the receiver
        self._events: list[AnyEvent] = []
        self._counts: Counter[object] = Counter()  # of accepted events: all (None), by name, by class
        self._arrival = threading.Condition()
        super().__init__(self._run, "/")

    @property
    def events(self) -> list[AnyEvent]:
        """The events that the receiver has accepted with a status 2xx, also duplicates, in the order of arrival."""
        with self._arrival:
            return list(self._events)

    @overload
    def wait(self, kind: type[E], *, count: int = 1, timeout: float = 10.0) -> list[E]: ...
    @overload
    def wait(self, kind: str | None = None, *, count: int = 1, timeout: float = 10.0) -> list[AnyEvent]: ...
    def wait(self, kind: str | type[Any] | None = None, *, count: int = 1, timeout: float = 10.0) -> list[Any]:
        """Wait until the receiver has accepted `count` events; returns all of this kind so far, in order of arrival.

        Args:
            kind: Only events with this name, such as "order.paid", or of this class, such as webhooks.OrderPaid.
            count: How many events to wait for.
            timeout: Seconds of real time.

        Raises:
            WaitTimeout: Too few events arrived in time. The error says what arrived, and what is pending.
            DeliveryFailed: As before, and the sandbox has given up the delivery of an event to this receiver.
        """
        limit = seconds(timeout, "timeout", zero=True)
        with self._arrival:
            self._arrival.wait_for(lambda: self._errors or self._counts[kind] >= count, limit)
            if self._errors:
                raise self._errors.pop(0)
            found = [each for each in self._events if kind is None or _is(each, kind)]
        if len(found) < count:
            raise self._missing(kind, len(found), count, timeout)
        return found

    def _missing(self, kind: str | type[Any] | None, arrived: int, count: int, timeout: float) -> WaitTimeout:
        control = self._control
        deliveries = [] if control is None else control.deliveries()
        deliveries = [each for each in deliveries if each["endpoint_id"] == self.endpoint_id]
        check(deliveries)
        pending = [each for each in deliveries if each["state"] == "pending"]
        refused = [each for each in pending if each["attempts"]]
        what = "" if kind is None else f" {kind if isinstance(kind, str) else kind.__name__}"
        there = ", ".join(f"{name} ({number})" for name, number in Counter(each.name for each in self.events).items())
        text = f"{arrived} of {count} events{what} came within {timeout:g} s: there are {there or 'no events'}"
        details = {
            "arrived": arrived,
            "pending": len(pending),
            "last_answer": refused[0]["attempts"][-1] if refused else None,
        }
        return WaitTimeout("; ".join([text, *map(told, refused[:1])]), details)

    def _run(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        status, text = self._answer(environ)
        start_response(f"{status} {http.client.responses.get(status, 'Status')}", [("Content-Type", "text/plain")])
        return [text.encode()] if text else []

    def _answer(self, environ: dict[str, Any]) -> tuple[int, str]:
        """The status, and why the receiver refuses the event."""
        from .. import webhooks

        try:
            event = webhooks.from_wsgi(environ, self._verifier)
        except BillcoreError as error:
            return getattr(error, "http_status", 400), str(error)
        try:
            status = self._status(event)
            if not 200 <= status < 300:
                return status, ""
            if self._handler is not None:
                self._handler(event)
        except BaseException as error:
            with self._arrival:
                self._errors.append(error)
                self._arrival.notify_all()
            return 500, f"{type(error).__name__}: {error}"
        with self._arrival:
            self._events.append(event)
            self._counts.update((None, event.name, *type(event).__mro__))
            self._arrival.notify_all()
        return status, ""


def _script(status: int | Sequence[int] | Callable[[AnyEvent], int]) -> Callable[[AnyEvent], int]:
    if callable(status):
        return status
    each = itertools.repeat(status) if isinstance(status, int) else iter(tuple(status))
    return lambda event: next(each, _ACCEPTED)


def _is(event: AnyEvent, kind: str | type[Any]) -> bool:
    return event.name == kind if isinstance(kind, str) else isinstance(event, kind)
