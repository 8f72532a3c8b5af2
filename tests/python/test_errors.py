"""The exceptions: hierarchy and attributes. tests/conformance has the class of each status."""

from __future__ import annotations

import builtins
import pickle
from datetime import UTC, datetime

import pytest

import billcore
from billcore import _webhook, webhooks
from conformance.server import Reply, json_reply

from .conftest import Serve
from .support import API_KEY

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
    unknown = {type(error).__name__ for error in SAMPLES if error.outcome_unknown}
    assert unknown == {"ApiError", "ServerError", "OutcomeUnknownError"}


def test_repr_is_the_one_line() -> None:
    assert repr(SAMPLES[6]) == "PaymentError('the whole line')"
    assert str(billcore.ApiError(418, "teapot", "short")) == "418 short (teapot)"


@pytest.mark.parametrize(("status", "kind"), [(422, billcore.ValidationError), (503, billcore.ServerError)])
def test_what_an_api_error_knows(serve: Serve, status: int, kind: type[billcore.ApiError]) -> None:
    reply = json_reply({"error": {"code": "some_code", "message": "some message"}}, status)
    reply.headers.update({"X-Request-Id": "req_9", "Retry-After": "3", "X-Echo": API_KEY})
    _, client = serve([reply])
    with pytest.raises(billcore.ApiError) as caught:
        client.subscriptions.cancel("s")
    error = caught.value
    assert type(error) is kind and error.status == error.status_code == status
    assert (error.code, error.message, error.attempts) == ("some_code", "some message", 1)
    assert error.headers["retry-after"] == "3" and API_KEY not in error.headers["x-echo"]
    assert (error.request_id, error.retry_after, error.outcome_unknown) == ("req_9", 3.0, status == 503)
    assert "some message" in error.body and "some message" in str(error)


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
