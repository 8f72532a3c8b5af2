"""Tests host names that do not resolve or are invalid."""

from __future__ import annotations

from typing import Any

import pytest

from .drivers import Driver
from .test_tls import GET, POST

CALLS = {"get": GET, "charge": POST}


def _error(driver: Driver, call: str, base_url: str, **more: Any) -> dict[str, Any]:
    client = {"base_url": base_url, "api_key": "key_of_names", "timeout": 60, "max_retries": 0, **more}
    error = driver.run({**CALLS[call], "client": client})["error"]
    assert "\n" not in error["message"] and not error.get("outcome_unknown")
    return dict(error)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("host", ["billing.invalid", "xn--bcher-kva.invalid", "a_b.invalid", "1.2.3.4.invalid"])
def test_a_host_that_is_not_there(driver: Driver, host: str, call: str) -> None:
    error = _error(driver, call, f"https://{host}/acct", proxy="")
    assert error["class"] == "ConnectionError"
    assert f"the host name was not found (Could not resolve host: {host})" in error["message"]
    assert "check base_url" in error["message"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("scheme", ["http", "https", "socks5h"])
def test_a_proxy_that_is_not_there(driver: Driver, scheme: str, call: str) -> None:
    error = _error(driver, call, "https://billing.invalid/acct", proxy=f"{scheme}://user:s3cret@proxy.invalid:1")
    assert error["class"] == "ConnectionError" and "proxy.invalid" in error["message"]
    assert "check base_url, proxy and DNS" in error["message"] and "s3cret" not in str(error)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("length", [64, 300])
def test_a_name_that_is_too_long(driver: Driver, length: int, call: str) -> None:
    error = _error(driver, call, f"https://{'a' * length}.invalid/acct", proxy="")
    assert error["class"] == "ConnectionError"


@pytest.mark.parametrize(
    "host",
    [
        "bad host",
        "bad%20host",
        "bücher.invalid",
        "b%C3%BCcher.invalid",
        "例え.invalid",
        "[::zz]",
        "[::1",
        "a\tb",
        ":443",
    ],
)
def test_an_impossible_host_is_a_config_error(driver: Driver, host: str) -> None:
    for call in CALLS:
        error = _error(driver, call, f"https://{host}/acct", proxy="")
        assert error["class"] == "ConfigError" and error["message"].startswith("base_url ")
