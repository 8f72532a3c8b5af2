"""What Sentry sends of a charge that failed: neither the API key nor a portal URL, but what the hooks record."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from typing import Any

import pytest

from billcore.testing import SandboxAccount
from conformance.server import Reply, ScriptedServer


def report(account: SandboxAccount, *options: str) -> Any:
    """What Sentry sends when the program has run."""
    account.control.fault("reset_after", operation="charge")
    own = {"BILLCORE_BASE_URL": account.base_url, "BILLCORE_API_KEY": account.api_key}
    environment = {**os.environ, **own, "PYTHONPATH": os.pathsep.join(sys.path)}
    ids = account.ids
    given = [ids["subscriptions"]["demo-active"], str(ids["products"]["one_time"]), *options]
    with ScriptedServer(lambda _: Reply()) as server:
        command = [sys.executable, "-m", "meets.sentry_program", f"http://public@127.0.0.1:{server.port}/1", *given]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    (request,) = server.requests
    _envelope, _item, event = gzip.decompress(request.body).splitlines()[:3]
    return json.loads(event)


def test_a_report_has_no_secret(billcore_sandbox: SandboxAccount) -> None:
    event = report(billcore_sandbox)
    text = json.dumps(event)
    assert billcore_sandbox.api_key not in text and "signature=" not in text
    *_causes, error = event["exception"]["values"]
    assert error["type"] == "OutcomeUnknownError" and event["tags"] == {"outcome_unknown": "True"}
    variables = error["stacktrace"]["frames"][-1]["vars"]
    assert variables["client"].startswith("<Client ") and variables["found"].startswith("<Subscription ")
    assert variables["api_key"] == "[Filtered]"
    read, charge = event["breadcrumbs"]["values"]
    assert (read["message"], read["data"]["status"]) == ("GET /subscription/{id}", 200)
    assert charge["data"] == {"status": None, "error": "ConnectionError", "outcome_unknown": True}


@pytest.mark.parametrize("place", ["name", "nested"])
def test_a_key_elsewhere_is_sent(billcore_sandbox: SandboxAccount, place: str) -> None:
    """Sentry's default scrubber looks at the names of variables, and not into a dict."""
    assert billcore_sandbox.api_key in json.dumps(report(billcore_sandbox, place))
    assert billcore_sandbox.api_key not in json.dumps(report(billcore_sandbox, place, "without_locals"))
