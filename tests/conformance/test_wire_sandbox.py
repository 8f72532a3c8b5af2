"""Checks the sandbox against the wire fixtures: status, key set, type and nullability, sort order, page numbers.

test_wire.py checks the clients against the same fixtures, so clients and sandbox cannot misinterpret the service
interface in the same way.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from support.answer import Answer

from .fixtures import wire_cases
from .service import Service, fill, fill_text, look_up, set_up
from .shapes import Shapes, page_differences, sort_differences

SHAPES = Shapes()
CHECKS = [
    (f"{case['name']}-{number}" if number else case["name"], check)
    for case in wire_cases()
    for number, check in enumerate(case.get("sandbox", []))
]
# A valid request for each operation; test_every_endpoint_checks_the_key sends each of them with bad API keys.
ENDPOINTS: dict[str, dict[str, Any]] = {}
for _case in wire_cases():
    if "call" in _case and "sandbox" in _case:
        ENDPOINTS.setdefault(_case["call"]["op"], _case["sandbox"][0])


class World:
    """The running sandbox and its accounts. fresh() resets the sandbox to its seeded state if a check has changed
    it."""

    def __init__(self, sandbox: Any) -> None:
        self.control = sandbox.control
        accounts = sandbox.accounts
        self.services = [
            Service(mine.base_url, mine.api_key, other.api_key) for mine, other in (accounts, reversed(accounts))
        ]

    def fresh(self) -> list[Service]:
        if any(service.writes for service in self.services):
            self.control.reset()
            for service in self.services:
                service.writes = 0
        return self.services


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    testing: Any = importlib.import_module("billcore.testing")
    with testing.Sandbox() as sandbox:
        world = World(sandbox)
        yield world
        for service in world.services:
            service.close()


def send(service: Service, request: dict[str, Any], names: dict[str, Any], key: str = "own") -> Answer:
    path, query = fill_text(request["path"], names), fill_text(request.get("query", ""), names)
    return service.request(request["method"], path, query, fill(request.get("body"), names), key)


@pytest.mark.parametrize("check", [check for _, check in CHECKS], ids=[name for name, _ in CHECKS])
def test_the_sandbox_answers_as_the_fixture_says(check: dict[str, Any], world: World) -> None:
    services = world.fresh()
    account = check.get("account", 0)
    service = services[account]
    names = set_up(services, check.get("setup", []), account)
    request = check["request"]
    answer = send(service, request, names, check.get("key", "own"))
    look(world, service, check["reply"], answer, request, names)
    for step in check.get("then", []):
        names["reply"] = answer.json if answer.text else None
        look(world, service, step["reply"], send(service, step["request"], names), step["request"], names)


def look(
    world: World,
    service: Service,
    reply: dict[str, Any],
    answer: Answer,
    request: dict[str, Any],
    names: dict[str, Any],
) -> None:
    """Checks a reply against all rules that the fixture has for this reply."""
    said = f"{request['method']} {request['path']} {request.get('query', '')}: {answer.status} {answer.text[:2000]}"
    wanted = reply["status"] if isinstance(reply["status"], list) else [reply["status"]]
    assert answer.status in wanted, said
    if "shape" in reply:
        assert answer.headers.get("content-type", "").startswith("application/json"), said
        found = list(SHAPES.differences(reply["shape"], answer.json))
        assert not found, "\n".join([*found, said])
    for path, template in reply.get("equals", {}).items():
        assert look_up(answer.json, path) == fill(template, names), f"{path}: {said}"
    if "unchanged" in reply:
        before = fill(reply["unchanged"]["data"], names)
        changed = {key for key, value in before.items() if answer.json["data"][key] != value}
        assert changed <= set(reply["unchanged"]["except"]), said
    if "not_null" in reply:
        assert all(look_up(answer.json, path) is not None for path in reply["not_null"]), said
    if "same_as" in reply:
        other = service.request(reply["same_as"]["method"], reply["same_as"]["path"])
        assert (answer.status, answer.json) == (other.status, other.json), "the same response as a missing resource"
    if "ids_exclude" in reply:
        assert fill(reply["ids_exclude"], names) not in [item["id"] for item in answer.json["data"]]
    if reply.get("no_secret"):
        (secret,) = [endpoint["secret"] for endpoint in world.control.endpoints()]
        assert len(secret) == 32 and secret not in answer.text
    if "pages" in reply or "sort" in reply or "each" in reply:
        look_at_items(service, reply, answer, request, names)


def look_at_items(
    service: Service, reply: dict[str, Any], answer: Answer, request: dict[str, Any], names: dict[str, Any]
) -> None:
    items = answer.json["data"]
    if "pages" in reply:
        items = walk(service, reply, request, names)
    if "sort" in reply:
        found = list(sort_differences(items, **reply["sort"]))
        assert not found, "\n".join(found)
    for field, allowed in reply.get("each", {}).items():
        assert items and {item[field] for item in items} <= set(allowed)
    for field, values in reply.get("seen", {}).items():
        assert {item[field] for item in items} >= set(values)
    for field in reply.get("seen_null_and_not", []):
        assert {item[field] is None for item in items} == {True, False}, f"{field} is never, or always, null"


def walk(
    service: Service, reply: dict[str, Any], request: dict[str, Any], names: dict[str, Any]
) -> list[dict[str, Any]]:
    rules = reply["pages"]
    path, query = fill_text(request["path"], names), fill_text(request.get("query", ""), names)
    pages = service.pages(path, query)
    found = [text for page in pages for text in SHAPES.differences(reply["shape"], page)]
    found += page_differences(pages, path, query)
    assert not found, "\n".join(found[:20])
    first = pages[0]["pagination"]
    assert first["per_page"] == rules.get("per_page", first["per_page"])
    assert first["total"] >= rules.get("min_total", 0)
    items = [item for page in pages for item in page["data"]]
    ids = [item["id"] for item in items]
    if "ids_include" in rules:
        assert fill(rules["ids_include"], names) in ids
    if "same_ids_as" in rules:
        assert [item["id"] for item in service.items(path, rules["same_ids_as"])] == ids
    return items


@pytest.mark.parametrize("key", ["none", "empty", "wrong", "other"])
@pytest.mark.parametrize("operation", list(ENDPOINTS))
def test_every_endpoint_checks_the_key(operation: str, key: str, world: World) -> None:
    """Section Authentication of the service interface, rules 3 and 4: the service refuses a bad key, and the request
    has no effect."""
    services = world.fresh()
    check = ENDPOINTS[operation]
    names = set_up(services, check.get("setup", []), 0)
    before = world.control.ledger()
    answer = send(services[0], check["request"], names, key)
    if key == "other":
        assert answer.status == 404
        assert not list(SHAPES.differences({"$ref": "Error"}, answer.json))
    else:
        assert (answer.status, answer.json) == (401, None)
    assert world.control.ledger() == before


def test_every_operation_is_checked() -> None:
    assert len(ENDPOINTS) == 12
