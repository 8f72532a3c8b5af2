"""Records every attempt of a client as an OpenTelemetry span. Needs the package opentelemetry-api.

client = billcore.Client(..., hooks=billcore.otel.OpenTelemetryHooks())

The name of a span is the method and the route template (POST /subscription/{id}/order), its kind is CLIENT, and its
parent is the span in which the call was made. The attributes follow the semantic conventions for HTTP; they contain
no ids, header values or bodies. The attribute billcore.sent says whether the request was sent, and
billcore.outcome_unknown marks a write that may or may not have happened. An attempt that was given up (a cancelled
task, Ctrl-C, a prefetched page that is no longer needed) has the attribute billcore.given_up; the span of such an
attempt has an error status only if the attempt is a write of unknown outcome.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

try:
    from opentelemetry import trace
except ImportError as _error:
    raise ImportError("billcore.otel needs OpenTelemetry: pip install 'opentelemetry-api>=1.20'") from _error

from ._hooks import Attempt, Hooks
from ._webhook import __version__

if TYPE_CHECKING:
    from opentelemetry.util.types import AttributeValue

__all__ = ["OpenTelemetryHooks"]


class OpenTelemetryHooks(Hooks):
    """Hooks that record a span for every attempt of a Client or an AsyncClient.

    If `tracer_provider` is None, the hooks use the global provider. Thread-safe.
    """

    def __init__(self, tracer_provider: trace.TracerProvider | None = None) -> None:
        self._tracer = trace.get_tracer("billcore", __version__, tracer_provider)

    def on_response(self, attempt: Attempt, /) -> None:
        """Record the attempt as a span."""
        end = time.time_ns()
        attributes: dict[str, AttributeValue] = {
            "http.request.method": attempt.method,
            "url.template": attempt.route,
            "billcore.attempt": attempt.attempt,
            "billcore.duration": attempt.duration,
            "billcore.sent": attempt.sent,
        }
        if attempt.attempt > 1:
            attributes["http.request.resend_count"] = attempt.attempt - 1
        if attempt.status is not None:
            attributes["http.response.status_code"] = attempt.status
        if attempt.request_id is not None:
            attributes["billcore.request_id"] = attempt.request_id
        if attempt.outcome_unknown:
            attributes["billcore.outcome_unknown"] = True
        failed = attempt.status is None or attempt.status >= 400
        if attempt.error in ("CancelledError", "KeyboardInterrupt"):
            attributes["billcore.given_up"] = True
            failed = attempt.outcome_unknown
        if failed:
            attributes["error.type"] = attempt.error or str(attempt.status)
        span = self._tracer.start_span(
            f"{attempt.method} {attempt.route}",
            kind=trace.SpanKind.CLIENT,
            attributes=attributes,
            start_time=end - int(attempt.duration * 1e9),
        )
        if failed:
            span.set_status(trace.Status(trace.StatusCode.ERROR))
        span.end(end)
