"""Errors that are made again elsewhere: from their args, from a dict, from a pickle, in another process."""

from __future__ import annotations

import copy
import io
import json
import pickle
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

import billcore
import billcore.inbox as inbox
import billcore.journal as journal
from billcore import testing, webhooks
from conformance.server import Reply, json_reply

from .conftest import Serve
from .support import page
from .test_errors import SAMPLES

AT = datetime(2025, 4, 25, 10, 30, 0, 5, tzinfo=UTC)
CHARGE: dict[str, Any] = {"method": "POST", "path": "/subscription/s%201/order", "attempted_at": AT, "service_time": AT}
ORDERS = [testing.order(id="ord_1", total=5), testing.order(id=2, total=5)]
TABLE: list[billcore.BillcoreError] = [
    *SAMPLES,
    billcore.ServerError(
        503, "c", "m", "r", "<p>", 2.5, 3, True, text="lost", headers={"a": "b"}, sent_late=True, **CHARGE
    ),
    billcore.ServerError(503, text="a read", outcome_unknown=False, method="GET", path="/orders?page=2"),
    billcore.OutcomeUnknownError(**CHARGE, text="lost", attempts=2, sent_late=True),
    billcore.ConnectionError("nothing was sent", 3, 0.5),
    billcore.DecodeError("done", 200, sent_late=True),
    billcore.PossiblyMissedError(ORDERS, "search again"),
    journal.JournalError("made, not recorded", "k", ORDERS[0], 1.5, False),
    journal.JournalError("down", retry_after=1.0),
    journal.ChargeInProgressError("in flight", "k", retry_after=2.0),
    journal.ChargeInProgressError("blocked", "k", "other", 2.0),
    journal.ChargePendingError("not known yet", "k", 2.0),
    journal.UnresolvedChargeError("ask", "k"),
    journal.AmbiguousChargeError("choose", "k", ORDERS),
    journal.KeyReusedError("other arguments", "k", outcome_unknown=False),
    inbox.InboxError("no transaction"),
    inbox.InboxBusyError("busy"),
]
every_error = pytest.mark.parametrize(
    "error", TABLE, ids=[f"{i}-{type(each).__name__}" for i, each in enumerate(TABLE)]
)

PUBLIC = ("billcore", "billcore.inbox", "billcore.journal", "billcore.webhooks")
OF_ANSWERS = ("body", "headers", "path")  # what args leave out, and what they shorten


def in_json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def from_args(error: Any) -> Any:
    return type(error)(*in_json(error.args))


def from_dict(error: billcore.BillcoreError) -> Any:
    return billcore.BillcoreError.from_dict(in_json(error.to_dict()))


def from_pickle(error: billcore.BillcoreError) -> Any:
    return pickle.loads(pickle.dumps(error))


WAYS: list[Callable[[Any], Any]] = [from_args, from_dict, from_pickle, copy.copy, copy.deepcopy]


def shown(value: Any) -> Any:
    if isinstance(value, list):
        return [order.id for order in value]
    return value.id if isinstance(value, billcore.Order) else value


def what_it_says(error: billcore.BillcoreError, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
    names = {*vars(error), "outcome_unknown", "sent_late", "name"} - {*leave_out, "__notes__", "__cause__"}
    return {"text": str(error), **{name: shown(getattr(error, name, None)) for name in names}}


def every_class() -> Iterator[type[billcore.BillcoreError]]:
    kinds = [billcore.BillcoreError]
    for kind in kinds:
        kinds += [each for each in kind.__subclasses__() if each.__module__ in PUBLIC]
    return iter(set(kinds))


def test_no_class_is_left_out() -> None:
    assert {type(error) for error in TABLE} == set(every_class())


def test_the_errors_of_receivers_are_made_again() -> None:
    with pytest.raises(webhooks.SignatureError) as caught:
        webhooks.from_wsgi({"wsgi.input": io.BytesIO(b"{"), "CONTENT_LENGTH": "9"}, webhooks.Verifier("s" * 32))
    for way in (from_args, from_pickle, copy.copy):
        again = way(way(caught.value))
        assert isinstance(again, billcore.ConnectionError) and what_it_says(again) == what_it_says(caught.value)
    assert what_it_says(from_dict(caught.value))["http_status"] == 499


@every_error
def test_an_error_that_is_made_again_says_the_same(error: Any) -> None:
    for way in WAYS:
        again = way(way(error))
        assert type(again) is type(error) and repr(again) == repr(error)
        if way in (from_args, from_dict) and isinstance(error, billcore.ApiError):
            assert (again.body, again.headers) == ("", {})
            assert again.path == (error.path and error.path.partition("?")[0])
            assert what_it_says(again, OF_ANSWERS) == what_it_says(error, OF_ANSWERS)
        else:
            assert what_it_says(again) == what_it_says(error)


@every_error
def test_the_args_are_scalars_without_data_of_an_answer(error: billcore.BillcoreError) -> None:
    values = [*error.args, *error.to_dict().values()]
    assert all(isinstance(value, str | int | float | None) for value in values)
    assert not any(text in str(value) for value in values for text in ("<p>", "page=2", "headers"))


@every_error
def test_what_cannot_be_read_is_unknown(error: Any) -> None:
    """Also what an earlier version stored, which was the text alone."""
    kind, args = type(error), error.args
    for values in ((None,), (b"x",), *((*args[:i], {}, *args[i + 1 :]) for i in range(len(args)))):
        again = kind(*values)
        assert again.outcome_unknown is True and str(again), values
        assert from_args(again).outcome_unknown is True
    if kind not in (webhooks.SignatureError, billcore.PossiblyMissedError):  # not about a write
        assert kind().outcome_unknown is True
    if kind is not billcore.ApiError:
        assert all(kind(*args[:i]).outcome_unknown or not error.outcome_unknown for i in range(len(args)))
    if isinstance(error, billcore.ApiError | billcore.OutcomeUnknownError | journal.JournalError):
        old = kind("503 the service failed (x)")
        assert old.outcome_unknown and str(old) == "503 the service failed (x)"


def test_a_dict_of_another_version() -> None:
    stored = billcore.OutcomeUnknownError("POST", "/subscription/s/order", AT).to_dict()
    read = billcore.BillcoreError.from_dict
    for data in ({**stored, "type": "billcore.NewError"}, {**stored, "type": "os.system"}, {}, {"type": 5}):
        assert type(read(data)) is billcore.BillcoreError and read(data).outcome_unknown
    assert read({**stored, "new": 1}).to_dict() == stored
    assert read({"type": "billcore.ServerError", "status": 503, "text": "x"}).outcome_unknown
    with pytest.raises(billcore.InvalidArgumentError, match="to_dict"):
        read(None)  # type: ignore[arg-type]


@every_error
def test_a_pickle_keeps_the_cause_and_the_notes(error: billcore.BillcoreError) -> None:
    noted = copy.copy(error)
    noted.__cause__ = ValueError("why")
    noted.add_note("a note")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(ExceptionGroup("several", [noted]), protocol)).exceptions[0]
        assert again.__notes__ == ["a note"] and repr(again.__cause__) == "ValueError('why')"
        assert what_it_says(again) == what_it_says(error)


@pytest.mark.parametrize("reply", [Reply(send_only=0, ending="reset"), json_reply({}, 503)])
def test_the_search_with_an_error_that_was_made_again(serve: Serve, reply: Reply) -> None:
    server, client = serve([reply, *[page([], 1, 1)] * (1 + len(WAYS))])
    with pytest.raises(billcore.BillcoreError) as caught:
        client.subscriptions.charge("s 1", product_id=1, amount=5)
    assert client.subscriptions.find_charges(caught.value) == []
    for way in WAYS:
        assert client.subscriptions.find_charges(way(caught.value)) == []
    assert len({request.target for request in server.requests[1:]}) == 1
    assert "/subscription/s%201/orders" in server.requests[1].target


def test_args_that_a_program_assigns() -> None:
    error = billcore.OutcomeUnknownError("POST", "/subscription/s/order", AT)
    error.args = ("while paying: lost",)  # as pandas and others add to a text
    assert str(error) == str(from_args(error)) == "while paying: lost" and from_args(error).path == error.path
    error.args = (1, "x")
    assert error.args == (1, "x") and pickle.loads(pickle.dumps(error)).args == (1, "x")


def test_a_subclass_is_rebuilt_as_its_billcore_class() -> None:
    class Declined(billcore.PaymentError):
        def __init__(self, customer: str) -> None:
            super().__init__(402, text=f"{customer} has no money")

    error = Declined("Ada")
    assert type(from_dict(error)) is billcore.PaymentError and str(from_dict(error)) == "Ada has no money"
    assert not from_dict(error).outcome_unknown
