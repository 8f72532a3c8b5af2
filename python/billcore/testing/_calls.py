"""Sends requests to the control routes of a sandbox."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from .._durations import seconds

T = TypeVar("T")

_LONGEST_WAIT = 600.0  # seconds that one request may wait
# A wait gives up after its time-out and this number of seconds, but not before _LEAST, if the sandbox does not answer.
_GRACE, _LEAST = 1.0, 5.0


class Records(list[T]):
    """The records of a list of the sandbox.

    Attributes:
        total: How many records match the filters, also those that are not in this part of the list.
        forgotten: How many records of the list the sandbox has deleted, because its history was full.
        cursor: stream(after=cursor) begins with the first change after this list.
    """

    def __init__(self, answer: Mapping[str, Any], name: str) -> None:
        super().__init__(answer[name])
        self.total: int = answer["total"]
        self.forgotten: int = answer["forgotten"]
        self.cursor: str = answer["cursor"]


class ControlError(RuntimeError):
    """A control route refused a request. `status`, `code` and `message` are from the route's answer."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message


class WaitTimeout(TimeoutError):
    """What a control route waited for did not come within the time-out. The message says what there is instead.

    Attributes:
        arrived: How many of the awaited records there are.
        pending: How many deliveries are pending.
        last_answer: The last attempt of a pending delivery as GET deliveries shows it, or None if none was attempted.
        details: These and all further members of the route's error, such as `now` after advance().
    """

    def __init__(self, message: str, details: Mapping[str, Any]) -> None:
        super().__init__(message)
        self.details = dict(details)
        self.arrived: int = details.get("arrived", 0)
        self.pending: int = details.get("pending", 0)
        self.last_answer: dict[str, Any] | None = details.get("last_answer")


class Calls:
    """Sends requests to the control routes of one sandbox, or of one account. Thread-safe."""

    def __init__(self, control_url: str, timeout: float = 30.0, *, account: str | None = None) -> None:
        parts = urlsplit(control_url)
        if parts.scheme != "http" or parts.hostname is None:
            raise ValueError("control_url must be the http URL of the sandbox's ready line")
        self._host, self._port, self._prefix = parts.hostname, parts.port, parts.path.rstrip("/")
        self._timeout = seconds(timeout, "timeout")
        self._account = account

    def _call(
        self,
        method: str,
        path: str,
        fields: Mapping[str, Any] | None = None,
        *,
        query: Mapping[str, Any] | None = None,
        longer: float = 0.0,
    ) -> Any:
        # Uses http.client, because urllib would use a proxy from the environment. Each call opens its own connection.
        connection = http.client.HTTPConnection(self._host, self._port, timeout=self._timeout + longer)
        try:
            parameters = given(query or {})
            if self._account is not None and path not in ("accounts", "scenarios"):
                if method == "GET":
                    parameters["account"] = self._account
                elif fields is not None and fields.get("account") is None:
                    fields = {**fields, "account": self._account}
            if parameters:
                path += f"?{urlencode(parameters)}"
            body = None if fields is None else json.dumps(fields).encode()
            headers = {} if body is None else {"Content-Type": "application/json"}
            connection.request(method, f"{self._prefix}/{path}", body, headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        finally:
            connection.close()
        if response.status == 408:
            raise WaitTimeout(answer["error"]["message"], answer["error"])
        if response.status != 200:
            raise ControlError(response.status, answer["error"]["code"], answer["error"]["message"])
        return answer

    def _wait(self, timeout: float, **fields: Any) -> Any:
        """Returns the answer of POST wait. Raises WaitTimeout at most a second after the time-out (see _LEAST)."""
        rest = seconds(timeout, "timeout", zero=True)
        while True:
            once = min(rest, _LONGEST_WAIT)
            try:
                longer = max(once + _GRACE, _LEAST) - self._timeout
                return self._call("POST", "wait", {**fields, "timeout": once}, longer=longer)
            except WaitTimeout:
                rest -= once
                if rest <= 0:
                    raise
            except TimeoutError:
                raise WaitTimeout(f"the sandbox did not answer within {once:g} s: is it busy or stopped?", {}) from None

    def _move(self, timeout: float | None, settle: bool, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the answer of POST clock. Raises WaitTimeout after the time-out."""
        rest = self._timeout if timeout is None else seconds(timeout, "timeout", zero=True)
        happened: list[Any] = []
        while True:
            once = min(rest, _LONGEST_WAIT)
            try:
                moved = self._call("POST", "clock", {**fields, "settle": settle, "timeout": once}, longer=once)
                return {**moved, "happened": [*happened, *moved["happened"]]}
            except WaitTimeout as error:
                happened += error.details["happened"]
                rest -= once
                if rest <= 0:
                    details = {**error.details, "arrived": len(happened), "happened": happened}
                    raise WaitTimeout(str(error), details) from None
                fields = {"to": error.details["to"]}


def arguments(local: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a method that are not None; `local` is locals() at its beginning."""
    return given({name: value for name, value in local.items() if name not in ("self", "__class__")})


def given(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def segment(value: str | int) -> str:
    return quote(str(value), safe="")
