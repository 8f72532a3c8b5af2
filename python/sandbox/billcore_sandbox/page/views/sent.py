"""A recorded request, read for snippets: which method of the clients makes it, with which arguments."""

from __future__ import annotations

import json
import re
import sqlite3
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, unquote

from billcore_sandbox.errors import Refusal
from billcore_sandbox.history import headers
from billcore_sandbox.service.calls import is_json
from billcore_sandbox.service.routes import OPERATIONS, find

MOST_INLINE = 4096  # bytes of a body in a snippet
_DEEPEST = 20  # levels of JSON in a snippet: a parser of a language may have a limit
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
NONE: Any = object()


class Parameter(NamedTuple):
    """A parameter of a client's method. sent: its name in the request. go: the option's name; "": an argument."""

    sent: str
    name: str
    type: type
    go: str = ""


_PAGE = Parameter("page", "page", int, "ListPage")
_PRODUCT = Parameter("product_id", "product_id", int)
_UPDATE = {
    "name": "Name",
    "description": "Description",
    "price": "Price",
    "currency": "Currency",
    "interval": "Interval",
}
# The parameters of each method that is more than an id. Those without an option's name are required.
PARAMETERS = {
    "subscriptions.list": (_PAGE, Parameter("filter[reference_id]", "reference_id", str, "ListReferenceID")),
    "subscriptions.orders": (
        _PAGE,
        Parameter("per_page", "per_page", int, "ListPerPage"),
        Parameter("filter[product_id]", "product_id", int, "ListProductID"),
        Parameter("filter[state]", "state", list, "ListState"),
    ),
    "products.list": (_PAGE,),
    "subscriptions.change_product": (_PRODUCT,),
    "subscriptions.charge": (
        _PRODUCT,
        Parameter("amount", "amount", int),
        Parameter("quantity", "quantity", int, "ChargeQuantity"),
        Parameter("vat", "vat", int, "ChargeVAT"),
        Parameter("description", "description", str, "ChargeDescription"),
    ),
    "products.update": tuple(
        Parameter(name, name, int if name == "price" else str, f"Product{go}") for name, go in _UPDATE.items()
    ),
    "webhook_endpoints.create": (Parameter("url", "url", str),),
}
LISTS = ("subscriptions.list", "subscriptions.orders", "products.list")


@dataclass(frozen=True, slots=True)
class Sent:
    """A recorded request.

    base, path: of the account, and below it; path is None if the target is not below an account. query: its parameters;
    None if they are not UTF-8. value: the JSON body, or NONE. given: the arguments of the client's method `operation`;
    None if no method makes this request. id: the one in the path, or "". unsendable: why no client sends it, or None.
    """

    method: str
    target: str
    headers: list[tuple[str, str]]
    body: bytes
    base: str
    path: str | None
    query: list[tuple[str, str]] | None
    value: Any
    operation: str | None
    id: str
    given: list[tuple[Parameter, Any]] | None
    unsendable: str | None

    @property
    def has_number(self) -> bool:
        """Whether the client takes the id as an integer."""
        return self.given is not None and self.operation is not None and self.operation.startswith("products.")


def read(row: sqlite3.Row, account: str | None) -> Sent:
    """Read a row of the requests. account: the UUID of its account."""
    target, sent, body = row["target"], headers(row["headers"]), row["body"]
    whole, _, text = target.partition("?")
    base = f"/{account}"
    path = whole.removeprefix(base) if account is not None and whole.startswith(f"{base}/") else None
    try:
        query = parse_qsl(text, keep_blank_values=True, strict_parsing=True, errors="strict") if text else []
    except ValueError:
        query = None
    kind = next((value for name, value in sent if name.lower() == "content-type"), "")
    value = _json(body) if is_json(kind) and len(body) <= MOST_INLINE else NONE
    unsendable = _unsendable(row["method"], path, query, body, value)
    found, given = "", None
    if unsendable is None and path is not None and query is not None:
        found, given = _call(row["method"], path, query, body, value)
    return Sent(
        *(row["method"], target, sent, body, base, path, query, value, row["operation"], found, given, unsendable)
    )


def _unsendable(method: str, path: str | None, query: Any, body: bytes, value: Any) -> str | None:
    """Why the clients of billcore cannot send a request."""
    if path is None:
        return "its path is not below the base URL of an account"
    if method not in _METHODS:
        return f"its method is not one of {', '.join(_METHODS)}"
    if query is None or not re.fullmatch(r"(/[!$&'()*+,;=:@\w~%-][!$&'()*+,;=:@\w.~%-]*)+", path, re.ASCII):
        return "its path or query is not encoded as the client encodes it"
    if body and method == "GET":
        return "it is a GET with a body"
    if body and value is NONE:
        return f"its body is not JSON of at most {MOST_INLINE} bytes that each language writes alike"
    return None


def _json(body: bytes) -> Any:
    """The value of the body; NONE if it is not JSON, or if the value has less than the text, such as 1e999."""
    try:
        text = body.decode("utf-8")
        value = json.loads(text)
        if _depth(value) > _DEEPEST or _exact(text) != _exact(json.dumps(value)):
            return NONE
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # a lone surrogate cannot be sent
        return value
    except (ValueError, RecursionError):
        return NONE


def _exact(text: str) -> Any:
    """JSON in which nothing is lost: objects are lists of their members, and numbers have all digits."""
    return json.loads(text, parse_float=Decimal, parse_constant=_no_constant, object_pairs_hook=list)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _depth(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inside is None else 1 + max(map(_depth, inside), default=0)


def _call(
    method: str, path: str, query: list[tuple[str, str]], body: bytes, value: Any
) -> tuple[str, list[tuple[Parameter, Any]] | None]:
    """The id in the path, and the arguments of the client's method; None if no method makes this request."""
    try:
        route, encoded = find(OPERATIONS, method, path)
        found = unquote(encoded, errors="strict")
    except (Refusal, UnicodeDecodeError):
        return "", None
    known = PARAMETERS.get(route.name, ())
    if route.name.startswith("products.") and found and not re.fullmatch("[1-9][0-9]{0,17}", found):
        return found, None
    if route.name in LISTS:
        named = dict(query)
        # The client always sends the page, so a list without it is another request.
        if body or len(named) != len(query) or "page" not in named:
            return found, None
        values: Any = {name: _number(text) if _type(known, name) is int else text for name, text in named.items()}
    elif query or bool(known) != (type(value) is dict):
        return found, None
    else:
        values = value if known else {}
    if not known and body:
        return found, None
    fits = all(_fits(known, name, each) for name, each in values.items())
    required = all(each.sent in values for each in known if not each.go)
    if not (fits and required and (values or not known)):
        return found, None
    return found, [(each, values[each.sent]) for each in known if each.sent in values]


def _type(known: tuple[Parameter, ...], name: str) -> type | None:
    return next((each.type for each in known if each.sent == name), None)


def _number(text: str) -> Any:
    return int(text) if re.fullmatch("[1-9][0-9]{0,17}", text) else text


def _fits(known: tuple[Parameter, ...], name: str, value: Any) -> bool:
    """Whether the client takes the argument, and sends it as it is."""
    kind = _type(known, name)
    if kind is list:
        return re.fullmatch("[a-z_]+(,[a-z_]+)*", value) is not None
    if kind is int and type(value) is int:
        return abs(value) < 2**63 and (name not in ("page", "per_page") or 1 <= value <= 200 or name == "page")
    return kind is str and type(value) is str and (name != "url" or value.isprintable())
