"""The options that each account can have for itself: what they change, and what the sandbox refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import AccountOptions, ControlError, Sandbox, SandboxAccount
from billcore_sandbox import options
from sandbox.support import Receiver, Service, ended, events, of_ready, refused, sign, started
from support.waiting import GENEROUS

SECRET = "0123456789abcdefghijklmnopqrstuv"
START = "2026-01-31T09:00:00+00:00"
Made = Callable[..., SandboxAccount]


@pytest.fixture(params=["of the account", "of the sandbox"])
def made(request: pytest.FixtureRequest, process: Sandbox) -> Iterator[Made]:
    """Makes a new account with options, which are its own or those of a sandbox."""
    running: list[Sandbox] = []

    def make(**given: Any) -> SandboxAccount:
        if request.param == "of the account":
            account = process.new_account(**given)
            assert account.control.state()["accounts"][0]["options"].keys() == given.keys()
            return account
        running.append(Sandbox(**{"delivery_timeout": GENEROUS, **given}))
        return running[-1].new_account()

    yield make
    for each in running:
        each.close()


def test_answers(made: Made) -> None:
    account = made(
        settlement="manual",
        charge_total="amount",
        donation_status=403,
        cancel="active",
        second_cancel="refuse",
        swap_to_one_time="refuse",
        delete_body="null",
        subscriptions_per_page=5,
        products_per_page=7,
        errors={
            "charge": {"charge_declined": {"status": 409, "code": "declined"}, "validation_error": {"status": 400}},
            "orders.get": {"not_found": {"code": "no_such_order"}},
        },
    )
    service = Service(account.accounts[0])
    order = service.charge(amount=500, quantity=3).data
    assert (order["state"], order["total"]) == ("confirmed", 500)
    assert service.charge("demo-donation").status == 403
    path = f"/subscription/{service.subscription('demo-active')['id']}"
    answer = service.post(f"{path}/product", {"product_id": service.product()["id"]})
    assert (answer.status, answer.code) == (422, "invalid_product")
    assert service.post(f"{path}/cancel").data["status"] == "active"
    assert (service.post(f"{path}/cancel").status, service.post(f"{path}/cancel").code) == (422, "already_cancelled")
    assert service.send("DELETE", f"/product/{service.product()['id']}").body == b"null"
    assert service.get("/subscriptions").json["pagination"]["per_page"] == 5
    assert service.get("/products").json["pagination"]["count"] == 7
    refusals = [service.charge("demo-declined"), service.charge(amount=0), service.get("/order/1")]
    refusals.append(service.get("/subscription/1"))
    assert [(each.status, each.code) for each in refusals] == [
        (409, "declined"),
        (400, "validation_error"),
        (404, "no_such_order"),
        (404, "not_found"),
    ]


def test_other_answers(made: Made) -> None:
    service = Service(made(settlement="immediate", cancel="cancelled", delete_body="empty").accounts[0])
    assert service.charge("demo-invoice").data["state"] == "paid"
    number = service.subscription("demo-stays-active")["id"]
    assert service.post(f"/subscription/{number}/cancel").data["status"] == "cancelled"
    answer = service.send("DELETE", f"/product/{service.product()['id']}")
    assert (answer.status, answer.body, answer.headers["content-length"]) == (200, b"", "0")
    assert "content-type" not in answer.headers


@pytest.mark.parametrize(
    ("ids", "payload", "id_type", "full"), [("int", "full", int, True), ("string", "reduced", str, False)]
)
def test_events_of_the_account(
    made: Made, receiver: Receiver, ids: str, payload: str, id_type: type, full: bool
) -> None:
    header = {"signature_header": "X-Sign", "delivery_ids": "string", "updated_too": True, "secret": SECRET}
    account = made(event_ids=ids, event_payload=payload, **header)
    service, control = Service(account.accounts[0]), account.control
    assert service.post("/webhooks/endpoints", {"url": receiver.url}).status == 200
    state = control.state()
    assert (state["options"] | state["accounts"][0]["options"])["secret"] == "set"
    order = service.charge().data
    for cause in ("renew", "cancel"):
        control.subscription(service.subscription("demo-active")["id"], cause)
    received = receiver.wait(8)
    for item in received:
        assert item.headers["X-Sign"] == sign(item.body, SECRET)
        assert (type(item.event["id"]), type(item.event["data"]["id"])) == (str, id_type)
    assert (set(received[0].event["data"]) == set(order)) is full
    updated = [name for name in events(received) if name.startswith("subscription")]
    assert updated == [
        "subscription.renewed",
        "subscription.updated",
        "subscription.cancelled",
        "subscription.updated",
    ]
    assert control.rotate_secret(control.endpoints()[0]["id"]) != SECRET


def test_times(made: Made, receiver: Receiver) -> None:
    account = made(
        start=datetime.fromisoformat(START),
        renewal_retries=[1],
        invoice_days=2,
        retry_schedule=[7200],
        delivery_timeout=0.2,
    )
    service, control = Service(account.accounts[0]), account.control
    control.freeze()
    assert control.state()["accounts"][0]["now"][:16] == START[:16]
    receiver.hold()
    control.create_endpoint(receiver.url)
    order = service.charge("demo-invoice").data["id"]
    control.wait(delivery={"state": "pending"})
    control.advance(seconds=0)
    (attempt,) = control.deliveries()[0]["attempts"]
    assert attempt["error"] == "no answer within 0.2 s"
    receiver.open()
    control.advance(days=2.1)
    assert (len(ended(control)[0]["attempts"]), service.get(f"/order/{order}").data["state"]) == (2, "paid")
    control.advance(days=40)
    assert service.subscription("demo-declined")["status"] == "unpaid"


def test_a_write_that_changes_nothing(made: Made, receiver: Receiver) -> None:
    account = made(unchanged_event="none")
    service, control = Service(account.accounts[0]), account.control
    control.create_endpoint(receiver.url)
    number, products = account.ids["subscriptions"]["demo-active"], service.products()
    same, other = [each["id"] for each in products if each["type"] == "subscription"][:2]
    for product in (same, other, other):
        assert service.post(f"/subscription/{number}/product", {"product_id": product}).status == 200
    control.subscription(number, "change_billing", billing="card")
    control.subscription(number, "change_billing", billing="mobile")
    price = service.subscription("demo-active")["price"]
    service.post(f"/product/{other}", {"price": price + 100})
    service.post(f"/subscription/{number}/product", {"product_id": other})  # the product's price has changed
    assert [each["event"] for each in ended(control)].count("subscription.updated") == 3
    assert len(control.ledger("change_product")) == 4


# ---- Rate limit ------------------------------------------------------------------------------------------------------


def test_a_rate_limit_counts_the_requests_that_the_service_gets(made: Made) -> None:
    account = made(rate_limit=(2, 60), errors={"products.list": {"rate_limited": {"code": "slow_down"}}})
    service, control = Service(account.accounts[0]), account.control
    number, product = account.ids["subscriptions"]["demo-active"], account.ids["products"]["one_time"]

    def statuses(count: int) -> list[int]:
        return [service.get("/products").status for _ in range(count)]

    control.freeze()
    control.fault("status")
    assert statuses(4) == [503, 200, 200, 429]
    control.advance(seconds=18.5)
    answer = service.get("/products")
    assert (answer.status, answer.code, answer.headers["retry-after"]) == (429, "slow_down", "42")
    answer = service.post(f"/subscription/{number}/order", {"product_id": product, "amount": 1500})
    assert (answer.status, answer.code, control.ledger()) == (429, "rate_limited", [])
    control.advance(seconds=41.5)
    assert statuses(3) == [200, 200, 429]
    control.advance(seconds=60)  # a window begins with a request
    control.advance(seconds=59)
    assert statuses(1) == [200]
    control.advance(seconds=59)
    assert statuses(2) == [200, 429]


def test_a_rate_limit_is_that_of_one_account(process: Sandbox) -> None:
    accounts = [process.new_account(rate_limit=(1, 3600)), process.new_account()]
    for status in (200, 429):
        answers = [Service(each.accounts[0]).get("/products") for each in accounts]
        assert [each.status for each in answers] == [status, 200]
    assert accounts[0].control.requests()[-1]["status"] == 429


# ---- Which options there are -----------------------------------------------------------------------------------------


def test_a_database_file_keeps_them(tmp_path: Path, receiver: Receiver) -> None:
    arguments = ("--db", str(tmp_path / "billing.db"))
    own = {"products_per_page": 3, "rate_limit": [9, 60], "start": START, "retry_schedule": [1, 2]}
    own |= {"errors": {"orders.get": {"not_found": {"status": 410}}}}
    with started(*arguments) as (_, ready):
        control = of_ready(ready)[1]
        made = control._call("POST", "accounts", {**own, "event_payload": "mixed", "settlement": "manual"})
        control._call("POST", "endpoints", {"account": made["account"], "url": "https://shop.example/"})
        control._call("POST", "products", {"account": made["account"], "name": "Tea"})
    with started(*arguments, "--event-payload", "full", "--settlement", "manual") as (_, ready):
        service, control = of_ready(ready)
        (shown,) = [each for each in control.state()["accounts"] if each["account"] == made["account"]]
        assert shown["options"] == {**own, "event_payload": "mixed"}, "settlement is that of the sandbox"
        service.root, service.api_key = f"/{made['account']}", made["api_key"]
        assert service.get("/products").json["pagination"]["per_page"] == 3
        assert service.get("/order/1").status == 410
        control._call("POST", "products", {"account": made["account"], "name": "Tea"})
        products = [each for each in control.deliveries() if each["account"] == made["account"]]
        assert ['"price_with_vat"' in each["body"] for each in products] == [True, True]
        for _ in range(2):
            control._call("POST", "products", {"account": made["account"], "name": "Tea"})
        *_, third, fourth = [each["body"] for each in control.deliveries() if each["account"] == made["account"]]
        assert '"price_with_vat"' not in third + fourth, "the count of events is kept"


def test_the_openapi_document_has_the_errors_of_the_account(process: Sandbox) -> None:
    made = process.new_account(
        demo=False,
        rate_limit=(1, 1),
        errors={"cancel": {"not_found": {"status": 410, "code": "gone"}, "not_cancellable": {"status": 409}}},
    )
    paths = made.control._call("GET", "openapi.json")["paths"]
    shown = {
        status: answer["description"]
        for status, answer in paths["/subscription/{id}/cancel"]["post"]["responses"].items()
        if status not in ("200", "401")
    }
    assert {status: text.rpartition("Code: ")[2] for status, text in shown.items()} == {
        "409": "not_cancellable.",
        "410": "gone.",
        "422": "already_cancelled.",
        "429": "rate_limited.",
    }
    assert "429" not in process.control._call("GET", "openapi.json")["paths"]["/products"]["get"]["responses"]


def test_billcore_testing_has_all_of_them() -> None:
    """billcore.testing repeats the names, because it does not import the sandbox."""
    assert AccountOptions.__annotations__.keys() == {each.name for each in options.of_accounts()}


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ({"settlement": "late"}, "use one of by-billing, immediate, manual"),
        ({"donation_status": 500}, "use one of 402, 403, 422"),
        ({"stict": True}, "unknown field `stict` (fields: demo, secret, settlement, "),
        ({"port": 5}, "unknown field `port`"),
        ({"retry_schedule": [-1]}, "An option is wrong: retry_schedule and delivery_timeout take seconds"),
        ({"invoice_days": 1e300}, "renewal_retries and invoice_days take days: 0 to 100000"),
        ({"products_per_page": 0}, "page sizes must be between 1 and 100000"),
        *(({"signature_header": name}, "must be the name of a further header") for name in ("a b", "Content-Length")),
        ({"start": "tomorrow"}, "start must be a time such as 2025-06-02T09:00:00Z, not 'tomorrow'"),
        ({"start": "0001-01-01T00:00:00Z"}, "start must be in the years 1970 to 9000"),
        *(({"rate_limit": rate}, "rate_limit takes a number") for rate in ([1], [0, 1], [1, 0], [1.5, 1], [1, 1, 1])),
        ({"errors": {"chrage": {}}}, "'chrage' is not an operation: use one of subscriptions.list,"),
        ({"errors": {"charge": {"x": {}}}}, "operation subscriptions.charge has no error 'x': it has not_found, inv"),
        ({"errors": {"charge": {"charge_declined": {"status": 200}}}}, "a status between 400 and 599"),
        ({"errors": {"charge": {"charge_declined": {"code": ""}}}}, "a text as the code"),
        ({"errors": {"charge": {"charge_declined": {"reason": "x"}}}}, 'errors takes {"OPERATION": {"CODE": '),
    ],
    ids=str,
)
def test_what_is_refused(process: Sandbox, own: dict[str, Any], message: str) -> None:
    before = len(process.control.state()["accounts"])
    with pytest.raises(ControlError) as caught:
        process.control._call("POST", "accounts", own)
    assert (caught.value.status, message in str(caught.value)) == (422, True), caught.value
    assert len(process.control.state()["accounts"]) == before


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--errors", "{"), 2, "argument --errors: expected a JSON object, not '{'"),
        (("--errors", "[]"), 2, "argument --errors: expected a JSON object, not '[]'"),
        (("--errors", '{"charge": 1}'), 2, '--errors takes {"OPERATION": {"CODE": '),
        (("--errors", '{"chrage": {}}'), 1, "--errors: 'chrage' is not an operation: use one of subscriptions.list,"),
        *(
            (("--rate-limit", text), 2, "--rate-limit takes a number of requests and seconds, such as 10,60")
            for text in ("10", "inf,1", "nan,1", "1,nan")
        ),
    ],
)
def test_what_the_command_line_refuses(arguments: tuple[str, ...], status: int, message: str) -> None:
    assert message in refused(*arguments, status=status)
