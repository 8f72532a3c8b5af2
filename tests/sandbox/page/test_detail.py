"""The detail of an entry: its chain, why a delivery failed, its buttons; and nothing that was sent becomes HTML."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from billcore.testing import FaultKind, SandboxAccount
from sandbox.page.support import Browser
from sandbox.support import CLOSE, CLOSED, Receiver, Service, ended, sign

OVERRIDE = "\u202e"
SCRIPT = f"</pre></textarea></script><script>alert(1)</script><img src=x onerror=alert(1)>'\"&amp;{OVERRIDE}\x1b[31m"


@pytest.fixture
def browser(mine: SandboxAccount) -> Browser:
    return Browser(Service(mine.accounts[0]))


class _Text(HTMLParser):
    """The page's tags, and the text of its parts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") or name == "style" for name, _ in attrs), attrs
        given = dict(attrs)
        if tag == "a" and given.get("hx-target") == "#beside":
            self.links.append((str(given["href"]), "aria-current" in given))


def detail(browser: Browser, kind: str, number: object) -> str:
    """The text of the open entry, without the tags of HTML."""
    shown = browser.get(f"/?open={kind}-{number}").partition('<section id="detail"')[2].partition(">")[2]
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", shown)).split())


def chain(browser: Browser, kind: str, number: object) -> tuple[list[str], list[str]]:
    """The entries of the chain, and the current one."""
    page = browser.get(f"/?open={kind}-{number}").partition('<ol class="chain">')[2].partition("</ol>")[0]
    reader = _Text()
    reader.feed(page)
    names = [url.partition("open=")[2] for url, _ in reader.links]
    return names, [name for name, (_, now) in zip(names, reader.links, strict=True) if now]


def test_each_entry_shows_the_whole_chain(mine: SandboxAccount, browser: Browser, receiver: Receiver) -> None:
    mine.control.create_endpoint(receiver.url)
    mine.control.fault("status", status=504, effect=True, operation="charge")
    answer = Service(mine.accounts[0]).post(
        f"/subscription/{mine.ids['subscriptions']['demo-active']}/order",
        {"product_id": mine.ids["products"]["one_time"], "amount": 1500},
    )
    ended(mine.control)
    request, [charge] = mine.control.requests()[-1]["id"], mine.control.ledger("charge")
    made = mine.control.deliveries()
    whole = [
        f"request-{request}",
        f"effect-{charge['id']}",
        *(name for each in made for name in (f"state-{each['state_id']}", f"delivery-{each['seq']}")),
    ]
    assert answer.status == 504 and len(made) == 2
    for name in whole:
        kind, _, number = name.partition("-")
        assert chain(browser, kind, number) == (whole, [name])
        text = detail(browser, kind, number)
        assert "The client saw 504; the ledger has the charge." in text
        # The order's subscription is a link in each.
        page = browser.get(f"/?open={name}")
        assert f'href="/_page/subscriptions/{mine.ids["subscriptions"]["demo-active"]}"' in page
    mine.control.advance(days=1)
    clock = re.search(r"open=clock-(\d+)", browser.get(f"/?account={Service(mine.accounts[0]).account}&kind=clock"))
    assert clock is not None and "Since then" in detail(browser, "clock", clock[1])
    assert "There is no such entry" in detail(browser, "request", 10**17)


def test_a_refused_delivery_says_why(mine: SandboxAccount, browser: Browser, receiver: Receiver) -> None:
    unauthorised = b"HTTP/1.1 401 X\r\nContent-Length: 13\r\nX-Odd: \xff\x80\r\n\r\nbad signature"
    cases: list[tuple[Any, FaultKind | None, tuple[str, ...]]] = [
        (
            [b"HTTP/1.1 500 X\r\nContent-Length: 3\r\n\r\n\xff<b"],
            None,
            ("answered 500", r"\xff<b", "look for an error in its log"),
        ),
        ([CLOSE], None, ("closed the connection",)),
        ([b"HTTP/1.1 302 X\r\nContent-Length: 0\r\n\r\n"], None, ("follows no redirect", "without a body")),
        ([b"SSH-2.0\r\n\r\n"], None, ("no HTTP server",)),
        ([unauthorised], None, ("bad signature", "right for the endpoint's secret", "the fault lies elsewhere")),
        (
            [unauthorised],
            "event_signature",
            ("on purpose", "No secret of the endpoint gives", "most likely the secret is that of another"),
        ),
        (
            [unauthorised],
            "event_old_secret",
            ("secret before the rotation", "rotation"),
        ),
        ([unauthorised], "event_truncated", ("sent half of the body", "No secret of the endpoint gives")),
        ([unauthorised], "event_escapes", ("wrote the JSON in another way", "right for the endpoint's secret")),
    ]
    endpoint = mine.control.create_endpoint(receiver.url, retry_schedule=[], keep_alive=False)
    for script, fault, wanted in cases:
        receiver.script = [script]
        if fault == "event_old_secret":
            mine.control.rotate_secret(endpoint["id"])
        if fault is not None:
            mine.control.fault(fault)
        mine.control.create_product("x")
        made = ended(mine.control)[-1]
        text = detail(browser, "delivery", made["seq"]).partition("Redeliver")[0]
        assert all(each in text for each in wanted), (text, wanted)
        assert "What was said in attempt 1" in detail(browser, "delivery", made["seq"])
    assert "a receiver that still has the old one refuses" in text  # the secret was rotated
    mine.control.create_endpoint(CLOSED, retry_schedule=[])
    mine.control.create_product("x")
    seq = next(each["seq"] for each in ended(mine.control) if each["url"] == CLOSED)
    assert "no program listens on 127.0.0.1 port 9" in detail(browser, "delivery", seq)
    assert endpoint["secret"] not in browser.get(f"/?open=delivery-{made['seq']}")


def test_the_buttons_of_a_delivery(mine: SandboxAccount, browser: Browser, receiver: Receiver) -> None:
    endpoint = mine.control.create_endpoint(receiver.url)
    mine.control.create_product(SCRIPT)
    [first] = ended(mine.control)
    page = browser.get(f"/?open=delivery-{first['seq']}")
    assert re.search('name="sign" value="false".*name="sign" value="true" checked', page, re.S)  # the last one counts
    path, back = f"deliveries/seq:{first['seq']}", "/?open=delivery-%7Bseq%7D"
    assert page.count(f'name="back" value="{back}"') == 3
    for action, fields in {
        "redeliver": {},
        "replay": {},
        "edit": {"body": '\r\n{"id": 1, "x": "é\u202e</textarea>"}', "sign": "true"},
    }.items():
        assert f'action="/_page/do/{path}/{action}"' in page
        status, location = browser.post(f"{path}/{action}", {**fields, "back": back})
        new = ended(mine.control)[-1]
        assert status == 303 and location.startswith(f"/?open=delivery-{new['seq']}&")
        assert detail(browser, "delivery", new["seq"]).startswith("delivery")
    assert new["body"] == '\n{"id": 1, "x": "é\u202e</textarea>"}'
    assert new["signature"] == sign(new["body"].encode(), endpoint["secret"])
    page = browser.get(f"/?open=delivery-{new['seq']}")
    text = re.search(r'<textarea id="edited"[^>]*>\n(.*?)</textarea>', page, re.S)  # HTML ignores the first line end
    assert text is not None and html.unescape(text[1]) == new["body"]
    mine.control.change_endpoint(endpoint["id"], paused=True)
    mine.control.create_product("later")
    held = mine.control.deliveries()[-1]
    for action, other in (("hold", "release"), ("release", "hold")):
        page = browser.get(f"/?open=delivery-{held['seq']}")
        assert f"seq:{held['seq']}/{action}" in page and f"seq:{held['seq']}/{other}" not in page
        assert browser.post(f"deliveries/seq:{held['seq']}/{action}", {})[0] == 303
    request = Service(mine.accounts[0]).get("/products")
    number = mine.control.requests()[-1]["id"]
    _, location = browser.post(f"requests/{number}/repeat", {"back": "/?open=request-{id}"})
    again = mine.control.requests()[-1]
    assert request.status == again["status"] == 200 and location.startswith(f"/?open=request-{again['id']}&")
    assert f"Repeats request {number}" in detail(browser, "request", again["id"])
    assert f"Repeated by request {again['id']}" in detail(browser, "request", number)


def test_nothing_that_was_sent_becomes_html(mine: SandboxAccount, browser: Browser, receiver: Receiver) -> None:
    service = Service(mine.accounts[0])
    big = [
        b"\xff\x00<script>" * 800_000,
        json.dumps([SCRIPT] * 50_000).encode(),
        b"<script>" * 20 + b"\x01" * 7_000_000,
    ]
    numbers = []
    for raw in [SCRIPT.encode(), json.dumps({"name": SCRIPT}).encode(), *big]:
        odd = {"X-Odd": f"<script>\x9b\xad{SCRIPT.encode('ascii', 'ignore').decode().replace(chr(27), '')}"}
        service.send("POST", "/product/<script>?<b>='\"", raw=raw, headers=odd)
        numbers.append(mine.control.requests()[-1]["id"])
    answer = (
        f"HTTP/1.1 500 X\r\nX-Odd: <script>\r\nContent-Length: {len(SCRIPT.encode())}\r\n\r\n".encode()
        + SCRIPT.encode()
    )
    receiver.script = [[answer]] * 100
    mine.control.create_endpoint(receiver.url, retry_schedule=[0] * 30)
    mine.control.fault("event_oversize", bytes=10_000_000, times=2)
    mine.control.create_product(SCRIPT * 2_000)
    seq = ended(mine.control)[-1]["seq"]
    plain, pages = (
        _Text(),
        {name: browser.get(f"/?open={name}") for name in (*(f"request-{each}" for each in numbers), f"delivery-{seq}")},
    )
    plain.feed(browser.get("/"))
    for name, page in pages.items():
        reader = _Text()
        reader.feed(page)
        assert reader.tags.count("script") == plain.tags.count("script") and "img" not in reader.tags
        assert len(page.encode()) < 300_000, (name, len(page))
        assert OVERRIDE not in re.sub(r"<textarea.*?</textarea>", "", page, flags=re.S) and "\x1b" not in page
    part = re.search(r'id="body-raw".*?<pre tabindex="0">\n(.*?)</pre>', pages[f"request-{numbers[3]}"], re.S)
    assert part is not None and big[1].decode().startswith(html.unescape(part[1])) and len(part[1]) > 60_000
    assert "11 earlier attempts are not shown" in pages[f"delivery-{seq}"]
    for number, raw in zip(numbers[2:], big, strict=True):
        status, headers, data = browser.send("GET", f"/_page/raw/request/{number}/body")
        assert (status, data) == (200, raw)
        assert headers["Content-Type"] == "text/plain" and headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Disposition"].startswith("attachment; filename=")
        assert re.search(r"\d{6,} more bytes", pages[f"request-{number}"])
    _, _, first = browser.send("GET", f"/_page/raw/delivery/{seq}/body?attempt=1")
    assert len(first) > 10_000_000
    assert browser.send("GET", f"/_page/raw/delivery/{seq}/answer?attempt=2")[2] == SCRIPT.encode()
    assert browser.send("GET", f"/_page/raw/delivery/{seq}/answer?attempt=99")[0] == 404
