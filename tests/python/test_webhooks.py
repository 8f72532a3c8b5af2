"""verify(), unwrap() and Verifier in Python: the arguments that they convert, buffers, threads, no secret in a text.
tests/conformance has the signatures, the secrets and the accounts, and the error for each."""

from __future__ import annotations

import array
import copy
import enum
import pickle
import threading
from collections import UserDict
from collections.abc import Callable
from typing import Any

import pytest

import billcore
from billcore import webhooks

from .support import SECRET, in_threads, sign

BODY = b'{"id": 9, "name": "order.paid", "account": 1, "created_at": "2025-04-25T10:00:00Z", "data": null}'
OTHER = "z" * 32

# ---- Bodies and signatures -------------------------------------------------------------------------------------------


def test_a_signature_is_a_str_bytes_or_none() -> None:
    assert webhooks.verify(BODY, sign(BODY).encode(), SECRET)
    for missing, reason, status in ((None, "missing", 401), ("\ud800", "malformed", 400), (b"\xff", "malformed", 400)):
        with pytest.raises(webhooks.SignatureError) as caught:
            webhooks.verify(BODY, missing, SECRET)
        assert (caught.value.reason, caught.value.http_status) == (reason, status)
    for wrong in (1, [sign(BODY)], {"a": 1}, object()):
        with pytest.raises(billcore.InvalidArgumentError, match="signature must be"):
            webhooks.verify(BODY, wrong, SECRET)  # type: ignore[arg-type]
    error = webhooks.SignatureError("missing")
    assert (error.reason, error.http_status, str(error)) == ("missing", 401, "missing")


@pytest.mark.parametrize("make", [bytearray, memoryview, lambda body: array.array("B", body)])
def test_any_buffer_is_a_body(make: Callable[[bytes], Any]) -> None:
    assert webhooks.verify(make(BODY), sign(BODY), SECRET)
    made = webhooks.unwrap(make(BODY), sign(BODY), SECRET)
    assert type(made.raw) is bytes and made.raw == BODY
    for call in (webhooks.verify, webhooks.unwrap):
        with pytest.raises(webhooks.SignatureError, match="body_too_large"):
            call(make(BODY), None, SECRET, max_body=3)


def test_a_buffer_that_is_not_contiguous_is_refused() -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="contiguous"):
        webhooks.verify(memoryview(BODY)[::2], sign(BODY), SECRET)


def test_the_body_is_kept_as_it_was() -> None:
    assert webhooks.unwrap(BODY, sign(BODY), SECRET).raw is BODY
    changing = bytearray(BODY)
    made = webhooks.unwrap(changing, sign(BODY), SECRET)
    changing[:] = b"x" * len(changing)
    assert made.raw == BODY and made.id == 9


@pytest.mark.parametrize("limit", [True, 1.5, -1, "1", 1 << 70])
def test_max_body_must_be_an_integer(limit: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="max_body"):
        webhooks.verify(BODY, sign(BODY), SECRET, max_body=limit)


# ---- Secrets and accounts --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("secret", [None, 5, [5], {SECRET: 1}, bytearray(32)])
def test_secrets_of_the_wrong_type(secret: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="secret"):
        webhooks.Verifier(secret)


def test_several_secrets() -> None:
    assert webhooks.verify(BODY, sign(BODY), [OTHER, SECRET]).secret_index == 1
    assert webhooks.verify(BODY, sign(BODY), (SECRET.encode(), OTHER)).secret_index == 0
    verified = webhooks.Verifier([OTHER, SECRET, SECRET]).verify(BODY, sign(BODY))
    assert verified and bool(verified) is True and repr(verified) == "<Verified secret_index=1>"


def test_any_key_length_and_header() -> None:
    verifier = webhooks.Verifier.allowing_any_key_length("short", header="X-Other", max_body=500)
    assert verifier.verify(BODY, sign(BODY, "short"))
    assert verifier.unwrap_request(BODY, {"x-other": sign(BODY, "short")}).id == 9
    assert (verifier.header, verifier.max_body, verifier.matches) == ("X-Other", 500, (2,))


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
        (None, "accounts must be a mapping of accounts to their secrets, not None"),
        ({True: SECRET}, "an account must be an int or a str, as event.account or its text, not bool"),
        ({b"1": SECRET}, "an account must be an int or a str, as event.account or its text, not bytes"),
        ({1: None}, "the secrets of an account must be a str, bytes, or a sequence of them, not None"),
        ({1: [SECRET], 2: [5]}, "a secret must be a str or bytes, not int"),
        ({}, "no account was given: pass at least one, with its secrets"),
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


# ---- Headers ---------------------------------------------------------------------------------------------------------

HEADERS: list[Any] = [
    {"Service-Signature": sign(BODY)},
    {"service-signature": sign(BODY), "SERVICE-SIGNATURE": sign(BODY)},
    {"Service-Signature": [sign(BODY)], "X": None, "Y": object()},
    {"Service-Signature": (sign(BODY), sign(BODY))},
    {"Service-Signature": [sign(BODY), sign(BODY) + "," + sign(BODY)]},
    {b"SERVICE-signature": sign(BODY).encode() + b" ,\t" + sign(BODY).encode()},
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
        ([], "missing"),
        ({"Service-Signature": None}, "missing"),
        ({"Service-Signature": []}, "missing"),
        ({"Service-Signature": [sign(BODY), sign(BODY, OTHER)]}, "malformed"),
        ({"Service-Signature": "\udc80"}, "malformed"),
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


@pytest.mark.parametrize(
    ("body", "signature", "secret", "words"),
    [
        ({"id": 1}, None, SECRET, "dict"),
        (BODY, 5, SECRET, "signature"),
        (BODY, sign(BODY), [], "secret"),
        (BODY, None, SECRET, "missing"),
        (BODY, "\ud800", SECRET, "64"),
    ],
)
def test_explain_has_words_for_everything(body: Any, signature: Any, secret: Any, words: str) -> None:
    text = webhooks.explain(body, signature, secret)
    assert words in text and "request path" in text


# ---- Threads and streams ---------------------------------------------------------------------------------------------


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


def test_a_stream_ends_once() -> None:
    stream = webhooks.Verifier(SECRET, max_body=4).stream()
    stream.update(memoryview(b"body"))
    with pytest.raises(webhooks.SignatureError, match="mismatch"):
        stream.finish(sign(b"other"))
    for again in (lambda: stream.finish(sign(b"body")), lambda: stream.update(b"")):
        with pytest.raises(billcore.InvalidArgumentError, match="ended"):
            again()


def test_a_stream_belongs_to_one_thread() -> None:
    stream = webhooks.Verifier(SECRET, max_body=1 << 30).stream()
    piece = bytes(50 << 20)
    refused = threading.Event()
    stop = threading.Event()

    def interfere() -> None:
        while not stop.is_set():
            try:
                stream.update(b"")
            except billcore.InvalidArgumentError:
                refused.set()

    thread = threading.Thread(target=interfere)
    thread.start()
    updated = 0
    while not refused.is_set() and updated < 100:
        try:
            stream.update(piece)
            updated += 1
        except billcore.InvalidArgumentError:
            refused.set()
    stop.set()
    thread.join()
    assert refused.is_set()
