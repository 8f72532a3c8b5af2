"""Faults: what happens to the next matching requests, instead of the service's answer or in addition to it.

A fault acts like a broken proxy in front of the service, so it comes before authentication. Faults are kept in memory.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from billcore_sandbox.errors import Refusal, encode, invalid

KINDS = ("status", "delay", "reset_before", "reset_after", "half_body")
_MAX_DELAY = 3600.0
_VALUE = re.compile(r"[^\x00-\x1f\x7f\s]([^\x00-\x1f\x7f]*[^\x00-\x1f\x7f\s])?|").fullmatch


@dataclass(slots=True)
class Fault:
    """One registered fault; `times` counts down.

    effect: for `status`: the service does its work, and the fault replaces the answer, like a gateway that lost it.
    abort: for `half_body`: the connection is reset after half of the body, instead of closed.
    """

    id: int
    kind: str
    method: str | None = None
    path: str | None = None
    account: str | None = None
    times: int = 1
    status: int = 503
    body: bytes = b""
    content_type: str = "application/json"
    headers: list[tuple[str, str]] = field(default_factory=list)
    delay: float = 1.0
    effect: bool = False
    abort: bool = False

    def matches(self, method: str, path: str, account: str) -> bool:
        if self.account not in (None, account):
            return False
        return (self.method is None or self.method == method) and (self.path is None or fnmatchcase(path, self.path))

    def public(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": self.kind,
            "method": self.method,
            "path": self.path,
            "account": self.account,
            "times": self.times,
        }


class Faults:
    """The registered faults, oldest first."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self._last_id = 0

    def add(self, wanted: dict[str, Any]) -> Fault:
        """Register what a POST to `faults` asks for. Raises Refusal with the reason."""
        fault = parse(self._last_id + 1, wanted)
        self._last_id = fault.id
        self._waiting.append(fault)
        return fault

    def take(self, method: str, path: str, account: str) -> Fault | None:
        """The oldest fault that matches. Counts it down, and removes it at zero."""
        for fault in self._waiting:
            if fault.matches(method, path, account):
                fault.times -= 1
                if fault.times == 0:
                    self._waiting.remove(fault)
                return fault
        return None

    def waiting(self) -> list[dict[str, Any]]:
        return [fault.public() for fault in self._waiting]

    def forget(self, account: str) -> None:
        """Remove the faults of an account."""
        self._waiting = [fault for fault in self._waiting if fault.account != account]

    def clear(self) -> None:
        self._waiting.clear()
        self._last_id = 0


_FIELDS: dict[str, tuple[type, ...]] = {
    "kind": (str,),
    "method": (str, type(None)),
    "path": (str, type(None)),
    "account": (str, type(None)),
    "times": (int,),
    "status": (int,),
    "content_type": (str, type(None)),
    "headers": (dict, type(None)),
    "delay": (int, float),
    "effect": (bool,),
    "abort": (bool,),
}


def parse(fault_id: int, wanted: dict[str, Any]) -> Fault:
    """A Fault from the JSON of a control request; unknown fields are refused, because they are probably misspelt."""
    for name, value in wanted.items():
        if name == "body":
            continue
        if name not in _FIELDS:
            raise invalid(f"faults know no field {name!r}: use {', '.join([*_FIELDS, 'body'])}")
        if not isinstance(value, _FIELDS[name]) or (isinstance(value, bool) and bool not in _FIELDS[name]):
            raise invalid(f"the field {name!r} of a fault has the wrong type")
    if wanted.get("kind") not in KINDS:
        raise invalid(f"the field 'kind' of a fault must be one of {', '.join(KINDS)}")
    fault = Fault(fault_id, wanted["kind"])
    if wanted.get("method") is not None:
        fault.method = wanted["method"].upper()
    fault.path = wanted.get("path")
    fault.account = wanted.get("account")
    fault.times = _within("times", wanted.get("times", 1), 1, 1_000_000_000)
    fault.status = int(_within("status", wanted.get("status", 503), 200, 599))
    fault.delay = float(_within("delay", wanted.get("delay", 1.0), 0, _MAX_DELAY))
    fault.effect = wanted.get("effect", False)
    fault.abort = wanted.get("abort", False)
    fault.headers = _headers(wanted.get("headers") or {})
    _set_body(fault, wanted)
    return fault


def _within(name: str, value: Any, least: float, most: float) -> Any:
    if not math.isfinite(value) or not least <= value <= most:
        raise invalid(f"the field {name!r} of a fault must be from {least} to {most:g}")
    return value


def _headers(wanted: dict[str, Any]) -> list[tuple[str, str]]:
    for name, value in wanted.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name) or not isinstance(value, str) or not _VALUE(value):
            raise invalid("the field 'headers' of a fault maps header names to strings of one line")
    return list(wanted.items())


def _set_body(fault: Fault, wanted: dict[str, Any]) -> None:
    content_type = wanted.get("content_type")
    if content_type is not None:
        if not isinstance(wanted.get("body"), str):
            raise invalid("a fault with 'content_type' needs a string 'body', which is sent as it is")
        if not _VALUE(content_type):
            raise invalid("the field 'content_type' of a fault must be one line")
        fault.content_type = content_type
        fault.body = wanted["body"].encode("utf-8")
    elif "body" in wanted:
        fault.body = json.dumps(wanted["body"], ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    else:
        fault.body = encode(Refusal(fault.status, "fault", "The sandbox was asked to fail this request.").body())
