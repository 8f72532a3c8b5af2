"""Lists: page arithmetic, links, order, filters, limits."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from sandbox.support import Service

STATES = [
    "created",
    "confirmed",
    "payment_pending_user",
    "payment_pending",
    "payment_failed",
    "payment_cancelled",
    "payment_refunded",
    "paid",
]
STATUSES = ["pending", "future_start", "trialing", "active", "delayed", "unpaid", "cancelled", "expired"]


def walk(service: Service, path: str) -> tuple[list[Any], list[Any]]:
    """Follows links.next through a list; returns all items and paginations. The links must be URLs of this server."""
    items: list[Any] = []
    paginations: list[Any] = []
    url: str | None = service.base_url + path
    while url is not None:
        assert url.startswith(service.base_url + "/")
        parts = urlsplit(url)
        assert len(parse_qs(parts.query).get("page", [])) <= 1
        answer = service.get(url.removeprefix(service.base_url))
        assert answer.status == 200, parts
        assert sorted(answer.json) == ["data", "pagination"]
        items.extend(answer.data)
        paginations.append(answer.json["pagination"])
        url = paginations[-1]["links"]["next"]
    return items, paginations


def check_arithmetic(items: list[Any], paginations: list[Any], per_page: int) -> None:
    total = len(items)
    assert len({item["id"] for item in items}) == total
    for number, page in enumerate(paginations, start=1):
        assert page["total"] == total
        assert page["per_page"] == per_page
        assert page["current_page"] == number
        assert page["total_pages"] == -(-total // per_page) == len(paginations)
        assert page["count"] == min(per_page, total - (number - 1) * per_page)
        assert (page["links"]["previous"] is None) == (number == 1)
        assert (page["links"]["next"] is None) == (number == len(paginations))


def many_orders(service: Service) -> str:
    return f"/subscription/{service.subscription('demo-many-orders')['id']}/orders"


@pytest.mark.parametrize("per_page", [7, 20, 97, 200])
def test_orders_over_all_pages(service: Service, per_page: int) -> None:
    query = "" if per_page == 20 else f"?per_page={per_page}"
    items, paginations = walk(service, many_orders(service) + query)
    check_arithmetic(items, paginations, per_page)
    assert len(items) > 1000
    assert {item["state"] for item in items} == set(STATES)
    times = [item["created_at"] for item in items]
    assert times == sorted(times, reverse=True)


def test_subscriptions_over_all_pages(service: Service) -> None:
    items, paginations = walk(service, "/subscriptions")
    check_arithmetic(items, paginations, 100)
    assert len(items) > 400
    assert {item["status"] for item in items} == set(STATUSES)


def test_products_over_all_pages(service: Service, other: Service) -> None:
    items, paginations = walk(service, "/products")
    check_arithmetic(items, paginations, 100)
    assert len(items) > 250
    theirs, _ = walk(other, "/products")
    assert 0 < len(theirs) < 100
    assert not {item["id"] for item in items} & {item["id"] for item in theirs}


def test_previous_leads_back_with_the_same_filters(service: Service) -> None:
    path = many_orders(service) + "?per_page=50&filter[state]=paid,confirmed&page=2"
    second = service.get(path)
    previous = second.json["pagination"]["links"]["previous"]
    first = service.get(previous.removeprefix(service.base_url))
    assert first.json["pagination"]["current_page"] == 1
    assert first.json["pagination"]["total"] == second.json["pagination"]["total"]
    assert first.json["pagination"]["links"]["next"] is not None


def test_a_page_beyond_the_end_is_empty(service: Service) -> None:
    answer = service.get(many_orders(service) + "?page=999999999999999999")
    assert answer.status == 200
    assert answer.data == []
    page = answer.json["pagination"]
    assert (page["count"], page["links"]["next"]) == (0, None)
    assert page["links"]["previous"].endswith(f"page={page['total_pages']}")


def test_an_empty_list_has_no_pages(service: Service) -> None:
    answer = service.get("/subscriptions?filter%5Breference_id%5D=nobody")
    assert answer.json == {
        "data": [],
        "pagination": {
            "total": 0,
            "count": 0,
            "per_page": 100,
            "current_page": 1,
            "total_pages": 0,
            "links": {"next": None, "previous": None},
        },
    }


@pytest.mark.parametrize("value", ["0", "-1", "x", "", "1.5", "1e3", "%201", "9" * 30])
@pytest.mark.parametrize("path", ["/subscriptions", "/products", "/subscription/{}/orders"])
def test_page_must_be_an_integer_of_at_least_one(service: Service, path: str, value: str) -> None:
    answer = service.get(path.format(service.subscription("demo-active")["id"]) + f"?page={value}")
    assert (answer.status, answer.code) == (422, "validation_error")


@pytest.mark.parametrize("value", ["0", "201", "-5", "x", ""])
def test_per_page_must_be_from_1_to_200(service: Service, value: str) -> None:
    answer = service.get(many_orders(service) + f"?per_page={value}")
    assert (answer.status, answer.code) == (422, "validation_error")


def test_per_page_has_no_effect_on_other_lists(service: Service) -> None:
    for path in ("/subscriptions", "/products"):
        assert service.get(f"{path}?per_page=3").json["pagination"]["per_page"] == 100


@pytest.mark.parametrize("name", ["filter[reference_id]", "filter%5Breference_id%5D", "filter%5breference_id]"])
def test_reference_id_is_matched_exactly(service: Service, name: str) -> None:
    found = service.get(f"/subscriptions?{name}=demo-active").data
    assert [item["reference_id"] for item in found] == ["demo-active"]
    for value in ("demo-activ", "DEMO-ACTIVE", "demo-active%20", "demo_active", "%25"):
        assert service.get(f"/subscriptions?{name}={value}").data == []


def test_several_subscriptions_may_share_a_reference(service: Service) -> None:
    everything, _ = walk(service, "/subscriptions")
    references = [item["reference_id"] for item in everything]
    shared = next(r for r in references if r is not None and references.count(r) > 1)
    found = service.get(f"/subscriptions?filter[reference_id]={shared}").data
    assert found == [item for item in everything if item["reference_id"] == shared]


def test_orders_of_one_state(service: Service) -> None:
    counts = {}
    for state in STATES:
        items, paginations = walk(service, many_orders(service) + f"?per_page=200&filter%5Bstate%5D={state}")
        check_arithmetic(items, paginations, 200)
        assert {item["state"] for item in items} == {state}
        counts[state] = len(items)
    assert sum(counts.values()) == service.get(many_orders(service)).json["pagination"]["total"]


@pytest.mark.parametrize(
    "query",
    [
        "filter[state]=paid,confirmed",
        "filter%5Bstate%5D=paid%2Cconfirmed",
        "filter[state]=confirmed&filter[state]=paid",
        "filter%5Bstate%5D%5B%5D=confirmed&filter%5Bstate%5D%5B%5D=paid",
        "filter[state][0]=confirmed&filter[state][1]=paid",
        "filter[state]=paid,paid&filter[state]=confirmed",
    ],
)
def test_orders_of_several_states_in_every_spelling(service: Service, query: str) -> None:
    items, paginations = walk(service, many_orders(service) + f"?per_page=200&{query}")
    check_arithmetic(items, paginations, 200)
    everything, _ = walk(service, many_orders(service) + "?per_page=200")
    assert items == [item for item in everything if item["state"] in ("paid", "confirmed")]


@pytest.mark.parametrize("value", ["nonsense", "", "paid,", "PAID", "paid,nonsense"])
def test_an_unknown_state_is_422(service: Service, value: str) -> None:
    answer = service.get(many_orders(service) + f"?filter[state]={value}")
    assert (answer.status, answer.code) == (422, "validation_error")


def test_orders_of_one_product(service: Service) -> None:
    path = many_orders(service)
    everything, _ = walk(service, path + "?per_page=200")
    found = 0
    for product in service.products():
        if product["type"] == "one_time":
            found += service.get(f"{path}?filter[product_id]={product['id']}").json["pagination"]["total"]
    assert found == len(everything)
    some = next(p for p in service.products() if p["type"] == "one_time")
    both, _ = walk(service, f"{path}?per_page=200&filter[product_id]={some['id']}&filter[state]=paid,created")
    assert 0 < len(both) < len(everything)
    assert {item["state"] for item in both} <= {"paid", "created"}
    assert service.get(f"{path}?filter[product_id]=1").data == []
    assert service.get(f"{path}?filter[product_id]=x").code == "validation_error"


def test_a_new_order_comes_first(service: Service) -> None:
    made = [service.charge("demo-many-orders", amount=amount).data for amount in (100, 200, 300)]
    assert service.get(many_orders(service)).data[:3] == made[::-1]


def test_orders_of_an_unknown_subscription(service: Service) -> None:
    assert service.get("/subscription/1/orders?per_page=0").code == "not_found"
