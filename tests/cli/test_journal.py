"""`billcore journal` and `billcore inbox`, on files that their own SQL has made."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from billcore import inbox, testing, webhooks
from billcore.testing import FaultKind, SandboxAccount

from .support import billcore, environment, printed, refused
from .terminal import Terminal


class Desk:
    """A subscription, a product, and a journal in a file."""

    def __init__(self, account: SandboxAccount, file: Path) -> None:
        self.account, self.file = account, file
        self.subscription = account.ids["subscriptions"]["demo-active"]
        self.product = account.ids["products"]["one_time"]
        self.variables = environment(account, BILLCORE_JOURNAL=str(file))
        self.sql(printed("", "journal", "schema", "sqlite"))

    def sql(self, text: str) -> None:
        with closing(sqlite3.connect(self.file)) as connection:
            connection.executescript(text)

    def lose(self, key: str, fault: FaultKind, cents: int) -> None:
        """Lose the answer of a charge, and let its deadline pass."""
        self.account.control.fault(fault, operation="charge")
        arguments = ("charge", self.subscription, self.product, cents, "--key", key)
        assert billcore("", *arguments, env=self.variables).returncode == 4
        self.sql("UPDATE billcore_charges SET deadline = deadline - 100, uncertain = uncertain - 100")

    def __call__(self, *arguments: object) -> str:
        return printed("", *arguments, env=self.variables)

    def refused(self, status: int, *arguments: object) -> str:
        done = billcore("", *arguments, env=self.variables)
        assert (done.returncode, done.stdout) == (status, "") and "Traceback" not in done.stderr, done
        error: str = done.stderr
        return error


@pytest.fixture
def desk(account: SandboxAccount, tmp_path: Path) -> Desk:
    return Desk(account, tmp_path / "j.db")


def test_an_open_charge_is_resolved(desk: Desk) -> None:
    """By its order, or as not made; then the key is no longer open."""
    desk.lose("made", "reset_after", 1500)
    listed = billcore("", "journal", "open", "--json", env=desk.variables, new=True)
    row = json.loads(listed.stdout)
    assert (row["key"], row["state"], row["amount"], row["order_id"]) == ("made", "unknown", 1500, None), row
    assert datetime.fromisoformat(row["created_at"]) <= datetime.now(UTC) and "--key=made" in listed.stderr
    maybe = desk.refused(4, "journal", "resolve", "made", "--nothing")
    assert "billcore journal resolve" in maybe
    [order] = desk.account.control.ledger("charge")[-1:]
    resolved = desk("journal", "resolve", "made", "--order", order["order_id"], "--fields", "id,total")
    assert resolved == f"{order['order_id']}\t1500\n"
    assert desk("journal", "open") == "" and desk("journal", "show", "made", "--fields=state") == "charged\n"

    desk.lose("lost", "reset_before", 70)
    nothing = billcore("", "journal", "resolve", "lost", "--nothing", env=desk.variables)
    assert (nothing.returncode, nothing.stdout) == (0, "") and "--key=lost" in nothing.stderr, nothing
    again = billcore("", "charge", desk.subscription, desk.product, 70, "--key=lost", env=desk.variables)
    assert again.returncode == 0, again


def test_a_key_that_the_journal_does_not_know(desk: Desk) -> None:
    for arguments in (["show", "none"], ["resolve", "none", "--nothing"]):
        assert "no key 'none'" in desk.refused(1, "journal", *arguments)
    assert "not allowed with" in desk.refused(2, "journal", "resolve", "x", "--nothing", "--order=1")


def test_a_file_that_is_no_journal(account: SandboxAccount, tmp_path: Path) -> None:
    for content in (b"", b"text" * 1000):
        (tmp_path / "x").write_bytes(content)
        assert refused(account, 1, "journal", "open", "--journal", tmp_path / "x")
    assert refused(account, 2, "journal", "open", "--journal", tmp_path / "y")
    assert not (tmp_path / "y").exists()


def test_purges(desk: Desk) -> None:
    """They delete only what is older, after a question; not the keys of the last day, by which a charge is known."""
    for key in ("old", "new"):
        assert (
            billcore("", "charge", desk.subscription, desk.product, 5, "--key", key, env=desk.variables).returncode == 0
        )
    desk.sql("UPDATE billcore_charges SET created = created - 10 * 86400 WHERE key = 'old'")
    purge = ("journal", "purge", "--before", "9d")
    assert "pass --yes" in desk.refused(2, *purge)
    assert "last day" in desk.refused(2, "journal", "purge", "--before", "1h", "--yes")
    with Terminal(*purge, env=desk.variables) as terminal:
        terminal.until("[y/N]")
        terminal.send("n\n")
        assert terminal.wait() == 1
        terminal.until("nothing was deleted")
    assert desk(*purge, "--yes", "--json") == '{"deleted": 1}\n'
    assert desk("journal", "show", "new", "--fields", "state") == "charged\n"
    assert desk.refused(1, "journal", "show", "old")


def test_the_total_rule(desk: Desk) -> None:
    arguments = ("journal", "accept-total-rule", "--field", "total", "--per", "amount")
    assert "pass --yes" in desk.refused(2, *arguments)
    assert desk(*arguments, "--yes") == "total = amount\n"
    with closing(sqlite3.connect(desk.file)) as connection:
        query = "SELECT value FROM billcore_journal WHERE name = 'total_rule'"
        assert connection.execute(query).fetchall() == [("total amount",)]


def test_the_inbox(tmp_path: Path) -> None:
    file, event = tmp_path / "shop.db", testing.event("order.paid")
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(printed("", "inbox", "schema", "sqlite"))
        assert inbox.claim(connection, webhooks.unwrap(*event, testing.SECRET))
        connection.commit()
    purge = ("inbox", "purge", "--database", str(file), "--before")
    assert "pass --yes" in refused("", 2, *purge, "1d")
    assert printed("", *purge, "1d", "--yes", new=True) == "0\n"
    later = (datetime.now(UTC) + timedelta(minutes=1)).isoformat()
    variables = environment("", BILLCORE_INBOX=str(file))
    for count in (1, 0):
        assert printed("", "inbox", "purge", "--before", later, "--yes", env=variables) == f"{count}\n"
    (tmp_path / "empty.db").touch()
    missing = ("inbox", "purge", "--before=1d", "--yes", "--database")
    assert "billcore_inbox is missing" in refused("", 1, *missing, tmp_path / "empty.db")
    (tmp_path / "text.db").write_bytes(b"text" * 1000)
    assert "not a database" in refused("", 1, *missing, tmp_path / "text.db")
    assert "there is no file" in refused("", 2, *missing, tmp_path / "none.db")
