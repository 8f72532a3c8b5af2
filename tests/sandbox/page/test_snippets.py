"""The snippets of a request make the same request again: they are run, and what the sandbox records is compared."""

from __future__ import annotations

import contextlib
import html
import http.client
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest

from billcore.testing import RequestRecord, Sandbox, SandboxAccount
from sandbox.page.support import Browser
from sandbox.support import Service
from sandbox.wire import Wire
from support.waiting import GENEROUS

NASTY = 'it\'s "$(touch pwned)" `x` \\ %0A 100% {}\n\ttwo © ‮'
# Each request as the client for Python and Go sends it with a method, or with request(): (method, path, body, call).
METHODS: list[tuple[str, str, Any, str]] = [
    ("POST", "/subscription/{s}/order", {"product_id": 1, "amount": 1500, "vat": 0, "description": NASTY}, ".charge("),
    ("POST", "/subscription/{s}/product", {"product_id": 2**62}, ".change_product("),
    ("POST", "/subscription/{s}/cancel", None, ".cancel("),
    ("GET", "/subscriptions?page=1&filter%5Breference_id%5D=a%20b%26%27c", None, ".list("),
    ("GET", "/subscription/{s}/orders?page=1&per_page=2&filter%5Bstate%5D=paid%2Cconfirmed", None, ".orders("),
    ("GET", "/subscription/a%2Fb%27%22%24x", None, ".get("),
    ("POST", "/product/{p}", {"name": NASTY, "price": -5}, ".update("),
    ("DELETE", "/product/1", None, ".delete("),
    ("POST", "/webhooks/endpoints", {"url": "http://127.0.0.1:9/'$(x)"}, ".create("),
    ("POST", "/product/{p}", {"name": None, "x": [1.5, {"y": NASTY}], "big": 2**63}, ".request("),
    ("GET", "/subscriptions?filter%5Breference_id%5D=x", None, ".request("),
    ("GET", "/product/nope?a=%27%22%60&a=%24%28x%29&e=", None, ".request("),
    ("POST", "/subscription/{s}/order", {"product_id": True}, ".request("),
]
# What no client sends: (method, path, body, Content-Type).
ONLY_CURL = [
    ("POST", "/subscription/1/order", b'{"a": 1, "a": 1e999}', "application/json"),
    ("POST", "/subscription/1/order", b"\xff\x00'\r\n", "application/json"),
    ("POST", "/subscription/1/order", b"@/etc/passwd $(touch pwned)'\n `x` %0A", "text/x'y"),
    ("POST", "/subscription/1/order", "'‮\r".encode(), "text/x"),
    ("PUT", "/a?[1-2]={1,2}&y=!'*", b"\xff", "application/json"),
    ("PUT", "/a/../b", b"[" * 30 + b"]" * 30, "application/json"),
    ("POST", "/products", json.dumps(["x" * 5000]).encode(), "application/json"),
]


def snippets(mine: SandboxAccount, number: int) -> dict[str, str]:
    page = Browser(Service(mine.accounts[0])).get(f"/?open=request-{number}")
    assert mine.api_key not in page and "⟨U+" not in page.partition('id="as-curl"')[2]
    return {
        name: html.unescape(text) for name, text in re.findall(r'<pre id="text-(\w+)"[^>]*>(.*?)</pre>', page, re.S)
    }


def sent(mine: SandboxAccount, method: str, path: str, raw: bytes | None, kind: str = "") -> RequestRecord:
    ids = {"s": mine.ids["subscriptions"]["demo-active"], "p": mine.ids["products"]["one_time"]}
    for name, value in ids.items():
        path = path.replace(f"{{{name}}}", str(value))
    Service(mine.accounts[0]).send(method, path, raw=raw, headers={"Content-Type": kind} if raw is not None else {})
    return mine.control.requests()[-1]


def same(first: RequestRecord, again: RequestRecord) -> None:
    """Fails unless the requests have the same method, target and body; JSON and queries may be written otherwise."""

    def told(record: RequestRecord) -> tuple[object, ...]:
        path, _, query = record["target"].partition("?")
        body: object = record["body"]
        with contextlib.suppress(ValueError):
            body = json.loads(record["body"])
        return record["method"], path, sorted(parse_qsl(query, keep_blank_values=True)), body

    assert told(again) == told(first) and again["id"] > first["id"]


def run(mine: SandboxAccount, folder: Path, *command: str, limit: float = GENEROUS) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "BILLCORE_API_KEY": mine.api_key, "NO_PROXY": "*"}
    environment["PYTHONPATH"] = os.pathsep.join(str(Path(each).resolve()) for each in sys.path if each)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=limit)


def test_curl_and_python_make_the_request_again(mine: SandboxAccount, tmp_path: Path) -> None:
    for method, path, body, call in METHODS:
        first = sent(mine, method, path, None if body is None else json.dumps(body).encode(), "application/json")
        made = snippets(mine, first["id"])
        assert call in made["python"]
        for name, command in (("curl", ["bash", "-c"]), ("python", [sys.executable, "-c"])):
            done = run(mine, tmp_path, *command, made[name])
            assert name == "python" or done.returncode == 0, done.stderr
            again = mine.control.requests()[-1]
            same(first, again)
            assert again["status"] != 401, "the key was not sent"
    for method, path, raw, kind in ONLY_CURL:
        first = sent(mine, method, path, raw, kind)
        made = snippets(mine, first["id"])
        assert {*made} == {"curl"}
        assert run(mine, tmp_path, "bash", "-c", made["curl"]).returncode == 0
        again = mine.control.requests()[-1]
        assert [again[each] for each in ("method", "target", "body")] == [
            first[each] for each in ("method", "target", "body")
        ]
        assert ["Content-Type", kind] in again["headers"]
    assert not [*tmp_path.glob("pwned")]


def test_go_is_compiled(mine: SandboxAccount, tmp_path: Path) -> None:
    gofmt, go = shutil.which("gofmt"), shutil.which("go")
    if gofmt is None:
        pytest.skip("gofmt is not installed")
    firsts = []
    for at, (method, path, body, _) in enumerate(METHODS):
        first = sent(mine, method, path, None if body is None else json.dumps(body).encode(), "application/json")
        firsts.append(first)
        (tmp_path / f"s{at}").mkdir()
        (tmp_path / f"s{at}" / "main.go").write_text(snippets(mine, first["id"])["go"], encoding="utf-8")
    done = run(mine, tmp_path, gofmt, "-l", "-e", ".")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    if go is None or subprocess.run(["pkg-config", "--exists", "billcore"], check=False).returncode:
        return  # the C libraries, which the module needs, are not installed
    # All snippets become packages of one program, because linking takes most of the time.
    for at in range(len(firsts)):
        file = tmp_path / f"s{at}" / "main.go"
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace("package main\n", f"package s{at}\n").replace("func main()", "func Main()"))
    imports = "".join(f'import "snippets/s{at}"\n' for at in range(len(firsts)))
    cases = "".join(f'"{at}": s{at}.Main, ' for at in range(len(firsts)))
    main = f'package main\nimport "os"\n{imports}func main() {{ map[string]func(){{{cases}}}[os.Args[1]]() }}\n'
    (tmp_path / "main.go").write_text(main, encoding="utf-8")
    (tmp_path / "go.mod").write_text("module snippets\n\ngo 1.23\n", encoding="utf-8")
    uses = "".join(f"use {path.parent}\n" for path in (Path(__file__).parents[3] / "capi/go").rglob("go.mod"))
    (tmp_path / "go.work").write_text(f"go 1.23\nuse .\n{uses}", "utf-8")
    done = run(mine, tmp_path, go, "build", "-buildvcs=false", "-o", "all", ".", limit=20 * GENEROUS)
    assert done.returncode == 0, done.stderr
    for at, first in enumerate(firsts):
        run(mine, tmp_path, str(tmp_path / "all"), str(at))
        same(first, mine.control.requests()[-1])


def test_the_tests_pass(process: Sandbox, mine: SandboxAccount, tmp_path: Path) -> None:
    charge: dict[str, Any] = {"product_id": mine.ids["products"]["one_time"], "amount": 1500}
    kinds: list[dict[str, Any]] = [
        {"kind": "status", "status": 504, "effect": True},
        {"kind": "status"},
        {"kind": "reset_after"},
        {"kind": "half_body"},
        {"kind": "wrong_length", "by": 7},
        {"kind": "delay", "delay": 0.2},
    ]
    made: dict[str, RequestRecord] = {}
    mine.control.fault("delay", operation="charge", delay=0.3)
    with Wire(Service(mine.accounts[0])) as wire:
        wire.charge()  # the client does not wait for the answer
    made["lost"] = mine.requests("charge")[-1]
    for fault in [*kinds, None]:
        if fault is not None:
            mine.control.fault(operation="charge", **fault)
        with contextlib.suppress(OSError, http.client.HTTPException):
            Service(mine.accounts[0]).post(f"/subscription/{mine.ids['subscriptions']['demo-active']}/order", charge)
        made[f"charge_{len(made)}"] = mine.requests("charge", count=len(made) + 1)[-1]
    wrong = {"X-API-KEY": "wrong"}
    calls: list[tuple[str, str, Any, dict[str, str]]] = [
        ("POST", "/subscription/{d}/order", charge, {}),
        ("POST", "/subscription/{s}/order", {**charge, "quantty": 1}, {}),
        ("GET", "/subscription/{s}/orders?page=1", None, {}),
        ("GET", f"/subscription/{Service(process.accounts[0]).subscription('demo-active')['id']}", None, {}),
        ("GET", "/products?page=1", None, wrong),
        ("GET", "/order/{o}", None, {}),
        ("POST", "/product/{p}", {"name": 5}, {}),
    ]
    ids = {"s": mine.ids["subscriptions"]["demo-active"], "d": mine.ids["subscriptions"]["demo-declined"]}
    ids |= {"p": charge["product_id"], "o": mine.trigger("charge")["order"]["id"]}
    for method, path, body, headers in calls:
        raw = None if body is None else json.dumps(body).encode()
        Service(mine.accounts[0]).send(
            method, re.sub(r"\{(.)\}", lambda found: str(ids[found[1]]), path), raw=raw, headers=headers
        )
        made[f"call_{len(made)}"] = mine.control.requests()[-1]
    for name, record in made.items():
        (tmp_path / f"test_{name}.py").write_text(snippets(mine, record["id"])["pytest"], encoding="utf-8")
    done = run(
        mine,
        tmp_path,
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "billcore._pytest_plugin",
        ".",
    )
    assert done.returncode == 0 and f"{len(made)} passed" in done.stdout, done.stdout
