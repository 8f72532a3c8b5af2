"""Hooks, whose methods are called for every attempt, and the logger "billcore"."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from logging import Logger
    from typing import Any, Final


class Attempt:
    """One attempt of a call. Contains no header values, no bodies, and no ids except in `path`."""

    __slots__ = {  # noqa: RUF023
        "method": "HTTP method.",
        "route": "Template of the path, such as /subscription/{id}; '(other)' for an unknown path.",
        "attempt": "Number of the attempt, from 1.",
        "status": "HTTP status; None without a complete answer, and in on_request.",
        "error": "Class name of the error, such as 'TimeoutError', or None. An attempt that was given up (cancelled, "
        "interrupted, or no longer needed) has 'CancelledError' or 'KeyboardInterrupt'.",
        "duration": "Duration in seconds.",
        "request_id": "Value of the answer's request id header, or None.",
        "wait": "Seconds until the next attempt (on_retry).",
        "sent": "Whether at least a part of the request was sent; False in on_request.",
        "outcome_unknown": "Whether the attempt is a write that may or may not have happened.",
        "path": "Path (with the id) of a write that was sent and given up; otherwise None.",
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
        sent: bool = False,
        outcome_unknown: bool = False,
        path: str | None = None,
    ) -> None:
        self.method: Final = method
        self.route: Final = route
        self.attempt: Final = attempt
        self.status: Final = status
        self.error: Final = error
        self.duration: Final = duration
        self.request_id: Final = request_id
        self.wait: Final = wait
        self.sent: Final = sent
        self.outcome_unknown: Final = outcome_unknown
        self.path: Final = path

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> None:
            """Called only for missing attributes; a slot is missing if __init__ did not run."""
            if name not in Attempt.__slots__:
                raise AttributeError(f"'Attempt' object has no attribute {name!r}", name=name, obj=self)
            from ._errors import ConfigError

            raise ConfigError("this Attempt was never initialised: its __init__ failed or did not run")

    def __repr__(self) -> str:
        try:
            object.__getattribute__(self, "path")
        except AttributeError:
            return "<Attempt, never initialised>"
        end = f" {self.error or self.status}" if self.error or self.status else ""
        return f"<Attempt {self.method} {self.route} attempt={self.attempt}{end}>"


class Hooks:
    """Base class for the object in Client(hooks=), whose methods (hooks) are called for every attempt.

    An object that has only one of the hooks also works. Every call of on_request is followed by exactly one call of
    on_response, even if the call is cancelled or interrupted, or if a prefetched page is no longer needed.

    Hooks run on the thread that makes the call. The hooks of an AsyncClient run on the event loop's thread and in the
    context (contextvars) of the call. If threads share a client, its hooks run concurrently. An exception from a hook
    is logged and ignored, because a hook must not change the outcome of a charge. Hooks are not called after the
    interpreter has begun to finalize. In a forked child, hooks are not called for the parent's attempts.
    """

    def on_request(self, attempt: Attempt, /) -> None:
        """Called before an attempt; the attempt may still have to wait for a connection."""

    def on_response(self, attempt: Attempt, /) -> None:
        """Called after an attempt, with or without an answer."""

    def on_retry(self, attempt: Attempt, /) -> None:
        """Called when an attempt is to be retried, before the client waits `attempt.wait` seconds."""


def tell(hooks: object, hook: str, *values: Any) -> None:
    """Logs an attempt at DEBUG, a retry at INFO, a write that was given up at WARNING; then calls the user's hook.

    `values` are the arguments of Attempt.
    """
    attempt = Attempt(*values)
    logger = _logger()
    where = attempt.method, attempt.route, attempt.error or attempt.status
    if logger is None:
        pass
    elif hook == "on_response":
        ended = attempt.duration * 1000, attempt.attempt, attempt.request_id
        logger.debug("%s %s: %s after %.0f ms (attempt %d, request id %s)", *where, *ended)
    elif hook == "on_retry":
        again = attempt.wait * 1000, attempt.attempt + 1, attempt.request_id
        logger.info("%s %s: %s, again in %.0f ms (attempt %d, request id %s)", *where, *again)
    if attempt.path is not None:
        warn(attempt.method, attempt.route, attempt.path, attempt.attempt, attempt.request_id)
    function = getattr(hooks, hook, None)
    if function is None:
        return
    try:
        function(attempt)
    except Exception as error:
        if is_of_signal(error):
            raise
        import logging

        logging.getLogger("billcore").exception("the hook %s of %s failed", hook, type(hooks).__qualname__)


GIVEN_UP = "interrupted after it was sent; it may or may not have happened: look before you send it again"


def warn(method: str, route: str, path: str, number: int, request_id: str | None, outcome: str = GIVEN_UP) -> None:
    """Logs at WARNING what is known about a write whose result cannot be returned to the caller."""
    logger = _logger()
    if logger is None:
        return
    before, found, behind = route.partition("{id}")
    about = "" if path == route else f"path {path}, "
    if found:
        about = f"id {path[len(before) : len(path) - len(behind)]}, "
    logger.warning("%s %s: %s (%sattempt %d, request id %s)", method, route, outcome, about, number, request_id)


_found: Logger | None = None


def _logger() -> Logger | None:
    """Returns the logger "billcore"; None if the program has not imported logging.

    The first call looks the logger up and asks it for each level, because both take a lock of logging, and a thread of
    gevent's pool may wait forever for that lock (gevent issue 2013). Later calls take no lock.
    """
    global _found
    if _found is None and "logging" in sys.modules:
        import logging

        logger = logging.getLogger("billcore")
        for level in (logging.DEBUG, logging.INFO, logging.WARNING):
            logger.isEnabledFor(level)
        _found = logger
    return _found


def is_of_signal(error: BaseException) -> bool:
    """Whether a signal handler raised the error during a hook; such an error ends the call."""
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
