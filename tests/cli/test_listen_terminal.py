"""`billcore listen` on a terminal: its lines, its keys, each width, and the terminal as it was afterwards."""

from __future__ import annotations

import json
import re
import shlex
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.server import Reply, Request, ScriptedServer

from .listening import listen_environment, post
from .terminal import Terminal
from .test_webhook import signature

ROOT = Path(__file__).resolve().parents[2]


def event(id: str | int, name: str = "order.paid") -> bytes:
    return json.dumps({"id": id, "name": name, "account": 1, "created_at": "2026-01-01T00:00:00Z", "data": {}}).encode()


@contextmanager
def listening(folder: Path, *arguments: str, columns: int = 80, **variables: Any) -> Iterator[tuple[Terminal, str]]:
    """A terminal with `billcore listen`, and the URL where it listens."""
    env = listen_environment(folder, **variables)
    with Terminal("listen", "--port", "0", *arguments, env=env, columns=columns) as terminal:
        yield terminal, terminal.until("listening").split()[1]


def modes(terminal: Terminal) -> int:
    """Whether the terminal waits for the end of a line, and echoes."""
    found: int = termios.tcgetattr(terminal._master)[3] & (termios.ICANON | termios.ECHO)
    return found


def test_keys(tmp_path: Path) -> None:
    """A webhook that a broken receiver refused is sent again, edited, found by a filter and by the arrows."""
    status = 500

    def answer(_: Request) -> Reply:
        return Reply(status, body=b"no table")

    program = tmp_path / "edit.py"
    program.write_text("import sys\npath = sys.argv[1]\ndata = open(path, 'rb').read()\n")
    editor = f"{shlex.quote(sys.executable)} {program}"
    with (
        ScriptedServer(answer) as target,
        listening(tmp_path, "--forward-to", target.url, VISUAL=editor) as (terminal, url),
    ):
        terminal.send("re")
        terminal.until("there is no delivery yet")
        for each in (event(1), event(2, "order.confirmed")):
            assert post(url, each).status == 500
        terminal.until("> 2 order.confirmed 500", in_last=True)
        assert terminal.until("no table").split()[1:4] == ["2", "order.confirmed", "500"]
        status = 200
        terminal.send("\x1b[A")  # up
        terminal.until("> 1 order.paid 500", in_last=True)
        terminal.send("r")
        assert terminal.until("sent again").split()[1:4] == ["1", "order.paid", "200"]
        assert [each.body for each in target.requests] == [event(1), event(2, "order.confirmed"), event(1)]

        terminal.send("e")
        terminal.until("the body is unchanged")
        program.write_text(program.read_text() + "open(path, 'wb').write(data.replace(b'paid', b'sold') + b'\\n')\n")
        terminal.send("e")
        assert terminal.until("edited and sent").split()[1:4] == ["1", "order.sold", "200"]
        last = target.requests[-1]
        assert (last.body, last.header("Service-Signature")) == (event(1, "order.sold"), signature(last.body))
        program.write_text("raise SystemExit(3)")
        terminal.send("e")
        terminal.until("the editor ended with status 3: nothing was sent")

        post(url, event(3), Service_Signature="0" * 64)
        terminal.until("> 1 order.paid 500", in_last=True)
        terminal.send("/ORDER.c\x7fconf\r")
        terminal.until("with ORDER.conf: 1 of 5")
        terminal.until("filter: ORDER", in_last=True)
        terminal.send("/\r")
        terminal.until("> 3 order.paid 400", in_last=True)
        terminal.send("r")
        terminal.until("its signature is wrong")
        assert len(target.requests) == 4
        assert modes(terminal) == 0
        terminal.send("q")
        assert terminal.wait() == 0
        assert modes(terminal) == termios.ICANON | termios.ECHO
        assert terminal.lines[-1] == "" and "Traceback" not in terminal.raw


def test_the_lines_of_the_page(tmp_path: Path) -> None:
    """python/docs/listen.md shows what the command prints; times differ."""
    (shown,) = re.findall(r"```text\n(.*?)```", (ROOT / "python/docs/listen.md").read_text(), re.DOTALL)
    replies = [Reply(), Reply(500, body=b"no table orders"), Reply()]
    with (
        ScriptedServer(replies) as target,
        listening(tmp_path, "--forward-to", target.url) as (terminal, url),
    ):
        post(url, event(0, "test.hook"))
        post(url, event(7))
        terminal.until("> 7 order.paid 500", in_last=True)
        terminal.send("r")
        terminal.until("sent again")
        post(url, compact := json.dumps(json.loads(event(8)), separators=(",", ":")).encode() + b"\n",
             Service_Signature=signature(compact[:-1]))  # fmt: skip
        terminal.until("a line end was added")
        terminal.send("q")
        assert terminal.wait() == 0
        lines = [re.sub(r"^\d\d:\d\d:\d\d", "09:00:00", each) for each in terminal.lines[2:-1]]
        lines = [re.sub(r" +[1-9]\d* ms", "    2 ms", each) for each in lines]
        assert lines == shown.splitlines()


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_each_width(columns: int, tmp_path: Path) -> None:
    """A line for each webhook, and never a wider one; after a change of the width, the last line has the new one."""
    with listening(tmp_path, columns=columns) as (terminal, url):
        post(url, event(1234567890123456, "subscription.cancelled"))
        assert terminal.until(" 0 ms").split()[1::2] == ["1234567890123456", "200", "ms"]
        terminal.until("q", in_last=True)
        terminal.resize(60)
        terminal.until("[r e / q]", in_last=True)
        terminal.send("q")
        assert terminal.wait() == 0
        assert all(len(each) < columns for each in terminal.lines)


@pytest.mark.parametrize(
    "variables", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "NO_COLOR": "1"}, {"TERM": "dumb"}]
)
def test_a_plain_terminal(tmp_path: Path, variables: dict[str, Any]) -> None:
    """No styles, and no bytes that the terminal cannot show; nothing that a sender wrote commands the terminal."""
    with listening(tmp_path, **variables) as (terminal, url):
        post(url, event("é\x1b]0;x\x07", "\x1b[2Jorder"))
        line = terminal.until("order")
        assert r"\x1b]0;x\x07" in line and r"\x1b[2Jorder" in line
        assert r"\xe9" in line or "LC_ALL" not in variables
        terminal.send("\x03")
        assert terminal.wait() == 130
        assert modes(terminal) == termios.ICANON | termios.ECHO
        assert "\x1b[3" not in terminal.raw and "billcore listen: interrupted" in terminal.raw
        assert "TERM" not in variables or "\x1b" not in terminal.raw


def test_only_a_target_on_this_machine_gets_edited_webhooks(tmp_path: Path) -> None:
    with ScriptedServer(lambda _: Reply()) as target:
        with Terminal("listen", "--port", "0", "--forward-to", f"http://0.0.0.0:{target.port}",
                      env=listen_environment(tmp_path)) as terminal:  # fmt: skip
            terminal.until("Forward webhooks at http://0.0.0.0")
            terminal.send("n\n")
            assert terminal.wait() == 1
        forward = ("--forward-to", f"http://0.0.0.0:{target.port}", "--yes")
        with listening(tmp_path, *forward, EDITOR="true") as (terminal, url):
            post(url, event(1))
            terminal.until(" order.paid ")
            terminal.send("e")
            terminal.until("only a target on this machine gets edited webhooks")
            terminal.send("r")
            terminal.until("sent again")
            terminal.send("\x04")
            assert terminal.wait() == 0
        assert len(target.requests) == 2
