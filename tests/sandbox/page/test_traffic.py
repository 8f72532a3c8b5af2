"""The list of what happened: filters, search, pages, and the rows that are added while it is open."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any
from urllib.request import urlopen

import pytest

from billcore.testing import Sandbox, SandboxAccount
from sandbox.page.support import Browser
from sandbox.support import Receiver, Service, account, ended
from sandbox.wire import Wire
from support.waiting import until

KINDS = ["request", "effect", "state", "delivery", "clock"]


class List:
    """The list of one account, or of all. options: parameters of its URL."""

    def __init__(self, service: Service, **options: str) -> None:
        self._browser, self._start = Browser(service), "".join(f"&{name}={text}" for name, text in options.items())

    def page(self, query: str = "", path: str = "/") -> str:
        return self._browser.get(f"{path}?{self._start[1:]}{query}")

    def ids(self, query: str = "") -> list[str]:
        return drawn(self.page(query))

    def all(self) -> list[str]:
        """The ids of all pages, which are followed by their links."""
        page, found = self.page(), []
        while True:
            found += drawn(page)
            older = re.search('<a href="([^"]*)">Older entries</a>', page)
            if older is None:
                return found
            page = self._browser.get(unescape(older[1]))

    @property
    def position(self) -> int:
        return position(self.page())

    def rows(self, after: int, query: str = "") -> tuple[list[str], list[str], int, str]:
        """Of the latest list: new ids, ids of changed entries, how many are not drawn, and the whole answer."""
        page = self.page(f"&after={after}{query}&drawn={'.'.join(self.ids(query))}", "/_page/rows")
        missed = re.search(r"(\d+) earlier entries are not drawn", page.replace("</b>", ""))
        return drawn(page), re.findall(r'<li id="([\w-]+)" data-changed>', page), int(missed[1]) if missed else 0, page


def drawn(page: str) -> list[str]:
    return re.findall(r'<li id="([\w-]+)">', page)


def position(page: str) -> int:
    found = re.search(r'id="live" data-position="(\d+)"', page)
    assert found is not None
    return int(found[1])


def of(control: Any) -> dict[str, set[str]]:
    """The ids that the control routes give, by kind."""
    return {
        "request": {f"request-{each['id']}" for each in control.requests()},
        "effect": {f"effect-{each['id']}" for each in control.ledger()},
        "delivery": {f"delivery-{each['seq']}" for each in control.deliveries()},
    }


def forgotten(sandbox: Sandbox, name: str) -> int:
    with urlopen(f"{sandbox.control_url}/{name}?limit=1") as answer:
        return int(json.load(answer)["forgotten"])


def test_filters(mine: SandboxAccount, receiver: Receiver) -> None:
    service, control = Service(mine.accounts[0]), mine.control
    of_mine = List(service, account=service.account)
    assert "Make a first order" in of_mine.page() and "Nothing matches" not in of_mine.page()
    control.create_endpoint(receiver.url)
    assert "Make a first order" in of_mine.page() and of_mine.ids(), "the first visit goes on"
    receiver.script.extend([400] * 4)
    control.create_product("Tee 100% für_dich/heute")
    control.advance(days=1)
    control.subscription(service.subscription("demo-active")["id"], "cancel")
    assert service.get("/product/none").status == 404
    mine.fault("status", status=503, path="/products")
    assert service.get("/products").status == 503
    service.post("/webhooks/endpoints", {"url": "nötig"})
    ended(control)
    listed, known = of_mine.ids(), of(control)
    assert "Make a first order" not in of_mine.page()
    assert {each.partition("-")[0] for each in listed} == {*KINDS} and len({*listed}) == len(listed)
    for kind in KINDS:
        own = [each for each in listed if each.startswith(kind)]
        assert of_mine.ids(f"&kind={kind}") == own and {*own} == known.get(kind, {*own})
    both = of_mine.ids("&kind=state&kind=delivery&kind=none")
    assert both == [each for each in listed if each.startswith(("state", "delivery"))]
    assert of_mine.ids("&kind=none") == listed and "Nothing matches" in of_mine.page("&kind=clock&trouble=1")

    bad = {f"request-{each['id']}" for each in control.requests() if (each["status"] or 0) >= 400}
    bad |= {f"delivery-{each['seq']}" for each in control.deliveries() if each["attempts"][-1]["status"] == 400}
    assert {*of_mine.ids("&trouble=1")} == bad and len(bad) == 4

    def found(text: str) -> set[str]:
        return {each.partition("-")[0] for each in of_mine.ids(f"&q={text}")}

    assert found("100%25") == found("F%C3%BCR_DICH") == {"delivery"} and found("n%C3%B6tig") == {"request"}
    # Any character stands for itself, in each kind.
    assert found("%25") <= {"delivery", "request"} and found("%25%25") == found("c_ncel") == set()
    assert found("cancel") >= {"effect", "state"} and found("dich%2Fheute") == {"delivery"}
    assert found("x" * 2000) == set() and found("%00") == set()
    assert of_mine.ids("&q=n%C3%B6tig&trouble=1&kind=delivery") == []


def test_pages_have_each_entry_once_while_more_come(mine: SandboxAccount, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(mine.accounts[0])
    for _ in range(170):
        service.get("/product/1")
    before = List(service, account=service.account).all()
    assert len(before) == 170 and before == sorted(before, key=lambda each: -int(each.partition("-")[2]))
    get = Browser.get

    def and_more(browser: Browser, path: str) -> str:
        page = get(browser, path)
        for _ in range(60):
            service.get("/product/1")
        return page

    monkeypatch.setattr(Browser, "get", and_more)
    for options in ({}, {"kind": "request"}, {"trouble": "1", "q": "product"}):
        before = before if not options else [f"request-{each['id']}" for each in mine.control.requests()][::-1]
        assert List(service, account=service.account, **options).all() == before
    monkeypatch.undo()
    page = get(Browser(service), f"/?account={service.account}&before=99999999&q=product")
    assert f'<a href="/?account={service.account}&amp;q=product">Newest entries</a>' in page and "data-live" not in page


def test_rows_are_added_and_replaced(mine: SandboxAccount, receiver: Receiver) -> None:
    service, control = Service(mine.accounts[0]), mine.control
    of_mine = List(service, account=service.account)
    control.create_endpoint(receiver.url)
    service.get("/products")
    start = of_mine.position
    assert of_mine.rows(start)[:3] == ([], [], 0) and of_mine.rows(10**17)[:3] == ([], [], 0)
    receiver.hold()
    service.charge()
    receiver.wait(1)
    new, _, missed, page = of_mine.rows(start)
    assert {each.partition("-")[0] for each in new} >= {"request", "effect", "delivery"} and missed == 0
    assert '<span class="out none">pending</span>' in page
    receiver.open()
    sent = [f"delivery-{each['seq']}" for each in ended(control)]
    new, changed, missed, page = of_mine.rows(position(page))
    assert (new, sorted(changed), missed) == ([], sorted(sent), 0) and "delivered" in page

    mine.fault("delay", delay=3, path="/subscriptions")
    with Wire(service) as wire:
        wire.send("GET", "/subscriptions")
        until(lambda: of_mine.rows(position(page))[0])
        (name,), _, _, page = of_mine.rows(position(page))
        assert '<span class="out none">open</span>' in page and name.startswith("request-")
        assert wire.read_answer()[0] == 200
    until(lambda: of_mine.rows(position(page))[1])
    new, changed, _, page = of_mine.rows(position(page))
    assert (new, changed) == ([], [name]) and '<span class="out ok">200</span>' in page
    assert name in of_mine.ids("&trouble=1")

    # A list of trouble gets what turns bad after it began.
    receiver.script.extend([400] * 4)
    receiver.hold()
    control.test_hook()
    start = until(lambda: len(receiver.received) == len(sent) + 1) and of_mine.position
    receiver.open()
    failed = [f"delivery-{each['seq']}" for each in ended(control) if each["attempts"][-1]["status"] == 400]
    assert of_mine.rows(start, "&trouble=1")[0] == failed and of_mine.rows(start)[:2] == ([], failed)
    assert of_mine.rows(start, "&trouble=1&kind=request")[:2] == ([], [])

    for count in (50, 51, 120):
        start = of_mine.position
        for _ in range(count):
            service.get("/product/1")
        new, _, missed, _ = of_mine.rows(start)
        assert (len({*new}), missed) == (50, count - 50) and new == of_mine.ids()
        assert of_mine.rows(start, "&kind=effect")[:3] == ([], [], 0)


def test_the_list_says_what_is_not_there_any_more() -> None:
    with Sandbox(keep=30) as sandbox:
        service = account(sandbox)
        for _ in range(60):
            service.charge()
        every = List(service)
        kept = [each for each in every.all() if not each.startswith("state")]
        counts = {name: forgotten(sandbox, name) for name in ("requests", "ledger")}
        assert len(kept) == sum(map(len, of(sandbox.control).values())) and min(counts.values()) > 0
        last = every.page(f"&before={position(every.page()) - 1}&kind=clock")
        assert f"{sum(counts.values())} older records were deleted" in every.page("&kind=request&kind=effect&before=1")
        assert f"{counts['requests']} older records were deleted" in every.page("&kind=request&before=1")
        assert "older records" not in last
        sandbox.control.create_endpoint("http://127.0.0.1:9/", paused=True)
        sandbox.control.create_product("Tee")
        sandbox.control.clear_history()
        waiting = f"delivery-{sandbox.control.deliveries()[-1]['seq']}"
        assert every.ids() == [waiting] and "older records" not in every.page()
        start = every.position
        sandbox.control.reset()
        assert every.ids() == [] and every.position < start and every.rows(start)[:3] == ([], [], 0)
        assert "Make a first order" in every.page()
