"""The lines of `billcore listen` on a terminal, and the line below them with the selection and the keys."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
from datetime import datetime

from . import _keys
from ._ask import is_loopback
from ._command import EXIT_USAGE, Failure, printable
from ._deliveries import Delivery, History
from ._feed import Feed
from ._keys import Keys
from ._listener import Listener
from ._output import styled
from ._server import Server

_GREEN, _RED, _DIM = "32", "31", "2"
_MARKS = {"again": "sent again", "edited": "edited and sent", "refused": "refused", "received": ""}
_LEAST, _ID, _NAME = 40, 12, 24  # columns: of the narrowest terminal, of an id, of a name
_WIDE = 80  # columns from which on there is room for more words
_FIXED = 22  # columns of the time, the status, the milliseconds and the blanks


def line_of(delivery: Delivery, columns: int) -> str:
    """Time, id, name, status and milliseconds; then what went wrong, on a line of its own if it is long."""
    room = max(columns, _LEAST) - _FIXED
    id = f"{printable(delivery.id, sys.stdout):{min(_ID, room // 3)}}"
    width = max(min(_NAME, room - len(id)), 4)
    time = datetime.fromisoformat(delivery.at).astimezone().strftime("%H:%M:%S")
    status = styled(f"{delivery.status:3}", _GREEN if 200 <= delivery.status < 300 else _RED)
    took = f"{delivery.ms:.0f} ms" if delivery.ms < 9999.5 else f"{delivery.ms / 1000:.0f} s"
    took = took if columns < _WIDE else f"{took:>7}"
    more = ": ".join(filter(None, (_MARKS[delivery.kind], printable(delivery.note, sys.stdout))))
    line = f"{time} {id} {_cut(delivery.name, width):{width}} {status} {took}"
    if not more:
        return line
    is_short = _FIXED + len(id) + width + 2 + len(more) <= columns
    return f"{line}  {more}" if is_short else f"{line}\n  {more}"


def _cut(text: str, width: int) -> str:
    """The text, printable, in at most so many characters."""
    text = printable(text, sys.stdout)
    return text if len(text) <= width else text[: max(width - 1, 0)] + "~"


class Screen:
    """Prints what the feed has, and obeys the keys if there are any.

    Args:
        feed: What the threads tell.
        listener: Sends deliveries again.
        server: Knows how many senders wait.
        history: The deliveries that can be selected.
        keys: None: there are no keys, only lines.
    """

    def __init__(self, feed: Feed, listener: Listener, server: Server, history: History, keys: Keys | None) -> None:
        self._feed, self._listener, self._server, self._history, self._keys = feed, listener, server, history, keys
        self._filter = ""
        self._typed: str | None = None  # what was typed after /
        self._selected: Delivery | None = None  # None: the last one
        self._ended = False

    def run(self) -> None:
        """Until `q`, or the end of the terminal."""
        if self._keys is None:
            while True:
                select.select([self._feed.reader], [], [])
                self._print_feed()
        with contextlib.ExitStack() as stack:
            self._keys.begin()
            stack.callback(self._keys.end)
            stack.callback(self._write, "\r\x1b[J")
            for number in (signal.SIGWINCH, signal.SIGCONT):
                stack.callback(signal.signal, number, signal.signal(number, lambda *_: None))
            stack.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(self._feed.writer, warn_on_full_buffer=False))
            while not self._ended:
                self._draw()
                ready, _, _ = select.select([self._feed.reader, self._keys.file], [], [])
                if self._feed.reader in ready:
                    self._keys.begin()  # the process may have been stopped and continued
                    self._print_feed()
                if self._keys.file in ready:
                    for key in self._keys.read():
                        self._press(key)

    def _print_feed(self) -> None:
        for item in self._feed.taken():
            if isinstance(item, str):
                self._say(item)
            elif not self._filter or item.kind in ("again", "edited") or item.matches(self._filter):
                self._line(item)

    def _line(self, delivery: Delivery) -> None:
        for line in line_of(delivery, _columns()).splitlines():
            self._write(f"\r\x1b[J{line}\n" if self._keys else f"{line}\n")

    def _say(self, text: str) -> None:
        self._write(("\r\x1b[J" if self._keys else "") + styled(printable(text, sys.stdout), _DIM) + "\n")

    def _draw(self) -> None:
        columns = _columns()
        if self._typed is not None:
            text = f"/{self._typed}"[-(columns - 2) :]
        else:
            shown = self._chosen()
            text = "> no delivery yet" if shown is None else f"> {shown.id} {shown.name} {shown.status}"
            waiting = self._server.pending
            more = [f"filter: {self._filter}"] if self._filter else []
            more += [f"{waiting} waiting"] if waiting else []
            keys = "r send again, e edit, / filter, q quit" if columns >= _WIDE else "[r e / q]"
            text = _cut("  ".join([text, *more]), columns - 3 - len(keys)) + f"  {keys}"
        self._write(f"\r\x1b[J{styled(_cut(text, columns - 1), _DIM)}")

    def _write(self, text: str) -> None:
        print(text, end="", flush=True)

    def _press(self, key: str) -> None:
        if self._typed is not None:
            self._type(key, self._typed)
        elif key in ("q", _keys.END):
            self._ended = True
        elif key == "/":
            self._typed = ""
        elif key in (_keys.UP, _keys.DOWN):
            self._move(-1 if key == _keys.UP else 1)
        elif key in ("r", "e"):
            try:
                self._again(key == "e")
            except Failure as failure:
                self._say(str(failure))

    def _type(self, key: str, typed: str) -> None:
        """A key of the text after /."""
        if len(key) == 1:
            self._typed = typed + key
        elif key == _keys.ERASE:
            self._typed = typed[:-1]
        elif key in (_keys.ENTER, _keys.ESCAPE, _keys.END):
            self._typed = None
            if key == _keys.ENTER:
                self._set_filter(typed)

    def _set_filter(self, text: str) -> None:
        """Show the deliveries that match, from now on and of those that are there."""
        self._filter, self._selected = text, None
        if text:
            found = self._matching()
            self._say(f"with {text}: {len(found)} of {len(self._history.all())}")
            for each in found[-max(_size().lines - 3, 1) :]:
                self._line(each)

    def _matching(self) -> list[Delivery]:
        return [each for each in self._history.all() if not self._filter or each.matches(self._filter)]

    def _chosen(self) -> Delivery | None:
        """The delivery that r and e send: the selected one, or the last that matches."""
        return self._selected or next(reversed(self._matching()), None)

    def _move(self, by: int) -> None:
        found = self._matching()
        at = next((at for at, each in enumerate(found) if each is self._selected), len(found) - 1) + by
        if 0 <= at < len(found):
            self._selected = found[at] if at < len(found) - 1 else None

    def _again(self, edit: bool) -> None:
        delivery, target = self._chosen(), self._listener.target
        if target is None:
            raise Failure(EXIT_USAGE, "there is nothing to send to: start with --forward-to URL")
        if delivery is None:
            raise Failure(EXIT_USAGE, "there is no delivery yet")
        if edit and not is_loopback(target.url):
            raise Failure(EXIT_USAGE, f"only a target on this machine gets edited webhooks, not {target.url}")
        if not edit and delivery.verified != "ok":
            raise Failure(EXIT_USAGE, "its signature is wrong, so it is not forwarded: e edits it and signs it again")
        body = self._edited(delivery.body) if edit else None
        threading.Thread(target=self._listener.again, args=(delivery, body), daemon=True).start()

    def _edited(self, body: bytes) -> bytes:
        assert self._keys is not None
        self._write("\r\x1b[J")
        self._keys.end()
        try:
            saved = _keys.edited(body)
        finally:
            self._keys.begin()
        if saved is None:
            raise Failure(EXIT_USAGE, "the body is unchanged: nothing was sent (r sends it again)")
        return saved


def _size() -> os.terminal_size:
    """Not that of COLUMNS and LINES, which stay the same when the terminal is resized."""
    try:
        return os.get_terminal_size(sys.stdout.fileno())
    except OSError:  # the terminal was closed
        return os.terminal_size((80, 24))


def _columns() -> int:
    return max(_size().columns, 10)
