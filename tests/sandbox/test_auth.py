"""Authentication: 401 with a null body, 404 for a key of another account."""

from __future__ import annotations

import pytest

from billcore.testing import Control
from sandbox.support import Service

ROUTES = [
    ("GET", "/subscriptions"),
    ("GET", "/subscription/480001"),
    ("POST", "/subscription/480001/cancel"),
    ("POST", "/subscription/480001/product"),
    ("GET", "/subscription/480001/orders"),
    ("POST", "/subscription/480001/order"),
    ("GET", "/products"),
    ("GET", "/product/101"),
    ("POST", "/product/101"),
    ("DELETE", "/product/101"),
    ("GET", "/order/9100001"),
    ("POST", "/webhooks/endpoints"),
]


@pytest.mark.parametrize(("method", "path"), [*ROUTES, ("GET", "/no/such/path"), ("PUT", "/products"), ("GET", "/")])
@pytest.mark.parametrize("key", ["", "wrong", "key_00000000000000000000000000000000"])
def test_without_a_valid_key_everything_is_401_with_a_null_body(
    service: Service, control: Control, method: str, path: str, key: str
) -> None:
    answer = service.send(method, path, headers={"X-API-KEY": key})
    assert (answer.status, answer.body) == (401, b"null")
    assert control.ledger() == []


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_key_of_another_account_sees_what_a_missing_resource_shows(
    service: Service, other: Service, control: Control, method: str, path: str
) -> None:
    missing = service.get("/order/1")
    assert (missing.status, missing.code) == (404, "not_found")
    answer = service.send(method, path, headers={"X-API-KEY": other.api_key})
    assert (answer.status, answer.body) == (404, missing.body)
    assert control.ledger() == []


def test_an_unknown_account_is_404_and_needs_a_key_first(service: Service) -> None:
    service.root = "/00000000-0000-4000-8000-000000000000"
    assert service.get("/products").code == "not_found"
    assert service.send("GET", "/products", headers={"X-API-KEY": "wrong"}).status == 401


def test_the_key_is_compared_whole(service: Service) -> None:
    for key in (service.api_key[:-1], service.api_key + "0", service.api_key.upper()):
        assert service.send("GET", "/products", headers={"X-API-KEY": key}).status == 401
    assert service.send("GET", "/products", headers={"X-API-KEY": "", "x-api-key": service.api_key}).status == 200


def test_resources_of_another_account_do_not_exist(service: Service, other: Service) -> None:
    foreign = other.get("/subscriptions").data[0]["id"]
    product = other.get("/products").data[0]["id"]
    for method, path in (
        ("GET", f"/subscription/{foreign}"),
        ("POST", f"/subscription/{foreign}/cancel"),
        ("GET", f"/subscription/{foreign}/orders"),
        ("GET", f"/product/{product}"),
        ("DELETE", f"/product/{product}"),
    ):
        answer = service.send(method, path)
        assert (answer.status, answer.code) == (404, "not_found")
    assert other.get(f"/product/{product}").status == 200


@pytest.mark.parametrize("path", ["/", "", "/product", "/products/", "/subscription/480001/", "/subscription//orders"])
def test_an_unknown_path_is_404_with_an_error_object(service: Service, path: str) -> None:
    answer = service.get(path)
    assert (answer.status, answer.code) == (404, "not_found")


def test_a_known_path_with_another_method_is_405(service: Service) -> None:
    answer = service.send("DELETE", "/products")
    assert (answer.status, answer.code) == (405, "method_not_allowed")
    assert "GET" in answer.headers["allow"]


@pytest.mark.parametrize(
    "segment",
    ["x", "0", "-1", "480001%2Fcancel", "%34%38%30%30%30%31x", "9" * 40, "%F0%9F%98%80", "4800\u0661".encode()],
)
def test_ids_that_nobody_has_are_404(service: Service, segment: str | bytes) -> None:
    text = segment if isinstance(segment, str) else "".join(f"%{byte:02X}" for byte in segment)
    assert service.get(f"/subscription/{text}").code == "not_found"
    assert service.get(f"/order/{text}").code == "not_found"
    assert service.get(f"/product/{text}").code == "not_found"


def test_an_id_may_be_percent_encoded(service: Service) -> None:
    wanted = service.subscription("demo-active")
    encoded = "".join(f"%{ord(digit):02x}" for digit in wanted["id"])
    assert service.get(f"/subscription/{encoded}").data == wanted
