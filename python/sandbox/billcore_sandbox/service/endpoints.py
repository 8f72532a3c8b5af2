"""Registration of webhook endpoints. Service interface: Endpoints, Webhook endpoints."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from billcore_sandbox.errors import invalid
from billcore_sandbox.service.calls import Call, Reply, reply, sent
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

MAX_URL = 2048
_NAME = r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_-]+)*\.?"


def create(call: Call) -> Reply:
    """Register a URL that receives events.

    The secret of the endpoint is not in the answer. The service shows the secret in the admin UI, the sandbox shows it
    in the control route `endpoints`.
    """
    url = sent(call).get("url")
    number, _ = register(call.world, call.account, url)
    return reply({"data": {"id": number, "url": url}})


def register(
    world: World, account: Account, url: object, secret: str | None = None, settings: Mapping[str, Any] | None = None
) -> tuple[int, str]:
    """Register an endpoint; returns its id and secret. settings: further columns of its row. Raises Refusal 422."""
    if not isinstance(url, str) or not valid_url(url):
        raise invalid("The field url must be an absolute http or https URL.", "invalid_url")
    try:
        with world.effect(account) as work:
            columns = {"account": account.number, "url": url, "secret": "", **(settings or {})}
            number = int(work.machine.create(work, "endpoint", "create", columns)["id"])
            secret = secret or account.options.secret or world.new_secret(number)
            work.update("endpoints", number, {"secret": secret})
            work.record("webhook_endpoint_create", endpoint_id=number, url=url)
    except sqlite3.IntegrityError:
        raise invalid("The field url is already registered.", "url_taken") from None
    return number, secret


def valid_url(url: str) -> bool:
    """True for an absolute http(s) URL with a host, in ASCII, without spaces, credentials or a fragment."""
    if len(url) > MAX_URL or not re.fullmatch(r"[!-~]+", url) or re.search(r'["<>\\^`{|}#]|%(?![0-9A-Fa-f]{2})', url):
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or port == 0:
        return False
    # The host is an IPv6 address, or a host name or IPv4 address made of valid labels.
    return ":" in parts.hostname or re.fullmatch(_NAME, parts.hostname) is not None
