"""The exceptions that have attributes, and code shared by all exceptions. Import exceptions from billcore._errors."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing and datetime takes longer than importing this module
    from collections.abc import Iterable
    from datetime import datetime
    from typing import Any

    from ._types import SignatureReason
    from ._webhook import Order


raw_args: Any = BaseException.__dict__["args"]  # the text alone; BillcoreError.args makes the rest when it is read


def _restore(kind: type[BillcoreError], args: tuple[object, ...], state: dict[str, object]) -> BillcoreError:
    error = kind.__new__(kind)
    error.args = args
    error.__cause__ = state.pop("__cause__", None)  # type: ignore[assignment]
    for name, value in state.items():
        setattr(error, name, value)
    return error


def _fill(error: BillcoreError, given: dict[str, Any]) -> None:
    from ._error_record import fill

    fill(error, given)


class BillcoreError(Exception):
    """Base class of all exceptions of billcore.

    `type(error)(*error.args)` makes an equal error. The `args` are JSON scalars in the order of the class's parameters,
    without the body and the headers of an answer; a time is text in ISO 8601. Of an order, only the id is kept. An
    error that is made without its text, or from arguments of wrong types, has `outcome_unknown`.

    Attributes:
        outcome_unknown: True if a write may or may not have happened; check before you send the write again.
        sent_late: True if a write may have been sent after its deadline, because the process or the machine was
            stopped while the write was sent.
    """

    outcome_unknown: bool = False
    sent_late: bool = False

    def __init__(self, text: str = "", outcome_unknown: bool = False, sent_late: bool = False) -> None:
        if text and isinstance(text, str) and outcome_unknown is False and sent_late is False:
            super().__init__(text)
        else:
            _fill(self, locals())

    def to_dict(self) -> dict[str, str | int | float | bool | None]:
        """The error as a dict for JSON: its `type`, such as "billcore.ServerError", and its `args` by name."""
        from ._error_record import to_dict

        return to_dict(self)

    @staticmethod
    def from_dict(data: dict[str, Any]) -> BillcoreError:
        """Makes the error that to_dict() returned as `data`.

        An error of a class that this version does not know is a BillcoreError with `outcome_unknown`.
        """
        from ._error_record import from_dict

        return from_dict(data)

    if not TYPE_CHECKING:

        @property
        def args(self) -> tuple[Any, ...]:
            """JSON scalars from which `type(error)(*error.args)` makes an equal error."""
            from ._error_record import arguments

            return arguments(self)

        @args.setter
        def args(self, values: object) -> None:
            raw_args.__set__(self, values)

        def __getattr__(self, name: str) -> None:
            """Called only for missing attributes; an annotated attribute is missing if __init__ did not run."""
            kind = type(self)
            if any(name in getattr(owner, "__annotations__", ()) for owner in kind.__mro__):
                raise ConfigError(f"this {kind.__name__} was never initialised: its __init__ failed or did not run")
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def __reduce__(self) -> tuple[Any, ...]:
        state = dict(self.__dict__)
        if self.__cause__ is not None:
            state["__cause__"] = self.__cause__
        return _restore, (type(self), raw_args.__get__(self), state)


class ConfigError(BillcoreError):
    """An option is missing or invalid (API key, base URL, length of a secret), or the client is closed."""


class ApiError(BillcoreError):
    """The service answered with an error status.

    Attributes:
        status: HTTP status; `status_code` has the same value. 0 if the error's arguments could not be read.
        code: `code` of the service's error object, or None.
        message: `message` of the service's error object, or None.
        request_id: Value of the request id header, or None.
        headers: Headers of the answer; names in lower case, values of a repeated header joined by commas.
        body: The answer's body as text, shortened and without secrets.
        retry_after: Seconds to wait before another attempt, from the answer's Retry-After header, or None.
        attempts: Number of attempts, including those that sent nothing.
        method: HTTP method of the request.
        path: Path of the request, relative to the base URL.
        attempted_at: When the write was sent, if its outcome is unknown (aware datetime in UTC); otherwise None.
        service_time: The service's time at `attempted_at`, from a Date header (aware datetime in UTC), or None.

    Service interface: Errors.
    """

    status: int
    headers: dict[str, str]
    code: str | None
    message: str | None
    request_id: str | None
    body: str
    retry_after: float | None
    attempts: int
    method: str | None
    path: str | None
    attempted_at: datetime | None
    service_time: datetime | None = None

    def __init__(
        self,
        status: int = 0,
        code: str | None = None,
        message: str | None = None,
        request_id: str | None = None,
        body: str = "",
        retry_after: float | None = None,
        attempts: int = 1,
        outcome_unknown: bool | None = None,
        method: str | None = None,
        path: str | None = None,
        text: str | None = None,
        attempted_at: datetime | str | None = None,
        service_time: datetime | str | None = None,
        sent_late: bool = False,
        *,
        headers: dict[str, str] | None = None,
    ) -> None:
        if text is None:
            text = f"{status}" + (f" {message}" if message else "") + (f" ({code})" if code else "")
        if outcome_unknown is None:  # as the client says it of an answer
            refused = isinstance(status, int) and 400 <= status < 500 and status != 408
            outcome_unknown = not refused and method != "GET"
        _fill(self, locals())
        self.headers = {} if headers is None else headers

    @property
    def status_code(self) -> int:
        """HTTP status: the same value as `status`."""
        return self.status


class TransportError(BillcoreError):
    """No complete answer was received; if a write was sent, the error is OutcomeUnknownError instead.

    Attributes:
        attempts: Number of attempts.
        retry_after: Seconds after which to call again, if the journal raised the error; otherwise None.
    """

    attempts: int = 1
    retry_after: float | None = None

    def __init__(
        self, text: str = "", attempts: int = 1, retry_after: float | None = None, outcome_unknown: bool = False
    ) -> None:
        _fill(self, locals())


class OutcomeUnknownError(BillcoreError):
    """A write was sent, and no complete answer was received: it may or may not have happened.

    The __cause__ is the error of the transport. After a charge, client.subscriptions.find_charges() lists the orders
    that the charge may have made.

    Attributes:
        method: HTTP method of the request.
        path: Path of the request, relative to the base URL.
        attempted_at: When the write was sent (aware datetime in UTC); None if the error's arguments could not be read.
        service_time: The service's time at `attempted_at`, from an earlier Date header (aware UTC), or None.
        attempts: Number of attempts; only the last one sent the request.
    """

    outcome_unknown = True
    attempts: int = 1
    method: str
    path: str
    attempted_at: datetime
    service_time: datetime | None = None

    def __init__(
        self,
        method: str = "",
        path: str = "",
        attempted_at: datetime | str | None = None,
        text: str | None = None,
        attempts: int = 1,
        service_time: datetime | str | None = None,
        sent_late: bool = False,
    ) -> None:
        if text is None:
            text = f"{method} {path}: the outcome is unknown" if path else method
        _fill(self, locals())


class DecodeError(BillcoreError):
    """An answer or an event does not match the service interface.

    Attributes:
        status: HTTP status if the error is about a whole REST answer; otherwise None.
        path: Path of the wrong JSON value, such as data.price; None if the error is not about a single value.
        http_status: 400, the HTTP status to send as the answer to a webhook that cannot be read.
    """

    status: int | None
    path: str | None
    http_status: int = 400

    def __init__(
        self,
        text: str = "",
        status: int | None = None,
        path: str | None = None,
        outcome_unknown: bool = False,
        sent_late: bool = False,
    ) -> None:
        _fill(self, locals())


class MissingFieldError(DecodeError, AttributeError):
    """The program read a required field that is absent; the payload of an event may have only some of the fields.

    MissingFieldError is also an AttributeError, so that getattr() with a default, hasattr() and class patterns work.

    Attributes:
        path: Path of the field, such as data.vat.
        name: The last part of the path: the name of the field.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        # If nothing set `name`, Python would set the exception's `obj` to the resource, which would keep the resource
        # alive and make tracebacks suggest similar field names.
        if name == "path":
            self.name = value.rpartition(".")[2] if value else ""


class PossiblyMissedError(BillcoreError):
    """Orders may be missing: the list changed during the search, or the search did not finish. Search again.

    The __cause__ is the error that ended the search.

    Attributes:
        found: The orders found so far, latest first. In an error made from `args`, each has only its id.
    """

    found: list[Order]

    def __init__(
        self,
        found: Iterable[Order] | str = (),
        text: str | None = None,
        outcome_unknown: bool = False,
        sent_late: bool = False,
    ) -> None:
        if text is None:
            text = found if isinstance(found, str) else "orders may be missing"
        _fill(self, locals())


_ANSWERS = {
    "body_too_large": 413,
    "missing": 401,
    "malformed": 400,
    "mismatch": 401,
    "stale": 400,
    "disconnected": 499,
    "timeout": 408,
}


class SignatureError(BillcoreError):
    """A webhook's signature check failed. A receiver must expect this error, because anyone can send forged webhooks.

    Attributes:
        reason: body_too_large, missing, malformed, mismatch or stale, in the order of the checks. from_asgi and
            from_wsgi, which read the body, also use disconnected (the error is then also a ConnectionError) and timeout
            (also a TimeoutError).
        http_status: HTTP status to send as the answer to the webhook; the default depends on the reason.
    """

    reason: SignatureReason
    http_status: int

    def __init__(
        self,
        reason: SignatureReason | str = "malformed",
        http_status: int | None = None,
        text: str | None = None,
        outcome_unknown: bool = False,
    ) -> None:
        if text is None:
            text = reason
        if http_status is None:
            http_status = _ANSWERS.get(str(reason), 400)
        _fill(self, locals())


_OF_ANSWERS = ["status", "code", "message", "request_id", "body", "retry_after", "attempts", "outcome_unknown"]
_OF_ANSWERS += ["method", "path", "sent_late", "headers"]


def _cause(classes: dict[str, Any], detail: dict[str, Any]) -> BaseException:
    name, reason = detail["cause_class"], detail["cause_text"]
    return MemoryError(reason) if name == "MemoryError" else make(classes, name, reason, detail)


def make(classes: dict[str, Any], name: str, text: str, detail: dict[str, Any]) -> BillcoreError:
    """Makes the exception for an error of the C++ core; `name` is the name of the exception's class."""
    kind: Any = classes[name]
    error: Any = kind.__new__(kind)
    Exception.__init__(error, text)  # the class's __init__ would check the types of all arguments
    if issubclass(kind, ApiError):
        error.__dict__.update({name: detail[name] for name in _OF_ANSWERS})
        error.attempted_at, error.service_time = detail.get("attempted_at"), detail.get("service_time")
    elif kind is SignatureError:
        error.reason, error.http_status = detail["reason"], detail["status"]
    elif kind is OutcomeUnknownError:
        error.method, error.path, error.attempted_at = detail["method"], detail["path"], detail["attempted_at"]
        error.service_time = detail.get("service_time")
        error.__cause__ = _cause(classes, detail)
    elif kind is PossiblyMissedError:
        error.found = detail["found"]
        error.__cause__ = _cause(classes, detail)
    elif issubclass(kind, DecodeError):
        error.status, error.path = detail["status"] or None, detail.get("field_path")
    if detail.get("sent_late") and not isinstance(error, TransportError):  # not the cause of an OutcomeUnknownError
        error.sent_late = True
    if isinstance(error, (TransportError, OutcomeUnknownError)):
        error.attempts = detail["attempts"]
    made: BillcoreError = error
    return made
