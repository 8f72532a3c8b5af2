"""The errors of the journal; import them from billcore.journal. Each error's text says what to do."""

from __future__ import annotations

from collections.abc import Iterable

from .._error_base import BillcoreError
from .._error_record import fill
from .._webhook import Order


class JournalError(BillcoreError):
    """The journal failed, for example because its database cannot be reached.

    Attributes:
        key: Key of the charge; "" if the error is not about one charge.
        order: The charge's order, if the charge was made but could not be recorded; otherwise None. In an error made
            from `args`, the order has only its id.
        retry_after: Seconds after which to call again with the same key; None if calling again does not help.
        outcome_unknown: Whether the key may have been charged.
    """

    key: str
    order: Order | None = None
    retry_after: float | None = None

    def __init__(
        self,
        text: str = "",
        key: str = "",
        order: Order | str | int | None = None,
        retry_after: float | None = None,
        outcome_unknown: bool | None = None,
    ) -> None:
        if outcome_unknown is None:
            outcome_unknown = True  # nobody knows
        fill(self, locals())


class ChargeInProgressError(JournalError):
    """The charge may be in flight; or another key has an open charge of the same subscription and product.

    Attributes:
        other: Another key with an open charge of the same subscription and product, or None. Nothing was charged then
            for the key of this error.
    """

    other: str | None

    def __init__(
        self,
        text: str = "",
        key: str = "",
        other: str | None = None,
        retry_after: float | None = None,
        outcome_unknown: bool | None = None,
    ) -> None:
        if outcome_unknown is None:
            outcome_unknown = other is None
        fill(self, locals())


class ChargePendingError(JournalError):
    """It is not known yet whether the charge was made: call charge() again with the same key after `retry_after`.

    The __cause__ is the error of the charge, or of a look-up that failed.
    """

    outcome_unknown = True

    def __init__(self, text: str = "", key: str = "", retry_after: float | None = None) -> None:
        fill(self, locals())


class UnresolvedChargeError(JournalError):
    """Only a person can find out whether the charge was made: see Journal.resolve()."""


class AmbiguousChargeError(JournalError):
    """Orders that no key owns may belong to the charge: choose with Journal.resolve(). The text says why.

    Attributes:
        candidates: The orders that may belong to the charge, also if there is only one. In an error made from `args`,
            each has only its id.
    """

    outcome_unknown = True
    candidates: list[Order]

    def __init__(self, text: str = "", key: str = "", candidates: Iterable[Order] | str = ()) -> None:
        fill(self, locals())


class KeyReusedError(JournalError):
    """The key belongs to a charge with other arguments."""


for _value in list(globals().values()):
    if isinstance(_value, type) and issubclass(_value, JournalError):
        _value.__module__ = "billcore.journal"
del _value
