"""Performs the forms of the page. Each form posts to a control route, whose checks and types apply.

A page of another origin can post a form to this server too, so each form has a token that only this page knows, and the
header Origin, which browsers send with each form, must be this server's.
"""

from __future__ import annotations

import hmac
import inspect
import re
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

import msgspec

from billcore_sandbox.control.mistakes import mistake
from billcore_sandbox.control.routes import ALL
from billcore_sandbox.errors import Refusal, invalid
from billcore_sandbox.openapi import ControlRoute
from billcore_sandbox.page.request import PREFIX, PageRequest
from billcore_sandbox.service.calls import Reply
from billcore_sandbox.service.routes import find

# Fields of each form that are not of the control route. token: see Shared. method: of the route. back: the URL of the
# page to show then, where {seq} and such stand for members of the answer. done: what to say then.
_OWN = ("token", "method", "back", "done")
_JSON = ":json"  # at the end of the name of a field whose text is JSON
_PLACE = re.compile(r"\{(\w+)\}|%7B(\w+)%7D")
# The id of a record or an account, or a state; no secret: those have 32 or more characters.
_PUBLIC = re.compile(r"[0-9]{1,20}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z_]{1,20}")


async def perform(request: PageRequest, body: bytes) -> Reply:
    """Perform a form, and send the browser to the page that shows the outcome."""
    if request.method != "POST":
        raise Refusal(405, "method_not_allowed", "A form is sent with POST.", [("Allow", "POST")])
    if request.header("content-type").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        raise Refusal(415, "unsupported_media_type", "The body must be a form.")
    try:
        pairs = parse_qsl(
            body.decode("utf-8"), keep_blank_values=True, strict_parsing=True, errors="strict", max_num_fields=200
        )
    except ValueError:
        raise invalid("The body is not a form in UTF-8.") from None
    fields = dict(pairs)
    _check_sender(request, fields)
    own = {name: fields.pop(name, "") for name in _OWN}
    back = own["back"] if own["back"].startswith("/") and not own["back"].startswith("//") else "/"
    try:
        answer = await _done(request, own["method"] or "POST", fields)
    except Refusal as error:
        return _go(request, _PLACE.sub("", back), f"Refused: {error.message}", wrong=True)
    return _go(request, _filled(back, answer), _filled(own["done"], answer) or "Done.")


def _check_sender(request: PageRequest, fields: dict[str, str]) -> None:
    """Refuse a form that is not of this page, or that a page of another origin sent. Raises Refusal 403."""
    # A proxy may give the page to browsers over https.
    if request.header("origin") not in (f"{scheme}://{request.header('host')}" for scheme in ("http", "https")):
        raise Refusal(403, "origin", "This form was sent by a page of another origin, so nothing was done.")
    if not hmac.compare_digest(fields.get("token", "").encode(), request.shared.token.encode()):
        raise Refusal(403, "token", "This form is of an earlier start of the sandbox: load the page again.")


async def _done(request: PageRequest, method: str, fields: dict[str, str]) -> Any:
    """Perform the control route; returns its answer."""
    route, found = find(ALL, method, request.path.removeprefix(f"{PREFIX}/do/"))
    if route.method == "GET":
        raise Refusal(405, "method_not_allowed", "A form only changes something.")
    given = [] if route.body is None else [_converted(route, fields)]
    done = route.action(request.world, *given, *([unquote(found)] if found else []))
    return await done if inspect.isawaitable(done) else done


def _converted(route: ControlRoute, fields: dict[str, str]) -> msgspec.Struct:
    """The body of the control route; an empty field is left out."""
    assert route.body is not None
    values: dict[str, Any] = {}
    for name, text in fields.items():
        if name.endswith(_JSON):
            name = name.removesuffix(_JSON)
            try:
                values |= {name: msgspec.json.decode(text)} if text.strip() else {}
            except (msgspec.DecodeError, RecursionError):
                raise invalid(f'The field {name} must be JSON, such as {{}} or "text".') from None
        elif text:
            values[name] = text.replace("\r\n", "\n")  # browsers send each line end as CRLF
    try:
        return msgspec.convert(values, route.body, strict=False)
    except msgspec.ValidationError as error:
        raise mistake(error, route.body, "fields") from None


def _filled(text: str, answer: Any) -> str:
    """The text with members of the answer in the place of their names; of a list, its length."""

    def member(found: re.Match[str]) -> str:
        value: Any = answer
        for name in (found[1] or found[2]).split("__"):
            value = value.get(name) if isinstance(value, dict) else None
        value = len(value) if isinstance(value, list) else value
        return str(value) if _PUBLIC.fullmatch(str(value)) else ""

    return _PLACE.sub(member, text)


def _go(request: PageRequest, back: str, text: str, *, wrong: bool = False) -> Reply:
    path, mark, query = back.partition("?")
    note = f"note={request.shared.note(text, wrong=wrong)}"
    location = f"{path}?{query}&{note}" if mark else f"{path}?{note}"
    # Only visible ASCII can be in a header.
    safe = quote(location, safe="/?&=%:+,;@!$'()*~-._")
    return Reply(303, b"", [("Location", safe), ("Cache-Control", "no-store")], "text/plain")
