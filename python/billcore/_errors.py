"""The exceptions of billcore; public as billcore.X (SignatureError as billcore.webhooks.SignatureError).

The text of each is one line: what was wrong and what to do. Secrets and API keys are never in it. All can be pickled.
"""

from __future__ import annotations

import builtins

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing and datetime cost more than the whole of this module
    from datetime import datetime
    from typing import Any

    from ._types import SignatureReason


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

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> None:
            """Of what is not there: a field, when __init__ never ran."""
            kind = type(self)
            if any(name in getattr(owner, "__annotations__", ()) for owner in kind.__mro__):
                raise ConfigError(f"this {kind.__name__} was never initialised: its __init__ failed or did not run")
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def __reduce__(self) -> tuple[Any, ...]:
        state = dict(self.__dict__)
        if self.__cause__ is not None:
            state["__cause__"] = self.__cause__
        return _restore, (type(self), self.args, state)


class ConfigError(BillcoreError):
    """A setting cannot work: a missing key, a wrong base URL, a secret of the wrong length, a closed client."""


class InvalidArgumentError(BillcoreError, ValueError):
    """An argument is refused before anything is sent."""


class ApiError(BillcoreError):
    """The service answered with an error status.

    status: HTTP status. code, message: of the service's error object, None without one. request_id: value of the
    request id header, or None. body: the answer's text, scrubbed and cut. retry_after: seconds, or None. attempts: how
    often the request was sent or tried. method, path: of the request. attempted_at: when a write of unknown outcome
    left, aware UTC, else None; client.subscriptions.find_charges() goes by it. Service interface: Errors.
    """

    status: int
    code: str | None
    message: str | None
    request_id: str | None
    body: str
    retry_after: float | None
    attempts: int
    attempted_at: datetime | None

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


class OutcomeUnknownError(BillcoreError):
    """A write was sent, and no complete answer came: it may or may not have happened.

    method, path: of the request, path relative to the base URL. attempted_at: when it left, aware UTC. attempts: how
    often it was tried, the last one being the one that was sent. What went wrong on the wire is the __cause__. Of a
    charge, client.subscriptions.find_charges() lists the orders that it may have made.
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

    status: int | None
    path: str | None

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

    reason: SignatureReason
    http_status: int

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
        cause, reason = detail["cause_class"], detail["cause_text"]
        error.__cause__ = MemoryError(reason) if cause == "MemoryError" else from_core(cause, reason, detail)
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
