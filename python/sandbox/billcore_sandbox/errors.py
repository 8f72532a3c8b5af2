"""Refusals of the service as one exception, and the JSON encoder of every reply and event."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

_log = logging.getLogger("billcore_sandbox")


class Refusal(Exception):
    """The service refuses a request: the answer has `status`, and an error object with `code` and `message`.

    details: further members of the error object of a control route, for programs.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: Iterable[tuple[str, str]] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.headers = list(headers)
        self.details = dict(details or {})

    def body(self) -> dict[str, Any]:
        return {"error": {"code": self.code, "message": self.message, **self.details}}


def not_found() -> Refusal:
    """The same 404 answers a missing resource, an unknown account, and a key that belongs to another account."""
    return Refusal(404, "not_found", "The resource was not found.")


def invalid(message: str, code: str = "validation_error") -> Refusal:
    return Refusal(422, code, message)


def too_large(most: int) -> Refusal:
    return Refusal(413, "too_large", f"The body is too large: it may have {most >> 20} MiB.")


def not_json() -> Refusal:
    return Refusal(415, "unsupported_media_type", "Send the body as Content-Type: application/json.")


def timed_out() -> Refusal:
    return Refusal(408, "request_timeout", "The request did not arrive completely in time.")


def not_stored(error: sqlite3.Error) -> Refusal:
    """The answer when the database cannot be written, for example on a full disk; also logs the error in one line."""
    _log.error("the database cannot be written: %s", error)
    return Refusal(500, "storage", f"The sandbox cannot write its database: {error}.")


def internal_error() -> Refusal:
    """The answer to an error in the sandbox itself."""
    return Refusal(500, "internal", "The sandbox itself failed: see its stderr.")


def encode(value: Any) -> bytes:
    r"""JSON as a common server-side encoder writes it: compact, `/` as `\/`, everything non-ASCII as \uXXXX.

    Most other encoders write other bytes for the same value, so a receiver that re-serialises an event before it
    checks the signature fails in the sandbox.
    """
    # In JSON, a slash occurs only inside strings, so every slash of the encoded text can be replaced.
    return json.dumps(value, separators=(",", ":")).replace("/", "\\/").encode("ascii")
