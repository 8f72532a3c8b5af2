"""A browser without JavaScript: it reads pages, and sends forms."""

from __future__ import annotations

import http.client
import re
from urllib.parse import urlencode

from sandbox.support import Service
from support.waiting import GENEROUS


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
        token = re.search(r'name="token" value="([^"]+)"', self.get("/"))
        assert token is not None
        status, headers, _ = self.send("POST", f"/_page/do/{path}", urlencode({"token": token[1], **fields}))
        return status, headers.get("Location", "")
