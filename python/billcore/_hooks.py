"""Hooks, which receive every attempt, and the logger "billcore"."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Attempt:
    """One attempt of a call. It has no ids, no header values and no bodies."""

    __slots__ = {  # noqa: RUF023
        "method": "HTTP method.",
        "route": "Template of the path, such as /subscription/{id}; '(other)' for an unknown path.",
        "attempt": "Its number, from 1.",
        "status": "HTTP status; None without a complete answer, and in on_request.",
        "error": "Class name of the error, such as 'TimeoutError', or None.",
        "duration": "Duration in seconds.",
        "request_id": "Value of the answer's request id header, or None.",
        "wait": "Seconds until the next attempt (on_retry).",
    }

    def __init__(
        self,
        method: str,
        route: str,
        attempt: int,
        status: int | None = None,
        error: str | None = None,
        duration: float = 0.0,
        request_id: str | None = None,
        wait: float = 0.0,
    ) -> None:
        self.method: Final = method
        self.route: Final = route
        self.attempt: Final = attempt
        self.status: Final = status
        self.error: Final = error
        self.duration: Final = duration
        self.request_id: Final = request_id
        self.wait: Final = wait

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> None:
            """Called only for missing attributes: a member is missing when __init__ never ran."""
            if name not in Attempt.__slots__:
                raise AttributeError(f"'Attempt' object has no attribute {name!r}", name=name, obj=self)
            from ._errors import ConfigError

            raise ConfigError("this Attempt was never initialised: its __init__ failed or did not run")

    def __repr__(self) -> str:
        try:
            object.__getattribute__(self, "wait")
        except AttributeError:
            return "<billcore.Attempt, never initialised>"
        end = f" {self.error or self.status}" if self.error or self.status else ""
        return f"<billcore.Attempt {self.method} {self.route} attempt={self.attempt}{end}>"


class Hooks:
    """Base class for Client(hooks=), which receives every attempt. Any object with one of these methods works.

    The methods are called on the thread of the call (of the loop, for AsyncClient, in the context of the call), so
    concurrently when a client is shared. Exceptions of a hook are logged and ignored: they must not affect the outcome
    of a charge. Hooks are not called once the interpreter finalizes.
    """

    def on_request(self, attempt: Attempt, /) -> None:
        """An attempt begins; it may have to wait for a connection."""

    def on_response(self, attempt: Attempt, /) -> None:
        """An attempt has ended, with or without an answer."""

    def on_retry(self, attempt: Attempt, /) -> None:
        """Another attempt follows after `attempt.wait` seconds."""


def tell(
    hooks: object,
    hook: str,
    method: str,
    route: str,
    number: int,
    status: int | None,
    error: str | None,
    duration: float,
    request_id: str | None,
    wait: float,
) -> None:
    """Logs and calls the hook. Attempts are logged at DEBUG, retries at INFO."""
    import logging

    logger = logging.getLogger("billcore")
    outcome = error or status
    if hook == "on_response":
        logger.debug(
            "%s %s: %s after %.0f ms (attempt %d, request id %s)",
            method,
            route,
            outcome,
            duration * 1000,
            number,
            request_id,
        )
    elif hook == "on_retry":
        logger.info("%s %s: %s, again in %.0f ms (attempt %d)", method, route, outcome, wait * 1000, number + 1)
    function = getattr(hooks, hook, None)
    if function is None:
        return
    try:
        function(Attempt(method, route, number, status, error, duration, request_id, wait))
    except Exception as error:
        if is_of_signal(error):
            raise
        logger.exception("the hook %s of %s failed", hook, type(hooks).__qualname__)


def is_of_signal(error: BaseException) -> bool:
    """Whether a signal handler raised it: a signal that arrives while a hook runs is not the hook's failure."""
    import signal

    handlers = [one for number in signal.valid_signals() if callable(one := signal.getsignal(number))]
    codes = {getattr(getattr(one, "__func__", one), "__code__", None) for one in handlers}
    codes |= {getattr(type(one).__call__, "__code__", None) for one in handlers}  # objects with __call__
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code in codes:
            return True
        trace = trace.tb_next
    return False


for _value in (Attempt, Hooks):
    _value.__module__ = "billcore"
del _value
