"""from_lambda: every gateway's event shape, and invalid events."""

from __future__ import annotations

import base64
import json
import re
import sys
from collections import UserDict
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import billcore
from billcore import webhooks

from .gateways import SHAPES, gateway_event
from .support import BODY, HEADER, OTHER, SECRET, SIGNATURE, refused, signature_refused

VERIFIER = webhooks.Verifier(SECRET)
SIGNED = [("Host", "example.com"), (HEADER, SIGNATURE), ("X-Forwarded-For", "192.0.2.1")]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
ENCODED = pytest.mark.parametrize("encoded", [False, True, None])
SHAPE = pytest.mark.parametrize("shape", SHAPES)


def event_of(shape: str = "rest-v1", **changes: Any) -> dict[str, Any]:
    """A valid event with these fields replaced; the value `...` (Ellipsis) removes a field."""
    event = {**gateway_event(shape, SIGNED, BODY), **changes}
    return {name: value for name, value in event.items() if value is not ...}


@SHAPE
@ENCODED
@given(text=st.text(st.characters(codec="utf-8")))
def test_the_bytes_are_those_that_were_signed(shape: str, encoded: bool | None, text: str) -> None:
    body = json.dumps({"id": 1, "name": "x.y", "account": 1, "data": text}, ensure_ascii=False).encode()
    headers = [(HEADER, webhooks.sign(body, SECRET))]
    assert webhooks.from_lambda(gateway_event(shape, headers, body, encoded=encoded), VERIFIER).raw == body


@given(body=st.binary(max_size=300))
def test_any_bytes_can_be_signed(body: bytes) -> None:
    body = b"\0" + body  # not JSON: the signature is valid, and only parsing fails
    event = gateway_event("http-v2", [(HEADER, webhooks.sign(body, SECRET))], body, encoded=True)
    with pytest.raises(billcore.DecodeError):
        webhooks.from_lambda(event, VERIFIER)


@SHAPE
@ENCODED
def test_refused_as_by_the_verifier(shape: str, encoded: bool | None) -> None:
    def event(headers: list[tuple[str, str]], body: bytes = BODY) -> dict[str, Any]:
        return gateway_event(shape, headers, body, encoded=encoded)

    with signature_refused("missing", HEADER):
        webhooks.from_lambda(event([("Host", "example.com")]), VERIFIER)
    with signature_refused("malformed"):
        webhooks.from_lambda(event([(HEADER, SIGNATURE.upper())]), VERIFIER)
    with signature_refused("malformed"):
        webhooks.from_lambda(event([(HEADER, "")]), VERIFIER)
    with signature_refused("mismatch"):
        webhooks.from_lambda(event(SIGNED, BODY + b"\n"), VERIFIER)
    with signature_refused("mismatch", r"\(0 bytes\)"):
        webhooks.from_lambda(event(SIGNED, b""), VERIFIER)
    with signature_refused("mismatch"):
        webhooks.from_lambda(event(SIGNED), webhooks.Verifier(OTHER))
    with signature_refused("body_too_large", f"has {len(BODY)} bytes, over max_body \\({len(BODY) - 1}\\)"):
        webhooks.from_lambda(event([]), webhooks.Verifier(SECRET, max_body=len(BODY) - 1))
    assert webhooks.from_lambda(event(SIGNED), webhooks.Verifier(SECRET, max_body=len(BODY))).id == 9


# The shape "alb" is left out, because an ALB sends only the last of several headers with the same name.
@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "alb"])
def test_a_signature_that_came_twice(shape: str) -> None:
    def event(first: str, second: str) -> dict[str, Any]:
        headers = [(HEADER, first), ("Host", "example.com"), (HEADER, second)]
        return gateway_event(shape, headers, BODY)

    assert webhooks.from_lambda(event(SIGNATURE, SIGNATURE), VERIFIER).id == 9
    for pair in ((SIGNATURE, "0" * 64), ("0" * 64, SIGNATURE), (SIGNATURE, "")):
        with signature_refused("malformed"):
            webhooks.from_lambda(event(*pair), VERIFIER)


def test_header_names_in_any_case_and_of_ones_own() -> None:
    verifier = webhooks.Verifier(SECRET, header="X-Signature")
    event = event_of("alb-multi-value", multiValueHeaders={"x-SIGNATURE": [SIGNATURE]})
    assert webhooks.from_lambda(event, verifier).id == 9
    with signature_refused("missing", "X-Signature"):
        webhooks.from_lambda(event_of(), verifier)


def test_headers_that_are_none() -> None:
    """The test button of the AWS console sends events whose headers are null."""
    with signature_refused("missing"):
        webhooks.from_lambda(event_of(headers=None, multiValueHeaders=None), VERIFIER)
    assert webhooks.from_lambda(event_of(headers=None), VERIFIER).id == 9
    assert webhooks.from_lambda(event_of(multiValueHeaders=None), VERIFIER).id == 9


def test_any_mapping_is_an_event() -> None:
    event: Any = UserDict(event_of("http-v2"))
    event["headers"] = UserDict(event["headers"])
    assert webhooks.from_lambda(event, VERIFIER).id == 9


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (None, "event must be the dict .* not None"),
        ("{}", "not a str"),
        ([], "not a list"),
        (BODY, "not a bytes"),
        ({}, "whole event"),
        (json.loads(BODY), "whole event"),
        ({"Records": [{"body": "x"}]}, "whole event"),
        (event_of(body=json.loads(BODY)), r"event\['body'\] must be the str .* not a dict"),
        (event_of(body=BODY), "not a bytes"),
        (event_of(body=7), "not a int"),
        (event_of(body="\ud800"), "surrogates"),
        (event_of(isBase64Encoded="false"), "isBase64Encoded.* not a str"),
        (event_of(isBase64Encoded=1), "isBase64Encoded.* not a int"),
        (event_of(isBase64Encoded=True), "is not base64"),
        (event_of(headers=[(HEADER, SIGNATURE)]), r"event\['headers'\] must be a dict or None, not a list"),
        (event_of(multiValueHeaders="x"), r"event\['multiValueHeaders'\] must be a dict or None, not a str"),
        (event_of(headers={HEADER: 7}), "signature header must be str or bytes"),
        (event_of(headers={7: SIGNATURE}), "name must be str or bytes"),
    ],
)
def test_an_event_of_no_gateway_is_refused(event: Any, text: str) -> None:
    with refused(billcore.InvalidArgumentError, text):
        webhooks.from_lambda(event, VERIFIER)


def test_the_verifier_must_be_one() -> None:
    for verifier in (None, SECRET, webhooks.Verifier):
        with refused(billcore.InvalidArgumentError, "verifier must be a Verifier"):
            webhooks.from_lambda(event_of(), verifier)  # type: ignore[arg-type]


@given(st.text("Aa0+/=-_\n é", max_size=12))
@example("YWJj=")
@example("YWJj====")
@example("YWI=YWI=")
@example("====")
def test_base64_is_strict(text: str) -> None:
    event = event_of(body=text, isBase64Encoded=True)
    if re.fullmatch(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?", text):
        with signature_refused("mismatch", rf"\({len(base64.b64decode(text))} bytes\)"):
            webhooks.from_lambda(event, VERIFIER)
    else:
        with refused(billcore.InvalidArgumentError, "not base64"):
            webhooks.from_lambda(event, VERIFIER)


@given(st.binary(max_size=40), st.integers(0, 40))
def test_a_size_in_base64_is_judged_as_by_the_verifier(body: bytes, max_body: int) -> None:
    verifier = webhooks.Verifier(SECRET, max_body=max_body)
    with pytest.raises(webhooks.SignatureError) as expected:
        verifier.unwrap(body, None)
    with pytest.raises(webhooks.SignatureError) as caught:
        webhooks.from_lambda(gateway_event("http-v2", [], body, encoded=True), verifier)
    assert (str(caught.value), caught.value.reason, caught.value.http_status) == (
        str(expected.value),
        expected.value.reason,
        expected.value.http_status,
    )


def test_a_large_body_is_refused_before_it_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "binascii", None)  # makes base64 decoding fail in this test
    event = event_of(body="A" * (4 << 20), isBase64Encoded=True)
    with signature_refused("body_too_large", f"has {3 << 20} bytes"):
        webhooks.from_lambda(event, VERIFIER)
    with signature_refused("body_too_large"):  # the size is checked before the base64 is decoded
        webhooks.from_lambda({**event, "body": "!" * (4 << 20)}, VERIFIER)
    with pytest.raises(ImportError):
        webhooks.from_lambda(gateway_event("alb", SIGNED, BODY, encoded=True), VERIFIER)


@given(st.dictionaries(st.sampled_from(["headers", "multiValueHeaders", "body", "isBase64Encoded"]), JSON) | JSON)
def test_every_refusal_is_typed(event: Any) -> None:
    with pytest.raises((billcore.InvalidArgumentError, webhooks.SignatureError)) as caught:
        webhooks.from_lambda(event, VERIFIER)
    assert "\n" not in str(caught.value)
