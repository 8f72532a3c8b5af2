"""Checks of a request before its body is read: who may ask, and how much the body may hold.

A web page can make a browser send requests to localhost, and read the answers if the page's own DNS name points to
127.0.0.1. Such a request names the page's host in the header Host, so each route checks Host. A page can send a POST
to another host only as an HTML form does, so control routes check Content-Type.
"""

from __future__ import annotations

import ipaddress
import re

from billcore_sandbox.errors import Refusal, not_json, timed_out, too_large
from billcore_sandbox.http.answers import Receive, Scope, start
from billcore_sandbox.http.protocol import EXTENSION
from billcore_sandbox.options import Options, is_loopback
from billcore_sandbox.service.calls import is_json, refused

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:@/]+))(?::[0-9]*)?")  # an IPv6 address or a name, and perhaps a port
CONTROL_BODY, SERVICE_BODY = 1 << 20, 8 << 20  # bytes


async def read(options: Options, scope: Scope, receive: Receive, most: int, *, only_json: bool = False) -> bytes | None:
    """The body of a request, of at most `most` bytes; None if the client disconnected before its end.

    Raises Refusal, perhaps while the rest of the body is unread: then answer with reject(), or Connection.refuse().
    """
    check_host(options, scope)
    if only_json and not is_json(_header(scope, b"content-type")):
        raise not_json()
    if int(_header(scope, b"content-length") or "0") > most:  # h11 accepts only digits
        raise too_large(most)
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            if scope["extensions"][EXTENSION].late:
                raise timed_out()
            return None
        body += message.get("body", b"")
        if len(body) > most:
            raise too_large(most)
        if not message.get("more_body", False):
            return bytes(body)


def check_host(options: Options, scope: Scope) -> None:
    """Refuse a request whose Host is not loopback, --host, the address that the client reached, or an --allow-host."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    found = _HOST.fullmatch(hosts[0].decode("latin-1").lower() if len(hosts) == 1 else "")
    name = "" if found is None else found[1] or found[2]
    if not (is_loopback(name) or _is_own(name, options) or _is_address(name, scope["server"][0])):
        raise Refusal(403, "host", "This Host is not allowed: use 127.0.0.1 or localhost, or add --allow-host.")


def reject(scope: Scope, error: Refusal) -> None:
    """Send the answer to a request whose body may be incomplete."""
    answer = refused(error)
    scope["extensions"][EXTENSION].refuse(start(answer), answer.body)


def _is_own(name: str, options: Options) -> bool:
    return name in [each.strip("[]").lower() for each in (options.host, *options.allow_host)]


def _is_address(name: str, reached: str) -> bool:
    try:
        address = ipaddress.ip_address(reached)
        return ipaddress.ip_address(name) in (address, getattr(address, "ipv4_mapped", None))
    except ValueError:
        return False


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin-1") for each, value in scope["headers"] if each == name), "")
