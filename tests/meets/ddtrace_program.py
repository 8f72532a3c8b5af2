"""A program whose attempts ddtrace records; prints its spans as JSON. python/docs/with/tracing.md shows a part of it.

Argument: a product. ddtrace takes DD_TRACE_OTEL_ENABLED from the environment.
"""

from __future__ import annotations

from ddtrace.opentelemetry import TracerProvider
from ddtrace.trace import tracer
from opentelemetry.trace import set_tracer_provider

import billcore
from billcore.otel import OpenTelemetryHooks

set_tracer_provider(TracerProvider())  # with DD_TRACE_OTEL_ENABLED=true
client = billcore.Client(hooks=OpenTelemetryHooks())


def read(product: int) -> billcore.Product:
    with tracer.trace("shop.read"):
        return client.products.get(product)


# end

if __name__ == "__main__":
    import json
    import sys
    from typing import Any

    from ddtrace.trace import TraceFilter

    spans: list[Any] = []

    class Keep(TraceFilter):  # type: ignore[misc, unused-ignore]
        def process_trace(self, trace: list[Any]) -> None:
            spans.extend(trace)

    tracer.configure(trace_processors=[Keep()])
    read(int(sys.argv[1]))
    names = {span.span_id: span.name for span in spans}
    print(json.dumps([[span.resource, names.get(span.parent_id), span.get_tag("http.status_code")] for span in spans]))
