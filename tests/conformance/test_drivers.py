"""Tests drivers.py with small programs instead of the compiled drivers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from .drivers import Driver, ProgramDriver, ThreadDriver, make_driver

ECHO = """
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    if request["op"] == "die":
        print("last words", file=sys.stderr)
        os._exit(70)
    if request["op"] == "noise":
        print("not json", flush=True)
    else:
        print(json.dumps({"ok": {"request": request, "raw": line, "names": sorted(os.environ)}}), flush=True)
sys.exit(int(os.environ.get("EXIT_STATUS", "0")))
"""


def _program(folder: Path, text: str = ECHO) -> ProgramDriver:
    path = folder / "driver"
    path.write_text(f"#!{sys.executable}\n{text}", "utf-8")
    path.chmod(0o755)
    return ProgramDriver(path)


def test_requests_and_replies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("BILLCORE_API_KEY", "BILLCORE_BASE_URL", "HTTPS_PROXY", "http_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "x")
    driver = _program(tmp_path)
    for n in range(3):
        request = {"op": "x", "args": {"n": n, "text": "å\0\n"}}
        reply = driver.run(request)["ok"]
        assert reply["request"] == request and reply["raw"].startswith('{"op":"x","args":{"n":') and "å" in reply["raw"]
        assert not any("BILLCORE" in name or "proxy" in name.lower() for name in reply["names"])
    driver.close()


def test_a_large_request(tmp_path: Path) -> None:
    driver = _program(tmp_path)
    assert driver.run({"op": "x", "args": "x" * (6 << 20)})["ok"]["request"]["args"] == "x" * (6 << 20)
    driver.close()


def test_a_crash_is_reported_and_the_next_call_works(tmp_path: Path) -> None:
    driver = _program(tmp_path)
    with pytest.raises(AssertionError, match=r"(?s)status 70 during .*last words"):
        driver.run({"op": "die"})
    assert "ok" in driver.run({"op": "x"})
    driver.close()


def test_a_reply_that_is_not_json_is_an_error(tmp_path: Path) -> None:
    driver = _program(tmp_path)
    with pytest.raises(ValueError, match="Expecting value"):
        driver.run({"op": "noise"})
    driver.close()


def test_the_status_at_the_end_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXIT_STATUS", "23")
    driver = _program(tmp_path)
    driver.run({"op": "x"})
    with pytest.raises(AssertionError, match="status 23"):
        driver.close()


def test_a_driver_that_is_missing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for language, variable in (("cpp", "BILLCORE_CPP_DRIVER"), ("c", "BILLCORE_C_DRIVER")):
        monkeypatch.delenv(variable, raising=False)
        with pytest.raises(RuntimeError, match=f"{variable} is not set"):
            make_driver(language)
        monkeypatch.setenv(variable, str(tmp_path / "nothing"))
        with pytest.raises(RuntimeError, match=f"{variable} names no program"):
            make_driver(language)


def test_errors_leave_the_thread() -> None:
    class Failing:
        def run(self, request: dict[str, Any]) -> dict[str, Any]:
            raise KeyError("inside")

        def close(self) -> None: ...

    driver: Driver = ThreadDriver(Failing())
    with pytest.raises(KeyError, match="inside"):
        driver.run({})
