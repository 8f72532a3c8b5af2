"""The exceptions: hierarchy, attributes, pickles, and the table that defines them."""

from __future__ import annotations

import builtins
import copy
import json
import pickle
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

import billcore
from billcore import _webhook, webhooks
from conformance.server import Reply, closed_port, json_reply

from .conftest import Serve
from .support import ACCOUNT, API_KEY, SECRET, data

STATUSES = json.loads((Path(__file__).resolve().parent.parent / "fixtures/errors.json").read_text("utf-8"))["statuses"]

HEADERS = sorted((Path(__file__).resolve().parents[2] / "capi/include").rglob("*.h"))
AT = datetime(2025, 4, 25, 10, tzinfo=UTC)
SAMPLES: list[billcore.BillcoreError] = [
    billcore.BillcoreError("text"),
    billcore.ConfigError("text"),
    billcore.InvalidArgumentError("text"),
    billcore.ApiError(418, "teapot", "short and stout", "req_1", "{}", 2.5, 1, True, method="GET", path="/x"),
    billcore.BadRequestError(400, headers={"x-a": "1, 2"}),
    billcore.AuthenticationError(401),
    billcore.PaymentError(402, "declined", text="the whole line"),
    billcore.PermissionDeniedError(403),
    billcore.NotFoundError(404),
    billcore.ConflictError(409),
    billcore.ValidationError(422),
    billcore.RateLimitError(429, retry_after=1.5),
    billcore.ServerError(503, outcome_unknown=True),
    billcore.TransportError("text"),
    billcore.TimeoutError("text"),
    billcore.ConnectionError("text"),
    billcore.TlsError("text"),
    billcore.OutcomeUnknownError("POST", "/x", AT, text="text"),
    billcore.DecodeError("text", 200),
    billcore.MissingFieldError("data.vat is absent", path="data.vat"),
    billcore.PaginationError("text"),
    billcore.PossiblyMissedError(text="text"),
    webhooks.SignatureError("missing", 401),
]


def test_the_table_of_codes_is_that_of_the_c_interface() -> None:
    text = "".join(header.read_text("utf-8") for header in HEADERS)
    enumeration = re.search(r"billcore_status;\s*(?:/\*.*?\*/\s*)?enum \{(.*?)\};", text, re.DOTALL)
    assert enumeration, "billcore_status was not found"
    declared = dict(re.findall(r"\bBILLCORE_(?:ERROR_)?([A-Z_]+) = (\d+)", enumeration[1]))
    codes: dict[str, tuple[int, str]] = _webhook._error_codes
    assert {name: str(number) for name, (number, _) in codes.items()} == declared
    assert sorted(number for number, _ in codes.values()) == list(range(len(codes)))


def test_every_class_of_the_table_exists_and_none_is_left_out() -> None:
    named = {name for _, name in _webhook._error_codes.values() if name}
    elsewhere = {"StopIteration", "MemoryError", "KeyboardInterrupt"}
    assert elsewhere <= set(dir(builtins))
    assert named - elsewhere == {type(error).__name__ for error in SAMPLES}


def test_hierarchy() -> None:
    for kind in (
        billcore.BadRequestError,
        billcore.AuthenticationError,
        billcore.PaymentError,
        billcore.PermissionDeniedError,
        billcore.NotFoundError,
        billcore.ConflictError,
        billcore.ValidationError,
        billcore.RateLimitError,
        billcore.ServerError,
    ):
        assert issubclass(kind, billcore.ApiError)
    for error in (billcore.TimeoutError, billcore.ConnectionError, billcore.TlsError):
        assert issubclass(error, billcore.TransportError)
    assert issubclass(billcore.TimeoutError, builtins.TimeoutError)
    assert issubclass(billcore.ConnectionError, builtins.ConnectionError)
    assert issubclass(billcore.InvalidArgumentError, ValueError)
    assert issubclass(billcore.MissingFieldError, billcore.DecodeError)
    assert issubclass(billcore.MissingFieldError, AttributeError)
    assert all(isinstance(error, billcore.BillcoreError) for error in SAMPLES)


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_pickle_and_copy_keep_everything(error: billcore.BillcoreError) -> None:
    error.__cause__ = ValueError("why")
    error.add_note("a note")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is type(error) and str(again) == str(error)
        assert again.__dict__ == error.__dict__ and again.__notes__ == ["a note"]
        assert repr(again.__cause__) == repr(error.__cause__)
    assert copy.copy(error).__dict__ == error.__dict__


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_outcome_unknown_is_everywhere(error: billcore.BillcoreError) -> None:
    expected = isinstance(error, billcore.OutcomeUnknownError) or getattr(error, "status", 0) in (418, 503)
    assert error.outcome_unknown is expected


def test_repr_is_the_one_line() -> None:
    assert repr(SAMPLES[6]) == "PaymentError('the whole line')"
    assert str(billcore.ApiError(418, "teapot", "short")) == "418 short (teapot)"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((int(status), getattr(billcore, name)) for status, name in STATUSES.items() if name != "ApiError"),
        (500, billcore.ServerError),
        (503, billcore.ServerError),
        (418, billcore.ApiError),
        (302, billcore.ApiError),
    ],
)
@pytest.mark.parametrize("write", [False, True])
def test_api_errors(serve: Serve, status: int, kind: type[billcore.ApiError], write: bool) -> None:
    body = {"error": {"code": "some_code", "message": "some message"}}
    reply = json_reply(body, status)
    reply.headers.update({"X-Request-Id": "req_9", "Retry-After": "3", "X-Echo": API_KEY})
    _, client = serve([reply])
    with pytest.raises(billcore.ApiError) as caught:
        if write:
            client.subscriptions.cancel("s")
        else:
            client.subscriptions.get("s")
    error = caught.value
    assert type(error) is kind
    assert (error.status, error.code, error.message) == (status, "some_code", "some message")
    assert error.status_code == status
    assert error.headers["retry-after"] == "3" and API_KEY not in error.headers["x-echo"]
    assert (error.request_id, error.retry_after, error.attempts) == ("req_9", 3.0, 1)
    assert "some message" in error.body and "some message" in str(error)
    assert error.outcome_unknown is (write and (status < 400 or status >= 500))
    assert pickle.loads(pickle.dumps(error)).__dict__ == error.__dict__


@pytest.mark.parametrize("body", [b"null", b"", b"<html>no</html>", b'{"error":', b"\xff\xfe"])
def test_errors_without_an_error_object(serve: Serve, body: bytes) -> None:
    _, client = serve([Reply(status=401, body=body)])
    with pytest.raises(billcore.AuthenticationError) as caught:
        client.orders.get(1)
    assert (caught.value.code, caught.value.message) == (None, None)
    assert caught.value.body == body.decode(errors="replace")


def test_outcome_unknown(serve: Serve) -> None:
    before = datetime.now(UTC)
    _, client = serve([Reply(raw=b"", ending="reset")])
    with pytest.raises(billcore.OutcomeUnknownError) as caught:
        client.subscriptions.charge("s 1", product_id=1, amount=2)
    error = caught.value
    assert (error.method, error.path) == ("POST", "/subscription/s%201/order")
    assert before <= error.attempted_at <= datetime.now(UTC)
    assert isinstance(error.__cause__, billcore.ConnectionError)
    assert isinstance(pickle.loads(pickle.dumps(error)).__cause__, billcore.ConnectionError)


def test_nothing_sent_is_a_transport_error() -> None:
    client = billcore.Client(base_url=f"http://127.0.0.1:{closed_port()}{ACCOUNT}", api_key=API_KEY)
    with pytest.raises(billcore.ConnectionError) as caught:
        client.subscriptions.cancel("s")
    assert not caught.value.outcome_unknown
    with pytest.raises(ConnectionError):
        client.subscriptions.get("s")


def test_timeout_is_the_builtin_too(serve: Serve) -> None:
    _, client = serve([Reply(raw=b"", ending="hang")])
    with pytest.raises(TimeoutError) as caught:
        client.subscriptions.get("s", timeout=0.2)
    assert isinstance(caught.value, billcore.TimeoutError)


def test_decode_error_has_the_status(serve: Serve) -> None:
    _, client = serve([data([]), Reply(body=b"<html>")])
    for call in (client.subscriptions.get, client.subscriptions.cancel):
        with pytest.raises(billcore.DecodeError) as caught:
            call("s")
        assert (caught.value.status, caught.value.outcome_unknown) == (200, False)


def test_signature_error() -> None:
    with pytest.raises(webhooks.SignatureError) as caught:
        webhooks.verify(b"x", None, SECRET)
    assert (caught.value.reason, caught.value.http_status) == ("missing", 401)
