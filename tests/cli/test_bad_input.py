"""Input that commands cannot use: each time one line that says what was wrong and what to do, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from billcore.testing import SandboxAccount
from conformance.server import Reply, ScriptedServer, closed_port

from .support import billcore, environment, refused


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "required: COMMAND"),
        (["subscription", "list"], "did you mean subscriptions?"),
        (["\x1b[31m"], r"'\x1b[31m'"),
        (["subscriptions"], "required: ACTION"),
        (["subscriptions", "lst"], "lst"),
        (["subscriptions", "get"], "pass one id"),
        (["subscriptions", "get", ""], "pass one id"),
        (["subscriptions", "list", "--limit", "0"], "whole number from 1"),
        (["subscriptions", "list", "--limit", "²"], "whole number from 1"),
        (["subscriptions", "list", "--limit", "1", "--all"], "not allowed with"),
        (["subscriptions", "list", "--fields", "id,,x"], "there is no field ''"),
        (["subscriptions", "cancel", "1", "--fields", "x", "--y"], "unrecognized arguments: --y"),
        (["orders", "1", "--state", "pay"], "states: created, "),
        (["products", "get", "x"], "invalid int value"),
        (["products", "update", "1"], "name what to change"),
        (["products", "update", "1", "--set", "name=Tea"], """'name="Tea"'"""),
        (["products", "update", "1", "--vat-rate", "x"], "invalid number value"),
        (["products", "update", "99999999999999999999", "--price", "1"], "id"),
        (["find-charges", "1", "--since", "soon"], "invalid time value"),
        (["find-charges", "1", "--since", "99999999999999d"], "invalid time value"),
        (["find-charges", "1", "--since", ""], "invalid time value"),
        (["request", "TRACE", "/x"], "invalid choice"),
        (["subscriptions", "list", "--status", "secret"], "subscriptions list: unrecognized arguments: --status (see"),
        (["profile", "add", "x", "--base-url=http://127.0.0.1:1/a", "--api-key=secret"], "arguments: --api-key (see"),
        (["profile", "add", "x", "--base-url=http://127.0.0.1:1/a", "secret"], "1 more than"),
        (["request", "GET", "x"], "begins with a slash"),
        (["request", "POST", "/x", "--data", "x.json"], "--data is not JSON (a file is --data @FILE)"),
        (["request", "POST", "/x", "--data", "[" * 100_000], "--data is not JSON"),
        (["products", "update", "1", "--set", f"name={'[' * 100_000}"], "is not FIELD=JSON"),
        (["request", "POST", "/x", "--data", "@none.json"], "none.json cannot be read"),
        (["request", "POST", "/x", "--data", "@/dev/stdin"], "is not UTF-8"),
        (["endpoints", "create", "http://x/\n"], "url"),
        (["completion", "csh"], "invalid choice"),
        (["orders", "1", "--base-url", ""], "--base-url is empty"),
        (["orders", "1", "--base-url", "https://me:secret@x.example/a"], "must not contain a user name"),
        (["orders", "1", "--api-key-file", "none"], "none cannot be read"),
        (["orders", "1", "--api-key-file", "/dev/null"], "is empty"),
        (["orders", "1", "--profile", "none"], "no profile none"),
    ],
)
def test_a_wrong_command_line(arguments: list[str], text: str, tmp_path: Path) -> None:
    variables = environment("http://127.0.0.1:1", XDG_CONFIG_HOME=str(tmp_path))
    new = "@/dev/stdin" in arguments
    done = billcore("", *arguments, env=variables, input=b"\xff\xfe{\0}\0", text=False, cwd=tmp_path, new=new)  # UTF-16
    error = done.stderr.decode()
    assert (done.returncode, done.stdout) == (2, b"") and text in error, done
    assert error.count("\n") == 1 and "secret" not in error, error


def test_bytes_that_are_not_utf_8() -> None:
    command = [sys.executable.encode(), b"-m", b"billcore", b"subscriptions", b"get", b"\xff\xfe"]
    done = subprocess.run(command, env=environment("http://127.0.0.1:1"), capture_output=True)
    assert done.returncode == 2 and done.stderr.count(b"\n") == 1 and b"Traceback" not in done.stderr, done


def test_a_service_that_cannot_be_used(account: SandboxAccount) -> None:
    wrong_key = {**environment(account), "BILLCORE_API_KEY": "not-the-key"}
    assert " 401 " in refused(account, 1, "products", "list", env=wrong_key)
    assert " 404 " in refused(account, 1, "subscriptions", "get", "none")
    assert refused(f"http://127.0.0.1:{closed_port()}", 5, "products", "list")
    assert refused("https://no-such-host.invalid", 5, "products", "list")
    assert "must be http" not in refused(account, 2, "products", "list", "--base-url", "ftp://x.example/a")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body=b"<html>"),
        Reply(body=b'{"data": 5}'),
        Reply(body=b'{"data": {"id": "\\ud800"}}'),
        Reply(body=b'{"data": {"id": "\xff"}}'),
        Reply(body=b"[" * 10_000_000),
    ],
    ids=["html", "wrong", "surrogate", "not-utf-8", "10-MB"],
)
def test_an_answer_that_cannot_be_read(reply: Reply) -> None:
    with ScriptedServer(lambda _: reply) as server:
        for arguments in (["subscriptions", "get", "x"], ["products", "list"]):
            assert len(refused(server.url, 1, *arguments)) < 1000
        for arguments, statuses in (
            (["subscriptions", "cancel", "x"], (1, 4)),
            (["endpoints", "create", "http://x"], (0,)),
        ):
            written = billcore(server.url, *arguments)
            assert written.returncode in statuses and "Traceback" not in written.stderr, written


def test_10_mb_bodies(tmp_path: Path) -> None:
    (tmp_path / "body.json").write_text(f'["{"x" * 10_000_000}"]', "utf-8")
    with ScriptedServer(lambda _: Reply(body=b"y" * 10_000_000)) as server:
        done = billcore(server.url, "request", "POST", "/x", "--data", f"@{tmp_path}/body.json", text=False)
        assert (done.returncode, len(done.stdout), done.stderr) == (0, 10_000_000, b"")
        assert len(server.requests[0].body) == 10_000_004


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_closed_streams(account: SandboxAccount, closed: str) -> None:
    """A command still does its work, and ends with its status."""
    product = account.ids["products"]["one_time"]
    for arguments, status in ((f"products delete {product}", 0), (f"products get {product}", 1)):
        command = f"{sys.executable} -m billcore {arguments} {closed}"
        done = subprocess.run(["bash", "-c", command], env=environment(account), capture_output=True, text=True)
        assert done.returncode == status and "Traceback" not in done.stderr, done
        assert status == 0 or done.stdout == ""


def test_ascii() -> None:
    """Help and completion are printed in a locale without Unicode too."""
    variables = environment("http://127.0.0.1:1", LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    for arguments in (["--help"], ["completion", "bash"]):
        done = billcore("", *arguments, env=variables)
        assert done.stderr == "" or "shtab" in done.stderr, done


def test_a_full_disk(account: SandboxAccount) -> None:
    with open("/dev/full", "w") as full:
        for arguments in (["products", "list"], ["request", "GET", "/products"]):
            done = billcore(account, *arguments, stdout=full, stderr=subprocess.PIPE)
            assert done.returncode == 1 and "No space left" in done.stderr and done.stderr.count("\n") == 1, done


def test_the_status_of_an_error_that_cannot_be_shown() -> None:
    with open("/dev/full", "w") as full, ScriptedServer(lambda _: Reply(status=503)) as server:
        done = billcore(server.url, "subscriptions", "cancel", "x", stdout=subprocess.PIPE, stderr=full)
        assert done.returncode == 4


def test_the_key_is_not_shown(account: SandboxAccount) -> None:
    """Neither in an error nor in the log, nor may it be an argument."""
    logged = {**environment(account), "BILLCORE_LOG": "debug"}
    done = billcore(account, "products", "list", env=logged)
    assert done.returncode == 0 and account.api_key not in done.stdout + done.stderr
    assert "unrecognized" in refused(account, 2, "products", "list", "--api-key", "x")
    assert os.environ.get("BILLCORE_API_KEY") != account.api_key
