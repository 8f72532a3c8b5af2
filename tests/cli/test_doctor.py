"""`billcore doctor`: what it finds, what it advises, and its exit status; and that it prints no key and no secret."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Sandbox, SandboxAccount
from conformance.server import Reply, Request, ScriptedServer, json_reply
from conformance.test_tls import make_certificate, server_context
from faults.certificates import Certificates
from support.children import child_environment

from .support import billcore, environment

LIST = json_reply({"data": [], "pagination": {}})
SECRET = "0123456789abcdef" * 2
KEY = {"BILLCORE_API_KEY": "a-key-of-the-account"}


def examined(env: dict[str, str], *arguments: object) -> tuple[int, dict[str, dict[str, str]]]:
    """The exit status, and each check by its name."""
    done = billcore("", "doctor", "--json", *arguments, env=env)
    assert done.stderr == "", done
    for secret in (env.get("BILLCORE_API_KEY"), env.get("BILLCORE_WEBHOOK_SECRET"), "pass-word"):
        assert not secret or secret not in done.stdout
    return done.returncode, {each["check"]: each for each in map(json.loads, done.stdout.splitlines())}


def states(checks: dict[str, dict[str, str]]) -> dict[str, str]:
    return {name: each["state"] for name, each in checks.items()}


def test_all_is_well(account: SandboxAccount) -> None:
    """One GET tells all of it."""
    more = {"BILLCORE_SANDBOX_CONTROL": account.control_url, "BILLCORE_WEBHOOK_SECRET": SECRET}
    status, checks = examined(environment(account, **more))
    names = ("libraries", "address", "key", "proxy", "service", "http", "clock", "secret", "sandbox")
    assert (status, states(checks)) == (0, dict.fromkeys(names, "ok"))
    assert [each["operation"] for each in account.control.requests()] == ["products.list"]
    in_a_pipe = billcore(account, "doctor", new=True).stdout.splitlines()
    assert in_a_pipe[2] == "key\tok\tfrom BILLCORE_API_KEY, not shown\t" and len(in_a_pipe) == len(names) - 1


def test_a_clock_that_is_wrong(sandbox: Sandbox) -> None:
    account = sandbox.new_account()
    account.advance(days=3)
    status, checks = examined(environment(account))
    assert status == 0 and checks["clock"]["state"] == "warning"
    assert checks["clock"]["text"] == "this machine is 3 days behind the service" and "NTP" in checks["clock"]["todo"]


def test_something_is_not_set(tmp_path: Path) -> None:
    """Nothing is sent, and each line says what to set."""
    env = child_environment(XDG_CONFIG_HOME=str(tmp_path))
    status, checks = examined(env)
    assert status == 1 and "BILLCORE_BASE_URL" in checks["address"]["text"] and "service" not in checks
    assert "there is no profile absent" in examined(env, "--profile", "absent")[1]["address"]["text"]
    assert examined(env | KEY)[1]["address"]["text"] == "there is no address"
    with ScriptedServer(lambda _: LIST) as server:
        status, checks = examined({**env, "BILLCORE_BASE_URL": f"{server.url}/a"})
        assert (status, checks["service"]["state"], server.requests) == (1, "skipped", [])
        assert checks["key"]["text"] == "there is no API key" and "BILLCORE_API_KEY" in checks["key"]["todo"]
    with_line_end = examined({**env, "BILLCORE_BASE_URL": "https://a.invalid", "BILLCORE_API_KEY": "a-key-of-mine\n"})[
        1
    ]
    assert "a line end" in with_line_end["key"]["text"]


@pytest.mark.parametrize(
    ("reply", "todo"),
    [
        (Reply(401), "the key is wrong"),
        (json_reply({"error": {"code": "a", "message": "b"}}, 404), "the key is that of another account"),
        (Reply(302, {"Location": "https://elsewhere.example/"}), "the address redirects"),
        (Reply(503), "try again later"),
        (Reply(200, {"Content-Type": "text/html"}, b"<html>"), "this may be another server"),
        (Reply(raw=b"SSH-2.0-OpenSSH_9.2\r\n", ending="close"), "check the address"),
    ],
)
def test_a_service_that_refuses(reply: Reply, todo: str) -> None:
    with ScriptedServer(lambda _: reply) as server:
        status, checks = examined(environment(server.url) | KEY)
        assert server.connections == 1
    assert status == (5 if reply.raw else 1)
    assert checks["service"]["state"] == "failed" and todo in checks["service"]["todo"]


def test_nobody_is_there() -> None:
    """A dead service, a dead sandbox, and a proxy whose password is not printed."""
    more = {"BILLCORE_SANDBOX_CONTROL": "http://127.0.0.1:1/_sandbox", "BILLCORE_WEBHOOK_SECRET": f"{SECRET}\n"}
    status, checks = examined(environment("http://127.0.0.1:1", **more) | KEY)
    assert status == 5 and "no connection" in checks["service"]["text"]
    assert "no sandbox listens" in checks["sandbox"]["text"] and "ends with a line end" in checks["secret"]["todo"]
    env = environment("https://service.invalid", https_proxy="http://me:pass-word@127.0.0.1:1") | KEY
    status, checks = examined(env)
    assert status == 5 and checks["proxy"]["text"] == "http://127.0.0.1:1, from https_proxy"
    assert checks["tls"]["state"] == "skipped"
    assert examined({**env, "no_proxy": "example.org, .invalid"})[1]["proxy"]["text"] == "none"


def test_certificates(tmp_path: Path) -> None:
    """The end of a certificate is seen before and after; HTTP/2 is what both sides offer."""
    certificates = Certificates(tmp_path)

    def with_tls(context: Any, trusted: Path = certificates.bundle) -> tuple[int, dict[str, dict[str, str]]]:
        def answer(_: Request) -> Reply:
            return LIST

        with ScriptedServer(answer, tls=context) as server:
            return examined(environment(f"https://localhost:{server.port}", SSL_CERT_FILE=str(trusted)) | KEY)

    status, checks = with_tls(certificates.tls13)
    assert status == 0 and checks["tls"]["text"].startswith("TLSv1.3, certificate of authority for ")
    assert checks["http"]["text"] == "HTTP/1.1: the service does not offer HTTP/2"
    _, checks = with_tls(certificates.http2)
    assert checks["http"]["text"] in (
        "HTTP/2",
        "HTTP/1.1: the service offers HTTP/2, but this build of billcore does not",
    )
    for context, text, todo in (
        (certificates.expired, "certificate has expired", "renewed"),
        (certificates.not_yet, "not yet valid", "clock"),
        (certificates.other_host, "mismatch", "whose host is in the certificate"),
    ):
        status, checks = with_tls(context)
        assert status == 5 and text in checks["tls"]["text"] and todo in checks["tls"]["todo"]
    own = make_certificate(tmp_path, "localhost", of="DNS:localhost")  # for 2 days
    status, checks = with_tls(server_context(own))
    assert status == 5 and "SSL_CERT_FILE" in checks["tls"]["todo"]
    status, checks = with_tls(server_context(own), own)
    assert status == 0 and checks["tls"]["state"] == "warning" and "renew" in checks["tls"]["todo"]
