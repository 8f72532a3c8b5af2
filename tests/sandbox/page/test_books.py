"""The journal and the inbox of a program, which the page reads without changing them."""

from __future__ import annotations

import html
import re
import shlex
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import billcore
from billcore import inbox, journal, webhooks
from billcore.testing import SECRET, Control, event
from sandbox.page.support import Browser
from sandbox.support import Service, of_ready, run, started

SENT = "UPDATE billcore_charges SET state = 'sending' WHERE state = 'unknown'"
AGE = "UPDATE billcore_charges SET created = created - 1e6, deadline = deadline - 1e6, uncertain = uncertain - 1e6"
WITHOUT = "import sys; sys.modules |= dict.fromkeys(({!r},)); from billcore_sandbox.cli import main; sys.exit(main())"
URL = "postgresql://postgres:a-secret@127.0.0.1:1/shop"


@contextmanager
def sandbox_of(
    monkeypatch: pytest.MonkeyPatch, given: object, code: str | None = None
) -> Iterator[tuple[Service, Control, Browser]]:
    """A sandbox whose environment names this file or URL as the journal and the inbox."""
    for variable in ("BILLCORE_JOURNAL", "BILLCORE_INBOX"):
        monkeypatch.setenv(variable, str(given))
    with started("--port", "0", code=code) as (_, ready):
        service, control = of_ready(ready)
        yield service, control, Browser(service)


def problem(page: str) -> str:
    found = re.search(r'<p class="note[^>]*>(.*?)</p>', page, re.DOTALL)
    return "" if found is None else html.unescape(re.sub(r"<.*?>", "", found[1]))


def charges(page: str) -> list[tuple[str, str]]:
    return re.findall(r'<th scope="row">(.*?)</th>\s*<td class="\w+">(\w+)', page)


def counts(page: str) -> list[tuple[str, str]]:
    return re.findall(r">([\w.]+) <small>(\d+)</small></a>", page)


def charge(service: Service, control: Control, connect: Callable[[], Any], wanted: int) -> str:
    """Makes charges, then one of unknown outcome; returns the id of the first order."""
    with billcore.Client(base_url=service.base_url, api_key=service.api_key) as client:
        made = journal.Journal(connect, client, create=True)
        first, second = [each.id for each in client.subscriptions.list()][:2]
        product = next(each.id for each in client.products.list() if each.type == "one_time")
        orders = [made.charge(f"{each}", first, product_id=product, amount=each) for each in range(10, wanted + 10)]
        control.fault("reset_after", method="POST")
        with pytest.raises(journal.ChargePendingError):
            made.charge("-it's <open>", second, product_id=product, amount=5, quantity=2)
    return str(orders[0].id)


def test_a_journal_is_shown_beside_its_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a journal.db"
    with sandbox_of(monkeypatch, file) as (service, control, browser):
        order = charge(service, control, lambda: sqlite3.connect(file), 52)
        with closing(sqlite3.connect(file, isolation_level=None)) as writer:
            writer.execute(SENT)
            sent = browser.get("/_page/journal")
            writer.execute(AGE)
            before = file.read_bytes()
            writer.execute("BEGIN IMMEDIATE")
            writer.execute("DELETE FROM billcore_charges")
            page, older = browser.get("/_page/journal"), browser.get("/_page/journal?page=2")
            writer.execute("ROLLBACK")
            writer.execute("BEGIN EXCLUSIVE")
            assert problem(browser.get("/_page/journal")).startswith("It is locked by a program that is writing")
        assert file.read_bytes() == before and [*tmp_path.iterdir()] == [file]
        assert "on its way until" in sent and "<code>billcore charge -" not in sent
        assert str(file) in page and problem(page) == "" and " 0.05</td>" in page
        shown = charges(page)
        assert shown[0] == ("-it&#39;s &lt;open&gt;", "sending") and (len(shown), len(charges(older))) == (50, 3)
        assert f'href="/?q={order}"' in older
        assert counts(page) == [("open", "1"), ("charged", "52"), ("sending", "1")]
        assert charges(browser.get(f"/_page/journal?state=open&account={service.account}")) == shown[:1]
        other = next(each for each in re.findall(r'<option value="(.+?)"', page) if each != service.account)
        assert "Nothing is there that matches" in browser.get(f"/_page/journal?account={other}")
        monkeypatch.setenv("BILLCORE_BASE_URL", service.base_url)
        monkeypatch.setenv("BILLCORE_API_KEY", service.api_key)
        go_on, _, nothing = (html.unescape(each) for each in re.findall("<code>billcore ([^<]* -- .*?)</code>", page))
        for command, told in ((go_on, "resolve"), (nothing, "recorded: nothing was charged")):
            assert told in run(*shlex.split(command), module="billcore").stderr
        assert charges(browser.get("/_page/journal?state=not_sent")) == [(shown[0][0], "not_sent")]


def test_an_inbox_is_shown_and_no_file_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "inbox.db"
    with sandbox_of(monkeypatch, file) as (service, _, browser):
        assert problem(browser.get("/_page/inbox")) == "There is no such file." and not file.exists()
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(f"PRAGMA journal_mode = WAL; {inbox.schema('sqlite')}")
            for number, name in enumerate(("order.paid", "order.paid", "product.updated")):
                inbox.claim(connection, webhooks.unwrap(*event(name, event_id=number + 7), SECRET))
            connection.commit()
            assert re.findall(r'q=(\d+)">', browser.get("/_page/inbox?state=order.paid")) == ["7", "8"]
            assert len([*tmp_path.iterdir()]) == 3, "a writer in WAL mode has the file open"
        page = browser.get(f"/_page/inbox?account={service.account}")
        assert counts(page) == [("order.paid", "2"), ("product.updated", "1")]
        assert [*tmp_path.iterdir()] == [file]
        assert problem(browser.get("/_page/journal")).startswith("It has no table of billcore for this, or one of")
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(journal.schema("sqlite").replace("'version', '", "'version', '9"))
        assert "have a version 92, and the installed billcore knows 2" in problem(browser.get("/_page/journal"))
        file.write_text("no database, but long enough to have a header" * 9)
        assert problem(browser.get("/_page/inbox")) == "It is not a SQLite file."


@pytest.mark.parametrize(
    ("given", "absent", "sentence"),
    [
        ("", None, "No database is named"),
        ("mysql://me:a-secret@host/shop", None, "must name the path of a SQLite file, or a URL that begins with"),
        (URL.replace("secret", "secret@"), None, "is not a URL of PostgreSQL: percent-encode"),
        (URL, None, "Connection refused"),
        (URL, "psycopg", "needs psycopg: pip install"),
        ("shop.db", "billcore.inbox", "This view needs the client: run pip install billcore"),
    ],
)
def test_a_problem_is_one_sentence_without_a_password(
    given: str, absent: str | None, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sandbox_of(monkeypatch, given, absent and WITHOUT.format(absent)) as (_, _, browser):
        page = browser.get("/_page/inbox")
    assert sentence in problem(page) and "secret" not in page
