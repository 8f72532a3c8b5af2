"""The commands of the service in pipes: what they print, what they send, and their exit statuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import billcore as library
from billcore.testing import SandboxAccount
from conformance.server import Reply, Request, ScriptedServer, closed_port, json_reply

from .support import billcore, environment, printed, refused

SUBSCRIPTION: dict[str, Any] = {
    "id": "-5",
    "price": 1990,
    "vat": 2500,
    "currency": "EUR",
    "created_at": "2025-04-25T09:30:00+02:00",
    "renews_at": None,
    "ends_at": None,
    "trial_ends_at": None,
    "reference_id": "a\tb\nc\\d\x1b[31m",
    "reference_name": "Zoë",
    "status": "active",
    "update_card_url": "https://portal.example/secret",
    "invoices_url": "https://portal.example/secret",
    "cancel_url": "https://portal.example/secret",
    "custom_fields": [],
    "metadata": {"a": [1]},
    "new_field": 7,
}


def client_of(account: SandboxAccount) -> library.Client:
    return library.Client(base_url=account.base_url, api_key=account.api_key)


def test_a_list_is_printed_whole_in_a_pipe(account: SandboxAccount) -> None:
    with client_of(account) as client:
        orders = list(client.subscriptions.orders(account.ids["subscriptions"]["demo-many-orders"], per_page=200))
    lines = printed(account, "orders", account.ids["subscriptions"]["demo-many-orders"]).splitlines()
    assert len(orders) > 20 and [line.split("\t")[:5] for line in lines] == [
        [str(order.id), order.state, str(order.total), str(order.total_with_vat), order.currency] for order in orders
    ]
    some = printed(
        account, "orders", account.ids["subscriptions"]["demo-many-orders"], "--limit=2", "--state=paid", "--json"
    )
    paid = [order.to_dict() for order in orders if order.state == "paid"]
    assert [json.loads(line) for line in some.splitlines()] == paid[:2]


def test_a_record_in_a_pipe() -> None:
    """Escapes keep a record on one line, and a signed URL is printed only if it is named."""
    with ScriptedServer(lambda _: json_reply({"data": SUBSCRIPTION})) as server:
        line = printed(server.url, "subscriptions", "get", "x")
        assert line == "-5\tactive\t1990\tEUR\t\t\ta\\tb\\nc\\\\d\\x1b[31m\tZoë\n"
        fields = printed(server.url, "subscriptions", "get", "x", "--fields", "metadata,cancel_url,vat")
        assert fields == '{"a": [1]}\thttps://portal.example/secret\t2500\n'
        whole = json.loads(printed(server.url, "subscriptions", "get", "x", "--json"))
        assert whole == {name: value for name, value in SUBSCRIPTION.items() if not name.endswith("_url")}
        named = printed(server.url, "subscriptions", "get", "x", "--json", "--fields", "vat,cancel_url")
        assert named == '{"vat": 2500, "cancel_url": "https://portal.example/secret"}\n'


def test_ids_that_begin_with_a_dash() -> None:
    with ScriptedServer(lambda _: json_reply({"data": SUBSCRIPTION})) as server:
        printed(server.url, "subscriptions", "get", "--", "-5")
        printed(server.url, "subscriptions", "get", "--id=-5")
        printed(server.url, "order", "get", "--id=--json", "--fields", "id")
        assert [each.target for each in server.requests] == [
            "/a/subscription/-5",
            "/a/subscription/-5",
            "/a/order/--json",
        ]
        assert "pass one id" in refused(server.url, 2, "subscriptions", "get", "5", "--id=6")


def test_the_writes(account: SandboxAccount) -> None:
    """Each write is sent once, and its result is printed as the service sent it."""
    active, stays = (account.ids["subscriptions"][each] for each in ("demo-active", "demo-stays-active"))
    product, other = account.ids["products"]["one_time"], account.ids["products"]["fixed_cycle"]
    assert printed(account, "subscriptions", "cancel", active, "--fields=id,status") == f"{active}\tcancelled\n"
    changed = printed(account, "subscriptions", "change-product", stays, "--product", other, "--json")
    assert json.loads(changed)["id"] == stays
    update = ("--name", "Tea", "--price=5", "--vat-rate", "12.50", "--set", 'description="é"', "--set", "interval=null")
    fields = "name,price,vat_rate,description,interval"
    assert printed(account, "products", "update", product, *update, "--fields", fields) == "Tea\t5\t12.5\té\t\n"
    assert printed(account, "products", "delete", product, "--json") == f'{{"deleted": {product}}}\n'
    assert refused(account, 1, "products", "get", product).count(" 404 ") == 1
    made = billcore(account, "endpoints", "create", "http://127.0.0.1:9/hooks", "--json")
    assert made.returncode == 0 and json.loads(made.stdout)["url"] == "http://127.0.0.1:9/hooks"
    assert "admin UI" in made.stderr
    assert " 422 " in refused(account, 1, "endpoints", "create", "http://127.0.0.1:9/hooks")
    assert len([each for each in account.control.requests() if each["method"] != "GET"]) == 6


def test_what_request_sends_and_prints(tmp_path: Path) -> None:
    """The body is printed byte for byte, and numbers are sent with the digits that were given."""
    body = b'{"odd":\n\xff\x00 1.10}'

    def answer(request: Request) -> Reply:
        return Reply(status=404, body=b"[1e400]") if request.target == "/a/none" else Reply(body=body)

    (tmp_path / "body.json").write_text('{"vat_rate": 12.50, "big": 123456789012345678901234567890}', "utf-8")
    with ScriptedServer(answer) as server:
        got = billcore(server.url, "request", "get", "/a%20b?x=1&x=%C3%A9&y", text=False)
        assert (got.returncode, got.stdout, got.stderr) == (0, body, b"")
        for data, more in ((f"@{tmp_path}/body.json", {}), ("@-", {"input": (tmp_path / "body.json").read_bytes()})):
            sent = billcore(server.url, "request", "PATCH", "/p", "--data", data, text=False, **more)
            assert (sent.returncode, sent.stdout) == (0, body)
        missing = billcore(server.url, "request", "DELETE", "/none", "--json")
        assert missing.returncode == 1
        assert json.loads(missing.stdout)["body"] == "[1e400]"  # and not the constant Infinity, which is no JSON
        assert missing.stderr == "billcore request: the service answered with the status 404\n"
        assert [(each.method, each.target, each.body) for each in server.requests] == [
            ("GET", "/a/a%20b?x=1&x=%C3%A9&y=", b""),
            *[("PATCH", "/a/p", b'{"vat_rate":12.50,"big":123456789012345678901234567890}')] * 2,
            ("DELETE", "/a/none", b""),
        ]


WRITES = [
    (["subscriptions", "cancel", "s 1"], "billcore subscriptions get 's 1' --base-url"),
    (["subscriptions", "change-product", "--id=-1", "--product=2"], "billcore subscriptions get --id=-1 --base-url"),
    (["products", "update", "7", "--price=1"], "billcore products get 7 --base-url"),
    (["products", "delete", "7"], "billcore products get 7 --base-url"),
    (["endpoints", "create", "http://127.0.0.1/"], "run the same command again"),
    (["request", "PUT", "/x"], "read what the request changes"),
]


@pytest.mark.parametrize(("arguments", "look_up"), WRITES, ids=lambda each: each[0] if isinstance(each, list) else "")
@pytest.mark.parametrize(
    "reply", [Reply(send_only=0, ending="reset"), Reply(status=500, body=b"{}")], ids=["reset", "500"]
)
def test_a_write_whose_outcome_is_unknown(arguments: list[str], look_up: str, reply: Reply) -> None:
    """The exit status is 4, nothing was sent twice, and the message says how to look the write up."""
    with ScriptedServer(lambda _: reply) as server:
        done = billcore("http://127.0.0.1:1", *arguments, "--base-url", f"{server.url}/a")
        assert done.returncode == 4 and f"look it up: {look_up}" in done.stderr, done
        assert len(server.requests) == 1 and "Traceback" not in done.stderr


def test_nothing_is_written_if_its_result_cannot_be_shown() -> None:
    with ScriptedServer() as server:
        for arguments in (["subscriptions", "cancel", "1"], ["products", "update", "1", "--price=2"]):
            assert "there is no field" in refused(server.url, 2, *arguments, "--fields", "x")
        assert server.requests == []


def test_a_read_and_a_write_that_were_not_sent() -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    assert refused(url, 5, "subscriptions", "list")
    assert "look" not in refused(url, 5, "subscriptions", "cancel", "1")


def test_a_list_that_changed() -> None:
    """Ten records were deleted after the first page was read; a list that is read up to a limit needs no verdict."""

    def answer(request: Request) -> Reply:
        return products_page(request, 2500, deleted=0 if page_of(request) == 1 else 10)

    with ScriptedServer(answer) as server:
        done = billcore(server.url, "products", "list", "--fields", "id")
        assert done.returncode == 3 and "a record may be missing" in done.stderr, done
        assert printed(server.url, "products", "list", "--fields", "id", "--limit", "2") == "0\n1\n"


def test_find_charges(account: SandboxAccount) -> None:
    subscription = account.ids["subscriptions"]["demo-active"]
    product = account.ids["products"]["one_time"]
    none = billcore(account, "find-charges", subscription, "--since", "1m", "--product", product)
    assert (none.returncode, none.stdout) == (0, "") and "search again" in none.stderr
    account.control.fault("reset_after", operation="charge")
    with client_of(account) as client, pytest.raises(library.OutcomeUnknownError) as error:
        client.subscriptions.charge(subscription, product_id=product, amount=777)
    found = printed(account, "find-charges", subscription, "--since", "5m", "--fields", "total")
    assert found == "777\n"
    since = error.value.attempted_at.isoformat()
    assert printed(account, "find-charges", subscription, "--since", since, "--fields", "total") == "777\n"
    assert "time zone" in refused(account, 2, "find-charges", subscription, "--since", "2026-01-01")


def test_100_000_rows() -> None:
    """A list in a pipe is read page by page: its memory is that of a short list."""
    reader = """
import os, resource, sys
from billcore.cli import main
status = main(["products", "list"])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
sys.exit(status)
"""

    def run(rows: int) -> int:
        with ScriptedServer(lambda request: products_page(request, rows)) as server:
            command = [sys.executable, "-c", reader]
            with subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(server.url)
            ) as running:
                assert running.stdout is not None and running.stderr is not None
                assert sum(1 for _ in running.stdout) == rows
                peak = int(running.stderr.read())
                assert running.wait() == 0
                return peak

    few, many = run(5000), run(100_000)
    assert many < few + 20 * 1024, (few, many)  # KB


def page_of(request: Request) -> int:
    return int(request.target.partition("page=")[2] or 1)


def products_page(request: Request, rows: int, deleted: int = 0, per_page: int = 1000) -> Reply:
    """A page of a list of so many products, from whose beginning some were deleted."""
    page = page_of(request)
    ids = range(deleted, rows)[(page - 1) * per_page : page * per_page]
    pagination = {
        "total": rows - deleted,
        "count": len(ids),
        "per_page": per_page,
        "current_page": page,
        "total_pages": -((deleted - rows) // per_page),
        "links": {"next": None, "previous": None},
    }
    return json_reply({"data": [{"id": id, "name": "x" * 200, "price": 1} for id in ids], "pagination": pagination})


def test_a_reader_that_ends() -> None:
    """`billcore … | head -1` ends soon, silently, and long before the list is read."""
    with ScriptedServer(lambda request: products_page(request, 10**9)) as server:
        command = f"{sys.executable} -m billcore products list --fields id | head -1; echo ${{PIPESTATUS[0]}}"
        done = subprocess.run(
            ["bash", "-c", command], env=environment(server.url), capture_output=True, text=True, timeout=120
        )
        assert (done.stdout, done.stderr) == ("0\n141\n", "")


def test_a_write_whose_result_cannot_be_printed(account: SandboxAccount) -> None:
    """A full disk does not hide that the write was made."""
    with open("/dev/full", "w") as full:
        done = billcore(
            account,
            "subscriptions",
            "cancel",
            account.ids["subscriptions"]["demo-active"],
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 1
    assert "No space left" in done.stderr and "this was done before: cancel subscription" in done.stderr
