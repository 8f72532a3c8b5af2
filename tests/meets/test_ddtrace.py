"""ddtrace as the provider of billcore's OpenTelemetry hooks: an attempt is a child of the span of its call."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from billcore.testing import SandboxAccount


def test_an_attempt_is_a_span_of_ddtrace(billcore_sandbox: SandboxAccount) -> None:
    own = {"BILLCORE_BASE_URL": billcore_sandbox.base_url, "BILLCORE_API_KEY": billcore_sandbox.api_key}
    own |= {"DD_TRACE_OTEL_ENABLED": "true", "DD_INSTRUMENTATION_TELEMETRY_ENABLED": "false"}
    environment = {**os.environ, **own, "PYTHONPATH": os.pathsep.join(sys.path)}
    product = str(billcore_sandbox.ids["products"]["one_time"])
    command = [sys.executable, "-m", "meets.ddtrace_program", product]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert sorted(found) == [["GET /product/{id}", "shop.read", "200"], ["shop.read", None, None]]
