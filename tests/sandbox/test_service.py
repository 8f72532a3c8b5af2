"""The REST interface: what requests change, and which requests are refused.

tests/conformance/test_wire_sandbox.py sends the requests of the wire fixtures to the sandbox, which judge the fields of
answers, the pages of lists, and one refusal of each kind. This file has the rest.
"""

from __future__ import annotations

from typing import Any

import pytest

from billcore.testing import Control, Sandbox, SandboxAccount
from sandbox.support import Receiver, Service, account, events

CHARGE, CHANGE, UPDATE = "{s}/order", "{s}/product", "{p}"
# For each path: a body that is accepted, and for each code the fields that are refused with 422 in its place.
WRONG_FIELDS: dict[str, tuple[dict[str, Any], dict[str, list[dict[str, Any]]]]] = {
    CHARGE: (
        {"amount": 1500},
        {
            "validation_error": [
                *({"amount": value} for value in (None, "1500", 1500.0, True, 0, -1, 2**63, 2**70)),
                *({"quantity": value} for value in (0, 1.5, None)),
                *({"vat": value} for value in (-1, "2500", False)),
                *({"product_id": value} for value in (None, "102")),
                *({"description": value} for value in (5, None)),
            ],
            "total_too_large": [{"amount": 2**62, "quantity": 4}, {"amount": 2**63 - 1}],
            "invalid_product": [{"product_id": name} for name in ("foreign", "deleted", "subscription", "donation")],
        },
    ),
    CHANGE: (
        {"product_id": "subscription"},
        {
            "validation_error": [{"product_id": value} for value in (None, "101", True, 101.0)],
            "invalid_product": [{"product_id": value} for value in ("foreign", "deleted", 999_999)],
        },
    ),
    UPDATE: (
        {"name": "Tea"},
        {
            "validation_error": [
                *({"name": value} for value in (5, None, "")),
                {"description": []},
                *({"price": value} for value in ("1", 1.5, True, -1, 2**70)),
                *({"currency": value} for value in ("kr", None, 1)),
                *({"vat_rate": value} for value in ("25", True, 101)),
                {"interval": 3},
            ],
        },
    ),
}
ROWS = [
    (path, good, fields, code)
    for path, (good, codes) in WRONG_FIELDS.items()
    for code, each in codes.items()
    for fields in each
]


class Shop:
    """A new account, and the paths and products that the tables name."""

    def __init__(self, mine: SandboxAccount, process: Sandbox) -> None:
        self.control, self.service = mine.control, Service(mine.accounts[0])
        self._products = {**mine.ids["products"], "foreign": account(process).product()["id"]}
        self._paths = {
            "s": f"/subscription/{mine.ids['subscriptions']['demo-active']}",
            "many": f"/subscription/{mine.ids['subscriptions']['demo-many-orders']}/orders",
            "p": f"/product/{mine.ids['products']['one_time']}",
        }

    def path(self, path: str) -> str:
        return path.format(**self._paths)

    def delete_a_product(self) -> None:
        self._products["deleted"] = self.control.create_product("Gone", type="one_time")["id"]
        self.service.send("DELETE", f"/product/{self._products['deleted']}")

    def body(self, path: str, fields: dict[str, Any]) -> dict[str, Any]:
        filled = {"product_id": "one_time", **fields} if path == CHARGE else fields
        number = filled.get("product_id")
        return {**filled, "product_id": self._products.get(number, number)} if "product_id" in filled else filled


@pytest.fixture
def shop(mine: SandboxAccount, process: Sandbox) -> Shop:
    return Shop(mine, process)


@pytest.mark.parametrize(("path", "good", "fields", "code"), ROWS)
def test_fields_that_are_refused(
    shop: Shop, path: str, good: dict[str, Any], fields: dict[str, Any], code: str
) -> None:
    shop.delete_a_product()
    before = shop.control.ledger()
    answer = shop.service.post(shop.path(path), shop.body(path, {**good, **fields}))
    assert (answer.status, answer.code) == (422, code)
    assert shop.control.ledger() == before
    assert shop.service.post(shop.path(path), shop.body(path, good)).status == 200


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        (b"", 400, "invalid_json"),
        (b"\xff{}", 400, "invalid_json"),
        (b'{"amount": NaN}', 400, "invalid_json"),
        (b'{"description": "\\ud800"}', 400, "invalid_json"),
        (b"[" * 100_000, 400, "invalid_json"),
        (b'{"amount": ' + b"9" * 5000 + b"}", 400, "invalid_json"),
        (b"[]", 422, "validation_error"),
        (b"null", 422, "validation_error"),
        (b'"' + b"x" * (8 << 20) + b'"', 413, "too_large"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bodies_that_are_no_json_object(shop: Shop, raw: bytes, status: int, code: str) -> None:
    answer = shop.service.send("POST", shop.path(CHARGE), raw=raw)
    assert (answer.status, answer.code) == (status, code)
    assert shop.control.ledger() == []


def test_a_body_needs_its_content_type(shop: Shop) -> None:
    body = shop.body(CHARGE, {"amount": 100})
    for kind, status in (("", 415), ("text/plain", 415), ("Application/JSON; charset=utf-8", 200)):
        assert shop.service.send("POST", shop.path(CHARGE), body, headers={"Content-Type": kind}).status == status


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        *((path, 404, "not_found") for path in ("", "/", "/product", "/products/", "{s}/", "/subscription//orders")),
        *(
            (f"/{name}/{number}", 404, "not_found")
            for name in ("subscription", "order", "product")
            for number in ("0", "-1", "480001%2Fcancel", "%34%38x", "9" * 40, "%F0%9F%98%80", "4800%D9%A1")
        ),
        ("/subscription/1/orders?per_page=0", 404, "not_found"),
        ("{s}/cancel", 405, "method_not_allowed"),
        *((f"/products?page={page}", 422, "validation_error") for page in ("", "1.5", "1e3", "%201", "9" * 30)),
        *((f"{{many}}?per_page={size}", 422, "validation_error") for size in ("-5", "")),
        *((f"{{many}}?filter[state]={state}", 422, "validation_error") for state in ("", "paid,", "PAID", "paid,x")),
        ("{many}?filter[product_id]=x", 422, "validation_error"),
    ],
)
def test_paths_that_are_refused(shop: Shop, path: str, status: int, code: str) -> None:
    answer = shop.service.get(shop.path(path))
    assert (answer.status, answer.code) == (status, code)
    assert ("allow" in answer.headers) == (status == 405)


# ---- Keys and accounts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "path"), [("GET", "/no/such/path"), ("PUT", "/products"), ("GET", "/")])
def test_without_a_valid_key_every_path_is_401(shop: Shop, method: str, path: str) -> None:
    key = shop.service.api_key
    for wrong in ("", "wrong", key[:-1], key + "0", key.upper()):
        answer = shop.service.send(method, path, headers={"X-API-KEY": wrong})
        assert (answer.status, answer.body) == (401, b"null")
    assert shop.service.send("GET", "/products", headers={"X-API-KEY": "", "x-api-key": key}).status == 200
    shop.service.root = "/00000000-0000-4000-8000-000000000000"
    assert shop.service.get("/products").code == "not_found"
    assert shop.service.send("GET", "/products", headers={"X-API-KEY": "wrong"}).status == 401


def test_resources_of_another_account_do_not_exist(shop: Shop, process: Sandbox) -> None:
    other = account(process)
    subscription, product = (other.get(path).data[0]["id"] for path in ("/subscriptions", "/products"))
    order = other.get(f"/subscription/{other.subscription('demo-active')['id']}/orders").data[0]["id"]
    for method, path in (
        ("GET", f"/subscription/{subscription}"),
        ("POST", f"/subscription/{subscription}/cancel"),
        ("GET", f"/subscription/{subscription}/orders"),
        ("GET", f"/product/{product}"),
        ("DELETE", f"/product/{product}"),
        ("GET", f"/order/{order}"),
    ):
        answer = shop.service.send(method, path)
        assert (answer.status, answer.code) == (404, "not_found")
    assert other.get(f"/product/{product}").status == 200


# ---- Lists -----------------------------------------------------------------------------------------------------------


def test_links_keep_the_filters(shop: Shop) -> None:
    path = shop.path("{many}") + "?per_page=5&filter[state]=paid,confirmed&page=2"
    second = shop.service.get(path).json["pagination"]
    links = [shop.service.get(second["links"]["previous"].removeprefix(shop.service.base_url)).json["pagination"]]
    links.append(shop.service.get(links[0]["links"]["next"].removeprefix(shop.service.base_url)).json["pagination"])
    assert [(each["current_page"], each["total"], each["per_page"]) for each in links] == [
        (1, second["total"], 5),
        (2, second["total"], 5),
    ]


def test_pages_without_items(shop: Shop) -> None:
    answer = shop.service.get(shop.path("{many}?page=999999999999999999"))
    page = answer.json["pagination"]
    assert (answer.status, answer.data, page["count"], page["links"]["next"]) == (200, [], 0, None)
    assert page["links"]["previous"].endswith(f"page={page['total_pages']}")
    empty = shop.service.get("/subscriptions?filter%5Breference_id%5D=demo_activ%25").json["pagination"]
    assert (empty["total_pages"], empty["current_page"], empty["per_page"]) == (0, 1, 100)
    assert shop.service.get("/products?per_page=3").json["pagination"]["per_page"] == 100


def test_filters_of_orders_in_every_spelling(shop: Shop, mine: SandboxAccount) -> None:
    path = shop.path("{many}?per_page=200")
    everything = shop.service.get(path).data
    wanted = [item for item in everything if item["state"] in ("paid", "confirmed")]
    assert 0 < len(wanted) < len(everything)
    for query in (
        "filter%5Bstate%5D%5B%5D=confirmed&filter%5Bstate%5D%5B%5D=paid",
        "filter[state][0]=confirmed&filter[state][1]=paid",
        "filter[state]=paid,paid&filter[state]=confirmed",
    ):
        assert shop.service.get(f"{path}&{query}").data == wanted
    product = mine.ids["products"]["one_time"]
    of_product = shop.service.get(f"{path}&filter[product_id]={product}").data
    assert 0 < len(of_product) < len(everything) and all(each in everything for each in of_product)
    state = of_product[0]["state"]
    both = shop.service.get(f"{path}&filter[product_id]={product}&filter[state]={state}").data
    assert both == [each for each in of_product if each["state"] == state]


# ---- Subscriptions ---------------------------------------------------------------------------------------------------


def test_cancel_keeps_the_paid_period_and_again_changes_nothing(shop: Shop) -> None:
    for name, status in (("demo-active", "cancelled"), ("demo-stays-active", "active")):
        before = shop.service.subscription(name)
        path = f"/subscription/{before['id']}/cancel"
        after = shop.service.post(path).data
        assert after == {**before, "status": status, "renews_at": None, "ends_at": before["renews_at"]}
        assert shop.service.post(path).data == shop.service.subscription(name) == after
    first, second = shop.control.ledger()
    assert (first["kind"], first["subscription_id"]) == ("cancel", shop.service.subscription("demo-active")["id"])
    assert second["kind"] == "cancel"


def test_an_expired_subscription_cannot_be_cancelled(shop: Shop) -> None:
    expired = shop.control.trigger("fixed-cycle-ends")["subscription"]["id"]
    answer = shop.service.post(f"/subscription/{expired}/cancel")
    assert (answer.status, answer.code) == (422, "not_cancellable")


def test_change_of_product(shop: Shop) -> None:
    new = shop.control.create_product("Tea", price=777, vat_rate=12.5, currency="SEK")
    answer = shop.service.post(shop.path(CHANGE), {"product_id": new["id"]})
    assert [answer.data[name] for name in ("price", "vat", "currency")] == [777, 1250, "SEK"]
    (effect,) = shop.control.ledger("change_product")
    assert effect["product_id"] == new["id"]


@pytest.mark.parametrize(
    ("fields", "total", "gross"),
    [
        ({"amount": 1999, "quantity": 3, "vat": 1250}, 5997, 6747),  # 6746.625
        ({"amount": 1, "vat": 2500}, 1, 1),
        ({"amount": 2, "vat": 2500}, 2, 3),
        ({"amount": 1, "vat": 5000}, 1, 2),
        ({"amount": 3, "vat": 1}, 3, 3),
        ({"amount": 10**17 + 1, "vat": 2500}, 10**17 + 1, 125000000000000001),  # a float is not exact here
    ],
)
def test_the_total_of_a_charge(shop: Shop, fields: dict[str, Any], total: int, gross: int) -> None:
    order = shop.service.charge(**fields, description="Extra / “bag” \N{PARTY POPPER}").data
    assert (order["total"], order["total_with_vat"], order["state"]) == (total, gross, "paid")
    assert order["metadata"] == {"description": "Extra / “bag” \N{PARTY POPPER}"}
    assert shop.service.get(f"/order/{order['id']}").data == order
    (effect,) = shop.control.ledger()
    expected = {"kind": "charge", "order_id": order["id"], "quantity": 1, **fields, "total": total}
    assert expected.items() <= effect.items()


@pytest.mark.parametrize(
    ("name", "code"), [("demo-declined", "charge_declined"), ("demo-donation", "donation_subscription")]
)
def test_a_refused_charge_has_no_effect(shop: Shop, name: str, code: str) -> None:
    path = f"/subscription/{shop.service.subscription(name)['id']}/orders"
    before = shop.service.get(path).json
    answer = shop.service.charge(name)
    assert (answer.status, answer.code) == (402, code)
    assert (shop.service.get(path).json, shop.control.ledger()) == (before, [])


def test_an_invoice_charge_is_paid_later(shop: Shop) -> None:
    order = shop.service.charge("demo-invoice").data
    assert (order["state"], order["remote_id"]) == ("confirmed", None)
    shop.control.pay(order["id"])
    assert shop.service.get(f"/order/{order['id']}").data["state"] == "paid"
    assert [effect["kind"] for effect in shop.control.ledger()] == ["charge", "pay"]


# ---- Products --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("includes", "price", "rate", "gross", "net"),
    [
        (False, 1000, 25, 1250, 1000),
        (False, 999, 12.5, 1124, 999),  # 1123.875
        (False, 2, 25, 3, 2),  # 2.5
        (False, 10**15, 12.5, 1125 * 10**12, 10**15),  # a float is not exact here
        (True, 1000, 25, 1000, 800),
        (True, 999, 6, 999, 942),  # 942.45…
        (True, 115, 15, 115, 100),
        (True, 1000, 0, 1000, 1000),
    ],
)
def test_prices_follow(service: Service, includes: bool, price: int, rate: float, gross: int, net: int) -> None:
    product = next(
        each
        for each in service.products()
        if each["vat_rate"] and (each["price"] == each["price_with_vat"]) is includes
    )
    after = service.post(f"/product/{product['id']}", {"price": price, "vat_rate": rate}).data
    assert (after["price"], after["price_with_vat"], after["price_without_vat"]) == (price, gross, net)
    assert (after["vat_rate"], type(after["vat_rate"])) == (rate, type(rate))


def test_fields_that_change_nothing(shop: Shop) -> None:
    path = shop.path(UPDATE)
    product = shop.service.get(path).data
    assert shop.service.post(path, {}).data == product
    assert shop.service.post(path, {"id": 5, "deleted_at": "x", "colour": {"a": [1]}}).data == product
    assert shop.control.ledger() == []
    after = shop.service.post(path, {"description": None, "interval": None, "price": 77}).data
    assert (after["description"], after["interval"], after["price"]) == (None, None, 77)
    (effect,) = shop.control.ledger()
    assert (effect["kind"], effect["product_id"]) == ("product_update", product["id"])


def test_deletion_is_soft(service: Service, control: Control) -> None:
    used = service.get("/products").data[0]
    subscription = service.subscription("demo-active")
    total = service.get("/products").json["pagination"]["total"]
    answer = service.send("DELETE", f"/product/{used['id']}")
    assert (answer.status, answer.data) == (200, used)
    assert service.send("DELETE", f"/product/{used['id']}").code == "not_found"
    assert service.post(f"/product/{used['id']}", {"name": "x"}).code == "not_found"
    assert service.get("/products").json["pagination"]["total"] == total - 1
    assert service.subscription("demo-active") == subscription
    assert [effect["kind"] for effect in control.ledger()] == ["product_delete"]
    path = f"/subscription/{subscription['id']}/orders"
    orders = service.get(path).json["pagination"]["total"]
    service.send("DELETE", f"/product/{service.product()['id']}")
    assert service.get(path).json["pagination"]["total"] == orders


def test_groups_change_with_their_products(service: Service, control: Control, receiver: Receiver) -> None:
    control.create_endpoint(receiver.url)
    service.post("/product/101", {"price": 4200})
    assert events(receiver.wait(2)) == ["product.updated", "product-group.updated"]
    group = receiver.received[1].event["data"]
    assert sorted(group) == ["id", "name", "products"] and 101 in group["products"]
    for member in group["products"]:
        assert service.send("DELETE", f"/product/{member}").status == 200
    found = [item.event for item in receiver.wait(2 + 2 * len(group["products"]))]
    changes = [event["data"]["products"] for event in found if event["name"] == "product-group.updated"]
    assert changes == [group["products"], *(group["products"][n:] for n in range(1, len(group["products"])))]
    assert (found[-1]["name"], found[-1]["data"]["id"]) == ("product-group.deleted", group["id"])
