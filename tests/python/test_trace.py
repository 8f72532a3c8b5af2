"""libcurl's trace, which only debug builds can print, hides the API key and the bodies."""

from __future__ import annotations

from .conftest import Serve
from .support import ACCOUNT, API_KEY, ORDER, SANITIZED, data, run_program

CODE = """
import sys, billcore
billcore.Client(base_url=sys.argv[1], api_key=sys.argv[2]).subscriptions.charge("s", product_id=1, amount=17)
"""


def test_the_trace_needs_its_variable_and_shows_no_data(serve: Serve) -> None:
    server, _ = serve([data(ORDER)] * 2)
    url = f"http://127.0.0.1:{server.port}{ACCOUNT}"
    assert run_program(CODE, url, API_KEY).stderr == ""
    traced = run_program(CODE, url, API_KEY, BILLCORE_TRACE="1")
    assert traced.returncode == 0 and traced.stdout == ""
    assert API_KEY not in traced.stderr and "amount" not in traced.stderr and "ord_1" not in traced.stderr
    if SANITIZED:  # only the modules of the preset dev contain the trace
        assert f"> POST {ACCOUNT}/subscription/s/order HTTP/1.1\n" in traced.stderr
        assert "> X-API-KEY: (hidden)\n" in traced.stderr and "< HTTP/1.1 200" in traced.stderr
    else:
        assert traced.stderr == ""
