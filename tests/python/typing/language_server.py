"""A small client of pyright's language server, which returns the texts that an editor shows at a position in a file."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from python.typing.checkers import PACKAGE


def _plain(markdown: str) -> str:
    return markdown.replace("\\_", "_").replace("&nbsp;", " ")


class LanguageServer:
    """Sends requests like an editor's about one file at a time; `|` in the file's text marks the cursor."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count(1)
        settings = {"pythonVersion": "3.11", "extraPaths": [str(PACKAGE)]}
        (folder / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")

    def __enter__(self) -> Self:
        environment = {**os.environ, "PYRIGHT_PYTHON_GLOBAL_NODE": "0", "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
        environment.pop("LD_PRELOAD", None)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pyright.langserver", "--stdio"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
        capabilities = {
            "textDocument": {
                "hover": {"contentFormat": ["markdown"]},
                "signatureHelp": {"signatureInformation": {"documentationFormat": ["markdown"]}},
            }
        }
        root = self._folder.as_uri()
        folders = [{"uri": root, "name": "user"}]
        parameters = {"processId": os.getpid(), "rootUri": root, "workspaceFolders": folders}
        self._ask("initialize", {**parameters, "capabilities": capabilities})
        self._send({"method": "initialized", "params": {}})
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()

    def hover(self, text: str) -> str:
        found = self._at(text, "textDocument/hover")
        return _plain(found["contents"]["value"]) if found else ""

    def signature_help(self, text: str) -> str:
        """The signature and the documentation that an editor shows for a call."""
        found = self._at(text, "textDocument/signatureHelp")
        if not found:
            return ""
        signature = found["signatures"][found.get("activeSignature") or 0]
        documentation = signature.get("documentation")
        return f"{signature['label']}\n{_plain(documentation['value'] if documentation else '')}"

    def completions(self, text: str) -> list[str]:
        found = self._at(text, "textDocument/completion") or {"items": []}
        return [item["label"] for item in (found["items"] if isinstance(found, dict) else found)]

    def _at(self, text: str, method: str) -> Any:
        before, _, after = text.partition("|")
        file = self._folder / f"user_{next(self._numbers)}.py"
        file.write_text(before + after, "utf-8")
        uri = file.as_uri()
        document = {"uri": uri, "languageId": "python", "version": 1, "text": before + after}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        line, column = before.count("\n"), len(before) - before.rfind("\n") - 1
        place = {"line": line, "character": column}
        return self._ask(method, {"textDocument": {"uri": uri}, "position": place})

    def _send(self, message: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(content), content))
        self._process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while (line := self._process.stdout.readline()) != b"\r\n":
            assert line, "the language server ended"
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return message

    def _ask(self, method: str, parameters: dict[str, Any]) -> Any:
        number = next(self._numbers)
        self._send({"id": number, "method": method, "params": parameters})
        while True:
            message = self._receive()
            if "method" in message:
                if "id" in message:  # the server asks, for example for settings: answer null for each item
                    items = message.get("params", {}).get("items", [])
                    self._send({"id": message["id"], "result": [None] * len(items) or None})
            elif message["id"] == number:
                assert "error" not in message, message["error"]
                return message["result"]
