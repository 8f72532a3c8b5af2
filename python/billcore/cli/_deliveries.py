"""The webhooks that `billcore listen` received, and their history: a file of one JSON object per line."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import threading
from base64 import b64decode, b64encode
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from ._command import EXIT_FAILED, EXIT_USAGE, Failure


@dataclass(frozen=True, slots=True)
class Delivery:
    """A webhook as it arrived or was sent again, and what came of it.

    Args:
        at: When it arrived; ISO 8601 in UTC.
        kind: `received`; `again` and `edited`, for what a key sent to the target; `refused`, without a body.
        id: The event's id, as text; "-" if there is none.
        name: The event's name; "-" if there is none.
        verified: "ok", or the reason of the SignatureError.
        status: What the sender got as the answer; of `again` and `edited`, what the target answered.
        ms: How long the target took, in milliseconds.
        note: Why it was refused, or the begin of the target's answer.
        signature: The signature header as it arrived; None: there was none.
        content_type: The header Content-Type as it arrived.
        body: The raw body.
    """

    at: str
    kind: Literal["received", "again", "edited", "refused"]
    id: str
    name: str
    verified: str
    status: int
    ms: float
    note: str = ""
    signature: str | None = None
    content_type: str = "application/json"
    body: bytes = b""

    def to_json(self, *, with_body: bool) -> str:
        """The line of NDJSON. The body, with its signature, is text if it is UTF-8, else in base64."""
        members = asdict(self) | {"ms": round(self.ms, 1)}
        body, signature = members.pop("body"), members.pop("signature")
        if with_body:
            try:
                members |= {"signature": signature, "body": body.decode()}
            except UnicodeDecodeError:
                members |= {"signature": signature, "body_base64": b64encode(body).decode()}
        return json.dumps(members)

    def matches(self, text: str) -> bool:
        """Whether the line or the body has this text; case does not matter."""
        line = f"{self.id} {self.name} {self.status} {self.verified} {self.kind} {self.note}".lower()
        return text.lower() in line or text.lower().encode() in self.body.lower()


def _kept(delivery: Delivery) -> bytes:
    return json.dumps(asdict(delivery) | {"body": b64encode(delivery.body).decode()}).encode() + b"\n"


def _read(line: bytes) -> Delivery | None:
    """The delivery of a line; None for what is none, such as a line that a full disk cut."""
    try:
        members: dict[str, Any] = json.loads(line)
        found = Delivery(**members | {"body": b64decode(members["body"], validate=True)})
    except (ValueError, TypeError, KeyError):
        return None
    texts = (found.at, found.kind, found.id, found.name, found.verified, found.note, found.content_type)
    is_whole = all(isinstance(each, str) for each in (*texts, found.signature or "")) and type(found.status) is int
    return found if is_whole and isinstance(found.ms, float) else None


class History:
    """The latest deliveries, in memory and in a file that only its owner can read. Thread-safe.

    Args:
        path: The file; its folder is made if it is missing.
        most: How many bytes the file may have: the oldest deliveries make room for new ones.
        tell: Called with a sentence if the file cannot be written; the deliveries then are only in memory.
    """

    def __init__(self, path: Path, most: int, tell: Callable[[str], None]) -> None:
        self._path, self._most, self._tell = path, most, tell
        self._changed = threading.Lock()
        self._kept: deque[tuple[Delivery, int]] = deque()  # with the bytes of its line
        self._size = 0
        self._failed = False  # whether the file lacks deliveries that are in memory
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = _open(path, os.O_RDWR | os.O_APPEND)
        except OSError as error:
            raise Failure(EXIT_FAILED, f"--history: {path} cannot be written: {error.strerror}") from None
        self._load()

    def all(self) -> list[Delivery]:
        """The deliveries, oldest first."""
        with self._changed:
            return [delivery for delivery, _ in self._kept]

    def add(self, delivery: Delivery) -> None:
        """Keep a delivery."""
        line, text = _kept(delivery), None
        with self._changed:
            self._kept.append((delivery, len(line)))
            self._size += len(line)
            try:
                if self._size > self._most:
                    self._forget()
                    self._rewrite()
                else:
                    self._append(line)
                self._failed = False
            except OSError as error:
                failed, self._failed = self._failed, True
                if not failed:
                    text = f"{self._path}: {error.strerror}: webhooks are in memory only until it can be written"
        if text is not None:  # without the lock, because telling may have to wait for a reader of the history
            self._tell(text)

    def _load(self) -> None:
        with open(os.dup(self._file), "rb") as file:
            file.seek(max(0, os.fstat(self._file).st_size - self._most))  # a part of a line is no delivery
            lines = file.read(self._most).splitlines(keepends=True)
        self._kept.extend((found, len(line)) for line in lines if (found := _read(line)))
        self._size = sum(size for _, size in self._kept)
        self._failed = bool(lines) and not lines[-1].endswith(b"\n")  # its process was killed while it wrote

    def _append(self, line: bytes) -> None:
        """Write a line whole or not at all. After a failed write, all lines that are in memory are written."""
        if self._failed:
            self._rewrite()
            return
        before = os.fstat(self._file).st_size
        try:
            _write(self._file, line)
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, before)
            raise

    def _forget(self) -> None:
        """Drop the oldest, down to half of the bytes, so that the file is seldom written anew."""
        while self._size > self._most // 2 and len(self._kept) > 1:
            self._size -= self._kept.popleft()[1]

    def _rewrite(self) -> None:
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        written = _open(beside, os.O_RDWR | os.O_APPEND | os.O_EXCL)
        try:
            for delivery, _ in self._kept:
                _write(written, _kept(delivery))
            os.replace(beside, self._path)
        except BaseException:
            os.close(written)
            with contextlib.suppress(OSError):
                beside.unlink()
            raise
        os.close(self._file)
        self._file = written


def _open(path: Path, flags: int) -> int:
    """Open or make a regular file for its owner alone, and lock it for this process."""
    made = os.open(path, flags | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    try:
        if not stat.S_ISREG(os.fstat(made).st_mode):
            raise Failure(EXIT_USAGE, f"--history: {path} is not a file")
        os.fchmod(made, 0o600)
        fcntl.flock(made, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(made)
        raise Failure(EXIT_FAILED, f"--history: another billcore listen uses {path}: name another file") from None
    except BaseException:
        os.close(made)
        raise
    return made


def _write(file: int, line: bytes) -> None:
    while line:
        line = line[os.write(file, line) :]
