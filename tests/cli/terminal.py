"""Runs a command in a pseudo-terminal, and keeps the screen that a person would see."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Mapping
from typing import Self

from support.waiting import GENEROUS

_PIECES = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|\r|\n|\x1b[^\[]|[^\r\n\x1b]")


class Terminal:
    """A running `billcore` whose stdin, stdout and stderr are a terminal.

    `lines` are the lines of the screen and what scrolled out of it. The escape sequences are those that billcore uses:
    another one is an error of the test.
    """

    def __init__(self, *arguments: str, env: Mapping[str, str], columns: int = 80, rows: int = 24) -> None:
        self.columns, self.raw, self.lines = columns, "", [""]
        self._at, self._changed = 0, threading.Condition()
        self._master, slave = pty.openpty()
        self.resize(columns, rows)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "billcore", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={"TERM": "xterm", **env},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(slave, termios.TIOCSCTTY, 0),  # so that Ctrl-C and SIGWINCH arrive
        )
        os.close(slave)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def resize(self, columns: int, rows: int = 24) -> None:
        """The kernel tells the process by SIGWINCH."""
        self.columns = columns
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def until(self, text: str, *, in_last: bool = False) -> str:
        """Wait until a line (or the last line) of the screen has this text; returns the line."""
        deadline = time.monotonic() + GENEROUS
        with self._changed:
            while True:
                for line in reversed(self.lines[-1:] if in_last else self.lines):
                    if text in line:
                        return line
                left = deadline - time.monotonic()
                assert left > 0 and self._reader.is_alive(), f"no {text!r} in\n" + "\n".join(self.lines)
                self._changed.wait(min(left, 0.5))

    def wait(self) -> int:
        """The exit status."""
        status = self.process.wait(GENEROUS)
        self._reader.join(GENEROUS)
        return status

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self._reader.join(GENEROUS)
        os.close(self._master)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._master, 65536)
            except OSError:  # the process has ended
                return
            if not data:
                return
            with self._changed:
                text = data.decode("utf-8", "replace")
                self.raw += text
                for piece in _PIECES.finditer(text):
                    self._draw(piece[0], piece[2])
                self._changed.notify_all()

    def _draw(self, piece: str, command: str | None) -> None:
        line = self.lines[-1]
        if piece == "\r":
            self._at = 0
        elif piece == "\n":
            self.lines.append("")
        elif command == "J":
            self.lines[-1] = line[: self._at]
        elif command is not None:
            assert command == "m", piece
        elif not piece.startswith("\x1b"):
            if self._at >= self.columns:  # the terminal goes on in the next row
                self._at = 0
                self.lines.append("")
                line = ""
            self.lines[-1] = line[: self._at].ljust(self._at) + piece + line[self._at + 1 :]
            self._at += 1
