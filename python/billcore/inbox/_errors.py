"""The errors of the inbox; import them from billcore.inbox."""

from __future__ import annotations

from .._error_base import BillcoreError


class InboxError(BillcoreError):
    """The inbox cannot claim or lock.

    No transaction is open, or the inbox's table is missing or has another version, or the database is not one that the
    inbox knows, or the driver does not say what the statement did.
    """


class InboxBusyError(InboxError):
    """Another transaction is handling the event, or the database asks to try again: roll back and answer 503.

    Attributes:
        http_status: 503, the HTTP status to send as the answer to the webhook.
    """

    http_status: int = 503


for _value in (InboxBusyError, InboxError):
    _value.__module__ = "billcore.inbox"
del _value
