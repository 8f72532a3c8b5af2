"""The view of faults: a form for each kind, stories that take one click, and the registered faults."""

from __future__ import annotations

import html
import http.client
import re
from typing import Any

import pytest

from billcore.testing import SandboxAccount
from billcore_sandbox.faults import KINDS, REQUEST_KINDS
from billcore_sandbox.page.views.faults import ABOUT, STORIES
from sandbox.page.support import Browser, forms
from sandbox.support import Receiver, Service, ended, sign


class View:
    """The view of faults of one account."""

    def __init__(self, mine: SandboxAccount) -> None:
        self.control, self.service = mine.control, Service(mine.accounts[0])
        self.browser = Browser(self.service)
        self.path = f"/_page/faults?account={self.service.account}"

    def press(self, button: str, **typed: str) -> tuple[str, str]:
        return self.browser.press(self.path, "faults", button, **typed)

    def rows(self) -> list[list[str]]:
        """The cells of the registered faults: id, kind, scope, seen, fired, left."""
        rows = re.findall(r'<tr>\s*(<th scope="row">.*?)</tr>', self.browser.get(self.path), re.DOTALL)
        return [[html.unescape(cell) for cell in re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", row)] for row in rows]


@pytest.fixture
def view(mine: SandboxAccount) -> View:
    return View(mine)


def test_each_kind_can_be_registered_by_its_form(view: View) -> None:
    assert [*ABOUT] == [*KINDS], "each kind has its sentence"
    page = html.unescape(view.browser.get(view.path))
    assert all(f"<p>{about}</p>" in page for about in ABOUT.values())
    for kind in KINDS:
        assert re.fullmatch(rf"Fault \d+ is registered: {kind}\.", view.press(f"Register {kind}")[0])
        id_, shown, scope, *counts = view.rows()[0]
        number = next(each["number"] for each in view.control.state()["accounts"])
        assert (shown, scope, counts) == (kind, f"all, account {number}", ["0", "0", "1"])
        assert view.browser.press(view.path, f"faults/{id_}")[0] == f"Fault {id_} is deleted."
    assert view.rows() == []


def test_forms_have_the_fields_of_their_kind_and_of_its_scope(view: View) -> None:
    when = {"nth", "times", "probability", "optional", "account", "kind"}
    request = {"operation", "method:json", "path", "query:json"}
    json = {"body", "headers"}
    shown = {
        each.fields["kind"]: {*each.fields}
        for each in forms(view.browser.get(view.path))
        if each.button[:8] == "Register"
    }
    assert shown.keys() == KINDS.keys()
    for kind, fields in shown.items():
        own = {f"{name}:json" if name in json else name for name in KINDS[kind]}
        scope = request if kind in REQUEST_KINDS else {"event", "endpoint_id"}
        assert fields - {"token", "back", "done"} == when | own | scope


def test_faults_happen_as_the_forms_say(view: View, receiver: Receiver) -> None:
    secret = view.control.create_endpoint(receiver.url)["secret"]
    view.press(
        "Register status",
        **{"status": "418", "body:json": '{"tea": true}', "headers:json": '{"X-Pot": "1"}', "effect": "true"},
        **{"method:json": '"POST"', "path": "/subscription/*/order", "nth": "2"},
    )
    view.press(
        "Register beyond_end", **{"operation": "products.list", "query:json": '{"page": "99"}', "answer": "not_found"}
    )
    first, second = view.service.charge(), view.service.charge()
    assert (first.status, second.status, second.json) == (200, 418, {"tea": True})
    assert len(view.control.ledger("charge")) == 2
    assert view.service.get("/products?page=99").status == 404
    assert [row[1:] for row in view.rows()] == [
        ["beyond_end", f"operation products.list, query {{'page': '99'}}, account {number(view)}", "1", "1", "0"],
        ["status", f"method POST, path /subscription/*/order; from match 2, account {number(view)}", "2", "1", "0"],
    ]
    view.press("Register event_truncated", event="test.hook", endpoint_id=str(view.control.endpoints()[0]["id"]))
    view.control.test_hook()
    ended(view.control)
    body, signature = receiver.received[-1].sent
    assert b"test.hook" in body and signature != sign(body, secret), "the body is not the whole one"
    note = html.unescape(view.press("Register rows", insert="0")[0])
    assert note == "Refused: A fault of the kind rows needs the field 'insert' or 'delete', at least 1."


def number(view: View) -> int:
    return int(view.control.state()["accounts"][0]["number"])


@pytest.mark.parametrize("story", STORIES, ids=lambda each: each.label)
def test_a_story_takes_one_click(view: View, receiver: Receiver, story: Any) -> None:
    secret = view.control.create_endpoint(receiver.url)["secret"]
    receiver.script = [401] if "wrongly" in story.label else []
    note, _ = view.press(story.label)
    assert note.startswith(story.done)
    happens = {
        "Lose the answer after a charge": lambda: lost(view),
        "Answer 504, but charge": lambda: view.service.charge().status == 504,
        "Cut an answer in half": lambda: lost(view),
        "Rate limit: 429 with Retry-After": lambda: view.service.get("/products").headers["retry-after"] == "2",
    }
    if story.label in happens:
        assert happens[story.label]()
        charged = 1 if "charge" in story.label else 0
        assert len(view.control.ledger("charge")) >= charged
    else:
        view.control.test_hook()
        ended(view.control)
        first, again = receiver.wait(2)
        assert first.body == again.body and again.sent[1] == sign(again.body, secret)
        assert (first.sent[1] == again.sent[1]) == ("twice" in story.label)
    assert view.rows()[0][-3:] == ["1", "1", "0"]


def lost(view: View) -> bool:
    """Whether the answer to a charge does not come completely."""
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        view.service.charge()
    return True


def test_the_url_fills_in_the_forms(view: View) -> None:
    page = view.browser.get(f"{view.path}&kind=status&operation=subscriptions.charge&method=post&status=%22%3E504")
    assert re.findall(r'id="(\w+)">\s*<h3>\w+</h3>\s*<p>[^<]*</p>\s*<details open>', page) == ["status"]
    form = next(each for each in forms(page) if each.button == "Register status")
    assert (form.fields["operation"], form.fields["method:json"], form.fields["status"]) == (
        "subscriptions.charge",
        '"POST"',
        '">504',
    )
