"""Runs h2spec's cases that test clients: HTTP/2 servers that break the protocol, or use features that a client must
tolerate."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest

import billcore
from faults.certificates import Certificates

TIMEOUT = 60.0  # seconds; the server ends each connection before this time-out
CASES = 57

# Cases whose server sends a complete answer that is not JSON. In all other cases the server breaks the protocol before
# the answer is complete, or sends no answer. With Debian 12's libcurl, even a call with a complete answer may fail,
# because this libcurl cannot detect that an answer without a length is complete.
COMPLETE = {
    "4.2/1": "the largest frame",
    "5.1/8": "then DATA for the closed stream",
    "5.1/9": "then HEADERS for the closed stream",
    "5.1/10": "then CONTINUATION for the closed stream",
    "6.1/2": "then DATA for the closed stream",
    "6.3/2": "then PRIORITY of a wrong size",
    "6.4/3": "then RST_STREAM of a wrong size",
    "6.10/1": "headers in three frames",
    "6.10/4": "then CONTINUATION after the last header",
    "6.10/5": "then CONTINUATION after the last header",
}

# Maps each case in which h2spec expects a frame that billcore does not send to the reason why billcore need not send
# this frame.
KNOWN = {
    **dict.fromkeys(COMPLETE, "the client has its answer and may close"),
    "5.4.1/2": "newer releases of libcurl close without GOAWAY",
    "6.3/1": "nghttp2 ignores PRIORITY since RFC 9113 deprecates it",
    "6.9.1/1": "newer releases of libcurl close without GOAWAY",
    "6.9.1/2": "newer releases of libcurl close without RST_STREAM",
}


@dataclass(frozen=True)
class Outcome:
    id: str
    result: object  # the return value of the call, or the exception that it raised
    connections: int
    requests: int
    verdict: str

    @property
    def failed(self) -> bool:
        return isinstance(self.result, Exception)


@dataclass(frozen=True)
class Outcomes:
    reads: list[Outcome]
    writes: list[Outcome]


def _read(client: billcore.Client) -> object:
    return client.request("GET", "/products/")


def _charge(client: billcore.Client) -> object:
    return client.subscriptions.charge(1, product_id=2, amount=300)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    certificates = Certificates(tmp_path_factory.mktemp("certificates"))

    def call(port: int, operation: Callable[[billcore.Client], object]) -> object:
        url = f"https://localhost:{port}/v1/account"
        with billcore.Client(
            base_url=url, api_key="key", ca_bundle=certificates.bundle, http2=True, max_retries=0, timeout=TIMEOUT
        ) as client:
            try:
                return operation(client)
            except Exception as error:
                return error

    command: list[str | os.PathLike[str]] = [os.environ["BILLCORE_H2SPEC"], *certificates.files("good")]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
        ThreadPoolExecutor(8) as threads,
    ):
        assert server.stdin is not None and server.stdout is not None
        cases: list[dict[str, Any]] = json.loads(server.stdout.readline())
        reads = [threads.submit(call, case["ports"][0], _read) for case in cases]
        writes = [threads.submit(call, case["ports"][1], _charge) for case in cases]
        results = [each.result() for each in reads + writes]
        server.stdin.close()
        seen: dict[str, Any] = json.loads(server.stdout.readline())
    assert len(cases) == CASES and {case["id"] for case in cases} >= COMPLETE.keys()
    ports = [(case["id"], str(case["ports"][i])) for i in range(2) for case in cases]
    found = [Outcome(id, result, **seen[port]) for (id, port), result in zip(ports, results, strict=True)]
    return Outcomes(found[:CASES], found[CASES:])


def test_a_read_ends_with_an_answer_or_a_typed_error(outcomes: Outcomes) -> None:
    kinds = billcore.ConnectionError, billcore.Response
    assert [each for each in outcomes.reads if not isinstance(each.result, kinds)] == []


def test_no_answer_is_read_where_none_was_complete(outcomes: Outcomes) -> None:
    assert [each for each in outcomes.reads if each.id not in COMPLETE and not each.failed] == []


def test_a_charge_that_was_sent_is_never_denied(outcomes: Outcomes) -> None:
    """A charge that was sent gives OutcomeUnknownError, or DecodeError if its complete answer is not JSON."""
    for each in outcomes.writes:
        expected: list[type[Exception]] = [billcore.OutcomeUnknownError]
        if each.id in COMPLETE:
            expected.append(billcore.DecodeError)
        if each.requests == 0:
            expected.append(billcore.ConnectionError)
        assert isinstance(each.result, tuple(expected)), each
        assert not isinstance(each.result, billcore.DecodeError) or "the request was accepted" in str(each.result)
    assert sum(each.requests for each in outcomes.writes) > CASES / 2


def test_nothing_is_sent_twice(outcomes: Outcomes) -> None:
    assert [each for each in outcomes.reads + outcomes.writes if each.connections != 1 or each.requests > 1] == []


def test_h2spec_misses_nothing_else(outcomes: Outcomes) -> None:
    """The client must answer each frame that requires an answer, and end the stream or the connection after a
    violation."""
    assert [each for each in outcomes.reads + outcomes.writes if each.verdict and each.id not in KNOWN] == []
