"""A browser without JavaScript: it reads pages, and fills in and sends their forms."""

from __future__ import annotations

import http.client
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urlencode

from sandbox.support import Service
from support.waiting import GENEROUS


@dataclass
class Form:
    """A form of a page: what its button says, and its fields with the values that the page gives them."""

    action: str
    button: str = ""
    fields: dict[str, str] = field(default_factory=dict)


class Browser:
    """Reads the pages of a service's sandbox."""

    def __init__(self, service: Service) -> None:
        self.host, self.port = service.host, service.port or 80

    def send(self, method: str, path: str, body: str | None = None) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.host, self.port, timeout=GENEROUS)
        headers = {"Accept": "text/html", "Origin": f"http://{self.host}:{self.port}"}
        if body is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, dict(answer.headers), answer.read()
        finally:
            connection.close()

    def get(self, path: str) -> str:
        status, _, page = self.send("GET", path)
        assert status == 200, page
        return page.decode()

    def post(self, path: str, fields: dict[str, str]) -> tuple[int, str]:
        """Send fields to a control route as a form; returns the status and the URL to show then."""
        token = re.search(r'name="token" value="([^"]+)"', self.get("/_page/upcoming"))
        assert token is not None
        status, headers, _ = self.send("POST", f"/_page/do/{path}", urlencode({"token": token[1], **fields}))
        return status, headers.get("Location", "")

    def press(self, page: str, path: str, button: str | None = None, /, **typed: str) -> tuple[str, str]:
        """Send the first form of a page for a control route; returns what the next page says of it, and that page."""
        form = next(each for each in forms(self.get(page)) if each.action == path and button in (None, each.button))
        assert {*typed} <= {*form.fields}
        status, location = self.post(path, form.fields | typed)
        assert status == 303
        shown = self.get(location)
        note = re.search(r'<p class="note[^>]*>(.*?)</p>', shown)
        assert note is not None
        return note[1], shown


def forms(page: str) -> list[Form]:
    """The forms of the page's content that post."""
    reader = _Reader()
    reader.feed(page.partition("<main")[2])
    return reader.found


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []
        self._form: Form | None = None
        self._select, self._option, self._in_button = "", False, False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._form = Form(given["action"].removeprefix("/_page/do/")) if given.get("method") == "post" else None
        if self._form is None:
            return
        if tag == "input" and (given.get("type") != "checkbox" or "checked" in given):
            self._form.fields[given["name"]] = given.get("value", "")
        elif tag == "select":
            self._select = given["name"]
        elif tag == "option" and (self._select not in self._form.fields or "selected" in given):
            self._form.fields[self._select] = given.get("value", "")
            self._option = "value" not in given  # then its text is its value
        self._in_button = tag == "button"

    def handle_data(self, data: str) -> None:
        if self._form is not None and self._in_button:
            self._form.button += data
        if self._form is not None and self._option:
            self._form.fields[self._select] = data

    def handle_endtag(self, tag: str) -> None:
        self._in_button = self._option = False
        if tag == "form" and self._form is not None:
            self.found.append(self._form)
            self._form = None
