"""The exceptions of billcore; public as billcore.X (SignatureError as billcore.webhooks.SignatureError).

The text of each is one line: what was wrong and what to do. Secrets and API keys are never in it. All can be pickled.
"""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing and datetime cost more than the whole of this module
    from collections.abc import Coroutine
    from datetime import datetime, timedelta
    from typing import Any, overload

    from ._client import AsyncClient, AsyncPager, AsyncSubscriptions, Client, Pager, Subscriptions
    from ._types import SignatureReason
    from ._webhook import Order
else:

    def overload(function: object) -> object:
        return function


def _restore(kind: type[BillcoreError], args: tuple[object, ...], state: dict[str, object]) -> BillcoreError:
    error = kind.__new__(kind)
    error.args = args
    error.__cause__ = state.pop("__cause__", None)  # type: ignore[assignment]
    for name, value in state.items():
        setattr(error, name, value)
    return error


class BillcoreError(Exception):
    """Base of all errors of billcore.

    outcome_unknown: True when a write may or may not have happened; look before you send it again.
    """

    outcome_unknown: bool = False

    def __init__(self, text: str = "") -> None:
        super().__init__(text)

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: value for name, value in self.__dict__.items() if name != "_subscriptions"}
        if self.__cause__ is not None:
            state["__cause__"] = self.__cause__
        return _restore, (type(self), self.args, state)


class ConfigError(BillcoreError):
    """A setting cannot work: a missing key, a wrong base URL, a secret of the wrong length, a closed client."""


class InvalidArgumentError(BillcoreError, ValueError):
    """An argument is refused before anything is sent."""


class _PerhapsCharged(BillcoreError):
    """What is common to the errors of writes that may have happened."""

    method: str | None
    path: str | None
    attempted_at: datetime | None
    _subscriptions: Subscriptions | AsyncSubscriptions | None = None  # of the client that made the charge

    @overload
    def find_candidates(
        self, client: AsyncClient, skew: float | timedelta = 300.0
    ) -> Coroutine[Any, Any, list[Order]]: ...
    @overload
    def find_candidates(  # noqa: F811
        self, client: Client | None = None, skew: float | timedelta = 300.0
    ) -> list[Order]: ...
    def find_candidates(  # noqa: F811
        self, client: Client | AsyncClient | None = None, skew: float | timedelta = 300.0
    ) -> list[Order] | Coroutine[Any, Any, list[Order]]:
        """The orders that a charge of unknown outcome may have made: the subscription's since then, latest first.

        client: needed when the error was pickled; else the one that raised it. With an AsyncClient the result is to be
        awaited. skew: by how much the service's clock may be behind this one (seconds or a timedelta). An empty list
        says that the charge was not made, or not yet: the service may still be working on it. InvalidArgumentError for
        what is not a charge of unknown outcome.
        """
        from datetime import timedelta
        from urllib.parse import unquote

        path = self.path or ""
        if not (self.outcome_unknown and self.method == "POST" and path.endswith("/order") and self.attempted_at):
            raise InvalidArgumentError("this is not about a charge of unknown outcome: there is nothing to look for")
        subscriptions = self._subscriptions if client is None else client.subscriptions
        if subscriptions is None:
            raise InvalidArgumentError("this error has lost its client: pass client=, one of the same account")
        since = self.attempted_at - (skew if isinstance(skew, timedelta) else timedelta(seconds=skew))
        orders: Pager[Order] | AsyncPager[Order] = subscriptions.orders(
            unquote(path.removeprefix("/subscription/").removesuffix("/order"))
        )
        if not hasattr(orders, "__iter__"):
            return _awaited_since(orders, since)
        found = []
        for order in orders:
            if order.created_at < since:
                break
            found.append(order)
        return found


async def _awaited_since(orders: AsyncPager[Order], since: datetime) -> list[Order]:
    found = []
    async for order in orders:
        if order.created_at < since:
            break
        found.append(order)
    return found


class ApiError(_PerhapsCharged):
    """The service answered with an error status.

    status: HTTP status. code, message: of the service's error object, None without one. request_id: value of the
    request id header, or None. body: the answer's text, scrubbed and cut. retry_after: seconds, or None. attempts: how
    often the request was sent or tried. method, path: of the request. attempted_at: when a write of unknown outcome
    left, aware UTC, else None. Service interface: Errors.
    """

    def __init__(
        self,
        status: int,
        code: str | None = None,
        message: str | None = None,
        request_id: str | None = None,
        body: str = "",
        retry_after: float | None = None,
        attempts: int = 1,
        outcome_unknown: bool = False,
        *,
        method: str | None = None,
        path: str | None = None,
        text: str | None = None,
    ) -> None:
        if text is None:
            text = f"{status}" + (f" {message}" if message else "") + (f" ({code})" if code else "")
        super().__init__(text)
        self.status = status
        self.code = code
        self.message = message
        self.request_id = request_id
        self.body = body
        self.retry_after = retry_after
        self.attempts = attempts
        self.outcome_unknown = outcome_unknown
        self.method = method
        self.path = path
        self.attempted_at = None


class AuthenticationError(ApiError):
    """401: the API key is missing or invalid."""


class PaymentError(ApiError):
    """402: the charge could not be processed; nothing was charged."""


class NotFoundError(ApiError):
    """404: not found, or the API key belongs to another account."""


class ValidationError(ApiError):
    """422: the request was refused as invalid."""


class RateLimitError(ApiError):
    """429: too many requests."""


class ServerError(ApiError):
    """5xx: the service failed. After a write, outcome_unknown is True."""


class TransportError(BillcoreError):
    """No complete answer came. For a write it means that nothing was sent (else it is OutcomeUnknownError).

    attempts: how often it was tried.
    """

    attempts: int = 1


class TimeoutError(TransportError, builtins.TimeoutError):
    """The deadline passed."""


class ConnectionError(TransportError, builtins.ConnectionError):
    """The host was not found, no connection was made, or it broke."""


class TlsError(TransportError):
    """The TLS connection was not made: wrong host name, untrusted certificate."""


class OutcomeUnknownError(_PerhapsCharged):
    """A write was sent, and no complete answer came: it may or may not have happened.

    method, path: of the request, path relative to the base URL. attempted_at: when it left, aware UTC. attempts: how
    often it was tried, the last one being the one that was sent. What went wrong on the wire is the __cause__.
    """

    outcome_unknown = True
    attempts: int = 1
    method: str
    path: str
    attempted_at: datetime

    def __init__(self, method: str, path: str, attempted_at: datetime, *, text: str | None = None) -> None:
        super().__init__(f"{method} {path}: the outcome is unknown" if text is None else text)
        self.method = method
        self.path = path
        self.attempted_at = attempted_at


class DecodeError(BillcoreError):
    """An answer or an event is not as the interface promises.

    status: HTTP status when it is about a whole REST answer, else None. path: of the JSON value it is about, such as
    data.price, else None.
    """

    def __init__(self, text: str = "", status: int | None = None, *, path: str | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.path = path


class MissingFieldError(DecodeError, AttributeError):
    """A required field that was read is absent: payloads of events may have a subset of the fields.

    It is an AttributeError, too, so that getattr() with a default, hasattr() and class patterns work. path: of the
    field, such as data.vat. name: the last part of it.
    """

    def __init__(self, text: str = "", status: int | None = None, *, path: str | None = None) -> None:
        super().__init__(text, status, path=path)
        # Set here, or Python notes the resource as `obj`, keeps it alive and suggests other fields in the traceback.
        self.name = path.rpartition(".")[2] if path else ""

    def __reduce__(self) -> tuple[Any, ...]:
        restore, (kind, args, state) = super().__reduce__()
        return restore, (kind, args, {**state, "name": self.name})


class PaginationError(BillcoreError):
    """A list contradicts itself: wrong page, the same page again and again, an empty page that says more follow."""


_ANSWERS = {"body_too_large": 413, "missing": 401, "malformed": 400, "mismatch": 401, "stale": 400}


class SignatureError(BillcoreError):
    """A webhook's signature check failed; an ordinary event, not a fault.

    reason: body_too_large, missing, malformed, mismatch or stale, in the order of the checks. http_status: what to
    answer the sender; left out, the one that goes with the reason.
    """

    def __init__(self, reason: SignatureReason, http_status: int | None = None, *, text: str | None = None) -> None:
        super().__init__(reason if text is None else text)
        self.reason = reason
        self.http_status = _ANSWERS.get(reason, 400) if http_status is None else http_status


def from_core(name: str, text: str, detail: dict[str, Any]) -> BillcoreError:
    """The exception for an error of the core: `name` is its class in the core's table of error codes."""
    kind: type[Any] = globals()[name]
    error: BillcoreError
    if issubclass(kind, ApiError):
        names = ("status", "code", "message", "request_id", "body", "retry_after", "attempts", "outcome_unknown")
        error = kind(*(detail[name] for name in names), method=detail["method"], path=detail["path"], text=text)
        error.attempted_at = detail.get("attempted_at")
    elif kind is SignatureError:
        error = kind(detail["reason"], detail["status"], text=text)
    elif kind is OutcomeUnknownError:
        error = kind(detail["method"], detail["path"], detail["attempted_at"], text=text)
        error.__cause__ = from_core(detail["cause_class"], detail["cause_text"], detail)
    elif issubclass(kind, DecodeError):
        error = kind(text, detail["status"] or None, path=detail.get("field_path"))
    else:
        error = kind(text)
    if isinstance(error, (TransportError, OutcomeUnknownError)):
        error.attempts = detail["attempts"]
    return error


# Where users find them; pickles and tracebacks say so, too.
for _value in list(globals().values()):
    if isinstance(_value, type) and issubclass(_value, BillcoreError):
        _value.__module__ = "billcore.webhooks" if _value is SignatureError else "billcore"
del _value
