"""The bodies of an entry as the page shows them, and their downloads: the page stays small, whatever was sent."""

from __future__ import annotations

import base64
import json
import sqlite3
from typing import Any, NamedTuple

from markupsafe import escape

from billcore_sandbox import event_faults
from billcore_sandbox.errors import not_found
from billcore_sandbox.page.render import pretty, visible
from billcore_sandbox.page.request import PREFIX, PageRequest
from billcore_sandbox.service.calls import Reply, number_of

_MOST_SHOWN = 64 << 10  # bytes of HTML of a body; the rest is only in the download
_MOST_PRETTY = 512 << 10  # bytes of JSON that is indented
_MOST_HEX = 1 << 10  # bytes
_CHUNK = 4096  # characters


class Room:
    """The bytes of HTML that all texts of an entry may take together."""

    def __init__(self, most: int) -> None:
        self.left = most

    def cut(self, text: str, most: int = _MOST_SHOWN) -> str:
        """The beginning of the text for which there is room, with at most `most` bytes of HTML."""
        shown, most = "", min(most, self.left)
        for at in range(0, min(len(text), most), _CHUNK):
            part = text[at : at + _CHUNK]
            while (size := len(escape(visible(part)).encode("utf-8"))) > most:
                part = part[: len(part) * most // size]
            shown, most, self.left = shown + part, most - size, self.left - size
            if len(part) < _CHUNK:
                break
        return shown


class Pane(NamedTuple):
    """One way to show a body. id: of its element. more: number of bytes that are not shown."""

    id: str
    label: str
    text: str
    more: int
    open: bool


class Body(NamedTuple):
    """A body that is not empty. about: what the reader should know of its bytes. url: of the whole body."""

    size: int
    about: str
    panes: list[Pane]
    url: str


def body_of(room: Room, name: str, data: bytes, url: str) -> Body | None:
    """The body as the page shows it; None if it is empty. name: a prefix of the ids in the page."""
    if not data:
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        escaped = data[:_MOST_SHOWN].decode("utf-8", "backslashreplace")
        shown = room.cut(escaped)
        # A byte that is no text takes four characters, so this counts the bytes that are surely shown.
        whole = len(data) <= _MOST_SHOWN and shown == escaped
        panes = [
            Pane(f"{name}-text", "As text", shown, 0 if whole else max(len(data) - len(shown), 1), True),
            Pane(f"{name}-hex", "In hexadecimal", room.cut(_hex(data)), max(len(data) - _MOST_HEX, 0), False),
        ]
        return Body(len(data), "Not UTF-8: a byte that is no text is shown as \\x and its two digits.", panes, url)
    indented = pretty(text) if len(data) <= _MOST_PRETTY else None
    panes = []
    if indented is not None and indented != text:
        shown = room.cut(indented)
        more = len(indented[len(shown) :].encode("utf-8"))
        panes.append(Pane(f"{name}-pretty", "JSON, indented", shown, more, True))
    shown = room.cut(text)
    more = len(data) - len(shown.encode("utf-8"))
    panes.append(Pane(f"{name}-raw", "As sent", shown, more, not panes))
    return Body(len(data), "", panes, url)


def _hex(data: bytes) -> str:
    rows = range(0, min(len(data), _MOST_HEX), 16)
    return "\n".join(f"{at:06x}  {data[at : at + 16].hex(' ')}" for at in rows)


def head_of(room: Room, first: str, pairs: list[Any] | None) -> str:
    """A first line and its headers."""
    return room.cut("\n".join([first, *(f"{name}: {value}" for name, value in pairs or [])]), 16 << 10)


def row_of(request: PageRequest, table: str, key: str, number: str) -> sqlite3.Row:
    """A row of the store. Raises Refusal 404."""
    row = request.world.store.one(f"SELECT * FROM {table} WHERE {key} = ?", number_of(number))
    if row is None:
        raise not_found()
    return row


def sent_body(row: sqlite3.Row, attempt: dict[str, Any]) -> bytes:
    """The body that an attempt of a delivery sent."""
    body: bytes = row["body"]
    if attempt["fault"] == "event_truncated":
        return event_faults.truncated(body)
    return event_faults.oversize(body, attempt["bytes"]) if attempt["fault"] == "event_oversize" else body


def answer_body(attempt: dict[str, Any]) -> bytes:
    """What an attempt's record keeps of the body of the receiver's answer."""
    text = attempt["answer_body"] or ""
    return base64.b64decode(text) if attempt["answer_encoding"] == "base64" else text.encode("utf-8")


def of_request(request: PageRequest, number: str) -> Reply:
    """GET raw/request/{id}/body: the whole body of a request."""
    return _download(row_of(request, "requests", "id", number)["body"], f"request-{number}-body")


def of_answer(request: PageRequest, number: str) -> Reply:
    """GET raw/request/{id}/answer: the whole body of its answer."""
    data = row_of(request, "requests", "id", number)["answer_body"]
    return _download(data or b"", f"request-{number}-answer")


def of_delivery(request: PageRequest, number: str) -> Reply:
    """GET raw/delivery/{seq}/body: the body of a delivery, or with the parameter `attempt` what this attempt sent."""
    row = row_of(request, "deliveries", "seq", number)
    made = request.number("attempt")
    data = row["body"] if made is None else sent_body(row, _attempt(row, made))
    return _download(data, f"delivery-{number}-body")


def of_receiver(request: PageRequest, number: str) -> Reply:
    """GET raw/delivery/{seq}/answer: what the record keeps of the receiver's answer to the attempt `attempt`."""
    made = request.number("attempt") or 0
    data = answer_body(_attempt(row_of(request, "deliveries", "seq", number), made))
    return _download(data, f"delivery-{number}-answer-{made}")


def raw_url(kind: str, number: object, part: str, attempt: int | None = None) -> str:
    """The URL of a download."""
    return f"{PREFIX}/raw/{kind}/{number}/{part}{'' if attempt is None else f'?attempt={attempt}'}"


def _attempt(row: sqlite3.Row, number: int) -> dict[str, Any]:
    made: list[dict[str, Any]] = json.loads(row["attempts"])
    if not 1 <= number <= len(made):
        raise not_found()
    return made[number - 1]


def _download(data: bytes, name: str) -> Reply:
    """The bytes as a file that the browser saves and never shows, because they may be HTML."""
    headers = [("Content-Disposition", f'attachment; filename="{name}.txt"'), ("Cache-Control", "no-store")]
    return Reply(200, data, headers, "text/plain")
