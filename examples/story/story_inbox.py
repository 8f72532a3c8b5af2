"""Handles webhook deliveries: verifies the raw bytes, parses them, drops duplicates, and keeps the other events."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from billcore import DecodeError, webhooks


class Inbox:
    """Receives deliveries from any thread. Read the lists of an Inbox only after wait_until()."""

    def __init__(self) -> None:
        self.events: list[webhooks.Event] = []
        self.duplicates: list[webhooks.Event] = []
        self.refused: list[str] = []
        self._verifier: webhooks.Verifier | None = None
        self._claimed: set[tuple[int, str]] = set()
        self._changed = threading.Condition()

    def trust(self, secret: str) -> None:
        """Set the endpoint's secret, which the service creates when the URL is registered."""
        self._verifier = webhooks.Verifier(secret)

    def receive(self, body: bytes, headers: Iterable[tuple[str, str]]) -> int:
        """Handle one delivery; return the HTTP status of the answer."""
        with self._changed:
            status = self._receive(body, list(headers))
            self._changed.notify_all()
            return status

    def _receive(self, body: bytes, headers: list[tuple[str, str]]) -> int:
        if self._verifier is None:
            return 503
        try:
            event = self._verifier.unwrap_request(body, headers)
            event.require_claimable()
        except webhooks.SignatureError as error:
            self.refused.append(error.reason)
            return error.http_status
        except DecodeError as error:  # signed, but not readable
            return error.http_status
        # With a database, record the event and apply its effect in one transaction.
        if not self._claim(event):
            self.duplicates.append(event)
            return 200
        self.events.append(event)
        # Only in this example: answer 500 to the first event although it was kept, so that the service delivers it
        # again.
        return 500 if len(self.events) == 1 else 200

    def _claim(self, event: webhooks.Event) -> bool:
        """Record an event; return False if it was recorded before.

        Every test.hook has the id 0, so a test.hook never counts as a duplicate.
        """
        if isinstance(event, webhooks.TestHook):
            return True
        key = (event.account, str(event.id))
        if key in self._claimed:
            return False
        self._claimed.add(key)
        return True

    def wait_until(self, condition: Callable[[], bool], timeout: float = 30.0) -> bool:
        """Wait until `condition` is true; return False if it is still false after the timeout."""
        with self._changed:
            return self._changed.wait_for(condition, timeout)
