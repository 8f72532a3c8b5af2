"""`billcore charge`: charges once through a journal, and says how to go on when it does not know."""

from __future__ import annotations

import json
import shlex
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from billcore.journal._charge import ARGUMENTS
from billcore.testing import SandboxAccount
from conformance.server import Reply, Request, ScriptedServer, json_reply
from conformance.test_tls import make_certificate, server_context
from support.postgres import Postgres
from support.waiting import GENEROUS, until

from .support import billcore, environment, printed, refused
from .terminal import Terminal
from .test_service import SUBSCRIPTION

ORDER = {"id": 9, "total": 1500, "total_with_vat": 1875, "currency": "EUR", "state": "paid"}
NO_ORDERS = {"total": 0, "count": 0, "per_page": 200, "current_page": 1, "total_pages": 1, "links": {}}


class Shop:
    """An account, its demo subscriptions, and a profile with a journal."""

    def __init__(self, account: SandboxAccount, folder: Path) -> None:
        self.account, self.file = account, folder / "charges.db"
        self.ids = account.ids["subscriptions"]
        self.product = account.ids["products"]["one_time"]
        self.variables = environment(account, XDG_CONFIG_HOME=str(folder))
        for name in ("BILLCORE_BASE_URL", "BILLCORE_API_KEY"):
            self.variables.pop(name)
        added = ("profile", "add", "shop", "--base-url", account.base_url, "--journal", str(self.file))
        printed(account, *added, env=self.variables, input=account.api_key)

    def charge(self, cents: int, *more: str, who: str = "demo-active") -> subprocess.CompletedProcess[str]:
        return billcore("", "charge", self.ids[who], self.product, cents, *more, env=self.variables)

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command that a message names."""
        assert command.startswith("billcore "), command
        return billcore("", *shlex.split(command)[1:], env=self.variables)

    def amounts(self) -> list[int]:
        """What the service has charged."""
        uuid = self.account.base_url.rpartition("/")[2]
        return [row["amount"] for row in self.account.control.ledger("charge") if uuid in json.dumps(row)]

    def sent(self) -> int:
        return sum(each["method"] == "POST" for each in self.account.control.requests())


@pytest.fixture
def shop(account: SandboxAccount, tmp_path: Path) -> Shop:
    return Shop(account, tmp_path)


def named(done: subprocess.CompletedProcess[str], before: str) -> str:
    """The command that a message names after this text."""
    return next(line.partition(before)[2] for line in done.stderr.splitlines() if before in line)


def test_a_lost_answer(shop: Shop) -> None:
    """The same command sends nothing again, with or without the key; the command that is named finds the order."""
    shop.account.control.fault("reset_after", operation="charge")
    lost = shop.charge(1500, "--description", "it's é")
    assert (lost.returncode, lost.stdout) == (4, "") and "Traceback" not in lost.stderr, lost
    go_on = named(lost, "billcore charge: go on with: ")
    found = shop.run(named(lost, "look it up: "))
    assert found.returncode == 0 and found.stdout.split("\t")[2] == "1500", found
    for arguments in (["--description", "it's é"], [], ["--quantity=2", "--description=x"]):
        again = shop.charge(1500, *arguments)
        assert (again.returncode, again.stdout) == (4, "") and "nothing was sent" in again.stderr, again
        assert named(again, "go on with it: ") == go_on
    beside = shop.charge(70, "--key", "mine")
    assert beside.returncode == 1 and "nothing was sent" in beside.stderr, beside
    assert shop.sent() == 1
    for remark in ("expected", "charged before"):
        resumed = shop.run(go_on)
        assert resumed.returncode == 0 and resumed.stdout == found.stdout and remark in resumed.stderr, resumed
    assert shop.sent() == 1 and shop.amounts() == [1500]


def test_the_same_command_again(shop: Shop) -> None:
    """It charges once; a second equal charge needs the command that the message names, which is right only once."""
    assert shop.charge(1500).returncode == 0
    again = shop.charge(1500)
    assert (again.returncode, again.stdout) == (1, "") and "nothing was sent: the same charge was made" in again.stderr
    for _ in range(2):
        assert shop.run(named(again, "once more: ")).returncode == 0
    assert shop.charge(1500).returncode == 1
    assert shop.charge(1500, "--quantity", "2").returncode == 0
    other = shop.charge(1, "--key", named(again, "--key=").partition(" ")[0])
    assert other.returncode == 1 and "other arguments" in other.stderr
    assert shop.amounts() == [1500] * 3


def make_older(shop: Shop, key: str, hours: int) -> str:
    """Change the journal as if the key was yesterday's, and first used `hours` ago; returns the changed key."""
    yesterday = f"{key[:-8]}{datetime.now(UTC) - timedelta(days=1):%Y%m%d}"
    with closing(sqlite3.connect(shop.file)) as connection:
        text = "UPDATE billcore_charges SET key = ?, created = created - ?, deadline = deadline - ? WHERE key IN (?, ?)"
        connection.execute(text, (yesterday, hours * 3600, hours * 3600, key, yesterday))
        connection.commit()
    return yesterday


def test_a_day_is_24_hours(shop: Shop) -> None:
    """A charge of yesterday evening counts too."""
    key = named(shop.charge(1500), "key: ")
    for hours, status in ((23, 1), (2, 0)):
        make_older(shop, key, hours)
        assert shop.charge(1500).returncode == status
    assert shop.amounts() == [1500] * 2


def test_a_key_that_was_sent_again_today(shop: Shop) -> None:
    """The day begins at the latest attempt, not at the first one, which was refused."""
    shop.account.control.fault("status", operation="charge", status=429)
    key = make_older(shop, named(shop.charge(5), "key: "), 25)
    assert shop.charge(5, "--key", key).returncode == 0
    again = shop.charge(5)
    assert again.returncode == 1 and "the same charge was made" in again.stderr and shop.amounts() == [5]


def test_the_look_up_covers_the_first_attempt(shop: Shop) -> None:
    """Also when a later attempt of the key is the one that says it, and when this computer's clock is fast."""
    shop.account.control.fault("reset_after", operation="charge")
    lost = shop.charge(5)
    order = shop.run(named(lost, "look it up: ")).stdout
    with closing(sqlite3.connect(shop.file)) as connection:
        connection.execute("UPDATE billcore_charges SET created = created - 3600")
        connection.commit()
    shop.account.control.fault("status", operation="subscriptions.orders", status=503, times=3)
    still_lost = shop.run(named(lost, "billcore charge: go on with: "))
    assert still_lost.returncode == 4, still_lost
    since = [each.partition("--since ")[2][:25] for each in (lost.stderr, still_lost.stderr)]
    ages = [datetime.now(UTC) - datetime.fromisoformat(each) for each in since]
    assert ages[0] >= timedelta(minutes=5) and ages[1] >= timedelta(hours=1, minutes=5), since
    assert order and shop.run(named(still_lost, "look it up: ")).stdout == order


def test_vat_in_percent(shop: Shop) -> None:
    assert "2500" in shop.charge(5, "--vat", "25").stderr and shop.sent() == 0


def test_a_journal_that_cannot_be_written(shop: Shop) -> None:
    """The error says that nothing was charged."""
    with closing(sqlite3.connect(shop.file)) as connection:
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON billcore_charges BEGIN SELECT RAISE(ABORT, 'full'); END"
        )
    done = shop.charge(5)
    assert done.returncode == 1 and "charged nothing" in done.stderr and shop.sent() == 0


def test_a_command_that_is_named_keeps_its_account(shop: Shop) -> None:
    """Another profile may be in use when it runs."""
    shop.account.control.fault("reset_after", operation="charge")
    lost = shop.charge(5)
    added = ("profile", "add", "other", "--base-url=http://127.0.0.1:1/a", "--journal", f"{shop.file}.other")
    printed("", *added, env=shop.variables, input="key")
    printed("", "profile", "use", "other", env=shop.variables)
    assert shop.run(named(lost, "go on with: ")).returncode == 0 and shop.amounts() == [5]


def test_a_declined_charge_gets_a_new_key(shop: Shop) -> None:
    first, second = (shop.charge(5, who="demo-declined") for _ in range(2))
    assert first.returncode == second.returncode == 1 and " 402 " in first.stderr
    assert named(second, "key: ") != named(first, "key: ") and shop.sent() == 2
    again = shop.charge(5, "--key", named(first, "key: "), who="demo-declined")
    assert again.returncode == 1 and "a new try needs a new key" in again.stderr and shop.sent() == 2


def test_a_charge_that_was_not_sent_keeps_its_key(shop: Shop) -> None:
    """A refused one too: the next command sends it."""
    shop.account.control.fault("status", operation="charge", status=429)
    first, second = (shop.charge(5) for _ in range(2))
    assert (first.returncode, second.returncode) == (1, 0), (first, second)
    assert named(second, "key: ") == named(first, "key: ") and shop.amounts() == [5]


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A journal that `profile add` has made."""
    variables = environment("", XDG_CONFIG_HOME=str(tmp_path / "other"))
    added = ("profile", "add", "x", "--base-url=http://127.0.0.1:1/a", "--journal", str(tmp_path / "j.db"))
    printed("", *added, env=variables, input="key")
    return tmp_path / "j.db"


def service(charge: Callable[[Request], Reply]) -> Callable[[Request], Reply]:
    """A service that answers reads, and a charge with this function."""

    def answer(request: Request) -> Reply:
        if request.method == "POST":
            return charge(request)
        is_list = request.target.partition("?")[0].endswith("/orders")
        return json_reply({"data": [], "pagination": NO_ORDERS} if is_list else {"data": SUBSCRIPTION})

    return answer


def test_ctrl_c_in_flight(journal: Path) -> None:
    """The key is shown before the charge is sent, and the outcome counts as unknown."""
    shown = threading.Event()

    def charge(_: Request) -> Reply:
        return Reply(send_only=0, ending="hang" if shown.wait(GENEROUS) else "reset")

    with ScriptedServer(service(charge)) as server:
        arguments = ("charge", "s", "7", "1500", "--journal", str(journal))
        with Terminal(*arguments, env=environment(server.url), columns=500) as terminal:
            until(lambda: any(each.method == "POST" for each in server.requests))
            key = terminal.until("key: ").partition("key: ")[2]
            shown.set()
            terminal.until("15.00 EUR + 3.75 EUR VAT (25 %) = 18.75 EUR expected")
            terminal.send("\x03")
            assert terminal.wait() == 4, terminal.lines
            assert f"--key={key}" in terminal.until("billcore charge: go on with: ")
        again = billcore(server.url, *arguments)
        assert again.returncode == 4 and f"--key={key}" in again.stderr
        assert sum(each.method == "POST" for each in server.requests) == 1


def test_a_journal_that_vanishes(journal: Path) -> None:
    """It is not made anew, where each key would be charged again; nothing is sent."""

    def answer(request: Request) -> Reply:
        journal.unlink(missing_ok=True)
        return service(lambda _: json_reply({"data": ORDER}))(request)

    with ScriptedServer(answer) as server:
        done = billcore(server.url, "charge", "s", "7", "1500", "--journal", journal)
        assert done.returncode in (1, 4) and "Traceback" not in done.stderr and not journal.exists(), done
        assert [each.method for each in server.requests] == ["GET"]


def test_the_request_is_the_one_that_dry_run_shows(journal: Path) -> None:
    options = ["--quantity", "3", "--vat=1200", "--description", "é", "--journal", str(journal), "--key=-k"]
    arguments = ["charge", *options, "--", "-5/x", "7", "1500"]
    with ScriptedServer(service(lambda _: json_reply({"data": ORDER | {"total": 4500}}))) as server:
        shown = json.loads(printed(server.url, *arguments[:1], "--dry-run", "--json", *arguments[1:]))
        assert server.requests == []
        done = billcore(server.url, *arguments)
        assert done.returncode == 0 and "45.00 EUR + 5.40 EUR VAT (12 %) = 50.40 EUR" in done.stderr, done
        sent = [each for each in server.requests if each.method == "POST"]
        assert [f"{server.url}{each.target}" for each in sent] == [shown["url"]]
        assert json.loads(sent[0].body) == shown["body"] and {*ARGUMENTS} == {*shown["body"]}
        assert printed(server.url, "journal", "show", f"--journal={journal}", "--fields=key,state", "--", "-k") == (
            "-k\tcharged\n"
        )


def test_what_is_asked(tmp_path: Path, journal: Path) -> None:
    """On another host, and everywhere without a journal; in a pipe nothing is sent without --yes."""
    make_certificate(tmp_path, "elsewhere", of="IP:0.0.0.0")
    context = server_context(tmp_path / "elsewhere.pem")
    with ScriptedServer(service(lambda _: json_reply({"data": ORDER})), tls=context) as server:
        url = f"https://0.0.0.0:{server.port}"
        variables = environment(url, SSL_CERT_FILE=str(tmp_path / "elsewhere.pem"))
        asked = ("charge", "s", "7", "1500", "--journal", str(journal), "--key", "k")
        without = ("charge", "s", "7", "1500", "--no-journal")
        for arguments, address in ((asked, url), (without, "http://127.0.0.1:1")):
            here = {**variables, "BILLCORE_BASE_URL": f"{address}/a"}
            assert "--yes" in refused(url, 2, *arguments, env=here)
        assert server.requests == []
        for arguments, text in ((asked, "Charge subscription s at"), (without, "charges again if the answer is lost?")):
            for answer, status in (("n", 1), ("y", 0)):
                with Terminal(*arguments, env=variables, columns=300) as terminal:
                    assert text in terminal.until("[y/N]")
                    terminal.until("18.75 EUR expected")
                    terminal.send(f"{answer}\n")
                    assert terminal.wait() == status, terminal.lines
        assert billcore(url, *without, "--yes", env=variables).returncode == 0
        assert sum(each.method == "POST" for each in server.requests) == 3


@pytest.mark.parametrize(
    ("journal_of", "text"),
    [
        ([], "no journal is named"),
        (["--journal", "missing.db"], "there is no file"),
        (["--journal", "postgresql://u:secret@127.0.0.1/x"], "leave the password out"),
        (["--journal", "postgresql://127.0.0.1/x?password=secret"], "leave the password out"),
        (["--journal", "host=x password=secret"], "postgresql://"),
        (["--journal", "mysql://u:secret@127.0.0.1/x"], "postgresql://"),
        (["BILLCORE_JOURNAL", "postgresql://u:a@secret@127.0.0.1:1/x"], "percent-encode"),
        (["BILLCORE_JOURNAL", "postgresql://u:a/secret@127.0.0.1:1/x"], "percent-encode"),
        (["BILLCORE_JOURNAL", "postgresql://u:secret@127.0.0.1:1/x?a"], "percent-encode"),
    ],
)
def test_a_journal_that_cannot_be_used(tmp_path: Path, journal_of: list[str], text: str) -> None:
    """Nothing is sent, no file is made, and no password is shown."""
    with ScriptedServer() as server:
        more = dict([journal_of]) if journal_of[:1] == ["BILLCORE_JOURNAL"] else {}
        variables = environment(server.url, XDG_CONFIG_HOME=str(tmp_path), **more)
        arguments = [] if more else journal_of
        line = refused("", 2, "charge", "s", "7", "1500", *arguments, env=variables, cwd=tmp_path)
        assert text in line and "secret" not in line and list(tmp_path.iterdir()) == [] == server.requests


@pytest.mark.parametrize("cents", ["15.00", "0", "-5", "1e3", "", "٣"])
def test_an_amount_that_is_no_number_of_cents(cents: str) -> None:
    assert "cents" in refused("http://127.0.0.1:1", 2, "charge", "s", "7", cents)


@pytest.fixture(scope="module")
def postgres() -> Iterator[Postgres]:
    made = Postgres()
    yield made
    made.close()


def test_postgresql(account: SandboxAccount, postgres: Postgres) -> None:
    """The journal is one of BILLCORE_JOURNAL, whose tables `journal schema` makes; a dead server is status 1."""
    import psycopg

    with psycopg.connect(host=postgres.host, port=postgres.port, user="postgres", autocommit=True) as connection:
        connection.execute(printed("", "journal", "schema", "postgresql"))
    url = f"postgresql://postgres:secret@/postgres?host={postgres.host}&port={postgres.port}"
    variables = environment(account, BILLCORE_JOURNAL=url)
    charge: list[Any] = ["charge", account.ids["subscriptions"]["demo-active"], account.ids["products"]["one_time"], 5]
    assert billcore("", *charge, env=variables, new=True).returncode == 0
    assert "the same charge was made" in billcore("", *charge, env=variables).stderr
    dead = environment(account, BILLCORE_JOURNAL="postgresql://u:secret@127.0.0.1:1/x")
    line = refused("", 1, *charge, env=dead)
    assert "nothing was sent" in line and "secret" not in line


def test_without_psycopg(tmp_path: Path) -> None:
    (tmp_path / "psycopg.py").write_text("raise ImportError('none')", "utf-8")
    variables = environment("http://127.0.0.1:1")
    variables["PYTHONPATH"] = f"{tmp_path}:{variables['PYTHONPATH']}"
    line = refused("", 2, "charge", "s", "7", "5", "--journal=postgresql://127.0.0.1/x", env=variables)
    assert "pip install 'psycopg[binary]'" in line
