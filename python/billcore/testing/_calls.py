"""How the control routes of a sandbox are called."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from .._durations import seconds


class ControlError(RuntimeError):
    """A control route refused a request. `status` and `code` are those of the route's answer."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code


class Calls:
    """Sends requests to the control routes of one sandbox, or of one account. Thread-safe."""

    def __init__(self, control_url: str, timeout: float = 30.0, *, account: str | None = None) -> None:
        parts = urlsplit(control_url)
        if parts.scheme != "http" or parts.hostname is None:
            raise ValueError("control_url must be the http URL of the sandbox's ready line")
        self._host, self._port, self._prefix = parts.hostname, parts.port, parts.path.rstrip("/")
        self._timeout = seconds(timeout, "timeout")
        self._account = account

    def _call(self, method: str, path: str, fields: Mapping[str, Any] | None = None) -> Any:
        # Uses http.client, because urllib would use a proxy from the environment. Each call opens its own connection.
        connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        try:
            if self._account is not None and path not in ("accounts", "scenarios"):
                if method == "GET":
                    path += f"?account={self._account}"
                elif fields is not None and fields.get("account") is None:
                    fields = {**fields, "account": self._account}
            body = None if fields is None else json.dumps(fields).encode()
            headers = {} if body is None else {"Content-Type": "application/json"}
            connection.request(method, f"{self._prefix}/{path}", body, headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ControlError(response.status, answer["error"]["code"], answer["error"]["message"])
        return answer


def segment(value: str | int) -> str:
    return quote(str(value), safe="")
