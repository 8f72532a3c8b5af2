"""Snippets that make a recorded request again. No API key is in a snippet: each reads BILLCORE_API_KEY."""

from __future__ import annotations

import json
import re
import shlex
import sqlite3
from pprint import pformat
from typing import Any, NamedTuple

from billcore_sandbox.page.render import visible
from billcore_sandbox.page.request import PageRequest
from billcore_sandbox.page.views.sent import LISTS, MOST_INLINE, NONE, Parameter, Sent, read
from billcore_sandbox.page.views.shown import raw_url
from billcore_sandbox.store import Store

# Headers that curl sends itself, or that belong to the connection, and those whose value is a key.
_OWN_HEADERS = (
    *("host", "content-length", "transfer-encoding", "connection", "accept", "accept-encoding", "user-agent", "expect"),
    *("x-api-key", "authorization", "proxy-authorization", "cookie"),
)
_GO = """package main

import (
\t"context"
{json}\t"fmt"
\t"log"

\tbillcore "billcore.example/go"
)

func main() {{
\tclient, err := billcore.NewClient(billcore.WithBaseURL({base})) // reads BILLCORE_API_KEY
\tif err != nil {{
\t\tlog.Fatal(err)
\t}}
\tdefer client.Close()
{call}}}
"""
_GO_LIST = """\tfor page, err := range CALL.Pages() {
\t\tif err != nil {
\t\t\tlog.Fatal(err)
\t\t}
\t\tfmt.Println(page.Items)
\t\tbreak // only this page
\t}
"""
_FAILS = "\tif err != nil {\n\t\tlog.Fatal(err)\n\t}\n"


class Snippet(NamedTuple):
    """text: None if the client cannot make the request, for the reason `why`."""

    id: str
    label: str
    text: str | None
    why: str | None = None


class _Name(str):
    """The name of a variable, which repr() shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


def of_request(request: PageRequest, row: sqlite3.Row, effects: list[str]) -> list[Snippet]:
    """The snippets of a recorded request, whose effects are known."""
    store = request.world.store
    sent = read(row, store.uuid_of(row["account"]))
    origin = f"http://{request.header('host')}"
    made = [Snippet("curl", "curl", curl(sent, origin, row["id"]))]
    if sent.unsendable is not None:
        return [*made, *(Snippet(name.lower(), name, None, sent.unsendable) for name in ("Python", "Go", "pytest"))]
    return [
        *made,
        Snippet("python", "Python", python(sent, origin)),
        Snippet("go", "Go", go(sent, origin)),
        Snippet("pytest", "pytest", pytest(store, sent, row, effects)),
    ]


def curl(sent: Sent, origin: str, number: int) -> str:
    """A curl command that sends the request. If a shell could change the body, a command before it downloads it."""
    words = ["curl -sS -i --globoff"]
    if sent.method == "HEAD":
        words.append("--head")
    elif sent.method != "GET" or sent.body:
        words.append(f"-X {shlex.quote(sent.method)}")
    names = [name.lower() for name, _ in sent.headers]
    if "x-api-key" in names:
        words.append('-H "X-API-KEY: $BILLCORE_API_KEY"')
    kept = [(name, value) for name, value in sent.headers if name.lower() not in _OWN_HEADERS]
    words += [f"-H {shlex.quote(_header(*each))}" for each in kept if visible(each[1]) == each[1]]
    before = ""
    if sent.body:
        if "content-type" not in names:
            words.append("-H 'Content-Type:'")
        text = sent.body[: MOST_INLINE + 1].decode("utf-8", "replace")
        if len(sent.body) <= MOST_INLINE and text.encode() == sent.body and visible(text) == text:
            words.append(f"--data-raw {shlex.quote(text)}")
        else:
            file = f"request-{number}-body.txt"
            before = f"curl -sS -o {file} {shlex.quote(origin + raw_url('request', number, 'body'))}\n"
            words.append(f"--data-binary @{file}")
    # curl changes such a target, so it gets the target beside the URL.
    if not sent.target.startswith("/") or re.search(r"/\.|#", sent.target):
        words.append(f"--request-target {shlex.quote(sent.target)} {shlex.quote(origin)}")
    else:
        words.append(shlex.quote(origin + sent.target))
    return before + " \\\n  ".join(words) + "\n"


def _header(name: str, value: str) -> str:
    return f"{name}: {value}" if value.strip() else f"{name};"


def python(sent: Sent, origin: str) -> str:
    """A program with billcore's client for Python."""
    call = _python_call(sent, sent.id)
    lines = [f"answer = {call}", "print(answer)" if sent.given is not None else "print(answer.status, answer.body)"]
    if sent.given is not None and sent.operation in LISTS:
        lines = [f"for page in {call}.pages():", "    print(page.items)", "    break  # only this page"]
    head = f"with billcore.Client(base_url={origin + sent.base!r}) as client:  # reads BILLCORE_API_KEY"
    return "\n".join(["import billcore", "", head, *_indented(lines)]) + "\n"


def _python_call(sent: Sent, id_: str, product: Any = None) -> str:
    """The call that makes the request. id_: the id in the path. product: replaces the product's id in the body."""
    if sent.given is None:
        arguments = [repr(sent.method), _path(sent, id_), *([f"query={sent.query!r}"] if sent.query else [])]
        if sent.value is not NONE:
            value = sent.value
            if product is not None:
                value = {**value, "product_id": product}
            arguments.append(f"json={pformat(value, width=100, sort_dicts=False)}")
        return f"client.request({', '.join([*arguments, 'raise_on_error=False'])})"
    arguments = [id_ if sent.has_number else repr(id_)] if id_ else []
    for each, value in sent.given:
        shown = value.split(",") if each.type is list else value
        arguments.append(f"{each.name}={product or shown!r}" if each.sent == "product_id" else f"{each.name}={shown!r}")
    return f"client.{sent.operation}({', '.join(arguments)})"


def _path(sent: Sent, id_: str) -> str:
    """The path as an expression of Python."""
    assert sent.path is not None
    if isinstance(id_, _Name):
        start, _, rest = sent.path[1:].partition("/")
        end = rest.partition("/")
        return f"f{f'/{start}/{{{id_}}}{end[1]}{end[2]}'!r}"
    return repr(sent.path)


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for each in lines for line in each.split("\n")]


def go(sent: Sent, origin: str) -> str:
    """A program with billcore's module for Go."""
    packages = ""
    if sent.given is None:
        assert sent.path is not None
        arguments = ["context.Background()", _go_text(sent.method), _go_text(sent.path)]
        arguments += [f"billcore.RequestQuery({_go_text(name)}, {_go_text(value)})" for name, value in sent.query or []]
        if sent.value is not NONE:
            packages = '\t"encoding/json"\n'
            arguments.append(f"billcore.RequestJSON(json.RawMessage({_go_text(sent.body.decode())}))")
        call = f"client.Request({', '.join([*arguments, 'billcore.RequestAcceptAllStatuses()'])})"
    else:
        assert sent.operation is not None
        group, _, method = sent.operation.partition(".")
        call = f"client.{_go_name(group)}().{_go_name(method)}({', '.join(_go_arguments(sent))})"
    if sent.given is not None and sent.operation in LISTS:
        text = _GO_LIST.replace("CALL", call)
    elif sent.operation == "products.delete" and sent.given is not None:
        text = f'\tif err := {call}; err != nil {{\n\t\tlog.Fatal(err)\n\t}}\n\tfmt.Println("deleted")\n'
    else:
        returns = sent.given is None or sent.operation == "webhook_endpoints.create"
        shown = "answer.Status, string(answer.Body)" if returns else "answer"
        text = f"\tanswer, err := {call}\n{_FAILS}\tfmt.Println({shown})\n"
    return _GO.format(json=packages, base=_go_text(origin + sent.base), call=text)


def _go_name(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def _go_arguments(sent: Sent) -> list[str]:
    arguments = ["context.Background()", *([sent.id if sent.has_number else _go_text(sent.id)] if sent.id else [])]
    for each, value in sent.given or []:
        shown = _go_value(each, value)
        arguments.append(f"billcore.{each.go}({shown})" if each.go else shown)
    return arguments


def _go_value(parameter: Parameter, value: Any) -> str:
    if parameter.type is list:
        return ", ".join(_go_text(each) for each in value.split(","))
    return str(value) if parameter.type is int else _go_text(value)


def _go_text(text: str) -> str:
    """A string literal of Go."""
    if '"' in text and "`" not in text and "\n" not in text and text.isprintable():
        return f"`{text}`"
    shown = json.dumps(text, ensure_ascii=False)
    return "".join(
        char if char.isprintable() else f"\\U{ord(char):08x}" if ord(char) > 0xFFFF else f"\\u{ord(char):04x}"
        for char in shown
    )


def pytest(store: Store, sent: Sent, row: sqlite3.Row, effects: list[str]) -> str:
    """A test with the fixture billcore_sandbox, whose account has demo data with other ids."""
    lines, id_, product = _objects(store, sent, row)
    name = sent.operation or "requests"
    fault, options = _fault(row, effects)
    if fault:
        lines.append(fault)
    key = '"wrong"' if row["status"] == 401 and not fault else "billcore_sandbox.api_key"
    about = f"base_url=billcore_sandbox.base_url, api_key={key}, max_retries=0{options}"
    call = [_python_call(sent, id_, product)]
    if sent.given is not None and sent.operation in LISTS:
        call = [f"next({call[0]}.pages())"]
    fails = row["status"] is None or (sent.given is not None and row["status"] >= 400)
    if fails:
        call = ["with pytest.raises(billcore.BillcoreError):", *_indented(call)]
    lines += [f"with billcore.Client({about}) as client:", *_indented(call)]
    where = f'billcore_sandbox.requests("{name}")' if sent.operation else "billcore_sandbox.control.requests()"
    lines += [f"made = {where}[-1]", f'assert made["status"] {"is" if row["status"] is None else "=="} {row["status"]}']
    if row["fault"] != "late":
        lines.append(
            'caused = [each for each in billcore_sandbox.control.ledger() if each["request_id"] == made["id"]]'
        )
        lines.append(f'assert [each["kind"] for each in caused] == {effects!r}')
    head = [f"def test_{name.replace('.', '_')}(billcore_sandbox: SandboxAccount) -> None:"]
    if row["unknown"] != "[]":
        head.insert(0, "@pytest.mark.billcore_sandbox(strict=False)  # the request has unknown parameters")
    imports = ["import pytest", ""] if fails or row["unknown"] != "[]" else []
    imports += ["import billcore", "from billcore.testing import SandboxAccount", "", ""]
    return "\n".join([*imports, *head, *_indented(lines)]) + "\n"


def _objects(store: Store, sent: Sent, row: sqlite3.Row) -> tuple[list[str], str, Any]:
    """Lines that find the request's objects in the account of a test, and what stands for the id and the product."""
    if row["status"] == 404:  # the object shall not exist in the test either
        return [], sent.id, None
    lines, id_, product = [], sent.id, None
    kind, _, rest = (sent.path or "").removeprefix("/").partition("/")
    number = rest.partition("/")[0]
    if kind in ("subscription", "order", "product") and re.fullmatch("[1-9][0-9]{0,17}", number):
        found = _object(store, kind, int(number))
        if found:
            lines.append(f"{kind}_id = {found}  # {kind} {number}")
            id_ = _Name(f"{kind}_id")
    value = sent.value.get("product_id") if isinstance(sent.value, dict) else None
    if type(value) is int and 0 < value < 2**63 and (found := _object(store, "product", value)):
        lines.append(f"product_id = {found}  # product {value}")
        product = _Name("product_id")
    return lines, id_, product


def _object(store: Store, kind: str, number: int) -> str | None:
    """An expression for an object of a test's account that is like this one; None if there is no such object."""
    row = store.one(f"SELECT * FROM {kind}s WHERE id = ?", number)
    if row is None:
        return None
    if kind == "order":
        return 'billcore_sandbox.trigger("charge")["order"]["id"]'
    if kind == "product":
        return f'billcore_sandbox.ids["products"]["{row["type"]}"]'
    demo = str(row["reference_id"])
    if demo not in ("demo-active", "demo-declined", "demo-donation", "demo-stays-active", "demo-invoice"):
        demo = "demo-declined" if row["declines"] else "demo-invoice" if row["billing"] == "invoice" else "demo-active"
    return f'billcore_sandbox.ids["subscriptions"]["{demo}"]'


def _fault(row: sqlite3.Row, effects: list[str]) -> tuple[str, str]:
    """A line that injects the request's fault, and the options with which the client meets it."""
    kind, options = row["fault"], ""
    if kind is None:
        return "", ""
    fields: dict[str, Any] = {}
    if kind == "status":
        fields = {"status": row["status"], "effect": bool(effects)}
    elif kind in ("delay", "drip"):
        took = round((row["duration_ms"] or 0) / 1000, 1)
        fields = {"delay": 2 if row["status"] is None else min(took, 5)}
        options = ", timeout=1" if row["status"] is None else ""
    elif kind == "wrong_length":
        length = re.search(rb"(?i)^content-length: (\d+)", row["answer_headers"] or b"", re.M)
        fields = {"by": (int(length[1]) if length else 1) - len(row["answer_body"] or b"")}
    elif kind == "beyond_end" and row["status"] == 404:
        fields = {"answer": "not_found"}
    if row["operation"] is not None:
        fields["operation"] = row["operation"]
    shown = "".join(f", {name}={value!r}" for name, value in fields.items())
    return f"billcore_sandbox.fault({kind!r}{shown})", options
