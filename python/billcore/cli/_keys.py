"""The keys of a terminal, read one by one, and the user's editor."""

from __future__ import annotations

import codecs
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import termios
import tty
from collections.abc import Iterator
from pathlib import Path

from ._command import EXIT_FAILED, EXIT_USAGE, Failure

UP, DOWN, ENTER, ESCAPE, ERASE, END = "up", "down", "enter", "escape", "erase", "end"
_NAMED = {"\r": ENTER, "\n": ENTER, "\x7f": ERASE, "\b": ERASE, "\x04": END, "\x1b": ESCAPE}
_SEQUENCES = {"A": UP, "B": DOWN}


class Keys:
    """Reads a terminal without waiting for the end of a line. Ctrl-C still interrupts."""

    def __init__(self, file: int) -> None:
        self.file = file
        self._usual = termios.tcgetattr(file)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def begin(self) -> None:
        """Also after the process was stopped and continued: the shell has reset the terminal meanwhile."""
        tty.setcbreak(self.file, termios.TCSADRAIN)

    def end(self) -> None:
        """Leave the terminal as it was."""
        with contextlib.suppress(termios.error):  # it was closed
            termios.tcsetattr(self.file, termios.TCSADRAIN, self._usual)

    def read(self) -> list[str]:
        """The keys that were pressed: characters, or one of the names above. Blocks until there is one."""
        try:
            data = os.read(self.file, 1024)
        except OSError:
            data = b""
        if not data:
            return [END]
        return list(_keys(self._decoder.decode(data)))


def _keys(text: str) -> Iterator[str]:
    at = 0
    while at < len(text):
        key, at = text[at], at + 1
        if key == "\x1b" and text[at : at + 1] in ("[", "O"):  # an arrow, or another key with a sequence
            at += 1
            while at < len(text) and not "@" <= text[at] <= "~":
                at += 1
            if (name := _SEQUENCES.get(text[at : at + 1])) is not None:
                yield name
            at += 1
        elif key in _NAMED:
            yield _NAMED[key]
        elif key.isprintable():
            yield key


def edited(body: bytes) -> bytes | None:
    """The body as the user saved it in $VISUAL or $EDITOR; None if it is unchanged.

    A line end that the editor added to a body without one is removed.
    """
    command = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    if not command or shutil.which(command[0]) is None:
        raise Failure(EXIT_USAGE, f"there is no editor {' '.join(command)!r}: set EDITOR")
    before = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is the editor's
    try:
        with tempfile.TemporaryDirectory(prefix="billcore-") as folder:  # for this user alone
            path = Path(folder, "webhook.json")
            path.write_bytes(body)
            status = subprocess.run([*command, str(path)]).returncode
            if status != 0:
                raise Failure(EXIT_FAILED, f"the editor ended with status {status}: nothing was sent")
            saved = path.read_bytes()
    except OSError as error:
        raise Failure(EXIT_FAILED, f"the editor {command[0]!r} failed: {error.strerror}") from None
    finally:
        signal.signal(signal.SIGINT, before)
    if saved == body + b"\n":
        saved = body
    elif saved.endswith(b"\n") and not body.endswith(b"\n"):
        saved = saved[:-1]
    return None if saved == body else saved
