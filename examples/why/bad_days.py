"""Why not 200 lines of httpx? Three programs have the same bad days: afternoon.py, by_hand.py, with_billcore.py.

Each program has a new account of the sandbox for each day, and the same deadlines. The tables say what the sandbox's
ledger and records show, and the programs' databases. --markdown prints them as Markdown; the name of a day, such as
two_workers, or of a program selects it; --verbose also prints the programs' errors.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import importlib
import itertools
import json
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from billcore.testing import FaultKind, Sandbox, SandboxAccount

HERE = Path(__file__).resolve().parent
PROGRAMS = {"afternoon": "an afternoon's work", "by_hand": "by hand, with care", "with_billcore": "with billcore"}
TIMEOUT, SETTLE = 2.0, 1.0  # seconds: see Billing
SLOW = 6.0  # seconds that a slow answer takes
PARALLEL = 6  # days at once
OLD, NEW = "old-secret-old-secret-old-secret", "new-secret-new-secret-new-secret"
CUSTOMERS = ("active", "many-orders", "stays-active", "invoice")
VERBOSE = "--verbose" in sys.argv

Result = dict[str, Any]


class Work:
    """A program on a bad day: its account, its database and its processes."""

    def __init__(self, account: SandboxAccount, program: str, folder: str) -> None:
        self.account, self.control, self.program = account, account.control, program
        self.database, self.peak, self.seconds, self.earlier = f"{folder}/work.db", 0, 0.0, 0
        subscriptions = account.ids["subscriptions"]
        self.customers = [str(subscriptions[f"demo-{each}"]) for each in CUSTOMERS]
        self.customer, self.many = self.customers[:2]
        self.product: int = account.ids["products"]["one_time"]
        with closing(sqlite3.connect(self.database)) as db:
            db.executescript(importlib.import_module(program).TABLES)

    def start(self, job: str, **given: Any) -> subprocess.Popen[str]:
        given["billing"] = {
            "base_url": self.account.base_url, "api_key": self.account.api_key, "database": self.database,
            "timeout": TIMEOUT, "settle": SETTLE,
        }  # fmt: skip
        command = [sys.executable, str(HERE / "worker.py"), self.program, job]
        errors = None if VERBOSE else subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert process.stdin is not None
        process.stdin.write(json.dumps(given) + "\n")
        process.stdin.flush()
        return process

    def end(self, process: subprocess.Popen[str]) -> Result:
        result: Result = json.loads(process.communicate()[0])
        self.peak = max(self.peak, result["peak"])
        if VERBOSE and result["error"]:
            print(self.program, result["error"], file=sys.stderr)
        return result

    def run(self, job: str, **given: Any) -> Result:
        result = self.end(self.start(job, **given))
        self.seconds += result["seconds"]
        return result

    @contextmanager
    def receiver(self, *secrets: str, port: int = 0) -> Iterator[int]:
        """Runs the program's receiver during a `with` block; yields its port."""
        process = self.start("receive", secrets=secrets, port=port)
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())["port"]
        finally:
            self.end(process)

    def endpoint(self, port: int, **settings: Any) -> int:
        return self.control.create_endpoint(f"http://127.0.0.1:{port}/", secret=OLD, **settings)["id"]

    def invoices(self, count: int) -> list[tuple[str, str, int]]:
        return [(f"invoice-{number}", self.customer, self.product) for number in range(count)]

    def sell(self, count: int) -> None:
        """Sells something elsewhere: an order that is not the program's."""
        for _ in range(count):
            self.control.trigger("charge", on=self.customer)

    # ---- What the sandbox and the database show

    def charged(self, asked: int, *results: Result) -> str:
        """How often the service has charged, and whether the program knows its orders."""
        made = {str(each["order_id"]) for each in self.control.ledger("charge") if each["id"] > self.earlier}
        known = {order for result in results for order in result["orders"].values() if isinstance(order, str)}
        if len(made) == asked and known == made:
            return f"{asked} of {asked} charged once"
        foreign = f"; {count} order of another sale taken for its own" if (count := len(known - made)) else ""
        return f"**{len(made)} charges for {asked} invoices**{foreign}"

    def orders(self) -> list[str]:
        """The orders before a list is read."""
        connection = http.client.HTTPConnection(self.account.base_url.split("/")[2], timeout=30)
        path = f"/{self.account.base_url.split('/')[3]}/subscription/{self.many}/orders?per_page=200"
        with closing(connection):
            connection.request("GET", path, headers={"X-API-KEY": self.account.api_key})
            return [str(order["id"]) for order in json.load(connection.getresponse())["data"]]

    def listed(self, before: list[str], result: Result) -> str:
        """How many orders the program listed, of those that were there all the time."""
        deleted = {str(each) for effect in self.control.ledger("rows") for each in effect["deleted"]}
        stayed = set(before) - deleted
        count = len(stayed & set(result["listed"]))
        doubled = len(result["listed"]) - len(set(result["listed"]))
        told = f"{count} of {len(stayed)} orders" + (f", {doubled} twice" if doubled else "")
        if result["error"] is not None:
            return f"**{told}, then an error**"
        return told if count == len(stayed) and not doubled else f"**{told}, and no error**"

    def shipped(self) -> str:
        """Whether each paid order was shipped once."""
        paid = {str(json.loads(each["body"])["data"]["id"]) for each in self.control.deliveries("order.paid")}
        with closing(sqlite3.connect(self.database)) as db:
            shipped = Counter(row[0] for row in db.execute("SELECT order_id FROM shipped") if row[0] in paid)
        if set(shipped) == paid and set(shipped.values()) == {1}:
            return f"{len(paid)} of {len(paid)} shipped once"
        return f"**{shipped.total()} shipments of {len(paid)} orders**"


def sign(body: bytes, secret: str) -> str:
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def post(port: int, body: bytes, signature: str | None) -> int:
    """Delivers an event. Returns the status of the answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
        connection.putrequest("POST", "/")
        connection.putheader("Content-Length", str(len(body)))
        if signature is not None:
            connection.putheader("Service-Signature", signature.encode("latin-1"))
        connection.endheaders()
        with suppress(OSError):  # the receiver may answer before it has read the body
            connection.send(body)
        return connection.getresponse().status


# ---- The days: the first line of each docstring is a cell of the table -----------------------------------------------


def answer_lost(work: Work) -> str:
    """The answer to a charge gets lost; once, the service makes the charge a second later."""
    work.control.fault("reset_after", operation="charge")
    work.control.fault("delay", operation="charge", delay=TIMEOUT + 1)
    work.control.fault("late", operation="charge", delay=1.0)
    result = work.run("charge", invoices=work.invoices(4))
    work.control.advance(seconds=1)
    return work.charged(4, result)


def gateway_timeout(work: Work) -> str:
    """A gateway answers 504 to charges, of which one was made; an equal sale was made elsewhere just before."""
    work.sell(1)
    work.earlier = work.control.ledger()[-1]["id"]
    for effect in (False, True, False):
        work.control.fault("status", operation="charge", status=504, effect=effect)
    return work.charged(3, work.run("charge", invoices=work.invoices(3)))


def killed(work: Work) -> str:
    """The process is killed while a charge is in flight, twice, and started again."""
    for number in (1, 2):
        work.control.fault("delay", operation="charge", delay=60)
        process = work.start("charge", invoices=work.invoices(3))
        while len(work.control.ledger("charge")) < number:
            time.sleep(0.02)
        process.kill()
        process.communicate()
    return work.charged(3, work.run("charge", invoices=work.invoices(3)))


def two_workers(work: Work) -> str:
    """Two workers charge the same four invoices at the same time."""
    work.control.fault("delay", operation="charge", delay=0.3, times=8, optional=True)
    invoices = [(f"invoice-{each}", each, work.product) for each in work.customers]
    workers = [work.start("charge", invoices=invoices) for _ in range(2)]
    return work.charged(4, *[work.end(each) for each in workers])


def moving_pages(work: Work) -> str:
    """Orders are added and removed while a list is read."""
    before = work.orders()
    for nth, (delete, insert) in enumerate([(2, 0), (0, 3), (1, 0), (4, 1)], start=1):
        work.control.fault("rows", operation="subscriptions.orders", nth=nth, delete=delete, insert=insert)
    return work.listed(before, work.run("orders", subscription=work.many))


def cut_answers(work: Work) -> str:
    """Answers are cut: the connection ends in the middle, or a proxy declares the shorter length."""
    before = work.orders()
    work.control.fault("half_body", operation="subscriptions.orders", query={"page": "1"})
    work.control.fault("wrong_length", operation="subscriptions.orders", query={"page": "3"}, by=7)
    work.control.fault("wrong_length", operation="subscriptions.orders", query={"page": "4"}, by=-7)
    listed = work.listed(before, work.run("orders", subscription=work.many))
    work.control.fault("half_body", operation="charge")
    work.control.fault("wrong_length", operation="charge", by=-7)
    return f"{listed}; {work.charged(3, work.run('charge', invoices=work.invoices(3)))}"


def forged_events(work: Work) -> str:
    """Events are forged, huge, nested or re-serialised; five genuine ones have unusual bytes."""
    event = {"id": 7, "name": "order.paid", "account": 1, "created_at": "2026-01-01T00:00:00Z", "data": {"id": "1"}}
    body = json.dumps(event, separators=(",", ":")).encode()
    right, deep = sign(body, OLD), b"[" * 500_000
    forged = [
        (body, None), (body, ""), (body, NEW), (body, "0" * 64), (body, "\u00e9" * 64), (body, sign(body, NEW)),
        (json.dumps(event).encode(), right), (body + b"\n", right), (body[:-1], right), (body, right[:-1]),
        (b"", right), (deep, right), (b"x" * (16 << 20), right),
    ]  # fmt: skip
    odd = [deep, b"[]", b"7", b'{"id":1}', b"\xff", b"9" * 5000]
    kinds: tuple[FaultKind, ...] = ("event_integers", "event_unknown_fields", "event_truncated", "event_oversize")
    with work.receiver(OLD) as port:
        statuses = [post(port, *each) for each in forged]
        accepted = sum(each < 300 for each in statuses)
        statuses += [post(port, each, sign(each, OLD)) for each in odd]
        endpoint = work.endpoint(port)
        for kind in kinds:
            work.control.fault(kind, event="order.paid")
        work.control.fault("event_escapes", event="order.paid", style="html")
        work.sell(5)
        work.control.wait_for_deliveries(failed_ok=True)
        work.control.endpoint(endpoint, "delete")
    crashes = f", **{count} answers 500 instead of 4xx**" if (count := sum(each >= 500 for each in statuses)) else ""
    return f"{accepted} of {len(forged)} accepted{crashes}; {work.shipped()}"


def rotated_secret(work: Work) -> str:
    """The signing secret is replaced while events arrive; an attacker has the old one."""
    with work.receiver(OLD) as port:
        endpoint = work.endpoint(port)
        work.sell(1)
        work.control.wait_for_deliveries()
        work.control.rotate_secret(endpoint, secret=NEW, overlap=3600)
        work.sell(4)
    with work.receiver(NEW, OLD, port=port):
        work.control.wait_for_deliveries(failed_ok=True)
    body = b'{"id":7,"name":"order.paid","account":1,"data":{"id":"1"}}'
    with work.receiver(NEW, port=port):
        stolen = post(port, body, sign(body, OLD))
    return f"{work.shipped()}; the attacker is {'**believed**' if stolen < 300 else 'refused'}"


def repeated_events(work: Work) -> str:
    """Events arrive four times at the same moment, and in the wrong order."""
    with work.receiver(OLD) as port:
        work.endpoint(port, concurrency=4)
        work.control.fault("event_duplicate", event="order.paid", copies=3, concurrent=True, times=4)
        work.control.fault("event_reorder", event="subscription.updated", delay=1.0)
        work.sell(4)
        work.control.trigger("renewal-fails", on=work.customer)
        work.control.trigger("recovers", on=work.customer)
        for each in work.control.wait_for_deliveries(failed_ok=True)[:2]:
            work.control.redeliver(f"seq:{each['seq']}")
        work.control.wait_for_deliveries(failed_ok=True)
    with closing(sqlite3.connect(work.database)) as db:
        status = db.execute("SELECT status FROM members WHERE subscription = ?", (work.customer,)).fetchone()
    return f"{work.shipped()}; the stored status is {'right' if status == ('active',) else '**wrong**'}"


def too_many_requests(work: Work) -> str:
    """The service allows 4 requests in a second, and answers 429 to the others."""
    before = work.orders()
    listed = work.listed(before, work.run("orders", subscription=work.many))
    return f"{listed}; {work.charged(3, work.run('charge', invoices=work.invoices(3)))}"


def dripping_answer(work: Work) -> str:
    """Answers come in 50 pieces over 6 seconds; the deadline is 2 seconds."""
    work.control.fault("drip", operation="subscriptions.get", delay=SLOW)
    took = work.run("read", subscription=work.customer)["seconds"]
    work.control.fault("drip", operation="charge", delay=SLOW)
    charged = work.charged(1, work.run("charge", invoices=work.invoices(1)))
    return f"the read ends {'at its deadline' if took < TIMEOUT + 1 else '**after 6 s**'}; {charged}"


def revoked_key(work: Work) -> str:
    """The API key is revoked in the middle of the work, and replaced later."""
    fault = work.control.fault("status", status=401, body=None, nth=3, times=1000)  # while the list is read
    work.run("orders", subscription=work.many)
    work.control.delete_fault(fault)
    listing = len(work.control.requests(status=401))
    work.control.fault("delay", operation="charge", delay=0.5, nth=2)
    process = work.start("charge", invoices=work.invoices(4))
    while len(work.control.ledger("charge")) < 2:
        time.sleep(0.02)
    work.account.api_key = work.control.rotate_key(work.control.keys()[0]["id"])
    first = work.end(process)
    charging = len(work.control.requests(status=401)) - listing
    charged = work.charged(4, first, work.run("charge", invoices=work.invoices(4)))
    pages = "1 page" if listing == 1 else "several pages"
    return f"{pages} and {charging} request while charging, with the revoked key; {charged}"


def lost_worker(work: Work) -> str:
    """A worker is killed in a charge and does not come back; three other invoices of the customer are due."""
    work.control.fault("delay", operation="charge", delay=60)
    process = work.start("charge", invoices=work.invoices(1))
    while not work.control.ledger("charge"):
        time.sleep(0.02)
    process.kill()
    process.communicate()
    result = work.run("charge", invoices=work.invoices(4)[1:], patience=6.0)
    made = {str(each["order_id"]) for each in work.control.ledger("charge")[1:]}
    known = {order for order in result["orders"].values() if isinstance(order, str)}
    told = "3 of 3 charged once" if len(made) == 3 and made == known else f"**{len(made)} of 3 charged in 6 s**"
    return f"{told}; with the first one called again, {work.charged(4, work.run('charge', invoices=work.invoices(4)))}"


def growing_list(work: Work) -> str:
    """An order is added after each page of a list that is read, and none is removed."""
    before = work.orders()
    work.control.fault("rows", operation="subscriptions.orders", insert=1, times=1000, optional=True)
    return work.listed(before, work.run("orders", subscription=work.many))


DAYS: tuple[Callable[[Work], str], ...] = (
    answer_lost, gateway_timeout, killed, two_workers, moving_pages, cut_answers, forged_events, rotated_secret,
    repeated_events, too_many_requests, dripping_answer, revoked_key, lost_worker, growing_list,
)  # fmt: skip


def spend(sandbox: Sandbox, day: Callable[[Work], str], program: str) -> tuple[str, float, int]:
    """Returns what happened, the seconds of the program's jobs, and the most memory of a process in MiB."""
    limited = day is too_many_requests
    account = sandbox.new_account(rate_limit=(4, 1.0)) if limited else sandbox.new_account()
    with tempfile.TemporaryDirectory() as folder:
        work = Work(account, program, folder)
        told = day(work)
    return told, work.seconds, work.peak


def lines(file: Path) -> int:
    """The lines of a program that are not empty."""
    return sum(bool(line.strip()) for line in file.read_text(encoding="utf-8").splitlines())


def table(rows: list[list[str]]) -> str:
    """The rows as a table: the first row has the titles."""
    if "--markdown" in sys.argv:
        shown = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([shown[0], "|---" * len(rows[0]) + "|", *shown[1:]]) + "\n"
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows).replace("**", "") + "\n"


def main() -> None:
    days = [each for each in DAYS if each.__name__ in sys.argv] or list(DAYS)
    programs = [each for each in PROGRAMS if each in sys.argv] or list(PROGRAMS)
    with Sandbox() as sandbox, ThreadPoolExecutor(PARALLEL) as pool:
        pairs = list(itertools.product(days, programs))
        found = dict(zip(pairs, pool.map(lambda pair: spend(sandbox, *pair), pairs), strict=True))
    lengths = {each: lines(HERE / f"{each}.py") for each in programs}
    titles = [f"{PROGRAMS[each]}, {lengths[each]} lines" for each in programs]
    told, cost = [["", "the day", *titles]], [["", *titles]]
    for day in days:
        about = (day.__doc__ or "").partition(".\n")[0].rstrip(".")
        results = [found[day, program] for program in programs]
        told.append([str(DAYS.index(day) + 1), about, *(text for text, _, _ in results)])
        if any(seconds for _, seconds, _ in results):  # not the receivers'
            cost.append([f"day {told[-1][0]}, seconds", *(f"{seconds:.1f}" for _, seconds, _ in results)])
    cost.append(["most memory, MiB", *(str(max(found[day, each][2] for day in days)) for each in programs)])
    print(f"{table(told)}\n{table(cost)}", end="")


if __name__ == "__main__":
    main()
