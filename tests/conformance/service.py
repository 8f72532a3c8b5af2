"""Sends requests to the sandbox, for the checks of wire fixtures: raw requests, set-up steps, templates."""

from __future__ import annotations

import http.client
import json
import re
from typing import Any
from urllib.parse import quote, urlsplit

from support.answer import Answer

Json = Any
_HOLE = re.compile(r"\{([^{}]+)\}")
_KEYS = {"none": None, "empty": "", "wrong": "key_of_nobody_at_all"}


def look_up(names: Json, path: str) -> Json:
    """Returns the part of `names` at a dotted path: names["a"]["b"][0] for "a.b.0", and `names` itself for ""."""
    value = names
    for step in path.split(".") if path else []:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def fill(template: Json, names: dict[str, Json]) -> Json:
    """Returns the template with every "{name.path}" replaced by the value at this path. A string that is only a
    placeholder is replaced by the value itself, which may be a number or an object."""
    if isinstance(template, dict):
        return {key: fill(value, names) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, names) for value in template]
    if not isinstance(template, str):
        return template
    whole = _HOLE.fullmatch(template)
    return look_up(names, whole[1]) if whole else fill_text(template, names)


def fill_text(template: str, names: dict[str, Json]) -> str:
    return _HOLE.sub(lambda hole: quote(str(look_up(names, hole[1])), safe=""), template)


class Service:
    """One account of a sandbox, called with http.client. Not thread-safe."""

    def __init__(self, base_url: str, api_key: str, other_key: str) -> None:
        parts = urlsplit(base_url)
        self._prefix = parts.path.rstrip("/")
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._keys = {"own": api_key, "other": other_key, **_KEYS}
        self.writes = 0

    def close(self) -> None:
        self._connection.close()

    def request(self, method: str, path: str, query: str = "", body: Json = None, key: str = "own") -> Answer:
        api_key = self._keys[key]
        headers = {"Accept": "application/json"} | ({} if api_key is None else {"X-API-KEY": api_key})
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        self.writes += method != "GET"
        self._connection.request(method, self._prefix + path + (f"?{query}" if query else ""), data, headers)
        response = self._connection.getresponse()
        return Answer.read(response)

    def pages(self, path: str, query: str = "") -> list[Json]:
        """Requests the pages of a list by number, and returns all of them."""
        pages: list[Json] = []
        while True:
            parts = [query] if query else []
            parts += [f"page={len(pages) + 1}"] if pages else []
            answer = self.request("GET", path, "&".join(parts))
            assert answer.status == 200, answer
            pages.append(answer.json)
            if len(pages) >= pages[0]["pagination"]["total_pages"]:
                return pages

    def items(self, path: str, query: str = "") -> list[Json]:
        return [item for page in self.pages(path, query) for item in page["data"]]


def set_up(services: list[Service], steps: list[dict[str, Json]], account: int) -> dict[str, Json]:
    """Runs set-up steps and returns the values of the names that the steps define. A step defines a name as the
    answer to a request, or as the first matching item of a list."""
    names: dict[str, Json] = {}
    for step in steps:
        service = services[step.get("account", account if "request" in step else 0)]
        if "request" in step:
            made = fill({key: step["request"].get(key) for key in ("method", "body")}, names)
            answer = service.request(made["method"], fill_text(step["request"]["path"], names), body=made["body"])
            assert answer.status == 200, f"set-up of {step['as']}: {answer}"
            names[step["as"]] = answer.json
            continue
        fits = [
            item for item in service.items(fill_text(step["find"], names), step.get("query", "")) if _fits(step, item)
        ]
        if "not_in" in step:
            taken = {item["id"] for item in services[0].items(step["not_in"])}
            fits = [item for item in fits if item["id"] not in taken]
        assert fits, f"set-up of {step['as']}: nothing fits {step}"
        names[step["as"]] = fits[0]
    return names


def _fits(step: dict[str, Json], item: Json) -> bool:
    return all(item[key] == value for key, value in step.get("where", {}).items()) and all(
        item[key] != value for key, value in step.get("where_not", {}).items()
    )
