"""What commands draw on a terminal: tables of each width, waiting lines, questions, and what Ctrl-C does."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest

from conformance.server import Reply, Request, ScriptedServer, json_reply
from conformance.test_tls import make_certificate, server_context
from support.waiting import until

from .support import billcore, environment, refused
from .terminal import Terminal
from .test_service import SUBSCRIPTION, products_page

ROW = SUBSCRIPTION | {
    "id": 123456789012,
    "reference_id": "r" * 12,
    "reference_name": "李小龍" * 8,
    "renews_at": "2999-01-31T00:00:00Z",
    "status": "future_start",
}
PAGE = {"total": 1, "count": 1, "per_page": 100, "current_page": 1, "total_pages": 1}
LIST = json_reply({"data": [ROW], "pagination": {**PAGE, "links": {"next": None, "previous": None}}})


def drawn(server: ScriptedServer, *arguments: str, columns: int = 80, **more: str) -> list[str]:
    """The lines that a command leaves on the screen."""
    with Terminal(*arguments, env=environment(server.url, **more), columns=columns) as terminal:
        assert terminal.wait() == 0, terminal.lines
        return [line.rstrip() for line in terminal.lines]


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (40, ["id            status            price", "123456789012  future_start  19.90 EUR"]),
        (
            85,
            [
                "id            status            price  renews_at   ends_at  reference_id  reference_…",
                "123456789012  future_start  19.90 EUR  2999-01-31           rrrrrrrrrrrr  李小龍李小…",
            ],
        ),
        (
            200,
            [
                "id            status            price  renews_at   ends_at  reference_id  reference_name",
                f"123456789012  future_start  19.90 EUR  2999-01-31           rrrrrrrrrrrr  {'李小龍' * 8}",
            ],
        ),
    ],
)
def test_a_table_as_wide_as_the_terminal(columns: int, expected: list[str]) -> None:
    """Ids and amounts are never cut; a column that has no room is left out."""
    with ScriptedServer(lambda _: LIST) as server:
        lines = drawn(server, "subscriptions", "list", columns=columns)
        assert lines[:2] == expected
        left_out = "left out, as the terminal is narrow: renews_at, " if columns == 40 else ""
        assert "".join(lines[2:])[: len(left_out) or None] == left_out


def test_a_terminal_without_utf_8() -> None:
    """What the encoding lacks is escaped, and no control character of the service reaches the terminal."""
    hostile = {**ROW, "reference_name": "\x1b]0;title\x07é\u202e", "id": "a\x9bm"}
    with ScriptedServer(lambda _: json_reply({"data": hostile})) as server:
        lines = drawn(
            server, "subscriptions", "get", "x", LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0", NO_COLOR="1"
        )
    fields = dict(re.split(r"\s+", line, maxsplit=1) for line in lines if " " in line)
    assert fields["id"] == r"a\x9bm" and fields["reference_name"] == r"\x1b]0;title\x07\xe9\u202e"
    assert fields["price"] == "19.90 EUR" and "cancel_url" not in fields


@pytest.mark.parametrize(
    ("more", "has_styles"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"TERM": ""}, False)]
)
def test_styles(more: dict[str, str], has_styles: bool) -> None:
    with (
        ScriptedServer(lambda _: LIST) as server,
        Terminal("subscriptions", "list", env=environment(server.url, **more)) as terminal,
    ):
        assert terminal.wait() == 0
        assert ("\x1b" in terminal.raw) == has_styles


def test_a_list_stops_after_20_records() -> None:
    with ScriptedServer(lambda request: products_page(request, 5000)) as server:
        first = drawn(server, "products", "list")
        assert [line.split()[0] for line in first[:-1]] == ["id", *map(str, range(20)), "the"]
        assert first[-2] == "the first 20 of 5,000: --all prints all"
        every = drawn(server, "products", "list", "--all")
        assert [line.split()[0] for line in every[:-1]] == ["id", *map(str, range(5000))]
        assert len(drawn(server, "products", "list", "--limit", "2")) == 4
    with ScriptedServer(lambda request: products_page(request, 20)) as server:
        assert drawn(server, "products", "list")[-2].split()[0] == "19"


def test_a_slow_answer() -> None:
    """After a second, a line says how long the command waits; it is erased before the answer is printed."""
    with (
        ScriptedServer(lambda _: Reply(headers=LIST.headers, body=LIST.body, delay=2)) as server,
        Terminal("subscriptions", "list", env=environment(server.url)) as terminal,
    ):
        terminal.until("127.0.0.1: 1 s")
        assert terminal.wait() == 0
        assert [line.split()[0] for line in terminal.lines[:2]] == ["id", "123456789012"]


@pytest.fixture
def elsewhere(tmp_path: Path) -> dict[str, str]:
    """Variables for a server with TLS that is not on loopback, as far as the commands can know."""
    make_certificate(tmp_path, "elsewhere", of="IP:0.0.0.0")
    return {"SSL_CERT_FILE": str(tmp_path / "elsewhere.pem"), "folder": str(tmp_path)}


def test_a_write_to_another_host_is_asked_for(elsewhere: dict[str, str]) -> None:
    context = server_context(Path(elsewhere["folder"]) / "elsewhere.pem")
    with ScriptedServer(lambda _: json_reply({"data": SUBSCRIPTION}), tls=context) as server:
        url = f"https://0.0.0.0:{server.port}"
        variables = environment(url, **elsewhere)
        arguments = ("subscriptions", "cancel", "-5x".removeprefix("-"))
        in_a_pipe = refused(url, 2, *arguments, env=variables)
        assert "cancel subscription 5x" in in_a_pipe and "--yes" in in_a_pipe and url in in_a_pipe
        for answer in ("n\n", "\n", "\x04"):
            with Terminal(*arguments, env=variables) as terminal:
                assert terminal.until("[y/N]").startswith(f"Cancel subscription 5x at {url}/a?")
                terminal.send(answer)
                assert terminal.wait() == 1
                terminal.until("nothing was sent")
        assert server.requests == []
        with Terminal(*arguments, env=variables) as terminal:
            terminal.until("[y/N]")
            terminal.send("y\n")
            assert terminal.wait() == 0
        assert billcore(url, *arguments, "--yes", env=variables).returncode == 0
        assert [each.method for each in server.requests] == ["POST", "POST"]
        request = ("request", "POST", "/subscription/1/order", "--data", "{}")
        assert "--yes" in refused(url, 2, *request, env=variables)
        assert len(server.requests) == 2


def reached(server: ScriptedServer, count: int) -> bool:
    return len(server.requests) == count


def test_ctrl_c() -> None:
    """While a write is in flight, its outcome is unknown; a read ends with 130."""

    def answer(request: Request) -> Reply:
        return Reply(send_only=0, ending="hang")

    with ScriptedServer(answer) as server:
        for count, (arguments, status, text) in enumerate(
            (
                (("subscriptions", "cancel", "7"), 4, "look it up: billcore subscriptions get 7"),
                (("subscriptions", "get", "7"), 130, "interrupted"),
            ),
            1,
        ):
            with Terminal(*arguments, env=environment(server.url)) as terminal:
                until(partial(reached, server, count))
                terminal.send("\x03")
                assert terminal.wait() == status, terminal.lines
                terminal.until(text)
                assert "Traceback" not in terminal.raw


def test_ctrl_c_at_a_question(elsewhere: dict[str, str]) -> None:
    with Terminal("subscriptions", "cancel", "7", env=environment("https://0.0.0.0:1", **elsewhere)) as terminal:
        terminal.until("[y/N]")
        terminal.send("\x03")
        assert terminal.wait() == 130


def test_a_key_is_asked_for_without_echo(tmp_path: Path) -> None:
    variables = environment("http://127.0.0.1:1", XDG_CONFIG_HOME=str(tmp_path))
    arguments = ("profile", "add", "test", "--base-url", "http://127.0.0.1:1/a")
    with Terminal(*arguments, env=variables) as terminal:
        terminal.until("API key of test")
        terminal.send("the-secret-key\n")
        assert terminal.wait() == 0
        assert "the-secret-key" not in terminal.raw
    kept = json.loads((tmp_path / "billcore/profiles/test.json").read_text("utf-8"))
    assert kept["api_key"] == "the-secret-key"
