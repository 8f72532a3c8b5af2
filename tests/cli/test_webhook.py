"""`billcore webhook`: verify, explain, sign and send, with exact bytes, and each bad input as one sentence."""

from __future__ import annotations

import hashlib
import hmac
import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.server import Reply, ScriptedServer
from support.children import child_environment

from .support import billcore, printed, refused

SECRET, OTHER = "0123456789abcdef" * 2, "fedcba9876543210" * 2
ODD = b'\xff{"name":"test.hook"}\r\n\x00'  # not UTF-8, and with bytes that text modes change
HERE = "http://127.0.0.1:1"  # the commands reach no service


def signature(body: bytes, secret: str = SECRET) -> str:
    """Made without billcore."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with a body, with secrets, and with what is none."""
    for name, data in {
        "body": ODD,
        "secret": SECRET.encode(),
        "other": OTHER.encode(),
        "with-line-end": f"{SECRET}\n".encode(),
        "empty": b"",
        "large": b"x" * 10_000_000,
    }.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def test_verify(files: Path) -> None:
    right = ("webhook", "verify", "--signature", signature(ODD))
    old = ("--secret-file", files / "other", "--secret-file", files / "secret")
    assert printed(HERE, *right, *old, files / "body", new=True) == "the signature is right: secret 2 of 2\n"
    env = child_environment(BILLCORE_WEBHOOK_SECRET=SECRET)
    done = billcore(HERE, *right, "-", "--json", env=env, input=ODD, text=False)
    assert json.loads(done.stdout) == {"verified": True, "reason": None, "secret_index": 0}
    changed = billcore(HERE, *right, "-", "--json", env=env, input=ODD.replace(b"\r\n", b"\n"), text=False)
    assert (changed.returncode, json.loads(changed.stdout)["reason"]) == (1, "mismatch")
    assert refused(HERE, 1, *right, "--secret-file", files / "other", files / "body").startswith(
        "billcore webhook: mismatch: no secret gives this signature"
    )


def test_explain_names_the_mistake_and_shows_no_secret(files: Path) -> None:
    env = child_environment(BILLCORE_WEBHOOK_SECRET=f"{SECRET}\n")
    done = billcore(HERE, "webhook", "explain", "--signature", signature(ODD), files / "body", env=env, new=True)
    assert done.returncode == 1 and "a line end" in done.stdout and "strip it" in done.stdout
    wrong = billcore(HERE, "webhook", "explain", "--signature", "0" * 64, "-", input="{}", env=env)
    assert wrong.returncode == 1 and "No cause found" in wrong.stdout
    for shown in (done, wrong):
        assert SECRET not in shown.stdout + shown.stderr
    assert signature(b"{}") not in wrong.stdout
    as_json = billcore(HERE, "webhook", "explain", "--json", "--signature", "x", "-", input="{}", env=env)
    assert as_json.returncode == 1 and json.loads(as_json.stdout)["explanation"].startswith("Nothing to compare")


def test_sign_and_send(files: Path) -> None:
    """The receiver gets the bytes of the file, and the signature that the service would send."""
    env = child_environment(BILLCORE_WEBHOOK_SECRET=SECRET)
    assert printed(HERE, "webhook", "sign", files / "body", env=env, new=True) == f"{signature(ODD)}\n"
    with ScriptedServer(
        [Reply(204), Reply(500, body=b"no\x1b[2J\ntable"), Reply(), Reply(ending="hang", raw=b"")]
    ) as at:
        send = ("webhook", "send", f"{at.url}/hook?a=b")
        assert printed(HERE, *send, "--file", files / "body", env=env, new=True).startswith("204  ")
        broken = billcore(HERE, *send, "--event", "order.paid", env=env)
        assert broken.returncode == 1 and broken.stdout.endswith("  no\\x1b[2J table\n"), broken
        assert json.loads(printed(HERE, *send, "--json", env=env))["status"] == 200
        silent = refused(HERE, 4, *send, "--timeout", "0.5", env=env)
        assert "may or may not have handled" in silent and "did not answer within 0.5 s" in silent
        first, sample, default, _ = at.requests
    assert (first.body, first.target, first.header("Service-Signature")) == (ODD, "/hook?a=b", signature(ODD))
    assert json.loads(sample.body)["name"] == "order.paid" and json.loads(default.body)["name"] == "test.hook"
    assert sample.header("Service-Signature") == signature(sample.body)
    assert "no receiver was reached" in refused(HERE, 5, *send, env=env)


def test_dry_run_prints_what_would_be_sent(files: Path) -> None:
    env = child_environment(BILLCORE_WEBHOOK_SECRET=SECRET)
    done = billcore(HERE, "webhook", "send", HERE, "--file", files / "body", "--dry-run", env=env, text=False)
    assert (done.stdout, done.stderr.decode()) == (ODD, f"Service-Signature: {signature(ODD)}\n")


def test_another_host_needs_consent() -> None:
    env = child_environment(BILLCORE_WEBHOOK_SECRET=SECRET)
    line = refused(HERE, 2, "webhook", "send", "http://receiver.invalid/", env=env)
    assert "--yes" in line and "receiver.invalid" in line
    assert "no receiver was reached" in refused(
        HERE, 5, "webhook", "send", "http://receiver.invalid/", "--yes", env=env
    )


@pytest.mark.parametrize(
    ("status", "arguments", "text"),
    [
        (2, ["verify", "--signature", "x", "body"], "there is no secret"),
        (2, ["verify", "--signature", "x", "--secret-file", "with-line-end", "body"], "ends with a line end"),
        (2, ["verify", "--signature", "x", "--secret-file", "empty", "body"], "has no bytes, not 32"),
        (2, ["verify", "--signature", "x", "--secret-file", "large", "body"], "has too many bytes, not 32"),
        (2, ["verify", "--signature", "x", "--secret-file", ".", "body"], "cannot be read: Is a directory"),
        (2, ["verify", "--signature", "x", "--secret-file", "absent", "body"], "cannot be read: No such file"),
        (2, ["verify", "--signature", "x", "--secret-file", "secret", "--max-body", "0", "body"], "number of bytes"),
        (1, ["verify", "--signature", "é", "--secret-file", "secret", "body"], "malformed"),
        (1, ["verify", "--signature", "", "--secret-file", "secret", "body"], "malformed"),
        (1, ["verify", "--signature", "x", "--secret-file", "secret", "absent"], "absent cannot be read"),
        (1, ["verify", "--signature", "x", "--secret-file", "secret", "large"], "body_too_large"),
        (1, ["verify", "--signature", "x", "--secret-file", "secret", "a\nb"], r"a\nb cannot be read"),
        (2, ["sign", "body", "--secret-file", "secret", "--secret-file", "other"], "one secret"),
        (2, ["send", HERE, "--secret-file", "with-line-end"], "ends with a line end"),
        (2, ["send", HERE, "--secret-file", "secret", "--event", "order.payed"], "'order.payed' is not an event"),
        (2, ["send", HERE, "--secret-file", "secret", "--event", "a", "--file", "body"], "not allowed with"),
        (2, ["send", HERE, "--secret-file", "secret", "--header", "a: b"], "--header"),
        (2, ["send", "ftp://127.0.0.1/", "--secret-file", "secret"], "URL must be a URL"),
        (2, ["send", "http://u:p@127.0.0.1/", "--secret-file", "secret"], "a user name or a password"),
        (2, ["send", "http://127.0.0.1:99999/", "--secret-file", "secret"], "is not a URL"),
        (2, ["send", "http://127.0.0.1/a b", "--secret-file", "secret"], "URL must be a URL"),
    ],
)
def test_bad_input(files: Path, status: int, arguments: list[str], text: str) -> None:
    """One sentence each, without the secret and without a traceback."""
    line = refused(HERE, status, "webhook", *arguments, cwd=files, env=child_environment())
    assert text in line and SECRET not in line and line.startswith("billcore webhook")


def test_stdin_is_closed(files: Path) -> None:
    arguments = ("webhook", "verify", "--signature", "x" * 64, "--secret-file", files / "secret", "-")
    assert "malformed" in refused(HERE, 1, *arguments, preexec_fn=lambda: __import__("os").close(0))


def test_verify_imports_only_what_it_needs(files: Path) -> None:
    """It starts fast for a hook of a shell: no client, no event loop, no network, no JSON."""
    code = "import sys; from billcore.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    command = [sys.executable, "-c", code, "webhook", "verify", "--signature", signature(ODD)]
    command += ["--secret-file", str(files / "secret"), str(files / "body")]
    modules = subprocess.run(
        command, env=child_environment(), capture_output=True, text=True, check=True
    ).stdout.split()
    slow = {"asyncio", "billcore._client", "datetime", "http", "inspect", "json", "logging", "socket", "ssl", "typing"}
    assert "billcore._webhook" in modules and sorted(slow & set(modules)) == []
