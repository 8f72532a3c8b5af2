"""A visitor with a browser, and a receiver that a visitor can mend."""

from __future__ import annotations

import hashlib
import hmac
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request, Route, expect

from billcore.testing import SandboxAccount
from support.waiting import GENEROUS

# What the browser loads beside the page; it ends that when the visitor leaves the page.
_LEFT = re.compile(r"/_page/(changes|rows\b|static/icon.svg)")

expect.set_options(timeout=GENEROUS * 1000)


class Visitor:
    """Opens pages of one account. `problems`: errors of scripts and of the console, dialogs, and failed requests."""

    def __init__(self, browser: Browser, account: SandboxAccount) -> None:
        self._browser, self.account = browser, account
        self.uuid = account.base_url.rpartition("/")[2]
        self.origin = "http://" + urlsplit(account.base_url).netloc
        self.problems: list[str] = []
        self.posts: list[str] = []
        self._contexts: list[BrowserContext] = []

    def open(self, path: str = "/", parameters: dict[str, str] | None = None, **options: Any) -> Page:
        """A page in a browser context with these options, such as java_script_enabled."""
        context = self._browser.new_context(base_url=self.origin, **options)
        self._contexts.append(context)
        context.set_default_timeout(GENEROUS * 1000)
        context.route(re.compile(f"^(?!{re.escape(self.origin)}/)"), self._foreign)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.problems.append(f"error: {error.error}"))
        context.on("requestfailed", self._failed)
        context.on("request", lambda request: self.posts.append(request.url) if request.method == "POST" else None)
        page = context.new_page()
        page.on("dialog", self._dialog)
        page.goto(self.url(path, **(parameters or {})))
        return page

    def url(self, path: str = "/", **parameters: str) -> str:
        return f"{path}?{urlencode({'account': self.uuid, **parameters})}"

    def close(self) -> None:
        for each in self._contexts:
            each.close()

    def _foreign(self, route: Route) -> None:
        self.problems.append(f"request to another origin: {route.request.url}")
        route.abort()

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text}")

    def _failed(self, request: Request) -> None:
        if not (request.failure == "net::ERR_ABORTED" and _LEFT.search(request.url)):
            self.problems.append(f"failed: {request.url} {request.failure}")

    def _dialog(self, dialog: Any) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def rows(page: Page, kind: str = "") -> Locator:
    """The rows of the list, or those of one kind."""
    return page.locator(f"#rows > li:has(.kind.{kind})" if kind else "#rows > li")


def press(page: Page, name: str, within: str = "main") -> None:
    """Clicks a button, and waits for the sentence that says what was done."""
    old = page.locator("#note .note").element_handles()
    page.locator(within).get_by_role("button", name=name, exact=True).first.click()
    for each in old:
        each.wait_for_element_state("hidden")
    expect(page.locator("#note .note")).to_be_visible()


@dataclass
class Shop:
    """A webhook receiver: it answers 204 to a right signature, and 401 to a wrong one.

    `holds`: it answers only after `answer` is set.
    """

    secret: str = "not the endpoint's secret"
    received: list[bytes] = field(default_factory=list)
    url: str = ""
    answer: threading.Event = field(default_factory=threading.Event)
    said: bytes = b'{"error":"signature mismatch"}'

    def took(self, body: bytes, signature: str) -> bool:
        self.received.append(body)
        self.answer.wait(GENEROUS)
        right = hmac.new(self.secret.encode(), body, hashlib.sha256).hexdigest()
        return hmac.compare_digest(right, signature)


@contextmanager
def shop(port: int = 0) -> Iterator[Shop]:
    made = Shop()
    made.answer.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            said = b"" if made.took(body, self.headers["Service-Signature"]) else made.said
            self.send_response(401 if said else 204)
            if said:
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            with suppress(ConnectionError):  # the sandbox reads only the begin of a large answer
                self.wfile.write(said)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        made.url = f"http://127.0.0.1:{server.server_port}/webhooks"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield made
        finally:
            made.answer.set()
            server.shutdown()
            thread.join()
