"""An HTTP answer, for tests that send requests without the client."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any, Self


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]  # header names are in lower case
    body: bytes

    @classmethod
    def read(cls, response: HTTPResponse) -> Self:
        return cls(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def told(self) -> tuple[int, str]:
        return self.status, self.text

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        return self.json["data"]

    @property
    def code(self) -> str:
        """Returns the error's code; checks that the body has only an error with a code and a message."""
        assert list(self.json) == ["error"]
        assert sorted(self.json["error"]) == ["code", "message"]
        assert all(isinstance(text, str) and text for text in self.json["error"].values())
        return str(self.json["error"]["code"])
