"""Stream: what happens in a sandbox, as it happens; public as billcore.testing.Stream."""

from __future__ import annotations

import http.client
import json
import math
import time
from collections.abc import Iterator
from typing import Any, Literal, Self, TypedDict

from ._calls import ControlError, WaitTimeout

Kind = Literal["request", "effect", "delivery", "attempt", "state", "clock"]

_HEARTBEAT = 15.0  # seconds after which the sandbox sends a comment if nothing has happened

# TypedDict is called here, because a class statement cannot define a member with the name "from".
StateChange = TypedDict(
    "StateChange",
    {
        "id": int,
        "at": str,
        "account": str,
        "object": Literal["subscription", "order", "product", "group", "endpoint", "key"],
        "object_id": str,
        "from": str,
        "to": str,
        "cause": str,
        "event": str | None,
        "request_id": int | None,
        "effect_id": int | None,
    },
)
StateChange.__doc__ = "An object came from a state into another, or stayed in its state; `event` is the event of that."


class StreamEvent(TypedDict):
    """What has happened: `record` is the record of the history that is new or has changed.

    `cursor` is for the argument `after` of stream(). A record of the kind `request`, `delivery` or `state` is a
    RequestRecord, Delivery or StateChange; of the kind `attempt` it is an Attempt with the `seq`, `id`, `event`,
    `endpoint_id`, `url`, `state` and `account` of its delivery. `reset`: all records were deleted. `cleared`: the
    records of `account` were deleted, or of all accounts. `forgotten`: the sandbox deleted the records of `changes`
    changes before the stream came to them, because its history was full.
    """

    cursor: str
    kind: Literal[Kind, "reset", "cleared", "forgotten"]
    record: Any


class Stream(Iterator[StreamEvent]):
    """An iterator over what happens in a sandbox: see Control.stream()."""

    def __init__(self, host: str, port: int | None, target: str, usual: float, timeout: float | None) -> None:
        # The sandbox sends a comment in each _HEARTBEAT, so a longer silence means that it hangs.
        self._usual, self._timeout = usual + _HEARTBEAT, timeout
        self._connection = http.client.HTTPConnection(host, port, timeout=self._usual)
        self._events, self._deadline = self._read(), math.inf
        try:
            self._connection.request("GET", target)
            self._response = self._connection.getresponse()
            if self._response.status != 200:
                error = json.loads(self._response.read())["error"]
                raise ControlError(self._response.status, error["code"], error["message"])
        except BaseException:
            self.close()
            raise

    def __next__(self) -> StreamEvent:
        """The next event. Raises WaitTimeout, or ConnectionError if the sandbox did not close the stream at its end."""
        self._deadline = math.inf if self._timeout is None else time.monotonic() + self._timeout
        return next(self._events)

    def _read(self) -> Iterator[StreamEvent]:
        rest, fields = b"", dict[bytes, bytes]()
        while chunk := self._received():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                name, _, value = line.partition(b": ")
                if name:
                    fields[name] = value
                    continue
                if b"data" in fields:
                    kind: Any = fields[b"event"].decode()
                    yield {"cursor": fields[b"id"].decode(), "kind": kind, "record": json.loads(fields[b"data"])}
                fields = {}

    def _received(self) -> bytes:
        try:
            if (left := self._deadline - time.monotonic()) <= 0:
                raise TimeoutError
            self._connection.sock.settimeout(min(left, self._usual))
            return self._response.read1(65536)
        except TimeoutError:
            self.close()
            raise WaitTimeout("nothing came from the stream of the sandbox in time", {}) from None
        except http.client.IncompleteRead:
            raise ConnectionError("the sandbox ended without closing the stream") from None

    def close(self) -> None:
        """Close the connection to the sandbox."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
