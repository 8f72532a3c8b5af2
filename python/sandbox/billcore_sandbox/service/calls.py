"""The request that an operation gets, checks of its body and query, and the reply that the operation returns."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar
from urllib.parse import parse_qsl

import msgspec

from billcore_sandbox.errors import Refusal, encode, invalid, not_found, not_json
from billcore_sandbox.resources import MAX_INTEGER
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

T = TypeVar("T", bound=msgspec.Struct)


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the service. path: encoded, with the account. headers: their names in lower case."""

    method: str
    path: str
    query: bytes = b""
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def header(self, name: str) -> str:
        """The first value of a header, or ""."""
        return next((value for each, value in self.headers if each == name), "")


@dataclass(frozen=True, slots=True)
class Call:
    """One authenticated request. id: the decoded id in the path. address: the requested URL without its query."""

    world: World
    account: Account
    id: str = ""
    address: str = ""
    query: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    content_type: str = ""


def call_with(world: World, account: Account, id: object, **fields: Any) -> Call:
    """The Call of an operation that the sandbox performs itself."""
    return Call(world, account, str(id), body=json.dumps(fields).encode(), content_type="application/json")


def requested(call: Call, table: str, also: str = "1") -> sqlite3.Row:
    """The row with the id in the path. Raises Refusal 404, also for another account's row, or if not `also`."""
    sql = f"SELECT * FROM {table} WHERE id = ? AND account = ? AND {also}"
    row = call.world.store.one(sql, number_of(call.id), call.account.number)
    if row is None:
        raise not_found()
    return row


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, ready to be sent."""

    status: int
    body: bytes
    headers: list[tuple[str, str]] = field(default_factory=list)
    content_type: str = "application/json"


def reply(value: Any, status: int = 200) -> Reply:
    return Reply(status, encode(value))


def refused(error: Refusal) -> Reply:
    return Reply(error.status, encode(error.body()), list(error.headers))


def data(resource: dict[str, Any]) -> Reply:
    """The answer with one resource."""
    return reply({"data": resource})


def parse_query(raw: bytes) -> list[tuple[str, str]]:
    """The decoded names and values of a query, whose brackets may be literal or percent-encoded."""
    return parse_qsl(raw.decode("latin-1"), keep_blank_values=True, errors="replace")


def last(query: list[tuple[str, str]], name: str) -> str | None:
    """The value of a parameter; if the parameter is repeated, the last value."""
    return next((value for key, value in reversed(query) if key == name), None)


def query_integer(query: list[tuple[str, str]], name: str, default: int, least: int, most: int) -> int:
    text = last(query, name)
    if text is None:
        return default
    # At most 18 digits: the number fits SQLite's integers, and its conversion is fast.
    if not re.fullmatch(r"-?[0-9]{1,18}", text) or not least <= int(text) <= most:
        upper = "" if most == MAX_INTEGER else f" and at most {most}"
        raise invalid(f"The parameter {name} must be an integer of at least {least}{upper}.")
    return int(text)


def number_of(text: str) -> int:
    """The store's key for a resource id in a path; for any other text -1, which is not the key of a row."""
    if not re.fullmatch(r"[1-9][0-9]{0,17}", text):
        return -1
    return int(text)


def is_json(content_type: str) -> bool:
    return content_type.partition(";")[0].strip().lower() == "application/json"


def json_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a request's body. Raises Refusal 400 or 422."""
    try:
        value = json.loads(body.decode("utf-8"), parse_constant=_no_constant)
        # A lone surrogate cannot be encoded in UTF-8, so it could not be stored.
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError):
        raise Refusal(400, "invalid_json", "The body is not valid JSON in UTF-8.") from None
    if not isinstance(value, dict):
        raise invalid("The body must be a JSON object.")
    return value


def sent(call: Call) -> dict[str, Any]:
    """The JSON object in the body of a request to the service. Raises Refusal 415, 400 or 422."""
    if not is_json(call.content_type):
        raise not_json()
    return json_object(call.body)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def fields(call: Call, type_: type[T]) -> T:
    """The fields in the body of a request. Raises Refusal 415, 400 or 422."""
    try:
        return msgspec.convert(sent(call), type_)
    except msgspec.ValidationError as error:
        raise invalid(f"The body has a wrong field: {error}.") from None
