"""The webhook endpoints: their secrets, settings and deliveries, and a receiver for each as a program."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from billcore_sandbox import clock
from billcore_sandbox.control import bodies, webhooks
from billcore_sandbox.page.request import PAGE, PageRequest
from billcore_sandbox.page.views.inputs import inputs, shown
from billcore_sandbox.service.calls import Reply
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

_STATES = ("pending", "on_hold", "failed", "held_back")  # of the deliveries that are counted
_HELP = {
    "concurrency": "attempts at the same time",
    "retry_schedule": "seconds before each retry, as JSON such as [1, 60]; null: as the account",
    "keep_alive": "no: a connection for each attempt",
}
_RECEIVER = """\
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from billcore import webhooks

verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"]{header})


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = verifier.unwrap_request(body, self.headers.items())
        except webhooks.SignatureError as error:
            self.send_error(error.http_status, error.reason)
            return
        print(event.name)
        self.send_response(204)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", {port}), Receiver).serve_forever()
"""


def show(request: PageRequest) -> Reply:
    """The endpoints of the chosen account or of all, the latest first; parameters: account, before (an id)."""
    world, before = request.world, request.number("before")
    listed = webhooks.endpoints(world, bodies.Nothing(account=request.query.get("account") or None))["endpoints"]
    found = [each for each in reversed(listed) if not before or each["id"] < before]
    counts = _counts(world, [each["id"] for each in found[:PAGE]])
    return request.render(
        "endpoints.html",
        total=len(listed),
        endpoints=[_shown(world, {**each}, counts) for each in found[:PAGE]],
        older=found[PAGE - 1]["id"] if len(found) > PAGE else None,
    )


def _counts(world: World, numbers: list[int]) -> dict[tuple[int, str], int]:
    """The number of deliveries to each of the endpoints in each of _STATES."""
    places, states = ", ".join("?" * len(numbers)), ", ".join("?" * len(_STATES))
    sql = (
        "SELECT endpoint_id, state, count(*) AS n FROM deliveries"
        f" WHERE endpoint_id IN ({places}) AND state IN ({states}) GROUP BY 1, 2"
    )
    return {(row["endpoint_id"], row["state"]): row["n"] for row in world.store.all(sql, *numbers, *_STATES)}


def _shown(world: World, endpoint: dict[str, Any], counts: dict[tuple[int, str], int]) -> dict[str, Any]:
    account = world.store.by_uuid[endpoint["account"]]
    until = endpoint["old_secret_until"]
    settings = ("concurrency", "retry_schedule", "keep_alive")
    values = {name: shown(endpoint[name]) for name in settings}
    fields = inputs(bodies.Settings, dict.fromkeys(settings), values, _HELP)
    causes = world.machine.causes("endpoint", endpoint["state"])
    host = urlsplit(endpoint["url"]).hostname or ""
    return {
        **endpoint,
        "number": account.number,
        "overlaps": until is not None and clock.parse(until) > account.clock.now(),
        "counts": {state: counts.get((endpoint["id"], state), 0) for state in _STATES},
        "held_back": None if world.dispatcher.may_reach(endpoint["url"]) else host,
        "causes": [each for each in ("enable", "disable") if each in causes],
        "fields": [each._replace(default="as it is" if each.type == "select" else "") for each in fields],
        "schedule": shown(endpoint["retry_schedule"] or account.options.retry_schedule),
        "receiver": receiver(account, endpoint["url"]),
    }


def receiver(account: Account, url: str) -> str:
    """A program that receives and verifies the events for a URL; it reads the secret from WEBHOOK_SECRET."""
    parts, name = urlsplit(url), account.options.signature_header
    header = "" if name == "Service-Signature" else f", header={name!r}"
    return _RECEIVER.format(header=header, port=parts.port or 8000)
