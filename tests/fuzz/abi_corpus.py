"""Makes seeds of abi_fuzz.cpp: programs that make each kind of handle, some followed by pseudorandom steps."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from conformance.fixtures import body_bytes, load

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "capi" / "shared"))

from fuzz.make_abi_steps import steps_of  # noqa: E402

LAST = None  # means: pass the text of the last buffer that a call returned, such as a signature
NOTHING, NEWEST = b"\xff", b"\0"  # the bytes that select NULL and the newest handle
SECRET = b"0123456789abcdef0123456789abcdef"
BODY = (
    b'{"id":1,"name":"order.paid","account":7,"data":{"id":7,"total":1500,"custom_fields":[{"id":1,"value":[true]}]}}'
)
BODY_OF_ALL = (
    b'{"name":"subscription.cancelled","data":{"id":"s","price":1,"vat_rate":12.5,"use_cart":true,"status":"cancelled",'
    b'"created_at":"2025-04-25T07:30:00Z","ends_at":null,"products":[5],"custom_fields":[{}],"metadata":{"a":[1,true]}}}'
)

STEPS = steps_of(ROOT / "capi")
NUMBERS = {function.name.removeprefix("billcore_"): number for number, function in enumerate(STEPS, 1)}


def step(name: str, *inputs: bytes | int | None) -> bytes:
    """Encodes a call whose arguments are these texts, numbers and handles, in order. If a handle is not given, the
    call uses the newest handle of its type."""
    number = NUMBERS[name]
    given = list(inputs)
    out = bytes([number])
    for place, parameter in enumerate(STEPS[number - 1].parameters):
        if parameter.type == "billcore_str":
            text = given.pop(0)
            assert text is LAST or isinstance(text, bytes)
            out += b"\x06" if text is None else b"\x03" + text + b"\0"
        elif "*" in parameter.type and parameter.type != "void *":
            chosen = place > 0 and given[:1] in ([NOTHING], [NEWEST]) and parameter.type.startswith("const ")
            out += NOTHING if chosen and given[0] == NOTHING else NEWEST
            del given[: 1 if chosen else 0]
        elif parameter.type == "bool" or parameter.type in ("billcore_clock", "billcore_interrupt", "billcore_release"):
            out += b"\1"
        elif parameter.type != "void *":
            small = given.pop(0)
            assert isinstance(small, int)
            out += bytes([0, small])
    assert not given, (name, inputs)
    return out


def programs() -> list[bytes]:
    client = step("options_new", 1) + step("options_set_text", b"api_key", b"key")
    client += step("options_set_text", b"base_url", b"https://billing.example/acct")
    client += step("options_add", b"headers", b"x-a", b"b") + step("options_set_int64", b"timeout_ms", 100)
    client += step("options_set_bool", b"http2") + step("options_set_interrupt") + step("client_new")
    query = step("options_new", 7)
    orders = step("operation_new", b"subscriptions.orders") + step("operation_set_text", b"id", b"s")
    orders += step("operation_add_text", b"state", b"paid") + step("operation_set_bool", b"strict")
    lists = [
        step("operation_new", b"products.list")
        + step("operation_set_int64", b"page", 1)
        + step("client_list", NOTHING),
        query
        + step("operation_new", b"subscriptions.list")
        + step("operation_set_options")
        + step("client_list", NOTHING),
        orders + step("client_list", NOTHING),
    ]
    read = b"".join(step(f"list_{what}") for what in ("fetched_pages", "total", "state", "verdict", "stop", "verdict"))
    resume = query + step("options_set_text", b"resume", LAST) + step("options_set_bool", b"strict")
    closing = step("client_with_options", NOTHING) + step("client_close") + bytes([0, 0])
    out = [client + each + read + resume + closing for each in lists]

    verifier = step("verifier_options_new") + step("verifier_options_add_secret", SECRET)
    verifier += step("verifier_options_set_clock") + step("verifier_new", SECRET)
    verifier += step("webhook_sign", BODY, SECRET) + step("headers_new")
    verifier += step("headers_add", b"Service-Signature", LAST) + step("verifier_unwrap_request", BODY)
    verifier += step("verifier_unwrap", BODY, LAST) + step("verifier_verify", BODY, LAST)
    verifier += step("webhook_unwrap", BODY, LAST, SECRET) + step("webhook_verify", BODY, LAST, SECRET)
    verifier += step("verifier_stream_new") + step("verifier_stream_update", BODY)
    verifier += step("verifier_stream_finish", LAST) + step("verifier_matches", 0)
    out.append(verifier + step("webhook_explain", BODY, LAST, SECRET))

    parsed = step("webhook_parse_unverified", BODY_OF_ALL) + step("event_resource", 1)
    fields = {"text": b"status", "int64": b"price", "bool": b"use_cart", "number": b"vat_rate", "id": b"id"}
    fields |= {"time": b"created_at", "object": b"metadata", "any": b"metadata?", "list_count": b"custom_fields"}
    fields |= {"integers_count": b"products", "field": b"metadata", "contains": b"x"}
    reads = b"".join(step(f"resource_{name}", field) for name, field in fields.items())
    reads += step("resource_integer_at", b"products", 0) + step("resource_object", b"metadata")
    reads += step("value_find", b"a") + step("value_at", 0) + step("value_integer") + step("value_real")
    reads += step("value_path") + step("subscription_usable_at", 0) + step("resource_value")
    reads += step("value_iterator_new") + step("value_iterator_next") + step("value_text") * 2
    reads += step("resource_list_at", b"custom_fields", 0) + step("resource_equal") + step("resource_copy")
    request = step("options_new", 6) + step("options_set_json", b"json", b'{"a":1}')
    out.append(parsed + reads + request + step("options_add", b"query", b"a", b"b"))
    update = step("operation_new", b"products.update") + step("operation_set_int64", b"id", 7)
    update += step("operation_set_json", b"price", b"1") + step("operation_new", b"request")
    out.append(update + step("operation_set_text", b"path", b"/x") + step("operation_add", b"query", b"a", b"b"))
    return out


def seeds() -> set[bytes]:
    begun = programs()
    for case in load("webhook_vectors.json")["cases"]:
        body = body_bytes(case)
        if len(body) <= 1024 and b"\0" not in body:
            of_all_kinds = b"".join(step("event_resource", kind) for kind in range(1, 6))
            begun.append(step("webhook_parse_unverified", body) + step("event_data") + of_all_kinds)
    tails = [b"".join(hashlib.sha256(one + bytes([n])).digest() for n in range(8)) for one in begun]
    return set(begun) | {one + tail for one, tail in zip(begun, tails, strict=True)}
