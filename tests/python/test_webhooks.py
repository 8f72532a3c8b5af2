"""verify() and unwrap(): the bodies and signatures that they accept, and the errors for all others."""

from __future__ import annotations

import array
import copy
import enum
import hashlib
import hmac
import pickle
from collections import UserDict
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import billcore
from billcore import webhooks

from .support import SECRET, in_threads, sign

BODY = b'{"id": 9, "name": "order.paid", "account": 1, "created_at": "2025-04-25T10:00:00Z", "data": null}'
OTHER = "z" * 32
TEXT_OR_BYTES = st.one_of(st.text(max_size=80), st.binary(max_size=80))


@given(st.binary(max_size=2000), st.binary(min_size=32, max_size=32))
def test_sign_is_hmac_sha256(body: bytes, secret: bytes) -> None:
    expected = hmac.new(secret, body, hashlib.sha256).hexdigest()
    assert webhooks.sign(body, secret) == expected
    assert webhooks.verify(body, expected, secret).secret_index == 0


@given(st.binary(max_size=300), st.data())
def test_any_mutation_fails(body: bytes, data: st.DataObject) -> None:
    right = sign(body)
    place = data.draw(st.integers(0, 63))
    digit = data.draw(st.sampled_from("0123456789abcdef").filter(lambda c: c != right[place]))
    with pytest.raises(webhooks.SignatureError) as caught:
        webhooks.verify(body, right[:place] + digit + right[place + 1 :], SECRET)
    assert caught.value.reason == "mismatch"
    other = data.draw(st.binary(max_size=300).filter(lambda changed: changed != body))
    with pytest.raises(webhooks.SignatureError):
        webhooks.verify(other, right, SECRET)


@given(TEXT_OR_BYTES)
def test_a_signature_of_any_content_is_malformed_or_wrong(signature: str | bytes) -> None:
    with pytest.raises(webhooks.SignatureError) as caught:
        webhooks.verify(BODY, signature, SECRET)
    assert caught.value.reason in ("malformed", "mismatch")


@pytest.mark.parametrize(
    "signature",
    ["", "\ud800", "é" * 32, "0" * 63, "0" * 65, "G" * 64, sign(BODY).upper(), " " + sign(BODY), "a\0" * 32, b"\xff"],
)
def test_a_malformed_signature_is_refused_with_400(signature: str | bytes) -> None:
    with pytest.raises(webhooks.SignatureError) as caught:
        webhooks.verify(BODY, signature, SECRET)
    assert (caught.value.reason, caught.value.http_status) == ("malformed", 400)


@pytest.mark.parametrize("signature", [1, [sign(BODY)], {"a": 1}, object()])
def test_a_signature_of_another_type_is_refused(signature: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="signature must be"):
        webhooks.verify(BODY, signature, SECRET)


def test_reasons_come_in_their_order() -> None:
    with pytest.raises(webhooks.SignatureError) as caught:
        webhooks.verify(BODY, None, SECRET, max_body=3)
    assert (caught.value.reason, caught.value.http_status) == ("body_too_large", 413)
    with pytest.raises(webhooks.SignatureError) as caught:
        webhooks.unwrap(bytearray(BODY), None, SECRET, max_body=3)
    assert caught.value.reason == "body_too_large"
    with pytest.raises(webhooks.SignatureError) as caught:
        webhooks.verify(BODY, None, SECRET)
    assert (caught.value.reason, caught.value.http_status) == ("missing", 401)


def test_signature_as_bytes() -> None:
    assert webhooks.verify(BODY, sign(BODY).encode(), SECRET)


@pytest.mark.parametrize("size", [0, 1, 64 << 10, (64 << 10) + 1, 1 << 20])
def test_bodies_of_all_sizes_verify(size: int) -> None:
    body = b"x" * size
    assert webhooks.verify(body, sign(body), SECRET)
    assert webhooks.sign(body, SECRET) == sign(body)
    with pytest.raises(webhooks.SignatureError):
        webhooks.verify(body + b"y", sign(body), SECRET, max_body=1 << 21)


@pytest.mark.parametrize("body", [None, "text", {"id": 1}, 5, [1, 2], object()])
@pytest.mark.parametrize("call", [webhooks.verify, webhooks.unwrap])
def test_bodies_that_are_no_bytes_are_refused(call: Callable[..., object], body: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match=r"^body ") as caught:
        call(body, sign(BODY), SECRET)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("make", [bytearray, memoryview, lambda body: array.array("B", body)])
def test_any_buffer_is_a_body(make: Callable[[bytes], Any]) -> None:
    assert webhooks.verify(make(BODY), sign(BODY), SECRET)
    made = webhooks.unwrap(make(BODY), sign(BODY), SECRET)
    assert type(made.raw) is bytes and made.raw == BODY


def test_a_buffer_that_is_not_contiguous_is_refused() -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="contiguous"):
        webhooks.verify(memoryview(BODY)[::2], sign(BODY), SECRET)


def test_the_body_is_kept_as_it_was() -> None:
    assert webhooks.unwrap(BODY, sign(BODY), SECRET).raw is BODY
    changing = bytearray(BODY)
    made = webhooks.unwrap(changing, sign(BODY), SECRET)
    changing[:] = b"x" * len(changing)
    assert made.raw == BODY and made.id == 9


@pytest.mark.parametrize("secret", ["", b"", "x" * 31, "x" * 33, [], [SECRET, ""], (SECRET, "short")])
def test_secrets_of_the_wrong_length(secret: Any) -> None:
    for call in (webhooks.verify, webhooks.unwrap):
        with pytest.raises(billcore.ConfigError) as caught:
            call(BODY, sign(BODY), secret)
        assert SECRET not in str(caught.value)
    with pytest.raises(billcore.ConfigError):
        webhooks.Verifier(secret)


@pytest.mark.parametrize("secret", [None, 5, [5], {SECRET: 1}, bytearray(32)])
def test_secrets_of_the_wrong_type(secret: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="secret"):
        webhooks.Verifier(secret)


def test_several_secrets() -> None:
    assert webhooks.verify(BODY, sign(BODY), [OTHER, SECRET]).secret_index == 1
    assert webhooks.verify(BODY, sign(BODY), (SECRET.encode(), OTHER)).secret_index == 0
    assert webhooks.Verifier([OTHER, SECRET, SECRET]).verify(BODY, sign(BODY)).secret_index == 1


def test_any_key_length() -> None:
    verifier = webhooks.Verifier.allowing_any_key_length("short", header="X-Other")
    assert verifier.verify(BODY, sign(BODY, "short"))
    assert verifier.unwrap_request(BODY, {"x-other": sign(BODY, "short")}).id == 9
    with pytest.raises(billcore.ConfigError):
        webhooks.Verifier.allowing_any_key_length("")


def test_a_verified_result_is_true() -> None:
    verified = webhooks.verify(BODY, sign(BODY), SECRET)
    assert verified and bool(verified) is True
    assert repr(verified) == "<Verified secret_index=0>"


HEADERS: list[Any] = [
    {"Service-Signature": sign(BODY)},
    {"service-signature": sign(BODY), "SERVICE-SIGNATURE": sign(BODY)},
    {"Service-Signature": [sign(BODY)], "X": None, "Y": object()},
    {"Service-Signature": (sign(BODY), sign(BODY))},
    {"Service-Signature": sign(BODY) + ", " + sign(BODY)},
    {"Service-Signature": [sign(BODY), sign(BODY) + "," + sign(BODY)]},
    {b"SERVICE-signature": sign(BODY).encode() + b" ,\t" + sign(BODY).encode()},
    {b"SERVICE-signature": sign(BODY).encode()},
    [("Host", "x"), ("Service-Signature", sign(BODY))],
    [[b"service-signature", sign(BODY).encode()]],
    UserDict({"Service-Signature": sign(BODY)}),
    iter([("service-signature", sign(BODY))]),
    {"wsgi.input": object(), "CONTENT_TYPE": "application/json", "HTTP_SERVICE_SIGNATURE": sign(BODY)},  # request.META
]


@pytest.mark.parametrize("headers", HEADERS)
def test_unwrap_request(headers: Any) -> None:
    assert webhooks.Verifier(SECRET).unwrap_request(BODY, headers).id == 9


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, "missing"),
        ([], "missing"),
        ({"Service-Signature": None}, "missing"),
        ({"Service-Signature": []}, "missing"),
        ({"Service-Signature": [sign(BODY), sign(BODY, OTHER)]}, "malformed"),
        ([("Service-Signature", sign(BODY)), ("service-signature", "x")], "malformed"),
        ({"Service-Signature": sign(BODY) + "," + sign(BODY, OTHER)}, "malformed"),
        ({"Service-Signature": sign(BODY) + ","}, "malformed"),
        ({"Service-Signature": " " + sign(BODY)}, "malformed"),
        ({"Service-Signature": "\udc80"}, "malformed"),
        ({"Service-Signature": sign(BODY, OTHER)}, "mismatch"),
        ({"Service-Signature ": sign(BODY)}, "missing"),
        ({"SERVICE_SIGNATURE": sign(BODY)}, "missing"),
        ({"HTTP_SERVICE_SIGNATURE": sign(BODY), "Service-Signature": sign(BODY, OTHER)}, "malformed"),
    ],
)
def test_unwrap_request_fails(headers: Any, reason: str) -> None:
    with pytest.raises(webhooks.SignatureError) as caught:
        webhooks.Verifier(SECRET).unwrap_request(BODY, headers)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "headers", [None, "Service-Signature: x", 5, [1], [("a",)], [(1, "x")], {"Service-Signature": 5}]
)
def test_headers_of_the_wrong_type(headers: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="headers"):
        webhooks.Verifier(SECRET).unwrap_request(BODY, headers)


@pytest.mark.parametrize("limit", [True, 1.5, -1, "1", 1 << 70])
def test_max_body_must_be_an_integer(limit: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="max_body"):
        webhooks.verify(BODY, sign(BODY), SECRET, max_body=limit)


def test_secrets_and_bodies_are_in_no_text() -> None:
    verifier = webhooks.Verifier([SECRET, OTHER])
    texts = [repr(verifier), str(verifier)]
    calls: list[Callable[[], object]] = [
        lambda: webhooks.verify(BODY, "0" * 64, SECRET),
        lambda: webhooks.verify(BODY, sign(BODY), SECRET, wrong=1),  # type: ignore[call-arg]
        lambda: webhooks.verify(BODY, sign(BODY), secret=SECRET, signature=1),  # type: ignore[misc,arg-type]
        lambda: webhooks.verify(BODY, SECRET),  # type: ignore[call-arg]
        lambda: webhooks.Verifier(SECRET, "x", 1, None, None, 2),  # type: ignore[call-arg]
        lambda: webhooks.Verifier([SECRET, "short"]),
        lambda: webhooks.sign(BODY, SECRET + "x"),
        lambda: verifier.verify(BODY, "x" * 64, SECRET),  # type: ignore[call-arg]
        lambda: pickle.dumps(verifier),
        lambda: copy.deepcopy(verifier),
    ]
    for call in calls:
        with pytest.raises((billcore.BillcoreError, TypeError)) as caught:
            call()
        texts += [repr(caught.value), str(caught.value)]
    for text in texts:
        assert SECRET not in text and OTHER not in text and "order.paid" not in text and sign(BODY) not in text


def test_a_verifier_refuses_to_pickle() -> None:
    with pytest.raises(TypeError, match="Verifier cannot be pickled"):
        pickle.dumps(webhooks.Verifier(SECRET))


def test_one_verifier_in_many_threads() -> None:
    verifier = webhooks.Verifier([OTHER, SECRET])
    large = b" " * (100 << 10) + BODY

    def work(body: bytes) -> None:
        right = sign(body)
        for _ in range(60):
            assert verifier.verify(body, right).secret_index == 1
            assert verifier.unwrap(body, right).name == "order.paid"
            with pytest.raises(webhooks.SignatureError):
                verifier.verify(body + b" ", right)

    in_threads(work, [BODY, large] * 4)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b"{",
        b'{"id": 1} x',
        b"\xef\xbb\xbf{}",
        b'{"a": "\xff"}',
        b'{"a": "\\ud800"}',
        b'{"a":' * 600 + b"1" + b"}" * 600,
    ],
)
def test_verified_bodies_that_are_no_event(body: bytes) -> None:
    assert webhooks.verify(body, sign(body), SECRET)
    with pytest.raises(billcore.DecodeError):
        webhooks.unwrap(body, sign(body), SECRET)


# ---- A Verifier for accounts ----------------------------------------------------------------------------------------


def test_accounts_of_any_mapping() -> None:
    class Account(enum.IntEnum):
        SHOP = 1

    mappings: list[Any] = [{1: SECRET}, {"1": SECRET.encode()}, UserDict({Account.SHOP: (OTHER, SECRET)})]
    for mapping in mappings:
        verifier = webhooks.Verifier.for_accounts(mapping, header="X-Signature")
        assert verifier.unwrap_request(BODY, {"x-signature": sign(BODY)}).account == 1
    with pytest.raises(webhooks.SignatureError, match="of the account that the body names"):
        webhooks.Verifier.for_accounts({1: OTHER, 2: SECRET}).unwrap(BODY, sign(BODY))


@pytest.mark.parametrize(
    ("accounts", "says"),
    [
        ([(1, SECRET)], "accounts must be a mapping of accounts to their secrets, not list"),
        (SECRET, "accounts must be a mapping of accounts to their secrets, not str"),
        (None, "accounts must be a mapping of accounts to their secrets, not None"),
        ({True: SECRET}, "an account must be an int or a str, as event.account or its text, not bool"),
        ({b"1": SECRET}, "an account must be an int or a str, as event.account or its text, not bytes"),
        ({None: SECRET}, "an account must be an int or a str, as event.account or its text, not None"),
        ({1: None}, "the secrets of an account must be a str, bytes, or a sequence of them, not None"),
        ({1: [SECRET], 2: [5]}, "a secret must be a str or bytes, not int"),
        ({}, "no account was given: pass at least one, with its secrets"),
        ({1: SECRET, 2: []}, "account 2 of 2 has no signing secret: pass at least one"),
        ({"": SECRET}, "account 1 of 1 is empty: pass the integer that its events have"),
        (
            {SECRET: ["1"]},
            "the signing secret has 1 bytes, not 32: copy it from the admin UI without spaces or line ends",
        ),
    ],
)
def test_accounts_that_are_refused(accounts: Any, says: str) -> None:
    with pytest.raises((billcore.ConfigError, billcore.InvalidArgumentError)) as caught:
        webhooks.Verifier.for_accounts(accounts)
    assert str(caught.value) == says


def test_a_body_over_the_limit_with_accounts() -> None:
    verifier = webhooks.Verifier.for_accounts({1: SECRET}, max_body=5)
    with pytest.raises(webhooks.SignatureError, match="body_too_large"):
        verifier.unwrap(bytearray(BODY), sign(BODY))


# ---- Other methods of a Verifier ------------------------------------------------------------------------------------


def test_matches_counts_each_secret() -> None:
    verifier = webhooks.Verifier([OTHER, SECRET, SECRET])
    assert verifier.matches == (0, 0, 0)
    for _ in range(3):
        verifier.verify(BODY, sign(BODY))
    verifier.unwrap(BODY, webhooks.sign(BODY, OTHER))
    with pytest.raises(webhooks.SignatureError):
        verifier.verify(BODY, sign(b""))
    assert verifier.matches == (1, 3, 0)


def test_options_can_be_read() -> None:
    verifier = webhooks.Verifier(SECRET, header="X-Signature", max_body=5)
    assert (verifier.header, verifier.max_body) == ("X-Signature", 5)


def test_a_verifier_without_init_says_so() -> None:
    empty = webhooks.Verifier.__new__(webhooks.Verifier)
    with pytest.raises(billcore.ConfigError, match="this Verifier was never initialised: its __init__"):
        empty.verify(BODY, sign(BODY))


def test_the_last_secrets_of_one_shot_calls_are_told_apart() -> None:
    secrets = [f"{i:032}" for i in range(6)]
    for _ in range(3):
        for secret in secrets:
            signature = webhooks.sign(BODY, secret)
            assert webhooks.verify(BODY, signature, secret)
            assert webhooks.unwrap(BODY, signature, [secret, OTHER]).id == 9
            for other in secrets:
                if other != secret:
                    with pytest.raises(webhooks.SignatureError):
                        webhooks.verify(BODY, signature, other)
            with pytest.raises(billcore.ConfigError):
                webhooks.verify(BODY, signature, [secret[:31], secret[31:] + secret])
            with pytest.raises(webhooks.SignatureError, match="body_too_large"):
                webhooks.verify(BODY, signature, secret, max_body=5)


@pytest.mark.parametrize(
    ("body", "signature", "secret", "words"),
    [
        ({"id": 1}, None, SECRET, "dict"),
        ("text", None, SECRET, "str"),
        (None, None, SECRET, "None"),
        (BODY, 5, SECRET, "signature"),
        (BODY, None, 5, "secret"),
        (BODY, None, [SECRET, 5], "secret"),
        (BODY, sign(BODY), [], "secret"),
        (BODY, sign(BODY), "", "secret"),
        (BODY, None, SECRET, "missing"),
        (BODY, "\ud800", SECRET, "64"),
    ],
)
def test_explain_has_words_for_everything(body: Any, signature: Any, secret: Any, words: str) -> None:
    text = webhooks.explain(body, signature, secret)
    assert words in text and "request path" in text


def test_signature_error_knows_its_answer() -> None:
    error = webhooks.SignatureError("missing")
    assert (error.reason, error.http_status, str(error)) == ("missing", 401, "missing")
